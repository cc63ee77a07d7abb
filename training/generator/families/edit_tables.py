"""Tables in CSV and Markdown: a cell by row and column, rows and columns."""

from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.create_shapes import TABLE_SHAPES, cell
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder
from training.generator.targets import aim, order_text, place

CELL = """
the {c} of {r} is {v}
{r}: {c} {v}
set the {c} of {r} to {v}
change {r}'s {c} to {v}
{r} has (a new|another) {c}: {v}
(in|for) the row {r} the {c} should be {v}
{c} of {r} should be {v}, not {o}
{r} has the wrong {c}, it is {v}
put {v} into the column {c} of {r}
correct the {c} of {r} ({v})
{v} is the {c} of {r}, please (fix|change) that
(can|could) you make the {c} of {r} {v}?
replace {o} by {v} (for|at) {r}
""".strip()
ADD = """
add (a row|a line|an entry): {v}
new row: {v}
append {v}
(add|put) {v} (at the end|at the bottom)
one more row, {v}
(also|then) {v}
the row {v} is missing(, add it|)
""".strip()
DELETE = """
(delete|remove) {r}
(delete|remove) the row of {r}
{r} can go
take {r} out
drop the row (with|of) {r}
{r} is not in it any more(, remove the row|)
we lost {r}, delete the row
""".strip()
HEAD = """
rename the column {c} to {v}
the column {c} should be called {v}
call the column {c} {v}
change the header {c} to {v}
{v} instead of {c} in the header
""".strip()
TWO = """
the {c} of {r} is {v} and the {c} of {s} is {w}
set the {c} of {r} to {v} and of {s} to {w}
{r}: {c} {v}, {s}: {c} {w}
new {c}s: {r} {v}, {s} {w}
two changes: {r} has {c} {v}, {s} has {c} {w}
""".strip()


class Table(Struct):
    """A file with a table."""

    path: str
    style: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: list[list[str]]
    top: list[str]

    @property
    def first(self) -> int:
        """The line of the first row."""
        return len(self.top) + (2 if self.style in ("md", "wide") else 1) + 1

    def row(self, row: list[str] | tuple[str, ...]) -> str:
        """Return the line of a row."""
        if self.style == "wide":
            widths = [max(len(one[at]) for one in (list(self.columns), *self.rows)) for at in range(len(row))]
            return (
                "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |"
            )
        return f"| {' | '.join(row)} |" if self.style == "md" else self.style.join(row)

    @property
    def text(self) -> str:
        """The file's text."""
        rule = ["|" + "---|" * len(self.columns)] if self.style in ("md", "wide") else []
        lines = [*self.top, self.row(self.columns), *rule, *(self.row(row) for row in self.rows)]
        return "\n".join(lines) + "\n"


def make_table(rng: Random) -> Table:
    """Make up a table in which the first column names the rows."""
    stems, columns, kinds = rng.choice(TABLE_SHAPES)
    style = rng.choice((",", ",", ";", "\t", "md", "md", "md"))
    rows = [[cell(rng, kind) for kind in kinds] for _ in range(rng.randint(3, 9))]
    names = [row[0] for row in rows]
    if len(set(names)) < len(rows) or kinds[0] in ("int 1 99", "int 100 999", "time", "date"):
        raise Unfit("rows without names")
    if any(style in text for row in rows for text in row):
        raise Unfit("a mark in a cell")
    is_markdown = style == "md"
    ending = "md" if is_markdown else "tsv" if style == "\t" else "csv"
    top = [f"# {rng.choice(stems).capitalize()}", ""] if is_markdown and rng.random() < 0.6 else []
    return Table(in_folder(rng, f"{rng.choice(stems)}.{ending}", 0.3), style, columns, kinds, rows, top)


def _start(play: Play, table: Table, order: str, word: str = "", *, exact_end: bool = False) -> None:
    rng = play.rng
    play.file(table.path, table.text)
    sources.distract(play, table.path, most=3)
    target = aim(rng, table.path, word if len(word) > 4 else "")
    if exact_end and target.said:
        order = rng.choice((f"in {target.said} {order}", f"{target.said}: {order}"))
    else:
        order = place(rng, order, target)
    play.user(order_text(rng, order, exact_end=exact_end))
    target.find(play)
    play.read(table.path)


