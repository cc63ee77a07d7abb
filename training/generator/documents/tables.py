"""Tables of many domains in many formats, and what can be asked of rows, columns and cells."""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import gt, lt

from training.generator.documents.page import Ask, Page, joined, pick, unfolded, upper_first
from training.generator.documents.table_data import TABLES
from training.generator.documents.words import (
    CITIES,
    COLOURS,
    DAYS,
    FIRST,
    LAST,
    bank,
    clock,
    coined,
    date_of,
    money,
    person,
    phone,
)

__all__ = ["table"]


@dataclass(frozen=True)
class Column:
    """A column: how its values are made and how people ask for one."""

    header: str
    kind: str
    noun: str
    words: str
    answer: str
    extremes: tuple[str, ...]

    @property
    def is_number(self) -> bool:
        """True when values can be compared and added."""
        return self.kind.split()[0] in {"int", "dec", "money"}

    @property
    def short(self) -> str:
        """The noun without `number of`."""
        return self.noun.removeprefix("number of ")


@dataclass(frozen=True)
class Domain:
    """What a table is about."""

    stems: tuple[str, ...]
    called: str
    row: str
    rows: str
    source: str
    header: str
    columns: tuple[Column, ...]


def parsed(block: str) -> Domain:
    """A domain from its block of text."""
    first, *rest = block.split("\n")
    stems, called, row, source, header = first.split(" ; ")
    columns = []
    for line in rest:
        name, kind, noun, words, answer, *extremes = line.split(" ; ")
        ends = tuple(extremes[0].split("/")) if extremes else ()
        columns.append(Column(name, kind, noun, words, answer, ends))
    singular, plural = row.split(",")
    return Domain(tuple(stems.split(",")), called, singular, plural, source, header, tuple(columns))


DOMAINS = tuple(parsed(block) for block in unfolded(TABLES).split("\n\n"))


def code(rng: random.Random, pattern: str) -> str:
    """A code such as A-104: # is a digit, X and A (after a digit) are letters."""
    drawn = re.sub("#", lambda _: str(rng.randint(1, 9)), pattern)
    return re.sub("X", lambda _: rng.choice("ABCDEFGHKLMNPRST"), drawn)


def row_names(rng: random.Random, source: str, count: int) -> list[str]:
    """Different names for the rows of a table."""
    makers: dict[str, Callable[[], str]] = {
        "coined": lambda: coined(rng),
        "coded": lambda: (
            rng.choice(["web", "db", "mail", "nas", "build", "cache", "edge"]) + str(rng.randint(1, 30))
        ),
        "first": lambda: rng.choice(FIRST),
        "person": lambda: person(rng),
        "city": lambda: rng.choice(CITIES),
        "things": lambda: rng.choice(bank("thing")),
    }
    if source.startswith("code "):
        makers[source] = lambda: code(rng, source[5:])
    if source not in makers:
        words = source.split(",")
        return sorted(
            rng.sample(words, min(count, len(words))), key=words.index if words[0] == "Monday" else None
        )
    names: list[str] = []
    for _ in range(200):
        name = makers[source]()
        if len(names) < count and not any(name in other or other in name for other in names):
            names.append(name)
    return names


def cell(rng: random.Random, kind: str, row: str) -> str:
    """A value of a column."""
    word, *rest = kind.split(" ", 1)
    more = rest[0] if rest else ""
    match word:
        case "int":
            least, most, step = map(int, more.split())
            return str(rng.randrange(least, most + 1, step))
        case "dec":
            least, most, digits = map(int, more.split())
            return f"{rng.uniform(least, most):.{digits}f}"
        case "pick":
            return rng.choice(more.split(","))
        case "part":
            return row.split("=")[int(more)]
        case "code":
            return code(rng, more)
        case "colour":
            return rng.choice(COLOURS.replace("\n", "|").split("|"))
        case "bool":
            return rng.choice(["yes", "no"])
        case "year":
            return str(rng.randint(1952, 2025))
        case "ip":
            return f"10.{rng.randint(0, 40)}.{rng.randint(0, 9)}.{rng.randint(2, 250)}"
        case "mail":
            return f"{row.split()[0].lower()}.{row.split()[-1].lower()}@{coined(rng).lower()}.example"
        case "last":
            return rng.choice(LAST)
        case _:
            pass
    makers: dict[str, Callable[[random.Random], str]] = {
        "money": money,
        "person": person,
        "phone": phone,
        "date": date_of,
        "time": clock,
        "coined": coined,
        "first": lambda chance: chance.choice(FIRST),
        "city": lambda chance: chance.choice(CITIES),
        "weekday": lambda chance: chance.choice(DAYS),
    }
    return makers[word](rng)


