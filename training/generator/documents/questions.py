"""How people ask: plain frames for a noun, ways to name the file, and sentences around the question."""

import random
import re

from training.generator.documents.page import Ask, Page, spin, upper_first
from training.generator.phrases import vary

__all__ = ["answer_of", "evidence", "question_of", "with_file", "worded"]

NOUN_FRAMES = """
what is {n}|what's {n}|whats {n}|{n}|{n}|tell me {n}|give me {n}|i need {n}|i need to know {n}|look up {n}
find {n}|find out {n}|show me {n}
can you [tell me|find|look up|read|see|check] {n}|could you [tell me|look up|find] {n}|do you know {n}
do you see {n} anywhere
what [do we have|stands there|does it say|is written|is given] for {n}|check {n}|i'm looking for {n}
i am searching {n}|{n}, please
what about {n}|remind me of {n}|i forgot {n}|i can't remember {n}|just {n}|only {n}|i want to know {n}
would you read me {n}|read me {n}
get me {n}|{n} is what|and what is {n}|what was {n} again|what was {n}|which one is {n}|quickly, {n}
what have we got for {n}
"""

BEFORE = """{F}: {q}|in {F}, {q}|in {F}: {q}|check {F}, {q}|look in {F}: {q}|look into {F} and tell me, {q}
from {F}: {q}
according to {F}, {q}|going by {F}, {q}|have a look at {F}, {q}|please read {F}: {q}|open {F}, {q}
read {F} and [tell me|answer]: {q}
i have {F} here, {q}|regarding {F}: {q}|about {F}: {q}|looking at {F}, {q}|see {F}, {q}
i was reading {F}, {q}|question about {F}: {q}
take {F}, {q}|{F}, {q}|{F} - {q}|with {F} in mind: {q}|as per {F}, {q}|go through {F}: {q}|there is {F}, {q}
we have {F}, {q}"""

AFTER = """{q} in {F}|{q} in {F}|{q} in {F}|{q} in {F}|{q} according to {F}|{q}, see {F}|{q}? it's in {F}
{q}? look in {F}|{q}? check {F}|{q}? ({F})
{q} ({F})|{q} - {F}|{q}, it should be in {F}|{q}? should be in {F}|{q}? you find it in {F}|{q} going by {F}
{q}, look at {F}|{q}? {F} has it
{q} as of {F}|{q} acc. to {F}|{q}? I think {F} says it|{q}? take it from {F}|{q}? it must be somewhere in {F}
{q}, {F}|{q}? {F}"""

LEADS = """tell me|can you tell me|could you tell me|i want to know|i need to know|do you know|please tell me
i'd like to know|find out|say
could you check|can you check|can you find out|can you look up|let me know|i wonder|i was wondering
would you tell me|i have to know|check for me
help me out:|quick question:|question:|so,|ok,|and|well,|my question is,|i ask myself|just tell me|any idea
explain to me"""

CONTEXT = """my boss wants to know.|someone just asked me.|i'm on the phone right now.|i am new here.
i keep forgetting it.|it's for a mail.|we argue about it.
i have to fill in a form.|i can't open it on this machine.|i don't have my glasses.
i have no time to look myself.|need it for the report.|i'm writing it down.
just to be sure.|before i order anything.|i lost track.|my colleague says otherwise.|i think it was changed.
not sure anymore.|sorry for asking again.|it is urgent.
don't change anything.|short answer is enough.|one line is enough.|only the answer please.
i did not write this file.|a friend made it.|please look it up."""

CHARS = 100


def question_of(rng: random.Random, ask: Ask) -> str:
    """A way to word the question, without the file."""
    if ask.noun and (not ask.words or rng.random() < 0.3):
        return spin(
            rng,
            NOUN_FRAMES.strip().replace("\n", "|"),
            {"n": ask.noun if rng.random() < 0.85 else ask.noun.removeprefix("the ")},
        )
    words = spin(rng, ask.words)
    starts = re.match(r"(what|which|when|where|who|how|whose|why|is|are|does|do|did)\b", words)
    if starts and rng.random() < 0.18:
        lead = spin(rng, LEADS.replace("\n", "|"))
        if starts[1] not in {"is", "are", "does", "do", "did"}:
            return f"{lead} {words}"
        return f"{lead} {words}" if lead[-1] in ",:" else words
    return words


def with_file(rng: random.Random, question: str, name: str) -> str:
    """The question together with the name of the file; for no name the question alone."""
    if not name:
        return question
    frames = AFTER if rng.random() < 0.55 and len(question) < 90 else BEFORE
    return spin(rng, frames.replace("\n", "|"), {"q": question, "F": name})


def worded(rng: random.Random, text: str) -> str:
    """The order as somebody types it: an end mark, a sentence around it, noise."""
    asks = re.search(r"\b(what|which|when|where|who|how|whose|is|are|does|do|did|can|could|would)\b", text)
    ended = text[-1] in "?.!"
    if not ended and rng.random() < (0.65 if asks else 0.25):
        text += "?" if asks or rng.random() < 0.7 else "."
    if rng.random() < 0.5 and re.match(r"[a-z]+\b(?![./_=-])", text):
        text = upper_first(text)
    if rng.random() < 0.13:
        extra = rng.choice(CONTEXT.replace("\n", "|").split("|"))
        if text[-1] not in "?.!":
            text += "?" if asks else "."
        after = rng.random() < 0.5
        text = f"{text} {extra}" if after else f"{upper_first(extra)} {text}"
        return text
    return vary(rng, text)


def evidence(page: Page, number: int, path: str) -> str:
    """A line of the file as proof."""
    line = page.lines[number - 1].strip()
    if len(line) > CHARS:
        line = line[: CHARS - 1].rstrip() + "…"
    return f"{path}, line {number}: {line}"


def answer_of(page: Page, ask: Ask) -> str:
    """What is right to say: the proof or the list, then a sentence."""
    parts = [evidence(page, number, page.path) for number in sorted({*ask.lines})]
    parts += [f"{at}. {item}" for at, item in enumerate(ask.items, 1)]
    closing = ask.answer
    if not parts:
        closing = f"{closing.removesuffix('.')} ({page.path})."
    return "\n".join([*parts, closing])
