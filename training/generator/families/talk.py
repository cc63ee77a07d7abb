"""Plain talk: questions that are answered from knowledge, without a tool."""

import random
import re
from collections.abc import Callable

from training.generator.frames import one_frame
from training.generator.knowledge import Topic, load
from training.generator.knowledge.computed import calendar, conversion, spelling
from training.generator.phrases import lower_start, one_of, vary
from training.generator.play import READ_ONLY, Family, Play

WORLD = load("world") + load("more_world")
QUESTIONS = load("questions")
DEFINITIONS = load("definitions")
HOW_TO = load("howto") + load("more_howto")
ERRORS = load("errors")
TRANSLATIONS = load("translations") + load("more_translations")
ABROAD = load("abroad") + load("more_abroad")
GREETING, SELF, FUN, UNKNOWN, FOREIGN = load("smalltalk")

ABROAD_ASKS = re.compile(
    r"[¿«]|\bauf (Deu|Eng|Fra|Spa)|\bins |^(und|et|y|comment|wie|was|come|cosa|cómo|qué|traduis|traduce)\b|"
    r"\ben (français|alle|angl|espa|ingl)|"
    r"\b(come si dice|cosa vuol|traduci|in inglese|auf Ita|como se diz|hoe zeg)\b"
)
"""What only a question in another language than English holds."""
BEFORE = """
(quick|short|simple|small|random|little|stupid|silly|general) question:
(quick|short) question (from|of) my (daughter|son|wife|husband|colleague|mother|pupil|neighbour):
my (daughter|son|grandson|pupil|class|sister|friend|boss|colleague|flatmate) (wants to know|asks|asks me):
(for|it is for|I need it for) (a quiz|my homework|school|an exam|a crossword|a test|my class):
(just|only) (out of curiosity|wondering|curious):
I (forgot|can't remember|never remember|should know this|always mix this up):
(help me with|I am doing) a crossword:
we (argue|talk) about this at lunch:
(not about|nothing to do with) (the files|this folder|the project) (here|):
(general knowledge|trivia|quiz time|something else|other topic|off topic):
without looking at (any file|the files|the folder):
(from memory|by heart|off the top of your head):
question:
(while you are here|before we start|before I forget|by the way|one more thing|and another thing),
(tell me|say|hey|hi|hello|ok|so|hm|well),
do you know this:
(I am learning|I study) for an exam:
(just answer|only answer|answer in one sentence|in one line|in short):
(can|could) you tell me:
(no tools|no commands|no files) needed:
"""
AFTER = """
I only want to know (it|that), nothing to do here.
I forgot (it|that).
My (friend|brother|teacher|colleague) says something else.
It is for (a crossword|a quiz|school|my homework).
(Just a|A|Only a) short answer please.
One sentence is enough.
Don't (touch|change|run|create) anything, I (just|only) ask.
I need it for (school|work|a test).
I can never remember.
(No need to|Do not) look at the files.
(Just curious|Just asking|Only asking).
In short please.
I'm a beginner.
You don't have to run anything.
Thanks (in advance|)!
I'm not sure any more.
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
    talk(play, weighted(play.rng, WORLD), on=0.3)


def questions(play: Play) -> None:
    """Single questions of general knowledge."""
    talk(play, play.rng.choice(QUESTIONS))


def definitions(play: Play) -> None:
    """Terms, letters, commands, codes."""
    talk(play, weighted(play.rng, DEFINITIONS), on=0.25)


def how_to(play: Play) -> None:
    """How-do-I questions; they name files and commands, and still need no tool."""
    talk(play, weighted(play.rng, HOW_TO), on=0.15)


def error_messages(play: Play) -> None:
    """What an error message means."""
    talk(play, play.rng.choice(ERRORS), on=0.15)


def translations(play: Play) -> None:
    """Words in other languages, opposites, synonyms."""
    topic = play.rng.choices(TRANSLATIONS, (6, 1, 1, 1.5, 2.5, 0.4, 0.4, 1.2))[0]
    for question, answer in topic.draw(play.rng, turns=1 + (play.rng.random() < 0.3)):
        if not ABROAD_ASKS.search(question):
            question = vary(play.rng, framed(play.rng, question))
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
    talk(play, UNKNOWN)


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
    topic = rng.choices([GREETING, SELF, weighted(rng, HOW_TO), weighted(rng, WORLD)], (4, 1, 2, 1))[0]
    question, answer = topic.draw(rng)[0]
    play.user(vary(rng, question))
    play.say(answer)


def computed(play: Play) -> None:
    """Units, days and letters."""
    rng = play.rng
    make: Callable[[random.Random], Exchange] = rng.choices((conversion, calendar, spelling), (5, 2, 2))[0]
    for _ in range(1 + (rng.random() < 0.2)):
        question, answer = make(rng)
        play.user(vary(rng, framed(rng, question)))
        play.say(answer)


def several_topics(play: Play) -> None:
    """A conversation that goes from one topic to another."""
    rng = play.rng
    topics = [
        GREETING,
        weighted(rng, WORLD),
        weighted(rng, DEFINITIONS),
        weighted(rng, HOW_TO),
        QUESTIONS[0],
    ]
    for topic in rng.sample(topics, rng.choice([2, 2, 3])):
        _exchange(play, topic.draw(rng)[0])


def weighted(rng: random.Random, topics: list[Topic]) -> Topic:
    """Choose a topic: large ones more often, but not as often as their rows say."""
    return rng.choices(topics, [len(topic.rows) ** 0.7 * len(topic.groups) ** 0.4 for topic in topics])[0]


def talk(play: Play, topic: Topic, on: float = 0.0) -> None:
    """Let the user ask about a topic, and perhaps ask on."""
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
    play.user(vary(play.rng, framed(play.rng, question)))
    play.say(answer)


def framed(rng: random.Random, question: str) -> str:
    """Return a question, sometimes with a few words before or after it."""
    chance = rng.random()
    if len(question) < 18 or chance > 0.2:
        return question
    if chance < 0.13:
        before = one_frame(rng, BEFORE).replace(" :", ":")
        return f"{before} {lower_start(question)}"
    mark = "" if question[-1] in "?.!" else "."
    return f"{question}{mark} {one_frame(rng, AFTER)}"


FAMILIES = (
    Family(facts, 6.0),
    Family(questions, 3.0),
    Family(definitions, 5.0),
    Family(how_to, 8.0),
    Family(error_messages, 1.2),
    Family(translations, 6.0),
    Family(small_talk, 3.0),
    Family(unknown, 0.7),
    Family(other_languages, 3.0),
    Family(computed, 1.4),
    Family(several_topics, 0.6),
    Family(after_work, 0.9),
)
