"""Words of a text: everywhere, only once, in capitals, misspelt, in quotation marks, or not there."""

import re
from collections.abc import Callable
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder
from training.generator.targets import aim, order_text, place
from training.generator.word_pools import DAYS, FIRST_NAMES, GOODS, MONTHS, STREETS, SURNAMES, TOWNS

SENTENCES = """
{p} lives in {t}, {s} {n}.
The {g} is in the kitchen.
On {d} we meet {p} in {t}.
{p} bought a {g} for {e} euros.
The {g} weighs {n} kg.
It is {n} km from {t} to {u}.
Please call {p} before {h}.
{p} and {q} share the {g}.
The train to {t} leaves at {h}.
We have {n} {g}s left.
{d}: {p} brings the {g}.
The shop in {t} opens at {h}.
{q} works in {u} since {m}.
Exam in {m}, room {n}.
Add {n} g of salt to the {g}.
The {g} costs {e}.50 and the {f} {n}.90.
Who has seen the {g} of {p}?
Mr {l} paid {n} euros in {m}.
The {f} stands beside the {g}.
In {m} it rains {n} mm in {t}.
{p} (room {n}) asked for the {g}.
Bring {e} {g}s and one {f}.
"{g}" was the last word of {p}.
Meeting with {l}: {d}, {h}.
Best regards from {t}, {p}
{p} is {n} years old.
Phone the office in {u} on {d}.
No {g} before {h}!
""".strip().split("\n")
EVERYWHERE = """
replace {o} (by|with) {v} everywhere
replace (all|every) {o} (by|with) {v}
change (every|each) {o} to {v}
{o} should be {v} everywhere
{v} instead of {o}, (everywhere|in all places|wherever it stands)
it's called {v}, not {o}, change (all of them|it everywhere)
all {o} must become {v}
{o} -> {v} (everywhere|in the whole file|all of them)
search and replace: {o} by {v}
(can|could) you put {v} wherever it says {o}?
""".strip()
ONCE = """
(replace|change) {o} (in line {n}|on line {n}) (to|with) {v}
line {n}: {v} instead of {o}
on line {n} it should be {v}, not {o}
{o} on line {n} is wrong, make it {v}
only in line {n}: {o} becomes {v}
""".strip()
CASE = """
write {o} in (capitals|upper case|capital letters) | upper
{o} (should be|must be) in (capitals|upper case|big letters) | upper
make {o} (upper case|all caps) | upper
put {o} in (capitals|all caps) | upper
write {o} (in lower case|with small letters) | lower
{o} (should be|must be) (lower case|in small letters) | lower
make {o} lower case | lower
write {o} with a capital (letter|first letter) | capital
{o} needs a capital letter (at the beginning|) | capital
capitalize {o} | capital
put {o} in (quotes|quotation marks|double quotes) | quotes
{o} should be in (quotes|quotation marks) | quotes
make {o} bold (markdown|with **) | bold
put ** around {o} | bold
put {o} in brackets | brackets
{o} should be in (parentheses|round brackets) | brackets
""".strip()
TYPO = """
there is a typo: {o}(, should be {v}|)
{o} is misspelled(, it is {v}|)
fix the typo {o}
correct {o} to {v}
it's {v}, not {o}
you spell it {v}
{v} is spelt wrong
fix the spelling of {v}
the word {v} has a typo
{o}?? it must be {v}
I mistyped {v}, please fix it
""".strip()
CHANGE = """
{o} should be {v}
change {o} to {v}
replace {o} (by|with) {v}
{v} instead of {o}
not {o} but {v}
it is {v}, not {o}
{o} is wrong, (it is|make it) {v}
make {o} {v}
(can|could) you change {o} to {v}?
we moved it from {o} to {v}
it says {o}, but {v} is right
please put {v} where {o} is
""".strip()
ENDINGS = (".txt", ".txt", ".md", ".md", ".tex", ".rst", ".log")


class Words(Struct):
    """A text of sentences made of known parts."""

    path: str
    lines: list[str]
    parts: list[str]
    """The words that were put in, most of which are in the text once."""


