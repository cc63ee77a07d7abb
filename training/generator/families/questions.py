"""Plain talk of more kinds: words, numbers and letters, advice, a question before or between orders."""

import random

from training.generator.families.talk import (
    ABROAD_ASKS,
    DEFINITIONS,
    ERRORS,
    HOW_TO,
    QUESTIONS,
    TRANSLATIONS,
    WORLD,
    framed,
    talk,
    weighted,
)
from training.generator.frames import ask_foreign, spell
from training.generator.knowledge import Topic, load
from training.generator.knowledge.chat_frames import CHAT, CHAT_ABROAD
from training.generator.knowledge.computed_more import letter_question, number_question
from training.generator.phrases import one_of, vary
from training.generator.play import Family, Play

WORDS = load("words")
TERMS = load("more_terms")
ADVICE = load("advice")
ALL = [*WORLD, *QUESTIONS, *DEFINITIONS, *HOW_TO, *ERRORS, *WORDS, *TERMS, *ADVICE]
SIZES = [len(topic.rows) * len(topic.groups) ** 0.5 for topic in ALL]
SMALL_FILES = """
plants.txt | fern;moss;ivy;{n} tulips
tools.csv | tool,price;saw,{n}.90;hammer,12.50
rules.md | # Rules;- be quiet after {n} pm;- no food in the hall
app.toml | port = {n}080;debug = false
score.txt | red team: {n};blue team: 4
pupils.txt | Lena;Amir;Sofia;{n} places free
steps.md | 1. open the box;2. count {n} screws;3. close it
train.txt | platform {n};leaves 08:15;arrives 11:40
"""
LINE_QUESTIONS = """
show me {file}
what does {file} say?
print {file} please
and now show {file}
ok, now open {file}
back to work: what is in {file}?
"""


def words(play: Play) -> None:
    """Plurals, past tenses, opposites, rhymes."""
    talk(play, weighted(play.rng, WORDS), on=0.3)


def terms(play: Play) -> None:
    """Terms of science, school, kitchen, money, music and work."""
    talk(play, weighted(play.rng, TERMS), on=0.25)


def advice(play: Play) -> None:
    """Open questions: tips, ideas, why and how it works."""
    talk(play, play.rng.choice(ADVICE), on=0.15)


def numbers(play: Play) -> None:
    """Roman and binary numbers, primes, powers."""
    for _ in range(1 + (play.rng.random() < 0.3)):
        _computed(play, number_question(play.rng))


def letters(play: Play) -> None:
    """The alphabet, letters of a word, sorting words that are in the message."""
    for _ in range(1 + (play.rng.random() < 0.3)):
        _computed(play, letter_question(play.rng))


def _computed(play: Play, exchange: tuple[str, str]) -> None:
    question, answer = exchange
    play.user(vary(play.rng, framed(play.rng, question)))
    play.say(answer)


def between_orders(play: Play) -> None:
    """A question of knowledge, then a file is shown, and perhaps another question."""
    rng = play.rng
    path, rows = one_of(rng, SMALL_FILES).split(" | ", 1)
    play.file(path, rows.replace("{n}", str(rng.randint(2, 9))).replace(";", "\n") + "\n")
    _ask(play, _any_topic(rng))
    play.user(vary(rng, one_of(rng, LINE_QUESTIONS).replace("{file}", path)))
    play.read(path)
    play.say(play.text(path).rstrip())
    if rng.random() < 0.6:
        _ask(play, _any_topic(rng))


def _ask(play: Play, topic: Topic) -> None:
    question, answer = topic.draw(play.rng)[0]
    play.user(vary(play.rng, question))
    play.say(answer)


def quiz(play: Play) -> None:
    """Many questions one after the other, each of another topic; all facts come equally often."""
    rng = play.rng
    for _ in range(rng.randint(3, 9)):
        topic = rng.choices(ALL, SIZES)[0]
        question, answer = topic.draw(rng)[0]
        play.user(vary(rng, framed(rng, question)))
        play.say(answer)


def language_quiz(play: Play) -> None:
    """Many words one after the other, in one pair of languages or in several."""
    rng = play.rng
    topics = rng.choices(TRANSLATIONS, [len(topic.rows) for topic in TRANSLATIONS], k=2)
    for _ in range(rng.randint(3, 9)):
        question, answer = rng.choice(topics).draw(rng)[0]
        play.user(question if ABROAD_ASKS.search(question) else vary(rng, question))
        play.say(answer)


def chat(play: Play) -> None:
    """Small talk, put together from parts."""
    rng = play.rng
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        answers, *frames = rng.choice(_kinds(CHAT))
        play.user(vary(rng, spell(rng, rng.choice(frames))))
        play.say(rng.choice(answers.removeprefix("= ").split(" | ")))


def chat_abroad(play: Play) -> None:
    """The same in German, French, Spanish and Italian."""
    rng = play.rng
    answers, *frames = rng.choice(_kinds(CHAT_ABROAD))
    play.user(ask_foreign(rng, rng.choice(frames)))
    play.say(rng.choice(answers.removeprefix("= ").split(" | ")))


def _kinds(text: str) -> list[list[str]]:
    return [block.split("\n") for block in text.strip().split("\n\n")]


def _any_topic(rng: random.Random) -> Topic:
    return weighted(rng, rng.choice([WORLD, WORDS, TERMS, HOW_TO, HOW_TO, ADVICE]))


FAMILIES = (
    Family(words, 3.0),
    Family(terms, 4.0),
    Family(advice, 3.2),
    Family(numbers, 0.9),
    Family(letters, 0.9),
    Family(between_orders, 1.0),
    Family(chat, 4.0),
    Family(chat_abroad, 0.8),
    Family(quiz, 9.0),
    Family(language_quiz, 2.5),
)
