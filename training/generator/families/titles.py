"""Titles of conversations, made from their first prompt."""

import random
import re

from training.generator.frames import spell
from training.generator.knowledge.title_data import ABROAD, FILES, LOGS, ORDERS, QUESTIONS, TALK, TOPICS
from training.generator.knowledge.title_more import (
    BLOCKS,
    FOREIGN_BLOCKS,
    FOREIGN_TABLES,
    PAIRED,
    PASTE_TABLES,
    PASTES,
    TABLES,
)
from training.generator.phrases import lines, lower_start, one_of, vary
from training.generator.play import Family, Play, Unfit

FILLER = """
I have been at it since this morning.
Thanks in advance.
It is for a customer, so please be careful.
We need it before Friday.
I am not a programmer.
Do not change anything else.
Tell me if something is unclear.
My colleague started it and left.
The rest can stay as it is.
This has bothered me for weeks.
I tried it myself yesterday, without success.
It worked on the old computer.
You find everything in this folder.
There are about twenty files.
Let me know when you are done.
"""
BEFORE = """
Hi there, I hope you can help me.
Hello! I have a small request.
Good morning, here comes the next task.
Ok, something different now.
I am new here, so sorry if this is simple.
We talked about it in the team today.
Quick one before lunch.
So I looked at it again.
"""


def order(play: Play) -> None:
    """An order about a topic, short or long."""
    rng = play.rng
    frame, title = one_of(rng, ORDERS).split(" = ")
    thing, subject = _thing(rng, frame)
    prompt = frame.format(it=thing)
    prompt = vary(rng, prompt)
    if rng.random() < 0.3:
        mark = "" if prompt[-1] in "?!.)" else "."
        prompt = f"{prompt}{mark} {one_of(rng, FILLER)}"
    if rng.random() < 0.15:
        prompt = f"{one_of(rng, BEFORE)} {prompt}"
    _title(play, prompt, title.format(it=subject))


def _thing(rng: random.Random, frame: str) -> tuple[str, str]:
    """Return a thing as it is called in a prompt and in a title."""
    table = FILES if "{it}" in frame and rng.random() < 0.45 else TOPICS
    thing, _, subject = one_of(rng, table).partition(" = ")
    return thing, subject or re.sub(r"^(the|a|an|my|our) ", "", thing)


def question(play: Play) -> None:
    """A question: about a file, about the world, how to do something."""
    rng = play.rng
    frames, _, title = one_of(rng, QUESTIONS).rpartition(" = ")
    prompt = rng.choice(frames.split(" | "))
    if rng.random() < 0.15:
        prompt = f"{one_of(rng, BEFORE)} {prompt[0].upper()}{prompt[1:]}"
    _title(play, vary(rng, prompt), title)


def talk(play: Play) -> None:
    """Greetings and the like."""
    rng = play.rng
    words, _, title = one_of(rng, TALK).rpartition(" = ")
    _title(play, vary(rng, rng.choice(words.split(" | "))), title)


def with_paste(play: Play) -> None:
    """A prompt with a log, an error or code that was pasted in."""
    rng = play.rng
    head, *paste = rng.choice([block.split("\n") for block in LOGS.strip("\n").split("\n\n")])
    words, _, title = head.removeprefix("= ").rpartition(" = ")
    number = str(rng.randint(2, 98))
    name = rng.choice("app main report server import_data player parser loader views utils billing".split())
    pasted = "\n".join(paste).replace("<n>", number).replace("<name>", name)
    prompt = rng.choice(words.split(" | "))
    fence = rng.choice(["", "", "```"])
    body = f"{fence}\n{pasted}\n{fence}".strip("\n") if fence else pasted
    text = f"{prompt}\n{body}" if rng.random() < 0.7 else f"{body}\n{prompt}"
    _title(play, text.replace("<name>", name), title.replace("<name>", name))


