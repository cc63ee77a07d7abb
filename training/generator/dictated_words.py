"""Words that nobody can guess, so that the model learns to copy: real, made-up, names in code."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from training.generator.folder_words import POOLS, entries, table

_STARTS = (
    "b bl br ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p pl pr qu r s sch sh sk sl sm sp st t th tr v"
).split()
_MIDDLES = "a e i o u ai au ea ee ei ie oa oo ou ä ö ü é á ø".split()
_ENDS = ["", "", "", *"b ck d f ft g k l ld lm ln m mp n nd ng nk p r rd rk rn s ss st t th tt x z".split()]
FORMS = table("""
verb: call, fix, buy, water, pay, book, return, clean, ask, send, sharpen, paint, order, pick up, wash,
  print, answer, check, repair, fetch, sell, visit, hang up, sort, renew, cancel, invite, measure, cut,
  bring back, charge, pack, scan, sign, label, feed, practise, collect, replace, weigh, oil, tune
thing: bike, bank, plants, rent, library books, shelf, landlord, invoice 4711, oven, dentist, keys, tyres,
  curtains, piano, passport, roof, parcel, printer, gate, lamp, dog, chapter 3, tickets, garage, grandma,
  tax form, boiler, backup, sink, meter, guest room, chairs, batteries, window, contract, hamster, tent
food: milk, eggs, flour, lemons, butter, potatoes, rye bread, olives, tomatoes, leeks, oat milk, honey,
  pickles, crème fraîche, jalapeños, tofu, radishes, pears, noodles, basil, cheddar, soy sauce, mangoes,
  lentils, cherries, yeast, kohlrabi, figs, mustard, mushrooms, peas, salt, vinegar, carrots, beans
unit: kg, g, l, ml, bottles of, bags of, cans of, packs of, cups of, tins of, boxes of, slices of
tail: before noon, on Monday, at 8:30, in room 12, twice, for Ana, with Tom, by Friday, at the corner,
  for 3 days, next week, from the cellar, to Łódź, until 2031, (urgent), for the choir, near the gate
""")
PATTERNS = table("""
folder: node_modules, __pycache__, .venv, build, dist, target, .idea, .vscode, coverage, tmp, logs, out,
  .cache, vendor, bin, obj, .mypy_cache, .pytest_cache, .next, public, site, _build, .terraform, env,
  cache, results, .gradle, .tox, .ruff_cache, htmlcov, Pods, elm-stuff, .stack-work, uploads, secrets
ending: log, tmp, bak, pyc, o, class, swp, zip, pdf, aux, csv, sqlite, db, pem, key, mp4, wav, min.js, map
file: .env, .DS_Store, Thumbs.db, secrets.toml, config.local.json, npm-debug.log, .coverage, notes.txt,
  local.settings.json, credentials.json, .Rhistory, core, a.out, yarn-error.log, db.sqlite3, todo.txt
""")
LISTS = table("""
days: Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday
months: January, February, March, April, May, June, July, August, September, October, November, December
seasons: spring, summer, autumn, winter
planets: Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune
colours of the rainbow: red, orange, yellow, green, blue, indigo, violet
""")
STEMS = entries("""
    groceries
    todo
    list
    notes
    words
    names
    shopping
    packing
    guests
    tasks
    items
    things
    plan
    monday
    trip
    ideas
    wishes
    team
    tools
    parts
    stock
    roster
    songs
    books
    films
    birds
    errands
    agenda
    entries
    party
    kitchen
    repairs
    vocabulary
    labels
    rooms
    choir
    orders
    samples
    bugs
    questions
    pupils
    plants
    goals
    costs
""")


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the words of all that the generator knows, a few thousand."""
    folder = Path(__file__).parent / "knowledge"
    text = "\n".join(file.read_text("utf-8") for file in sorted(folder.glob("*.txt")))
    return tuple(sorted({word for word in re.findall(r"[^\W\d_]{3,13}", text) if word.islower()}))


def made_up(rng: Random) -> str:
    """Return a word that does not exist."""
    count = rng.choice((1, 1, 2, 2))
    parts = [rng.choice(_STARTS) + rng.choice(_MIDDLES) + rng.choice(_ENDS) for _ in range(count)]
    return "".join(parts)


def word(rng: Random) -> str:
    """Return a word, mostly a real one."""
    return made_up(rng) if rng.random() < 0.15 else rng.choice(vocabulary())


