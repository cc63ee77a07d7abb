"""Questions in German, French and Spanish about texts in these languages."""

from training.generator.documents.foreign import foreign, foreign_order
from training.generator.documents.library import alike, foldered, some_page
from training.generator.documents.page import Page, spin
from training.generator.documents.questions import answer_of, evidence
from training.generator.play import Family, Play, Unfit


def lay_out(play: Play, page: Page) -> None:
    """Write the page and some others."""
    rng = play.rng
    play.file(page.path, page.text)
    others: list[Page] = []
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        other = foldered(rng, some_page(rng, [foreign] if rng.random() < 0.5 else ()))
        if not any(alike(other, each) for each in [page, *others]):
            others.append(other)
            play.file(other.path, other.text)


def foreign_fact(play: Play) -> None:
    """A question about a foreign text, in its language."""
    rng = play.rng
    page = foldered(rng, foreign(rng))
    ask = rng.choice(page.asks)
    lay_out(play, page)
    way = rng.choice(["named", "named", "kind"])
    name = page.path if way == "named" else spin(rng, page.called)
    play.user(foreign_order(rng, page.language, spin(rng, ask.words), name))
    if way == "kind":
        play.glob()
    play.read(page.path)
    play.say(answer_of(page, ask))


def foreign_pair(play: Play) -> None:
    """Two questions, one after the other."""
    rng = play.rng
    page = foldered(rng, foreign(rng))
    asks = [ask for ask in page.asks if ask.shape == "fact"]
    if len(asks) < 2:
        raise Unfit("too few facts")
    first, second = rng.sample(asks, 2)
    lay_out(play, page)
    play.user(foreign_order(rng, page.language, spin(rng, first.words), page.path))
    play.read(page.path)
    play.say(answer_of(page, first))
    start = {"de": "[und|und|ok, und|danke, und]", "fr": "[et|et|merci, et]", "es": "[y|y|gracias, y]"}[
        page.language
    ]
    play.user(foreign_order(rng, page.language, f"{spin(rng, start)} {spin(rng, second.words)}", ""))
    play.read(page.path)
    play.say(answer_of(page, second))


def foreign_text_in_english(play: Play) -> None:
    """A line of a foreign text, asked for in English."""
    rng = play.rng
    page = foldered(rng, foreign(rng))
    lay_out(play, page)
    number = rng.randint(1, len(page.lines))
    words = (
        "what does line {n} of {F} say|read line {n} of {F}|{F}, line {n}?"
        "|which text is in line {n} of {F}|quote line {n} from {F}"
    )
    play.user(spin(rng, words, {"n": str(number), "F": page.path}))
    play.read(page.path)
    line = page.lines[number - 1].strip()
    play.say(f"{evidence(page, number, page.path)}\nLine {number} is: {line}")


FAMILIES = (Family(foreign_fact, 1.6), Family(foreign_pair, 0.4), Family(foreign_text_in_english, 0.2))