def abroad(play: Play) -> None:
    """Prompts in German, French and Spanish; the title is in the same language."""
    rng = play.rng
    words, _, title = one_of(rng, ABROAD).rpartition(" = ")
    prompt = rng.choice(words.split(" | "))
    if rng.random() < 0.3:
        prompt = lower_start(prompt)
    _title(play, prompt, title)


def composed(play: Play) -> None:
    """A prompt and its title with the same names, values and files in both."""
    rng = play.rng
    title, *frames = rng.choice(_blocks(BLOCKS))
    values = _values(rng, TABLES)
    prompt = vary(rng, spell(rng, rng.choice(frames), **values))
    _title(play, _surrounded(rng, prompt), _title_text(title, values))


def composed_abroad(play: Play) -> None:
    """The same in other languages."""
    rng = play.rng
    title, *frames = rng.choice(_blocks(FOREIGN_BLOCKS))
    values = _values(rng, FOREIGN_TABLES)
    prompt = spell(rng, rng.choice(frames), **values)
    if rng.random() < 0.3:
        prompt = lower_start(prompt)
    _title(play, prompt.rstrip("?").rstrip() if rng.random() < 0.2 else prompt, _title_text(title, values))


def composed_paste(play: Play) -> None:
    """The same with an error, a log or a message that was pasted in."""
    rng = play.rng
    title, asks, *paste = rng.choice(_blocks(PASTES))
    values = _values(rng, PASTE_TABLES)
    prompt = vary(rng, _filled(rng.choice(asks.split(" | ")), values))
    body = _filled("\n".join(paste), values)
    fenced = f"```\n{body}\n```" if rng.random() < 0.35 else body
    text = f"{prompt}\n{fenced}" if rng.random() < 0.7 else f"{fenced}\n{prompt}"
    _title(play, _surrounded(rng, text) if rng.random() < 0.2 else text, _title_text(title, values))


def _blocks(text: str) -> list[list[str]]:
    return [block.split("\n") for block in text.strip().split("\n\n")]


def _values(rng: random.Random, tables: dict[str, str]) -> dict[str, str]:
    """Return one entry of each table; of paired tables the same one."""
    columns = {name: [entry.strip() for entry in text.split(";")] for name, text in tables.items()}
    values = {name: rng.choice(column) for name, column in columns.items()}
    for first, second in PAIRED:
        at = rng.randrange(len(columns[first]))
        values |= {first: columns[first][at], second: columns[second][at]}
    values["task_low"] = re.sub("last commit", "my last commit", lower_start(values["task"]))
    n, m = rng.randint(2, 99), rng.randint(2, 60)
    return values | {"n": str(n), "m": str(m), "k": str(rng.randint(3, 12)), "d": str(rng.randint(2, 9))}


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda slot: values[slot[1]], text)


def _title_text(frame: str, values: dict[str, str]) -> str:
    """Return a title; the article of a term or of an item goes."""
    bare = {name: re.sub(r"^(the|a|an) ", "", values[name]) for name in ("term", "item")}
    return _filled(frame.removeprefix("= "), values | bare)


def _surrounded(rng: random.Random, prompt: str) -> str:
    """Return a prompt, now and then in the middle of a longer message."""
    if rng.random() < 0.25:
        mark = "" if prompt[-1] in "?!.)" else "."
        prompt = f"{prompt}{mark} {' '.join(rng.sample(lines(FILLER), rng.randint(1, 3)))}"
    if rng.random() < 0.15:
        prompt = f"{one_of(rng, BEFORE)} {prompt}"
    return prompt


def _title(play: Play, prompt: str, title: str) -> None:
    title = title[0].upper() + title[1:] if "." not in title.split(" ")[0] else title
    count = len(title.split())
    if count > 6 or len(lines(prompt)) == 0:
        raise Unfit(f"{title} is too long")
    play.title(prompt, title)


FAMILIES = (
    Family(order, 2.6),
    Family(composed, 6.0),
    Family(composed_abroad, 1.2),
    Family(composed_paste, 1.4),
    Family(question, 1.8),
    Family(talk, 0.2),
    Family(with_paste, 1.0),
    Family(abroad, 0.3),
)
