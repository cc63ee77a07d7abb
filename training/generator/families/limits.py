"""What the model does not do: too large, dangerous or impossible, undo, unclear orders, read-only tools."""

import json
import random
import re

from training.generator import sources
from training.generator.frames import spell
from training.generator.knowledge.large_data import (
    LARGE,
    LARGE_ABROAD,
    LARGE_ANSWERS_IT,
    PARTS,
    SMALL,
    SMALL_ENDINGS,
    SMALL_FOLDERS,
    SMALL_NAMES,
)
from training.generator.knowledge.limit_data import (
    ASK_BACK,
    ASK_UNDO,
    FORBIDDEN,
    NOT_HERE,
    PROJECTS,
    READ_ONLY_ANSWERS,
    TOO_LARGE,
    UNCLEAR,
    UNDO_ANSWERS,
    WHOLE_JOBS,
)
from training.generator.knowledge.refusal_data import (
    ABROAD_NAMES,
    BARE,
    DRAFTS,
    PEOPLE_ROWS,
    POSSIBLE,
    REFUSALS,
    SLOTS,
    TEXT_ROWS,
)
from training.generator.phrases import lines, lower_start, one_of, vary
from training.generator.play import READ_ONLY, Family, Play, Unfit

SETTINGS = """
app.ini | port = | 8080 | 9000 | port
app.ini | timeout = | 30 | 90 | timeout
game.toml | lives = | 3 | 5 | number of lives
server.conf | max_users = | 50 | 80 | max_users
recipe.txt | Flour: | 250 g | 400 g | amount of flour
recipe.txt | Oven: | 180 C | 200 C | oven temperature
trip.md | Departure: | 08:15 | 09:40 | departure time
price.txt | Entry: | 12 euros | 14 euros | entry price
song.txt | Key: | G | A | key
song.txt | Tempo: | 96 | 120 | tempo
style.css | color: | red; | navy; | color
team.txt | Captain: | Ines | Omar | captain
invoice.txt | Due: | 2026-03-01 | 2026-04-01 | due date
sensor.cfg | interval_s = | 10 | 60 | interval
menu.txt | Soup | 4.50 | 5.20 | price of the soup
club.yaml | members: | 41 | 42 | number of members
player.py | SPEED = | 4 | 6 | SPEED
"""
FILLERS = """
name = demo
# do not share
Notes: none
version = 2
Last change: Anna
title = test
state: draft
"""
CHANGE = """
change the {what} in {file} to {new}
set the {what} to {new} in {file}
{file}: {what} {new} please
in {file} the {what} should be {new}
make the {what} {new} in {file}
please update {file}, the {what} is now {new}
the {what} in {file} must be {new}, not {old}
{what} -> {new} ({file})
put {new} as {what} into {file}
"""


def too_large(play: Play) -> None:
    """A project far beyond a small model."""
    rng = play.rng
    if rng.random() < 0.6:
        order = one_of(rng, PROJECTS["orders"]).format(it=_project(rng))
    else:
        order = one_of(rng, WHOLE_JOBS)
    if rng.random() < 0.25:
        order = f"{order.rstrip('.?!')}. {one_of(rng, PROJECTS['details'])}"
    if rng.random() < 0.12:
        order = f"{one_of(rng, PROJECTS['reasons'])} {lower_start(order)}"
    play.user(vary(rng, order))
    play.say(one_of(rng, TOO_LARGE))


def too_large_abroad(play: Play) -> None:
    """The same in German, French and Spanish."""
    order, answer = one_of(play.rng, PROJECTS["abroad"]).rsplit(" | ", 1)
    play.user(play.rng.choice(order.split(" | ")))
    play.say(PROJECTS[answer])


def too_large_composed(play: Play) -> None:
    """Too large an order, put together from parts: what, for whom, in which language."""
    rng = play.rng
    order = one_of(rng, LARGE)
    while "{" in order:
        order = re.sub(r"\{(\w+)\}", lambda slot: _part(rng, slot[1]), order)
    order = _with_articles(spell(rng, order).replace(" ,", ","))
    if rng.random() < 0.2:
        order = f"{order.rstrip('.?!')}. {one_of(rng, PROJECTS['details'])}"
    if rng.random() < 0.2:
        sources.distract(play, most=3)
    play.user(vary(rng, order[0].upper() + order[1:] if rng.random() < 0.5 else order))
    play.say(one_of(rng, TOO_LARGE))


