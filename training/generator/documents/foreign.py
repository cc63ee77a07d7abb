"""German, French and Spanish pages, asked about in their own language."""

import random

from training.generator.documents import foreign_data
from training.generator.documents.page import Page, pick, spin, unfolded, upper_first
from training.generator.documents.words import CITIES, clock, coined, person

__all__ = ["foreign", "foreign_order"]


def foreign(rng: random.Random) -> Page:
    """A list or a text."""
    return rng.choice([plain_list, text, text, text])(rng)


def plain_list(rng: random.Random) -> Page:
    """A list with an entry on each line."""
    language = rng.choice(["de", "de", "fr", "es"])
    paths, called, count, counted, nth, nth_is, last, last_is, has, yes, no, whole = foreign_data.LISTS[
        language
    ]
    page = Page(spin(rng, paths), called, "", language)
    words = foreign_data.WORDS[language].split(",")
    items = pick(rng, words, 4, 10)
    page.lines = [f"{rng.randint(2, 9)} {item}" if rng.random() < 0.4 else item for item in items]
    page.listed("count", count, page.lines, counted.replace("{n}", str(len(items))))
    page.listed("list", whole, page.lines, counted.replace("{n}", str(len(items))))
    at = rng.randrange(len(items))
    for words_of, answer, number in ((nth, nth_is, at + 1), (last, last_is, len(items))):
        line = page.lines[number - 1]
        page.ask(
            "fact",
            words_of.replace("{n}", str(number)),
            answer.replace("{n}", str(number)).replace("{w}", line),
            [number],
        )
    page.ask("check", has.replace("{w}", items[at]), yes.replace("{w}", items[at]), [at + 1])
    gone = rng.choice([word for word in words if word not in items])
    page.ask("check", has.replace("{w}", gone), no.replace("{w}", gone))
    return page


def text(rng: random.Random) -> Page:
    """A text with facts."""
    blocks = unfolded(foreign_data.TEXTS).split("\n\n")
    first, *rows = rng.choice(blocks).split("\n")
    language, paths, called, about = first.split(" | ")
    page = Page(spin(rng, paths), called, about, language)
    comma = "," if rng.random() < 0.5 else "."
    values = {
        "n": str(rng.randint(2, 240)),
        "m": f"{rng.randint(3, 900)}{comma}{rng.choice(['50', '00', '90'])}",
        "t": clock(rng),
        "p": person(rng),
        "q": person(rng),
        "c": rng.choice(CITIES),
        "x": coined(rng),
        "w": rng.choice(foreign_data.WORDS[language].split(",")),
        "k": str(rng.randint(12, 900)),
        "h": str(rng.choice([160, 175, 180, 200, 220])),
        "b": str(rng.randint(18, 75)),
        "a": str(rng.randint(3, 17)),
        "g": str(rng.randint(20, 90)),
    }
    for row in rows:
        for name, value in values.items():
            row = row.replace("{" + name + "}", value)
        line, *ask = row.split(" ; ")
        number = page.add(line)
        if ask:
            page.ask("fact", ask[0].replace("/", "|"), ask[1], [number])
    return page


def foreign_order(rng: random.Random, language: str, question: str, name: str) -> str:
    """The order as somebody types it in this language."""
    order = question
    if name:
        frames = foreign_data.AFTER if rng.random() < 0.4 else foreign_data.BEFORE
        order = rng.choice(frames[language].split("|")).replace("{q}", question).replace("{F}", name)
    if language == "es" and "¿" not in order and rng.random() < 0.3:
        order = f"¿{order}"
    if order[-1] not in "?.!)" and rng.random() < 0.7:
        order += " ?" if language == "fr" and rng.random() < 0.6 else "?"
    if rng.random() < 0.5 and not (name and order.startswith(name)):
        order = upper_first(order)
    if rng.random() < 0.12:
        order += {"de": " Danke!", "fr": " Merci !", "es": " ¡Gracias!"}[language]
    if rng.random() < 0.1:
        order = {"de": "Hallo, ", "fr": "Bonjour, ", "es": "Hola, "}[language] + order
    return order
