"""How people type: a choice of phrases, and the small noise of real orders."""

import random
import re
from collections.abc import Sequence

POLITE_BEFORE = """please
pls
hey,
hi,
hello!
ok,
so,
quick one:
can you help?
hi there,
good morning,
sorry,
hm,
thanks for before.
right,
next:
one more thing:
I am in a hurry:""".split("\n")
POLITE_AFTER = """please
pls
thanks
thank you
thx
, thanks!
, please
:)
, ok?
, cheers
asap
, that would be great
when you can
if you can
, many thanks
!""".split("\n")
TYPOS = dict(
    pair.split("=")
    for pair in """the=teh which=wich please=plese change=chnage what=waht there=ther file=fiel from=form
    where=were with=wiht that=taht because=becuase should=shoud could=coud does=dose delete=delte into=itno
    replace=repalce write=wirte create=creat number=numbr much=mcuh many=mnay have=hav line=lien list=lsit
    show=shwo tell=tel give=giev first=frist every=evry only=olny their=thier again=agian folder=foldr
    function=funtion value=vlaue add=ad called=caled""".split()
)
_WORD = re.compile(r"(?<![\w./@#-])[a-z]+(?![\w/@(=:-]|\.\w)")  # no part of a name
_PLAIN_START = re.compile(r"[A-Z][a-z]*\b(?![./_-])")
_QUESTION_START = re.compile(r"\W*(what|which|where|who|how|when|is|are|do|does|did|can|could)\b", re.I)


def lines(text: str) -> list[str]:
    """Return the entries of a block of text, one on each line."""
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


def one_of(rng: random.Random, choices: str | Sequence[str]) -> str:
    """Return one entry of a block of text or of a sequence."""
    return rng.choice(lines(choices) if isinstance(choices, str) else choices)


def vary(rng: random.Random, sentence: str) -> str:
    """Return a sentence as one of many people would type it; names, values and quotes stay as they are."""
    if rng.random() < 0.45:
        sentence = lower_start(sentence)
    if rng.random() < 0.4:
        sentence = sentence.removesuffix(".")
    if sentence.endswith("?") and rng.random() < 0.2:
        sentence = sentence[:-1]
    if rng.random() < 0.1:
        sentence = mistype(rng, sentence)
    chance = rng.random()
    if chance < 0.09:
        sentence = f"{rng.choice(POLITE_BEFORE)} {lower_start(sentence)}"
    elif chance < 0.2:
        sentence = _with_ending(sentence, rng.choice(POLITE_AFTER))
    if rng.random() < 0.04 and sentence[-1:].isalpha():
        sentence += rng.choice(["!", "!!", "...", " ...", " :-)"])
    return sentence


def lower_start(sentence: str) -> str:
    """Return a sentence that begins in lower case, unless its first word is a name, a path or "I"."""
    match = _PLAIN_START.match(sentence)
    if match is None or match[0] == "I":
        return sentence
    return sentence[0].lower() + sentence[1:]


def mistype(rng: random.Random, sentence: str) -> str:
    """Return a sentence with a slip in one ordinary word, never in quotes."""
    if any(mark in sentence for mark in "\"'`“„«"):
        return sentence
    known = [match for match in _WORD.finditer(sentence) if match[0] in TYPOS]
    if not known:
        return sentence
    match = rng.choice(known)
    return sentence[: match.start()] + TYPOS[match[0]] + sentence[match.end() :]


def _with_ending(sentence: str, ending: str) -> str:
    mark = sentence[-1:] if sentence[-1:] in "?!" else ""
    if mark and _QUESTION_START.match(sentence) and ending[:1] not in ",!:":
        return f"{sentence} {ending}"
    body = sentence[:-1] if sentence[-1:] in "?!." else sentence
    if ending == "!":
        return f"{body}!"
    return f"{body}{ending}{mark}" if ending[:1] == "," else f"{body} {ending}{mark}"
