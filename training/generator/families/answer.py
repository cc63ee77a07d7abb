"""Questions that a file answers: find the file, read it, give the proof and the answer."""

import random
import re
from collections.abc import Callable, Sequence

from training.generator.documents.library import alike, foldered, neighbours, some_page, words_of
from training.generator.documents.page import Ask, Page, lower_first, spin
from training.generator.documents.questions import answer_of, evidence, question_of, with_file, worded
from training.generator.documents.settings import settings
from training.generator.documents.tables import table
from training.generator.play import Family, Play, Unfit

DISTINCT = re.compile(
    r"\b(?:\w+_\w+|[a-z]+[A-Z]\w*|[A-Z]{2,}[A-Z_]*\d*|[A-Z]+-?\d[\w-]*|\w{2,}-\d+|[a-z]{2,}\d+)\b"
)
ENDINGS = {
    "py": "python",
    "js": "javascript",
    "csv": "csv",
    "json": "json",
    "toml": "toml",
    "yaml": "yaml",
    "md": "markdown",
    "txt": "text",
    "html": "html",
    "css": "css",
    "sql": "sql",
    "rs": "rust",
    "go": "go",
    "java": "java",
    "rb": "ruby",
    "c": "c",
    "ini": "ini",
    "xml": "xml",
    "sh": "shell",
    "ts": "typescript",
    "log": "log",
    "tsv": "tsv",
    "srt": "srt",
}


NAME = re.compile(r"(?<=[a-z,:] )[A-ZÀ-Ý][\w-]{2,}")
WORD = re.compile(r"[a-zäöüßéèñ]{4,}")
STEMS = re.compile(r"[a-z]{4}")
COMMON = frozenset(
    """what which where when does have tell could would please need know look find from with that this there
    many much show""".split()
)
KNOWLEDGE = re.compile(r"\bhow (do|can|does) (i|one|we)\b", re.IGNORECASE)


def choose(
    rng: random.Random, shapes: Sequence[str], makers: Sequence[Callable[[random.Random], Page]] = ()
) -> tuple[Page, Ask]:
    """A page and one of its questions of these shapes."""
    for _ in range(40):
        page = foldered(rng, some_page(rng, makers))
        fitting = [ask for ask in page.asks if ask.shape in shapes]
        if fitting:
            return page, rng.choice(fitting)
    raise Unfit("no such question")


def lay_out(play: Play, page: Page, others: Sequence[Page]) -> None:
    """Write the page and its neighbours."""
    play.file(page.path, page.text)
    for other in others:
        play.file(other.path, other.text)


def same_kind(rng: random.Random, page: Page) -> list[Page]:
    """Neighbours, and at times another version of the page with other values under a name of its own."""
    others = neighbours(rng, page, 5)
    stem, dot, ending = page.path.rpartition(".")
    if rng.random() < 0.3 and stem and not stem.endswith("/"):
        twin = Page(
            f"{stem}{rng.choice(['_old', '.bak', '-2', '_copy', '2', '.dev', '_new'])}{dot}{ending}", "", ""
        )
        twin.lines = [re.sub(r"\d", lambda found: str((int(found[0]) + 3) % 10), line) for line in page.lines]
        others.append(twin)
    return others


def named(play: Play, page: Page, *, full: bool = False) -> str:
    """A way to write the path: whole, or only the last part."""
    base = page.path.rpartition("/")[2]
    name = base if "/" in page.path and not full and play.rng.random() < 0.45 else page.path
    return play.rng.choice(
        [name] * 8
        + [
            f"`{name}`",
            f'"{name}"',
            f"the file {name}",
            f"my {name}",
            f"our {name}",
            f"file {name}",
            f"the {name} file",
        ]
    )


def find_named(play: Play, page: Page, text: str) -> None:
    """Read a file that the user named; when the folder was left out, the tool's hint or a search finds it."""
    if page.path in text:
        play.read(page.path)
        return
    base = page.path.rpartition("/")[2]
    if f"did you mean {page.path}?" not in play.read(base):
        play.glob(f"**/{base}")
    play.read(page.path)


