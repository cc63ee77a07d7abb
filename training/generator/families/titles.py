"""Titles of conversations, made from their first prompt."""

import random
import re

from training.generator.knowledge.title_data import ABROAD, FILES, LOGS, ORDERS, QUESTIONS, TALK, TOPICS
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


def _title(play: Play, prompt: str, title: str) -> None:
    title = title[0].upper() + title[1:] if "." not in title.split(" ")[0] else title
    count = len(title.split())
    if count > 6 or len(lines(prompt)) == 0:
        raise Unfit(f"{title} is too long")
    play.title(prompt, title)


FAMILIES = (
    Family(order, 3.4),
    Family(question, 1.8),
    Family(talk, 0.2),
    Family(with_paste, 1.0),
    Family(abroad, 0.3),
)