@dataclass(frozen=True)
class Grid:
    """A table with its values, before it has a format."""

    domain: Domain
    names: list[str]
    columns: list[Column]
    cells: list[list[str]]

    def column(self, column: Column) -> list[str]:
        """The values of a column."""
        at = self.columns.index(column)
        return [row[at] for row in self.cells]


def grid(rng: random.Random) -> Grid:
    """A random table."""
    domain = rng.choice(DOMAINS)
    keys = row_names(rng, domain.source, rng.choice([3, 4, 5, 5, 6, 6, 7, 8, 9, 11]))
    chosen = rng.sample(domain.columns, rng.randint(1, len(domain.columns)))
    if rng.random() < 0.5:
        chosen.sort(key=domain.columns.index)
    form = rng.randrange(6)
    cells = [
        [date_of(rng, form) if column.kind == "date" else cell(rng, column.kind, key) for column in chosen]
        for key in keys
    ]
    return Grid(domain, [key.split("=")[0] for key in keys], chosen, cells)


def cased(rng: random.Random, headers: Sequence[str]) -> list[str]:
    """The headers as one author would write them."""
    style = rng.choice(["as is", "as is", "upper", "title", "spaced"])
    change: dict[str, Callable[[str], str]] = {
        "as is": str,
        "upper": str.upper,
        "spaced": lambda text: text.replace("_", " "),
        "title": lambda text: upper_first(text.replace("_", " ")),
    }
    return [change[style](header) for header in headers]


def separated(page: Page, sheet: Grid, headers: list[str], mark: str) -> list[list[int]]:
    """Write CSV or TSV; the lines of every row."""
    page.add(mark.join(headers))
    return [[page.add(mark.join([name, *row]))] for name, row in zip(sheet.names, sheet.cells, strict=True)]


def markdown(page: Page, sheet: Grid, headers: list[str], title: str) -> list[list[int]]:
    """Write a Markdown table."""
    page.title = page.add(f"# {title}")
    page.add("", f"| {' | '.join(headers)} |", "|" + "---|" * len(headers))
    return [
        [page.add(f"| {' | '.join([name, *row])} |")]
        for name, row in zip(sheet.names, sheet.cells, strict=True)
    ]