def find_unnamed(play: Play, page: Page, others: Sequence[Page], question: str, lines: Sequence[int]) -> None:
    """Find a file that the user did not name: by a rare word, by its name, or by both."""
    rare = [
        word
        for word in (*DISTINCT.findall(question), *NAME.findall(question))
        if is_only_in(word, page, others)
    ]
    if rare and others:
        play.grep(escaped(rare[0]))
        play.read(page.path)
        return
    play.glob()
    if others and not {*STEMS.findall(question.lower())} & {*STEMS.findall(" ".join(words_of(page)))}:
        words = [
            word for word in WORD.findall(question) if word not in COMMON and is_only_in(word, page, others)
        ]
        proof = " ".join(page.lines[number - 1] for number in lines)
        if not words:
            raise Unfit("nothing to search for")
        play.grep(escaped(([word for word in words if word in proof] or words)[-1]))
    play.read(page.path)


def is_only_in(word: str, page: Page, others: Sequence[Page]) -> bool:
    """True when only this page has the word."""
    return word in page.text and not any(word in other.text for other in others)


def escaped(word: str) -> str:
    """A word as a pattern."""
    return re.escape(word).replace(r"\-", "-")


def by_kind(rng: random.Random, page: Page, others: Sequence[Page]) -> str:
    """What the file is, for the user to name it by."""
    ending = page.path.rpartition(".")[2]
    alone = not any(other.path.endswith(f".{ending}") for other in others)
    if alone and ending in ENDINGS and rng.random() < 0.25:
        return spin(
            rng,
            f"the {ENDINGS[ending]} [file|one]|my {ENDINGS[ending]} file|the .{ending}|the .{ending} file"
            f"|our {ENDINGS[ending]}",
        )
    return spin(rng, page.called)


def ask_page(play: Play, page: Page, question: str, *, way: str = "", lines: Sequence[int] = ()) -> None:
    """Lay out the folder, ask the question and find the file."""
    rng = play.rng
    way = way or rng.choice(["named", "named", "named", "kind", "none"])
    if way == "named":
        others = same_kind(rng, page)
        lay_out(play, page, others)
        text = worded(
            rng, with_file(rng, question, named(play, page, full=any(twin(page, other) for other in others)))
        )
        play.user(text)
        find_named(play, page, text)
        return
    others = neighbours(rng, page)
    if way == "none" and (page.is_common or KNOWLEDGE.search(question)):
        way = "kind"
    if way == "none" and (rng.random() < 0.3 or re.search(r"\bit\b|^the |^only |\bline\b", question)):
        others = []
    name = by_kind(rng, page, others) if way == "kind" else ""
    lay_out(play, page, others)
    text = worded(rng, with_file(rng, question, name))
    play.user(text)
    if way == "none":
        find_unnamed(play, page, others, text, lines)
        return
    play.glob()
    play.read(page.path)


def twin(one: Page, two: Page) -> bool:
    """True when two paths end in the same name."""
    return one.path.rpartition("/")[2] == two.path.rpartition("/")[2]


def answer_shapes(play: Play, *shapes: str, way: str = "") -> None:
    """One question of these shapes."""
    page, ask = choose(play.rng, shapes)
    ask_page(play, page, question_of(play.rng, ask), way=way, lines=ask.lines)
    play.say(answer_of(page, ask))


def fact(play: Play) -> None:
    """A fact from a file that is named."""
    answer_shapes(play, "fact", way="named")


def fact_of_kind(play: Play) -> None:
    """A fact from a file that is named by what it is."""
    answer_shapes(play, "fact", way="kind")


def fact_unnamed(play: Play) -> None:
    """A fact, and no word about the file."""
    answer_shapes(play, "fact", way="none")


def program_case(play: Play) -> None:
    """What a function returns, takes or does."""
    answer_shapes(play, "code")


def extreme(play: Play) -> None:
    """The largest, the smallest, the better of two."""
    answer_shapes(play, "most")


def computed(play: Play) -> None:
    """A sum or a difference."""
    answer_shapes(play, "sum")