def _slots(rng: Random, people: list[str], towns: list[str], goods: list[str]) -> dict[str, str]:
    return {
        "p": rng.choice(people[:2]),
        "q": people[2],
        "t": rng.choice(towns[:2]),
        "u": towns[2],
        "g": rng.choice(goods[:2]),
        "f": goods[2],
        "s": rng.choice(STREETS),
        "d": rng.choice(DAYS),
        "m": rng.choice(MONTHS),
        "n": str(rng.randint(12, 99)),
        "e": str(rng.randint(3, 9)),
        "h": f"{rng.randint(6, 22)}:{rng.choice(('00', '15', '30', '45'))}",
    }


def make_words(rng: Random) -> Words:
    """Make up a text; a name or thing is used in several of its sentences."""
    people, towns = rng.sample(FIRST_NAMES, 3), rng.sample(TOWNS, 3)
    goods, lasts = rng.sample(GOODS, 3), rng.sample(SURNAMES, 2)
    lines, parts = [], []
    for sentence in rng.sample(SENTENCES, rng.randint(3, 8)):
        slots = _slots(rng, people, towns, goods) | {"l": rng.choice(lasts)}
        lines.append(sentence.format(**slots))
        parts += [slots[name] for name in re.findall(r"\{(\w)\}", sentence)]
    if rng.random() < 0.25:
        lines = [f"# {rng.choice(towns)}", "", *lines]
    stem = rng.choice(
        ("notes", "letter", "info", "plan", "diary", "week", rng.choice(GOODS), "report", "mail")
    )
    return Words(in_folder(rng, stem + rng.choice(ENDINGS), 0.3), lines, parts)


def _count(made: Words, word: str) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", "\n".join(made.lines)))


def _start(play: Play, made: Words, order: str, word: str = "") -> None:
    rng = play.rng
    play.file(made.path, "\n".join(made.lines) + "\n")
    sources.distract(play, made.path, most=3)
    target = aim(rng, made.path, word, named=not word)
    play.user(order_text(rng, place(rng, order, target)))
    target.find(play)
    play.read(made.path)


def _once(rng: Random, made: Words) -> str:
    text = "\n".join(made.lines)
    found = [part for part in made.parts if text.count(part) == 1]
    if not found:
        raise Unfit("nothing once")
    return rng.choice(found)


def _line(made: Words, part: str) -> int:
    return next(number for number, line in enumerate(made.lines, 1) if part in line)


def other_part(rng: Random, old: str) -> str:
    """Return another word of the same kind."""
    for pool in (DAYS, MONTHS, TOWNS, FIRST_NAMES, SURNAMES, STREETS, GOODS):
        if old in pool:
            return rng.choice([one for one in pool if one != old])
    if ":" in old:
        return f"{rng.randint(6, 22)}:{rng.choice(('05', '10', '20', '40'))}"
    return str(int(old) + rng.choice((-2, -1, 1, 2, 5, 10)))


def _marked(rng: Random, word: str) -> str:
    return rng.choice(("{}", "{}", "{}", '"{}"', "'{}'", "“{}”")).format(word)


def change(play: Play) -> None:
    """A day, name, place, number or time that becomes another."""
    rng = play.rng
    made = make_words(rng)
    old = _once(rng, made)
    new = other_part(rng, old)
    _start(
        play,
        made,
        one_frame(rng, CHANGE, o=_marked(rng, old), v=_marked(rng, new)),
        old if len(old) > 4 else "",
    )
    number = _line(made, old)
    play.set_lines(made.path, number, made.lines[number - 1].replace(old, new))
    play.say(f"Changed {old} to {new} in {made.path}.")


def everywhere(play: Play) -> None:
    """A word that is in the text several times."""
    rng = play.rng
    made = make_words(rng)
    text = "\n".join(made.lines)
    often = sorted(
        {part for part in made.parts if _count(made, part) > 1 and text.count(part) == _count(made, part)}
    )
    often = [part for part in often if not part[0].isdigit()]
    if not often:
        raise Unfit("nothing twice")
    old = rng.choice(often)
    new = other_part(rng, old)
    if new in text:
        raise Unfit("it is there")
    _start(play, made, one_frame(rng, EVERYWHERE, o=_marked(rng, old), v=_marked(rng, new)), old)
    play.replace_all(made.path, old, new)
    play.say(f"Replaced {old} by {new} in {made.path} ({text.count(old)} places).")