def _with_articles(order: str) -> str:
    """Return an order with "a" and "an" as they must be before what chance has put behind them."""
    order = re.sub(r"\b([aA])n (?=[b-df-hj-np-tv-z]|\d)", r"\1 ", order)
    return re.sub(r"\b([aA]) (?=[aeioAEIO]|80|11|un)(?!one)", r"\1n ", order)


def _part(rng: random.Random, name: str) -> str:
    parts = [part.strip() for part in PARTS[name].split("/")]
    return rng.choice(parts if name == "with_" else [part for part in parts if part])


def too_large_foreign(play: Play) -> None:
    """The same in four other languages, composed."""
    language = play.rng.choice(list(LARGE_ABROAD))
    order = spell(play.rng, one_of(play.rng, LARGE_ABROAD[language])).replace(" -moi", "-moi")
    play.user(order if play.rng.random() < 0.6 else order[0].upper() + order[1:])
    play.say(LARGE_ANSWERS_IT if language == "it" else PROJECTS[language])


def small_deletion(play: Play) -> None:
    """A file of this folder that is to go: done, however dangerous the word sounds."""
    rng = play.rng
    name, other = rng.sample(SMALL_NAMES, 2)
    path = rng.choice(SMALL_FOLDERS) + name + rng.choice(SMALL_ENDINGS)
    play.file(path, _content(rng, "x.txt"))
    if rng.random() < 0.5:
        play.file(f"{other}.txt", _content(rng, "y.txt"))
    sources.distract(play, path, most=3)
    order = spell(rng, one_of(rng, SMALL), path=path)
    play.user(order if order.split()[0] in ("lösche", "supprime", "borra", "rm") else vary(rng, order))
    play.bash(f"rm {path}")
    play.say(f"Deleted {path}.")


def forbidden(play: Play) -> None:
    """Dangerous or impossible here: refused in a sentence."""
    rng = play.rng
    kinds = [block.split("\n") for block in FORBIDDEN.strip().split("\n\n")]
    answer, *orders = rng.choice(kinds)
    play.user(vary(rng, one_of(rng, NOT_HERE).format(order=rng.choice(orders))))
    play.say(rng.choice(answer.removeprefix("= ").split(" | ")))


def refused(play: Play) -> None:
    """The same with names and files; a file of that name may be there, and still no tool is called."""
    rng = play.rng
    answers, *orders = [block.split("\n") for block in REFUSALS.strip().split("\n\n")][rng.randrange(_KINDS)]
    slots = {name: rng.choice(_values(name)) for name in SLOTS}
    frame = rng.choice(orders)
    if frame.split()[0] in BARE[:_FOREIGN]:
        slots |= {"who": rng.choice(ABROAD_NAMES), "time": "18:00"}
    order = spell(rng, frame, **slots)
    for name in ("people", "file", "list", "money"):
        if f"{{{name}}}" in frame and rng.random() < 0.7:
            play.file(slots[name], _content(rng, slots[name]))
    if rng.random() < 0.4:
        sources.distract(play, most=3)
    if order.split()[0] in BARE:
        play.user(order)
    else:
        play.user(vary(rng, one_of(rng, NOT_HERE).format(order=order)))
    play.say(rng.choice(answers.removeprefix("= ").split(" | ")))


def possible(play: Play) -> None:
    """Orders that sound like those, and can be carried out: a file is shown, a text is written down."""
    rng = play.rng
    slots = {name: rng.choice(_values(name)) for name in ("who", "news", "file", "people", "list")}
    if rng.random() < 0.5:
        path = rng.choice((slots["file"], slots["people"], slots["list"]))
        play.file(path, _content(rng, path))
        play.user(vary(rng, spell(rng, one_of(rng, POSSIBLE["show"]), file=path)))
        play.read(path)
        play.say(play.text(path).rstrip())
        return
    path = rng.choice(DRAFTS)
    order = spell(rng, one_of(rng, POSSIBLE["draft"]), path=path, **slots)
    play.user(order if rng.random() < 0.6 else order[0].upper() + order[1:])
    news = slots["news"][0].upper() + slots["news"][1:]
    play.write(path, f"Hello,\n\n{news}.\n\nBest regards")
    play.say(f"Created {path}.")


_KINDS = REFUSALS.strip().count("\n\n") + 1
_FOREIGN = BARE.index("I")


def _values(name: str) -> list[str]:
    mark = " | " if " | " in SLOTS[name] else "/"
    return [value.strip() for value in SLOTS[name].split(mark)]