def yes_or_no(play: Play) -> None:
    """A question that is answered with yes or no, on or off."""
    answer_shapes(play, "check", "check", "switch")


def enumerated(play: Play) -> None:
    """A list of things that fit."""
    answer_shapes(play, "list")


def counted(play: Play) -> None:
    """How many there are."""
    answer_shapes(play, "count")


def quoted(play: Play) -> None:
    """A passage word by word."""
    answer_shapes(play, "quote")


def several_facts(play: Play) -> None:
    """Two or three facts in one order."""
    rng = play.rng
    fitting: list[Ask] = []
    while len(fitting) < 2:
        page, _ = choose(rng, ["fact"])
        fitting = [ask for ask in page.asks if ask.shape == "fact" and ask.noun]
    asks = rng.sample(fitting, min(len(fitting), rng.choice([2, 2, 2, 3])))
    if len({ask.value for ask in asks}) < len(asks):
        raise Unfit("the same value twice")
    ask_page(play, page, two_questions(rng, asks))
    lines = sorted({number for ask in asks for number in ask.lines})
    play.say("\n".join([*(evidence(page, number, page.path) for number in lines), both(asks)]))


def two_questions(rng: random.Random, asks: Sequence[Ask]) -> str:
    """Several questions in one sentence."""
    nouns = [ask.noun for ask in asks]
    if rng.random() < 0.5 or len(asks) > 2:
        short = [noun.removeprefix("the ") for noun in nouns]
        use = nouns if rng.random() < 0.6 else short
        row = f"{', '.join(use[:-1])} {rng.choice(['and', 'and', 'plus', 'and also', '&'])} {use[-1]}"
        return spin(
            rng,
            f"what are {row}|{row}|tell me {row}|i need {row}|give me {row}|{row}, please|what is {row}"
            f"|can you find {row}|look up {row}|show me {row}|{row} - what are they",
        )
    first, second = (question_of(rng, ask).rstrip("?.") for ask in asks)
    return spin(
        rng,
        f"{first} and {second}|{first}, and {second}|{first}? and {second}|{first}; {second}"
        f"|{first}? also {second}|{first} + {second}|two things: {first}, and {second}",
    )


def both(asks: Sequence[Ask]) -> str:
    """Several answers in one sentence."""
    parts = [ask.answer.removesuffix(".") for ask in asks]
    rest = [
        lower_first(part) if part.startswith(("The ", "It ", "There ", "You ")) else part
        for part in parts[1:]
    ]
    return ", and ".join([parts[0], *rest]) + "."


def and_then(play: Play) -> None:
    """A question, then another one about the same file."""
    rng = play.rng
    shapes = ["fact", "fact", "fact", "check", "code", "most"]
    page, ask = choose(rng, shapes)
    ask_page(play, page, question_of(rng, ask), lines=ask.lines)
    play.say(answer_of(page, ask))
    rest = [
        other
        for other in page.asks
        if other.shape in shapes and other is not ask and other.answer != ask.answer
    ]
    for other in rng.sample(rest, min(len(rest), rng.choice([1, 1, 2]))):
        question = question_of(rng, other)
        if other.noun and rng.random() < 0.4:
            question = spin(
                rng,
                f"and {other.noun}|what about {other.noun}|now {other.noun}|and what is {other.noun}"
                f"|ok, and {other.noun}|{other.noun} too",
            )
        else:
            question = spin(rng, f"[and |and |ok, |thanks. |good, and |next: ||]{question}[| then|]")
        play.user(worded(rng, question))
        play.read(page.path)
        play.say(answer_of(page, other))


def other_section(play: Play) -> None:
    """A key that stands in two sections."""
    rng = play.rng
    for _ in range(60):
        page = foldered(rng, settings(rng))
        keys = [
            re.split(r"[ =:]", line.strip())[0]
            for line in page.lines
            if re.match(r"\s*\"?\w+\"? ?[=:] ?\S", line)
        ]
        double = {key.strip('"') for key in keys if keys.count(key) > 1 and len(key) > 1}
        asks = [
            ask
            for ask in page.asks
            if ask.shape == "fact"
            and ask.lines
            and any(key in page.lines[ask.lines[0] - 1] for key in sorted(double))
        ]
        if double and asks:
            break
    else:
        raise Unfit("no key stands twice")
    ask = rng.choice(asks)
    ask_page(play, page, question_of(rng, ask), lines=ask.lines)
    play.say(answer_of(page, ask))