def aligned(page: Page, sheet: Grid, headers: list[str], title: str) -> list[list[int]]:
    """Write columns padded with spaces."""
    rows = [headers, *([name, *row] for name, row in zip(sheet.names, sheet.cells, strict=True))]
    widths = [max(len(row[at]) for row in rows) + 2 for at in range(len(headers))]
    padded = [
        "".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    if title:
        page.title = page.add(title)
        page.add("")
    page.add(padded[0])
    return [[page.add(line)] for line in padded[1:]]


def json_rows(page: Page, sheet: Grid, headers: list[str], key: str) -> list[list[int]]:
    """Write a JSON list with an object on each line, or spread over lines."""
    page.add("[" if not key else f'{{ "{key}": [')
    lines = []
    spread = len(sheet.names) * len(headers) < 24
    for at, (name, row) in enumerate(zip(sheet.names, sheet.cells, strict=True)):
        pairs = [
            f"{json.dumps(head)}: {as_json(value)}" for head, value in zip(headers, [name, *row], strict=True)
        ]
        comma = "," if at < len(sheet.names) - 1 else ""
        if not spread:
            lines.append([page.add(f"  {{ {', '.join(pairs)} }}{comma}")])
            continue
        page.add("  {")
        first = len(page.lines) + 1
        page.add(*(f"    {pair}," for pair in pairs[:-1]), f"    {pairs[-1]}", f"  }}{comma}")
        lines.append(list(range(first, first + len(pairs))))
    page.add("]" if not key else "] }")
    return lines


def as_json(value: str) -> str:
    """A cell as a JSON value."""
    if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", value):
        return value
    return {"yes": "true", "no": "false"}.get(value, json.dumps(value, ensure_ascii=False))


def yaml_rows(page: Page, sheet: Grid, headers: list[str], key: str) -> list[list[int]]:
    """Write a YAML list of mappings."""
    page.add(f"{key}:")
    lines = []
    for name, row in zip(sheet.names, sheet.cells, strict=True):
        first = page.add(f"  - {headers[0]}: {name}")
        page.add(*(f"    {head}: {value}" for head, value in zip(headers[1:], row, strict=True)))
        lines.append(list(range(first, len(page.lines) + 1)))
    return lines


def blocks(page: Page, sheet: Grid, headers: list[str], title: str) -> list[list[int]]:
    """Write a paragraph for each row."""
    page.title = page.add(title)
    lines = []
    for name, row in zip(sheet.names, sheet.cells, strict=True):
        page.add("")
        first = page.add(name)
        page.add(*(f"  {head}: {value}" for head, value in zip(headers[1:], row, strict=True)))
        lines.append(list(range(first, len(page.lines) + 1)))
    return lines


def sentences(page: Page, sheet: Grid, headers: list[str], title: str) -> list[list[int]]:
    """Write a line `name: a, b` for each row, with the headers between when there are several."""
    if title:
        page.title = page.add(title)
    many = len(sheet.columns) > 1
    lines = []
    for name, row in zip(sheet.names, sheet.cells, strict=True):
        parts = [f"{head} {value}" if many else value for head, value in zip(headers[1:], row, strict=True)]
        lines.append([page.add(f"{name}: {', '.join(parts)}")])
    return lines


def table(rng: random.Random) -> Page:
    """A table of any domain, in any format."""
    sheet = grid(rng)
    domain = sheet.domain
    stem = rng.choice(domain.stems)
    if rng.random() < 0.2:
        stem = rng.choice([f"{stem}_{rng.randint(2021, 2026)}", f"{stem}-{rng.choice('abcd')}", f"my_{stem}"])
    title = upper_first(stem.replace("_", " ").replace("-", " "))
    headers = cased(rng, [domain.header, *(column.header for column in sheet.columns)])
    page = Page("", f"[the|our|my] [{domain.called}]", f"a table of {len(sheet.names)} {domain.rows}")
    kind = rng.choice(
        ["csv"] * 7 + ["md"] * 3 + ["txt"] * 4 + ["json"] * 3 + ["yaml"] * 2 + ["tsv", "pairs", "pairs"]
    )
    match kind:
        case "csv":
            lines = separated(page, sheet, headers, rng.choice([",", ",", ",", ";"]))
        case "tsv":
            lines = separated(page, sheet, headers, "\t")
        case "md":
            lines = markdown(page, sheet, headers, title)
        case "json":
            lines = json_rows(page, sheet, headers, rng.choice(["", domain.rows]))
        case "yaml":
            lines = yaml_rows(page, sheet, headers, domain.rows)
        case "pairs":
            kind = "txt"
            lines = sentences(page, sheet, headers, rng.choice(["", title]))
        case _:
            write = rng.choice([aligned, blocks])
            lines = write(page, sheet, headers, title)
    page.path = f"{stem}.{kind}"
    page.is_common = domain.row in {"word", "material"}
    Questions(rng, page, sheet, lines).ask_all()
    return page


class Questions:
    """The questions about a table that stands on a page."""

    def __init__(self, rng: random.Random, page: Page, sheet: Grid, lines: list[list[int]]) -> None:
        self.rng = rng
        self.page = page
        self.sheet = sheet
        self.lines = lines

    def ask_all(self) -> None:
        """Add every question that makes sense."""
        for column in self.sheet.columns:
            self.cells(column)
            self.reverse(column)
            if column.extremes:
                self.extremes(column)
            if column.is_number and column.extremes:
                self.beyond(column)
                self.sums(column)
            if column.kind.startswith("pick") or column.kind in {"first", "bool"}:
                self.filtered(column)
        self.whole()

    def evidence(self, at: int, column: Column) -> list[int]:
        """The lines that hold a cell, and the name of its row."""
        mine = self.lines[at]
        return [mine[0]] if len(mine) == 1 else [mine[0], mine[1 + self.sheet.columns.index(column)]]

    def cells(self, column: Column) -> None:
        """Ask for one cell of a few rows."""
        values = self.sheet.column(column)
        for at in pick(self.rng, [str(i) for i in range(len(values))], 2, 4):
            name, value = self.sheet.names[int(at)], values[int(at)]
            words = column.words.replace("{r}", name)
            answer = column.answer.replace("{r}", name).replace("{v}", value)
            noun = f"the {column.noun} of {name}"
            lines = tuple(self.evidence(int(at), column))
            self.page.asks.append(Ask("fact", words, upper_first(answer), lines, noun=noun, value=value))

    def reverse(self, column: Column) -> None:
        """Ask for the row in which a value stands."""
        values = self.sheet.column(column)
        at = self.rng.randrange(len(values))
        if values.count(values[at]) > 1 or column.kind == "bool":
            return
        name, value = self.sheet.names[at], values[at]
        row = self.sheet.domain.row
        words = (
            f"which {row} has [the|] {column.noun} {value}|[who|which {row}|which one] [is it"
            f"|is that] with {column.noun} {value}"
            f"|{value} is the {column.noun} of which {row}|find the {row} [with|whose] {column.noun} [is"
            f"|] {value}"
            f"|{column.noun} {value} - which {row} is that|to which {row} belongs the {column.noun} {value}"
        )
        self.page.ask("fact", words, f"It is {name}.", self.evidence(at, column))

    def extremes(self, column: Column) -> None:
        """Ask for the largest or the smallest value."""
        values = [float(value.replace(":", "")) for value in self.sheet.column(column)]
        largest = self.rng.random() < 0.5
        best = max(values) if largest else min(values)
        if values.count(best) > 1 or len(values) < 3:
            return
        at = values.index(best)
        own = column.extremes[0 if largest else 1]
        degree = "[highest|largest|biggest|most|top]" if largest else "[lowest|smallest|least]"
        row = self.sheet.domain.row
        plain = (
            f"which {row} has the {degree} {column.noun}|what is the {degree} {column.noun} and whose is it"
        )
        value = self.sheet.column(column)[at]
        word = "highest" if largest else "lowest"
        answer = f"{upper_first(self.sheet.names[at])} has the {word} {column.noun}: {value}."
        if not column.is_number:
            answer, plain = f"It is {self.sheet.names[at]}: {value}.", own
        self.page.ask("most", f"{own}|{own}|{plain}", answer, self.evidence(at, column))

    def beyond(self, column: Column) -> None:
        """Ask which rows lie above or below a number."""
        values = self.sheet.column(column)
        numbers = sorted(float(value) for value in values)
        at = self.rng.randrange(len(numbers) - 1)
        limit = round((numbers[at] + numbers[at + 1]) / 2)
        if limit in numbers or numbers[at] == numbers[at + 1]:
            return
        above = self.rng.random() < 0.6
        holds = gt if above else lt
        hits = [
            f"{name}: {value}"
            for name, value in zip(self.sheet.names, values, strict=True)
            if holds(float(value), limit)
        ]
        if not 1 <= len(hits) <= 6:
            return
        beyond = (
            "[over|above|more than|higher than|greater than]"
            if above
            else "[under|below|less than|lower than]"
        )
        rows = self.sheet.domain.rows
        words = (
            f"which {rows} have [a|] {column.noun} {beyond} {limit}"
            f"|list the {rows} with {column.noun} {beyond} {limit}"
            f"|[all|show me the] {rows} {beyond} {limit} [in|by] {column.noun}"
            f"|whose {column.noun} is {beyond} {limit}"
        )
        count = (
            f"how many {rows} have [a|] {column.noun} {beyond} {limit}"
            f"|number of {rows} with {column.noun} {beyond} {limit}"
        )
        if column.short != column.noun:
            beyond = "[over|more than]" if above else "[under|less than|fewer than]"
            words = (
                f"which {rows} have {beyond} {limit} {column.short}"
                f"|list the {rows} with {beyond} {limit} {column.short}"
            )
            count = (
                f"how many {rows} have {beyond} {limit} {column.short}"
                f"|count the {rows} with {beyond} {limit} {column.short}"
            )
        side = "above" if above else "below"
        noun = self.sheet.domain.row if len(hits) == 1 else rows
        closing = f"That is {len(hits)} {noun} {side} {limit}."
        self.page.listed("list", words, hits, closing)
        self.page.listed("count", count, hits, closing)

    def sums(self, column: Column) -> None:
        """Ask for the sum or the difference of two cells."""
        values = self.sheet.column(column)
        if len(values) < 2 or (column.kind.split()[0] == "dec" and len(values[0]) > 5):
            return
        one, two = self.rng.sample(range(len(values)), 2)
        digits = len(values[one].partition(".")[2])
        names = self.sheet.names[one], self.sheet.names[two]
        lines = sorted({*self.evidence(one, column), *self.evidence(two, column)})
        total = f"{float(values[one]) + float(values[two]):.{digits}f}"
        words = (
            f"what is the {column.noun} of {names[0]} and {names[1]} [together|in total|added up|combined]"
            f"|add the {column.noun} of {names[0]} to the one of {names[1]}"
            f"|sum of the {column.noun} of {names[0]} and {names[1]}"
            f"|{names[0]} plus {names[1]}, [what|which] {column.noun} is that [in total|together|altogether]"
        )
        answer = f"{values[one]} + {values[two]} = {total}, so together it is {total}."
        if column.short != column.noun:
            words = (
                f"how many {column.short} do {names[0]} and {names[1]} [have|] [together|in total|altogether]"
                f"|{column.short} of {names[0]} and {names[1]} added up"
                f"|add up the {column.short} of {names[0]} and {names[1]}"
            )
        if column.noun not in {"pulse", "pH", "tempo", "score", "density", "melting point"}:
            self.page.ask("sum", words, answer, lines)
        if float(values[one]) == float(values[two]):
            return
        high, low = (one, two) if float(values[one]) > float(values[two]) else (two, one)
        gap = f"{float(values[high]) - float(values[low]):.{digits}f}"
        apart = (
            f"what is the difference in {column.noun} between {names[0]} and {names[1]}"
            f"|by how much do {names[0]} and {names[1]} differ in {column.noun}"
            f"|how much [bigger|higher] is the {column.noun} of {self.sheet.names[high]} than that of "
            f"{self.sheet.names[low]}"
        )
        self.page.ask(
            "sum", apart, f"{values[high]} - {values[low]} = {gap}, so the difference is {gap}.", lines
        )
        more = (
            f"which has the higher {column.noun}, {names[0]} or {names[1]}"
            f"|{names[0]} or {names[1]}: who has the [bigger|higher] {column.noun}"
            f"|compare the {column.noun} of {names[0]} and {names[1]}"
        )
        top = upper_first(self.sheet.names[high])
        self.page.ask(
            "most", more, f"{top} has the higher {column.noun}: {values[high]} against {values[low]}.", lines
        )

    def filtered(self, column: Column) -> None:
        """Ask which rows share a value, and how many."""
        values = self.sheet.column(column)
        value = self.rng.choice(values)
        hits = [name for name, other in zip(self.sheet.names, values, strict=True) if other == value]
        rows, row = self.sheet.domain.rows, self.sheet.domain.row
        words = (
            f"which {rows} have [the|] {column.noun} {value}|list [all|the] {rows} with {column.noun} {value}"
            f"|[only|show me] the {rows} where [the|] {column.noun} is {value}"
            f"|all the {value} ones please, {column.noun} I mean"
        )
        count = (
            f"how many {rows} have [the|] {column.noun} {value}|how often is {value} the {column.noun}"
            f"|count the {rows} with {column.noun} {value}|number of {rows} whose {column.noun} is {value}"
        )
        closing = f"That is {len(hits)} {row if len(hits) == 1 else rows} with {column.noun} {value}."
        self.page.listed("list", words, hits, closing)
        self.page.listed("count", count, hits, closing)
        at = self.rng.randrange(len(values))
        name = self.sheet.names[at]
        asked = self.rng.choice([values[at], self.rng.choice(values)])
        yes = asked == values[at]
        check = (
            f"is the {column.noun} of {name} {asked}|does {name} have the {column.noun} {asked}"
            f"|{name}: {column.noun} {asked}, [right|correct|true]"
            f"|am i right that the {column.noun} of {name} is {asked}"
        )
        said = f"Yes, the {column.noun} of {name} is {asked}."
        denied = f"No, the {column.noun} of {name} is {values[at]}."
        self.page.ask("check", check, said if yes else denied, self.evidence(at, column))

    def whole(self) -> None:
        """Ask about the table as a whole: its rows, its columns, its ends."""
        domain, names = self.sheet.domain, self.sheet.names
        rows, row = domain.rows, domain.row
        self.page.listed(
            "count",
            f"how many {rows} are [there|listed|in it|in the table]|number of {rows}|count the {rows}"
            f"|how many {rows} do we have",
            names,
            f"That is {len(names)}.",
        )
        self.page.listed(
            "list",
            f"which {rows} are [listed|there|in it]|list [all|] the {rows}|[just"
            f"|only] the names of the {rows}|what {rows} do we have",
            names,
        )
        for at, word in ((0, "first"), (-1, "last")):
            lines = [self.lines[at][0]]
            self.page.ask(
                "fact",
                f"{word} {row}|[what is|which is|who is] the {word} {row}|which {row} [comes|stands] {word}",
                f"The {word} {row} is {names[at]}.",
                lines,
            )
        has = self.rng.choice(names)
        self.page.ask(
            "check",
            f"is {has} [in|on] [it|the list]|do we have {has}|can you see if {has} is in it|is {has} listed"
            f"|does {has} appear [anywhere|]",
            f"Yes, {has} is there.",
            [self.lines[names.index(has)][0]],
        )
        self.strange()

    def strange(self) -> None:
        """Ask for a row that is not there."""
        domain, names = self.sheet.domain, self.sheet.names
        source = domain.source if "=" not in domain.source else re.sub(r"=[^,]*", "", domain.source)
        other = next((name for name in row_names(self.rng, source, 12) if name not in names), "")
        if not other or any(other in name or name in other for name in names):
            return
        column = self.rng.choice(self.sheet.columns)
        shown = joined(names) if len(names) < 8 else f"{', '.join(names[:6])} and {len(names) - 6} more"
        self.page.missing(
            column.words.replace("{r}", other) + f"|what is the {column.noun} of {other}",
            f"There is no {other} in {{file}}. It has {shown}.",
        )
        self.page.ask(
            "check",
            f"is {other} [in|on] [it|the list]|do we have {other}|can you see if {other} is in it"
            f"|is {other} listed|does {other} appear [anywhere|]",
            f"No, {other} is not there.",
        )