def _content(rng: random.Random, path: str) -> str:
    rows = lines(PEOPLE_ROWS if path in _values("people") else TEXT_ROWS)
    if path.endswith(".json"):
        names = [row.split(",") for row in rng.sample(rows, rng.randint(2, 5))]
        return json.dumps([{"name": name, "mail": mail} for name, mail, _ in names], indent=2) + "\n"
    return "\n".join(rng.sample(rows, rng.randint(2, 5))) + "\n"


def undo(play: Play) -> None:
    """Taking back a change: the model names the command, it cannot do it itself."""
    rng = play.rng
    if rng.random() < 0.75:
        _do_something(play)
    language = rng.choices(("en", "de", "fr", "es"), (20, 1, 1, 1))[0]
    ask = one_of(rng, ASK_UNDO[language])
    play.user(vary(rng, ask) if language == "en" else ask)
    play.say(one_of(rng, UNDO_ANSWERS[language]))


def _do_something(play: Play) -> None:
    """Perform a turn that changes a file, creates one, or deletes a line."""
    rng = play.rng
    path, key, old, new, what = one_of(rng, SETTINGS).split(" | ")
    rows = rng.sample(lines(FILLERS), rng.randint(1, 4))
    at = rng.randrange(len(rows) + 1)
    rows.insert(at, f"{key} {old}")
    kind = rng.choice(["change", "change", "change", "delete", "create"])
    if kind == "create":
        play.user(vary(rng, f'create {path} with the line "{key} {new}"'))
        play.write(path, f"{key} {new}")
        play.say(f"Created {path} with one line.")
        return
    play.file(path, "\n".join(rows) + "\n")
    if kind == "delete":
        if len(rows) < 3:
            raise Unfit("too short to lose a line")
        play.user(vary(rng, f"delete the last line of {path}"))
        play.read(path)
        play.delete_lines(path, len(rows))
        play.say(f'Deleted the last line of {path}: "{rows[-1]}".')
        return
    play.user(
        vary(rng, one_of(rng, CHANGE).format(what=what, file=path, new=new.rstrip(";"), old=old.rstrip(";")))
    )
    play.read(path)
    play.set_lines(path, at + 1, f"{key} {new}")
    play.say(f"Changed the {what} from {old.rstrip(';')} to {new.rstrip(';')} in {path}.")


def unclear(play: Play) -> None:
    """An order that says too little: the model asks."""
    rng = play.rng
    kind = rng.choice(list(UNCLEAR))
    order = one_of(rng, UNCLEAR[kind])
    play.user(vary(rng, order) if kind != "noise" else order)
    play.say(one_of(rng, ASK_BACK[kind]))


def read_only(play: Play) -> None:
    """An order to change something while the tools can only read."""
    rng = play.rng
    play.tools = READ_ONLY
    path, key, old, new, what = one_of(rng, SETTINGS).split(" | ")
    rows = rng.sample(lines(FILLERS), rng.randint(1, 4))
    at = rng.randrange(len(rows) + 1)
    rows.insert(at, f"{key} {old}")
    play.file(path, "\n".join(rows) + "\n")
    kind = rng.choice(["change", "change", "create", "delete", "run"])
    if kind == "change":
        order = one_of(rng, CHANGE).format(what=what, file=path, new=new.rstrip(";"), old=old.rstrip(";"))
        play.user(vary(rng, order))
        play.read(path)
        answer = one_of(rng, READ_ONLY_ANSWERS["change"])
        answer = answer.replace(" // ", "\n")
        play.say(answer.format(file=path, line=at + 1, old=f"{key} {old}", new=f"{key} {new}"))
        return
    word = rng.choice("notes todo hello report summary test list ideas".split())
    order, answer = one_of(rng, READ_ONLY_ANSWERS[kind]).split(" | ")
    play.user(vary(rng, order.format(file=path, word=word)))
    play.say(answer.format(file=path, word=word))


def _project(rng: random.Random) -> str:
    return one_of(rng, PROJECTS["projects"])


FAMILIES = (
    Family(too_large, 2.5),
    Family(too_large_composed, 3.5),
    Family(too_large_foreign, 0.7),
    Family(small_deletion, 1.2),
    Family(too_large_abroad, 0.25),
    Family(forbidden, 3.0),
    Family(refused, 10.0),
    Family(possible, 1.0),
    Family(undo, 1.6),
    Family(unclear, 1.0),
    Family(read_only, 0.75),
)