def cell_of_row(play: Play) -> None:
    """A cell of a table."""
    page, ask = choose(play.rng, ["fact"], [table])
    ask_page(play, page, question_of(play.rng, ask), lines=ask.lines)
    play.say(answer_of(page, ask))


def not_there(play: Play) -> None:
    """Something that the file does not say."""
    rng = play.rng
    for _ in range(30):
        page = foldered(rng, some_page(rng))
        if page.absent:
            break
    else:
        raise Unfit("nothing is missing")
    words, answer = rng.choice(page.absent)
    ask_page(play, page, spin(rng, words), way=rng.choice(["named", "named", "kind"]))
    play.say(answer.replace("{file}", page.path))


WHOLE_LINES = """
what is in line {n}|line {n}|what does line {n} say|read me line {n}|show me line {n}|what stands in line {n}
give me line {n}|print line {n}|only line {n}|the text of line {n}|line number {n}
i need line no. {n}|can you quote line {n}
what's on line {n}|which text is at line {n}
"""
ENDS = {
    "first": (
        "first line|what is the first line|[show|read|give] me the first line|how does it [begin|start]"
        "|the top line|line one|what stands at the very top"
    ),
    "last": (
        "last line|what is the last line|[show|read|give] me the last line|how does it end"
        "|the bottom line|the final line|what stands at the very end"
    ),
    "second": "second line|what is the second line|read me the second line|the line after the first",
    "third": "third line|what is the third line|read me the third line",
    "second to last": "the last line but one|second to last line|the line before the last",
}


def line_by_number(play: Play) -> None:
    """A line by its number or by its place."""
    rng = play.rng
    page = foldered(rng, some_page(rng))
    total = len(page.lines)
    if rng.random() < 0.5:
        number = rng.randint(1, total)
        question = spin(rng, WHOLE_LINES.strip().replace("\n", "|"), {"n": str(number)})
        closing = f"Line {number}"
    else:
        place = rng.choice(list(ENDS))
        number = {"first": 1, "second": 2, "third": 3, "last": total, "second to last": total - 1}[place]
        question, closing = spin(rng, ENDS[place]), f"The {place} line"
    if not 1 <= number <= total:
        raise Unfit("no such line")
    ask_page(play, page, question, way=rng.choice(["named", "named", "named", "kind"]))
    line = page.lines[number - 1].strip()
    if not line:
        play.say(f"{closing} of {page.path} is empty.")
        return
    play.say(f"{page.path}, line {number}: {line}\n{closing} is: {line}")


def lines_between(play: Play) -> None:
    """Several lines."""
    rng = play.rng
    page = foldered(rng, some_page(rng))
    count = rng.randint(2, 4)
    if len(page.lines) < count + 2:
        raise Unfit("too short")
    kind = rng.choice(["first", "last", "from"])
    first = {"first": 1, "last": len(page.lines) - count + 1}.get(kind) or rng.randint(
        1, len(page.lines) - count
    )
    last = first + count - 1
    words = {
        "first": (
            f"[show me|read|give me|what are|print|] the first {count} lines|head -{count}"
            f"|the top {count} lines"
        ),
        "last": (
            f"[show me|read|give me|what are|print|] the last {count} lines|tail -{count}"
            f"|the {count} lines at the end"
        ),
        "from": (
            f"[show me|read|give me|print|] lines {first} to {last}|lines {first}-{last}"
            f"|what is in lines {first} to {last}|from line {first} to line {last}"
        ),
    }
    ask_page(play, page, spin(rng, words[kind]), way=rng.choice(["named", "named", "kind"]))
    shown = [f"{number}: {page.lines[number - 1].rstrip()}".rstrip() for number in range(first, last + 1)]
    play.say("\n".join([*shown, f"These are lines {first} to {last} of {page.path}."]))


