"""Plain talk: questions that are answered from knowledge, without a tool."""

import random
import re
from collections.abc import Callable

from training.generator.knowledge import Topic, load
from training.generator.knowledge.computed import calendar, conversion, spelling
from training.generator.phrases import lower_start, one_of, vary
from training.generator.play import READ_ONLY, Family, Play

WORLD = load("world")
QUESTIONS = load("questions")
DEFINITIONS = load("definitions")
HOW_TO = load("howto")
ERRORS = load("errors")
TRANSLATIONS = load("translations")
ABROAD = load("abroad")
GREETING, SELF, FUN, UNKNOWN, FOREIGN = load("smalltalk")

ABROAD_ASKS = re.compile(
    r"[¿«]|\bauf (Deu|Eng|Fra|Spa)|\bins |^(und|et|y|comment|wie|was|come|cosa|cómo|qué|traduis|traduce)\b|"
    r"\ben (français|alle|angl|espa|ingl)"
)
"""What only a question in another language than English holds."""
BEFORE = """
Quick question:
For a quiz:
For a quiz with my class:
My daughter wants to know:
My son asks for school:
Just out of curiosity:
Stupid question maybe:
I forgot:
Help me with a crossword:
We argue about this at lunch:
Not about the files here:
General knowledge:
Something else:
Without looking at any file:
From memory:
Question:
One thing I always forget:
While you are here:
By the way,
Tell me,
Say,
Do you know this:
I should know this, but
I am learning for an exam:
for my homework:
Before we start:
"""
AFTER = """
I only want to know it, nothing to do here.
I forgot it.
My friend says something else.
It is for a crossword.
Just a short answer please.
One sentence is enough.
Don't touch anything, I just ask.
I need it for school.
I can never remember.
No need to look at the files.
Just curious.
In short please.
I'm a beginner.
You don't have to run anything.
"""
FILES = """
shopping.txt = milk;bread;{n} eggs;butter
team.txt = Ines, captain;Omar;Lea;Jonas;{n} substitutes
config.ini = [server];port = {n}0;debug = false
plan.md = # Plan;- paint the fence;- call Rosa;- buy {n} screws
songs.txt = Blue Door;River Road;Late Train;take {n} of the last one
settings.toml = title = "Club";members = {n};open = true
prices.csv = item,price;tea,{n}.50;cake,3.20
notes.md = # Notes;Meet at {n} pm at the bridge.;Bring the keys.
"""
SHOW = """
show me {file}
what is in {file}?
read {file} please
print {file}
let me see {file}
can you open {file}?
"""

Exchange = tuple[str, str]


def facts(play: Play) -> None:
    """Facts about the world, also asked on: "and of Italy?"."""
    _talk(play, _weighted(play.rng, WORLD), on=0.3)


def questions(play: Play) -> None:
    """Single questions of general knowledge."""
    _talk(play, play.rng.choice(QUESTIONS))


def definitions(play: Play) -> None:
    """Terms, letters, commands, codes."""
    _talk(play, _weighted(play.rng, DEFINITIONS), on=0.25)


def how_to(play: Play) -> None:
    """How-do-I questions; they name files and commands, and still need no tool."""
    _talk(play, _weighted(play.rng, HOW_TO), on=0.15)


def error_messages(play: Play) -> None:
    """What an error message means."""
    _talk(play, play.rng.choice(ERRORS), on=0.15)


def translations(play: Play) -> None:
    """Words in other languages, opposites, synonyms."""
    topic = play.rng.choices(TRANSLATIONS, (6, 1, 1, 1.5))[0]
    for question, answer in topic.draw(play.rng, turns=1 + (play.rng.random() < 0.3)):
        if not ABROAD_ASKS.search(question):
            question = vary(play.rng, _framed(play.rng, question))
        play.user(question)
        play.say(answer)


def small_talk(play: Play) -> None:
    """Greetings, thanks, who are you, jokes."""
    rng = play.rng
    for _ in range(1 + (rng.random() < 0.25)):
        topic = rng.choices((GREETING, SELF, FUN), (3, 3, 1.3))[0]
        question, answer = topic.draw(rng)[0]
        play.user(vary(rng, question))
        play.say(answer)