def _other(rng: Random, kind: str, old: str) -> str:
    for _ in range(20):
        new = cell(rng, kind)
        if new != old:
            return new
    raise Unfit("no other value")


def _set(play: Play, table: Table, row: int, column: int, new: str) -> None:
    cells = [*table.rows[row][:column], new, *table.rows[row][column + 1 :]]
    play.set_lines(table.path, table.first + row, table.row(cells))


def change_cell(play: Play) -> None:
    """A cell, found by its row and column."""
    rng = play.rng
    table = make_table(rng)
    row, column = rng.randrange(len(table.rows)), rng.randrange(1, len(table.columns))
    name, old = table.rows[row][0], table.rows[row][column]
    new = _other(rng, table.kinds[column], old)
    order = one_frame(rng, CELL, r=name, c=table.columns[column], v=new, o=old)
    _start(play, table, order, name)
    _set(play, table, row, column, new)
    play.say(f"Changed the {table.columns[column]} of {name} from {old} to {new} in {table.path}.")


def change_two(play: Play) -> None:
    """The same column in two rows."""
    rng = play.rng
    table = make_table(rng)
    first, second = sorted(rng.sample(range(len(table.rows)), 2))
    column = rng.randrange(1, len(table.columns))
    olds = [table.rows[at][column] for at in (first, second)]
    news = [_other(rng, table.kinds[column], old) for old in olds]
    names = [table.rows[at][0] for at in (first, second)]
    what = table.columns[column]
    order = one_frame(rng, TWO, c=what, r=names[0], v=news[0], s=names[1], w=news[1])
    _start(play, table, order)
    told = []
    for at, name, old, new in zip((first, second), names, olds, news, strict=True):
        _set(play, table, at, column, new)
        told.append(f"{name} from {old} to {new}")
    play.say(f"Changed the {what} of {joined(told)} in {table.path}.")


def add_row(play: Play) -> None:
    """A new row at the end."""
    rng = play.rng
    table = make_table(rng)
    row = [cell(rng, kind) for kind in table.kinds]
    if row[0] in [one[0] for one in table.rows]:
        raise Unfit("it is there")
    said = rng.choice((", ", ", ", ",", " | ")).join(row)
    if rng.random() < 0.3:
        said = (
            f"{row[0]} ("
            + ", ".join(f"{name} {text}" for name, text in zip(table.columns[1:], row[1:], strict=True))
            + ")"
        )
    _start(play, table, one_frame(rng, ADD, v=said), exact_end=True)
    play.insert_after(table.path, table.first + len(table.rows) - 1, table.row(row))
    play.say(f"Added the row of {row[0]} to {table.path}.")


def delete_row(play: Play) -> None:
    """A row less."""
    rng = play.rng
    table = make_table(rng)
    at = rng.randrange(len(table.rows))
    name = table.rows[at][0]
    _start(play, table, one_frame(rng, DELETE, r=name), name)
    play.delete_lines(table.path, table.first + at)
    play.say(f"Removed the row “{table.row(table.rows[at])}” from {table.path}.")


def rename_column(play: Play) -> None:
    """A column with another header."""
    rng = play.rng
    table = make_table(rng)
    at = rng.randrange(len(table.columns))
    new = rng.choice(
        (f"{table.columns[at]}_new", "remark", "value", "label", "info", "kind", "total2", "who", "what")
    )
    if new in table.columns:
        raise Unfit("it is there")
    _start(play, table, one_frame(rng, HEAD, c=table.columns[at], v=new))
    columns = [*table.columns[:at], new, *table.columns[at + 1 :]]
    play.set_lines(table.path, len(table.top) + 1, table.row(columns))
    play.say(f"Renamed the column {table.columns[at]} to {new} in {table.path}.")


FAMILIES = (
    Family(change_cell, 2.0),
    Family(change_two, 0.6),
    Family(add_row, 0.9),
    Family(delete_row, 0.7),
    Family(rename_column, 0.3),
)
