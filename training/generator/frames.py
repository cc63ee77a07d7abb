"""A small grammar of sentences: `(what|which) files (are here|do I have)` stands for four of them."""

import re
from random import Random

from training.generator.folder_words import entries
from training.generator.phrases import vary
from training.generator.play import Play

_GROUP = re.compile(r"\(([^()]*\|[^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")


def spell(rng: Random, frame: str, **slots: str) -> str:
    """Return one sentence of a frame: a choice from each group, and the slots filled in."""
    while group := _GROUP.search(frame):
        chosen = rng.choice(group[1].split("|"))
        frame = frame[: group.start()] + chosen + frame[group.end() :]
    plain = re.sub(r" +([?.,!]( |$))", r"\1", re.sub(r"  +", " ", frame).strip())
    return _SLOT.sub(lambda found: slots.get(found[1], found[0]), plain)


def one_frame(rng: Random, block: str, **slots: str) -> str:
    """Return one sentence of a block with a frame on each line (or on several, see `entries`)."""
    return spell(rng, rng.choice(entries(block)), **slots)


def ask(rng: Random, block: str, **slots: str) -> str:
    """Return one sentence of a block as somebody would type it; what fills the slots stays as it is."""
    frame = rng.choice(entries(block))
    plain = spell(rng, frame, **slots)
    varied = vary(rng, plain)
    used = [slots[name] for name in _SLOT.findall(frame) if name in slots]
    if rng.random() < 0.05 and varied.isascii() and len(plain) > 20:
        varied = _with_context(rng, varied)
    kept = all(word in varied for word in used if plain.find(word) > 0)
    return varied if kept else plain


CONTEXT = """
I am (new|quite new) (to this|here).
(I got|just got) this folder from (a colleague|my brother|the old team|a friend).
We have a meeting (soon|in ten minutes|tomorrow).
(I|We) have to (finish|hand in) this (today|by Friday|tonight).
Sorry if that is (obvious|a silly question).
I (forgot|can't remember) (it|how I left this|what I did here).
My (boss|teacher|sister|customer|neighbour) (wants to know|asks|keeps asking).
(It's|It is) been a while since I (worked on|looked at) this.
(I'm|I am) on my phone, so (be short|short answer please).
I am cleaning up (a bit|here|this folder).
"""


def ask_foreign(rng: Random, frame: str, **slots: str) -> str:
    """Return one sentence of a frame that is not English: without English politeness or slips."""
    said = spell(rng, frame, **slots)
    if rng.random() < 0.3:
        said = said[0].upper() + said[1:]
    return said.rstrip("?").rstrip() if rng.random() < 0.25 else said


def _with_context(rng: Random, sentence: str) -> str:
    """Return the order with a sentence about the user's situation before or after it."""
    said = one_frame(rng, CONTEXT)
    ended = sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."
    return f"{said} {sentence}" if rng.random() < 0.7 else f"{ended} {said}"


def prompt(play: Play, block: str, **slots: str) -> None:
    """Let the user say one sentence of a block."""
    play.user(ask(play.rng, block, **slots))


def say(play: Play, frame: str, **slots: str) -> None:
    """Answer with one of the sentences of a frame."""
    play.say(spell(play.rng, frame, **slots))


def joined(words: list[str], last: str = "and") -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