def unknown(play: Play) -> None:
    """Questions that a model without a network cannot answer."""
    _talk(play, UNKNOWN)


def other_languages(play: Play) -> None:
    """Talk and knowledge in German, French and Spanish."""
    rng = play.rng
    topic = FOREIGN if rng.random() < 0.4 else rng.choice(ABROAD)
    turns = 1 + (bool(topic.groups[0].asks_on) and rng.random() < 0.25)
    for question, answer in topic.draw(rng, turns=turns):
        chance = rng.random()
        if chance < 0.4:
            question = question[0].upper() + question[1:]
        elif chance < 0.6:
            question = question.removesuffix("?").rstrip()
        elif chance < 0.65:
            question += "!" if question[-1].isalpha() else "?"
        play.user(question)
        play.say(answer)


def after_work(play: Play) -> None:
    """Thanks or a question of knowledge after a file was shown."""
    rng = play.rng
    path, rows = one_of(rng, FILES).split(" = ", 1)
    play.file(path, rows.replace("{n}", str(rng.randint(2, 9))).replace(";", "\n") + "\n")
    play.user(vary(rng, one_of(rng, SHOW).replace("{file}", path)))
    play.read(path)
    play.say(play.text(path).rstrip())
    topic = rng.choices([GREETING, SELF, _weighted(rng, HOW_TO), _weighted(rng, WORLD)], (4, 1, 2, 1))[0]
    question, answer = topic.draw(rng)[0]
    play.user(vary(rng, question))
    play.say(answer)


def computed(play: Play) -> None:
    """Units, days and letters."""
    rng = play.rng
    make: Callable[[random.Random], Exchange] = rng.choices((conversion, calendar, spelling), (5, 2, 2))[0]
    for _ in range(1 + (rng.random() < 0.2)):
        question, answer = make(rng)
        play.user(vary(rng, _framed(rng, question)))
        play.say(answer)


def several_topics(play: Play) -> None:
    """A conversation that goes from one topic to another."""
    rng = play.rng
    topics = [
        GREETING,
        _weighted(rng, WORLD),
        _weighted(rng, DEFINITIONS),
        _weighted(rng, HOW_TO),
        QUESTIONS[0],
    ]
    for topic in rng.sample(topics, rng.choice([2, 2, 3])):
        _exchange(play, topic.draw(rng)[0])


def _weighted(rng: random.Random, topics: list[Topic]) -> Topic:
    """Choose a topic: large ones more often, but not as often as their rows say."""
    return rng.choices(topics, [len(topic.rows) ** 0.7 * len(topic.groups) ** 0.4 for topic in topics])[0]


def _talk(play: Play, topic: Topic, on: float = 0.0) -> None:
    rng = play.rng
    if play.rng.random() < 0.1:
        play.tools = READ_ONLY
    turns = 1 + (rng.random() < on) + (rng.random() < on / 4)
    exchanges = topic.draw(rng, turns=min(turns, len(topic.rows)))
    _exchange(play, exchanges[0])
    for question, answer in exchanges[1:]:
        play.user(vary(rng, question))
        play.say(answer)


def _exchange(play: Play, exchange: Exchange) -> None:
    question, answer = exchange
    play.user(vary(play.rng, _framed(play.rng, question)))
    play.say(answer)


def _framed(rng: random.Random, question: str) -> str:
    """Return a question, sometimes with a few words before or after it."""
    chance = rng.random()
    if len(question) < 18 or chance > 0.16:
        return question
    if chance < 0.1:
        before = one_of(rng, BEFORE)
        return f"{before} {lower_start(question)}"
    mark = "" if question[-1] in "?.!" else "."
    return f"{question}{mark} {one_of(rng, AFTER)}"


FAMILIES = (
    Family(facts, 3.8),
    Family(questions, 2.2),
    Family(definitions, 3.4),
    Family(how_to, 4.0),
    Family(error_messages, 1.2),
    Family(translations, 3.0),
    Family(small_talk, 2.4),
    Family(unknown, 0.7),
    Family(other_languages, 1.2),
    Family(computed, 1.4),
    Family(several_topics, 0.6),
    Family(after_work, 0.9),
)