def number_of_lines(play: Play) -> None:
    """How many lines a file has."""
    rng = play.rng
    page = foldered(rng, some_page(rng))
    question = spin(
        rng,
        "how many lines are there|how many lines does it have|line count|number of lines|count the lines"
        "|how long is it, in lines|lines in total|how many lines is that",
    )
    ask_page(play, page, question, way=rng.choice(["named", "named", "named", "kind"]))
    play.say(f"{page.path} has {len(page.lines)} {'line' if len(page.lines) == 1 else 'lines'}.")


def heading(play: Play) -> None:
    """The title of a text."""
    rng = play.rng
    for _ in range(40):
        page = foldered(rng, some_page(rng))
        if page.title:
            break
    else:
        raise Unfit("no title")
    title = page.lines[page.title - 1].strip().lstrip("#").strip()
    question = spin(
        rng,
        "what is the [title|heading|headline]|title|heading|[which|what] title does it have"
        "|what is it called|what's the headline|the heading please|read me the title"
        "|what is written at the top|under what heading is it",
    )
    ask_page(play, page, question, way=rng.choice(["named", "named", "kind"]))
    play.say(f"{evidence(page, page.title, page.path)}\nThe title is: {title}")


def summary(play: Play) -> None:
    """What a text is, in a sentence."""
    rng = play.rng
    page = foldered(rng, some_page(rng))
    name = named(play, page)
    words = (
        "what is {F}|what is {F} about|what's in {F}, in one sentence|summarize {F}|summarise {F} [briefly"
        "|in one sentence|for me]|tl;dr of {F}|what kind of file is {F}"
        "|sum up {F}|what does {F} contain|give me a short summary of {F}|in one sentence, what is {F}"
        "|what is {F} for|describe {F}|what do we have in {F}"
        "|explain me {F} shortly|i found {F}, what is that|what's this {F}|can you summarize {F} for me"
        "|short overview of {F}"
    )
    others = same_kind(rng, page)
    lay_out(play, page, others)
    if any(twin(page, other) for other in others):
        name = page.path
    text = worded(rng, spin(rng, words, {"F": name}))
    play.user(text)
    find_named(play, page, text)
    sure = [ask for ask in page.asks if ask.shape == "fact" and ask.noun and ask.value]
    more = f" {rng.choice(sure).answer}" if sure and rng.random() < 0.5 else ""
    play.say(f"{page.path} is {page.about}.{more}")


def which_file(play: Play) -> None:
    """The same fact in two files: the one that is meant."""
    rng = play.rng
    page, ask = choose(rng, ["fact", "check"])
    for _ in range(60):
        other = foldered(rng, some_page(rng))
        if (
            other.path.rpartition(".")[2] == page.path.rpartition(".")[2]
            and other.path != page.path
            and not alike(page, other)
        ):
            break
    else:
        raise Unfit("no second file")
    lay_out(play, page, [other])
    question = question_of(rng, ask)
    name = named(play, page, full=True)
    text = spin(
        rng,
        f"{question} in {name}, not in {other.path}|{name} (not {other.path}): {question}"
        f"|{question}? i mean {name}, not {other.path}|look in {name} instead of {other.path}: {question}",
    )
    play.user(worded(rng, text))
    play.read(page.path)
    play.say(answer_of(page, ask))


FAMILIES = (
    Family(fact, 6.5),
    Family(fact_of_kind, 4.5),
    Family(fact_unnamed, 4.5),
    Family(cell_of_row, 2.0),
    Family(program_case, 4.0),
    Family(other_section, 1.5),
    Family(several_facts, 4.0),
    Family(extreme, 2.0),
    Family(computed, 1.3),
    Family(yes_or_no, 2.6),
    Family(enumerated, 2.2),
    Family(counted, 2.8),
    Family(quoted, 1.0),
    Family(and_then, 2.0),
    Family(not_there, 1.4),
    Family(line_by_number, 1.4),
    Family(lines_between, 0.4),
    Family(number_of_lines, 0.6),
    Family(heading, 0.6),
    Family(summary, 1.3),
    Family(which_file, 0.4),
)