def on_a_line(play: Play) -> None:
    """A word that is in the text several times, changed on one line only."""
    rng = play.rng
    made = make_words(rng)
    number = rng.randint(1, len(made.lines))
    line = made.lines[number - 1]
    found = [part for part in made.parts if line.count(part) == 1 and _count(made, part) > 1]
    if not found:
        raise Unfit("nothing twice")
    old = rng.choice(found)
    new = other_part(rng, old)
    _start(play, made, one_frame(rng, ONCE, o=_marked(rng, old), v=_marked(rng, new), n=str(number)))
    play.set_lines(made.path, number, line.replace(old, new))
    play.say(f"Changed {old} to {new} on line {number} of {made.path}.")


CASES: dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "capital": lambda word: word[0].upper() + word[1:],
    "quotes": '"{}"'.format,
    "bold": "**{}**".format,
    "brackets": "({})".format,
}


def case(play: Play) -> None:
    """A word in capitals, in small letters, in quotation marks, in bold."""
    rng = play.rng
    made = make_words(rng)
    old = _once(rng, made)
    frame, _, kind = rng.choice(CASE.split("\n")).rpartition(" | ")
    new = CASES[kind](old)
    if new == old or not old[0].isalpha() or f'"{old}"' in "\n".join(made.lines):
        raise Unfit("no change")
    _start(play, made, one_frame(rng, frame, o=old), old)
    number = _line(made, old)
    play.set_lines(made.path, number, made.lines[number - 1].replace(old, new))
    play.say(f"Changed {old} to {new} in {made.path}.")


def typo(play: Play) -> None:
    """A misspelt word; the order quotes the wrong one, the right one or both."""
    rng = play.rng
    made = make_words(rng)
    words = [word for word in re.findall(r"[A-Za-zÀ-ž]{5,}", " ".join(made.lines)) if _count(made, word) == 1]
    if not words:
        raise Unfit("no word")
    right = rng.choice(words)
    at = rng.randrange(1, len(right) - 2)
    swapped = right[:at] + right[at + 1] + right[at] + right[at + 2 :]
    wrong = rng.choice((right[:at] + right[at + 1 :], right[:at] + right[at] + right[at:], swapped))
    text = "\n".join(made.lines)
    if wrong == right or wrong in text or text.count(right) > 1:
        raise Unfit("no typo")
    made.lines = text.replace(right, wrong).split("\n")
    frame = one_frame(rng, TYPO, o=_marked(rng, wrong), v=_marked(rng, right))
    _start(play, made, frame, wrong if wrong in frame and wrong not in right else "")
    number = _line(made, wrong)
    play.set_lines(made.path, number, made.lines[number - 1].replace(wrong, right))
    play.say(f"Corrected {wrong} to {right} in {made.path}.")


def not_there(play: Play) -> None:
    """A word that the text does not have: nothing is changed."""
    rng = play.rng
    made = make_words(rng)
    old = rng.choice((rng.choice(FIRST_NAMES), rng.choice(TOWNS), rng.choice(GOODS), rng.choice(MONTHS)))
    new = other_part(rng, old)
    if old.lower() in "\n".join(made.lines).lower():
        raise Unfit("it is there")
    block = rng.choice(
        (CHANGE, EVERYWHERE, "delete the line with {o}\nremove the line about {o}\ntake {o} out")
    )
    play.file(made.path, "\n".join(made.lines) + "\n")
    order = one_frame(rng, block, o=old, v=new)
    order = rng.choice((f"in {made.path} {order}", f"{made.path}: {order}", f"in {made.path}, {order}"))
    play.user(order_text(rng, order))
    play.read(made.path)
    start = rng.choice(
        (
            f"There is no {old} in {made.path}",
            f"{made.path} does not mention {old}",
            f"I found no {old} in {made.path}",
        )
    )
    play.say(
        start + rng.choice((". I changed nothing.", ", so I changed nothing.", ". Nothing was changed."))
    )


FAMILIES = (
    Family(change, 1.8),
    Family(everywhere, 1.0),
    Family(on_a_line, 0.5),
    Family(case, 0.9),
    Family(typo, 1.0),
    Family(not_there, 0.9),
)