def plain(rng: Random) -> str:
    """Return a word of ASCII letters, for names in code and in addresses."""
    return re.sub(r"[^a-z]", "", word(rng)) or "x"


def identifier(rng: Random) -> str:
    """Return a name as programs have it."""
    parts = [plain(rng) for _ in range(rng.choice((1, 2, 2, 3)))]
    shape = rng.randrange(7)
    if shape == 0:
        return f"__{parts[0]}__"
    if shape == 1:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    if shape == 2:
        return "".join(part.capitalize() for part in parts)
    if shape == 3:
        return "_".join(parts).upper()
    return rng.choice("_-._").join(parts) + rng.choice(("", "", "", str(rng.randint(2, 99))))


def exact(rng: Random) -> str:
    """Return a text that is right only as a whole: a date, a path, a version, an address, an amount."""
    shapes = (
        lambda: f"{rng.randint(1990, 2035)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        lambda: f"{rng.randint(0, 23)}:{rng.randint(0, 59):02}",
        lambda: f"{rng.randint(0, 12)}.{rng.randint(0, 40)}.{rng.randint(0, 20)}",
        lambda: f"/{plain(rng)}/{plain(rng)}/{identifier(rng)}",
        lambda: f"{plain(rng)}.{plain(rng)}@{plain(rng)}.example",
        lambda: f"https://{plain(rng)}.example/{plain(rng)}",
        lambda: f"{rng.randint(1, 9999)}.{rng.randint(0, 99):02}",
        lambda: str(rng.randint(1, 99999)),
        lambda: f"0{rng.randint(20, 899)} {rng.randint(10000, 999999)}",
        lambda: f"{rng.randint(1, 254)}.{rng.randint(0, 254)}.{rng.randint(0, 254)}.{rng.randint(1, 254)}",
        lambda: f"{plain(rng)[:2].upper()}-{rng.randint(10, 9999)}{rng.choice('ABCXYZ')}",
        lambda: identifier(rng),
    )
    return rng.choice(shapes)()


def entry_maker(rng: Random) -> Callable[[], str]:
    """Return a function that makes the entries of one list: they are alike in kind."""
    makers = (
        lambda: word(rng),
        lambda: f"{word(rng)} {word(rng)}",
        lambda: f"{rng.choice(FORMS['verb'])} {rng.choice((*FORMS['thing'], word(rng)))}",
        lambda: _amount(rng),
        lambda: rng.choice(POOLS["person"]) + rng.choice(("", f" {rng.choice(POOLS['surname'])}")),
        lambda: f"{rng.choice(POOLS['person'])} {rng.randint(1, 99)}",
        lambda: made_up(rng).capitalize(),
        lambda: identifier(rng),
        lambda: exact(rng),
        lambda: f"{rng.choice(FORMS['verb'])} {rng.choice(FORMS['thing'])} {rng.choice(FORMS['tail'])}",
        lambda: f"{word(rng)} {rng.randint(1, 400)}",
        lambda: rng.choice(POOLS[rng.choice(("city", "animal", "plant", "tool", "instrument", "food"))]),
    )
    return rng.choice(makers)


def _amount(rng: Random) -> str:
    food = rng.choice((*FORMS["food"], word(rng)))
    shape = rng.randrange(4)
    if shape == 0:
        return food
    if shape == 1:
        return f"{rng.randint(2, 12)} {food}"
    return f"{rng.randint(1, 900)} {rng.choice(FORMS['unit'])} {food}"


def distinct(rng: Random, count: int) -> list[str]:
    """Return so many different entries of one kind, without commas; shape and length by chance."""
    make = entry_maker(rng)
    found: dict[str, None] = {}
    for _ in range(count * 4):
        text = (make if rng.random() < 0.85 else entry_maker(rng))()
        if "," not in text and " and " not in text:
            found[text] = None
        if len(found) == count:
            break
    return list(found)


def path_for(rng: Random, endings: str) -> str:
    """Return a path for a new file."""
    stem = rng.choice((*STEMS, word(rng), identifier(rng).strip("_."))).replace(" ", "-")
    folder = rng.choice(("", "", "", f"{plain(rng)}/", f"{plain(rng)}/{plain(rng)}/"))
    return f"{folder}{stem}.{rng.choice(endings.split())}"
