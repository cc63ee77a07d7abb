"""Lists under headings: an entry that is new, goes, changes its section or is there twice; table columns."""

from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.families.edit_tables import Table, make_table
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder
from training.generator.targets import aim, order_text, place
from training.generator.word_pools import DAYS, FIRST_NAMES, GOODS, SURNAMES, TOWNS

ADD = """
add {i} to {s}
put {i} (in|into|under) {s}
{i} (goes|belongs|comes) (to|into|under) {s}(, please add|)
{s} gets {i} too
(add|write) {i} under {s}
{i} is new in {s}
{s}: add {i}
please put {i} down for {s}
one more for {s}: {i}
{i} joins {s}
""".strip()
REMOVE = """
(remove|delete) {i} from {s}
take {i} out of {s}
{i} is no longer in {s}
{i} leaves {s}(, delete the line|)
(strike|cross) {i} off {s}
{s}: remove {i}
{s} without {i} please
""".strip()
MOVE = """
move {i} from {s} to {u}
{i} (goes|changes) from {s} to {u}
{i} should be (in|under) {u}, not (in|under) {s}
put {i} (into|under) {u} instead of {s}
move {i} to {u}
{i} belongs (to|under) {u}
{i} is in the wrong place, it belongs (to|under) {u}
""".strip()
TWICE = """
{i} is (in there|listed) twice, (delete|remove) one of them
{i} appears two times, one is enough
remove the (second|duplicate) {i}
there is a duplicate: {i}. (delete|remove) it
{i} is doubled, take one out
""".strip()
DROP_COLUMN = """
(delete|remove|drop) the column {c}
I don't need the column {c} any more
take the {c} column out
the column {c} can go
without the column {c}, please
""".strip()
NEW_COLUMN = """
add a column {c} with {v} in every row
new column {c}, {v} for all
(add|append) the column {c}, each row gets {v}
put a last column {c} in, value {v} everywhere
""".strip()
# file names | headings | items
GROUPS = """
classes.txt, pupils.md, school.txt | 5a, 5b, 6a, 6b, 7c | first
rooms.txt, house.md, flat.txt | Kitchen, Bathroom, Garage, Attic, Garden | goods
week.txt, plan.md, rota.txt | days | first
menu.md, week.txt, meals.txt | days | goods
teams.txt, groups.md, tournament.txt | Red, Blue, Green, Yellow | full
shopping.md, shops.txt, errands.txt | Bakery, Market, Pharmacy, Hardware store | goods
tables.txt, seating.md, wedding.txt | Table 1, Table 2, Table 3, Table 4 | full
board.md, kanban.md, todo.txt | Open, Doing, Done, Later | goods
shelves.txt, store.md, boxes.txt | Shelf A, Shelf B, Shelf C, Box 1 | goods
shifts.txt, ward.md, duty.txt | Morning, Noon, Night | first
tours.txt, route.md, trips.txt | Monday tour, Friday tour, City tour | towns
choir.md, orchestra.txt, band.txt | Soprano, Alto, Tenor, Bass | full
zones.txt, storage.md, lager.txt | North, South, East, West | goods
""".strip().split("\n")
MARKS = ("- ", "- ", "* ", "", "  ", "- [ ] ")


class Sections(Struct):
    """A file with lists under headings."""

    path: str
    heads: list[str]
    items: list[list[str]]
    style: str
    mark: str

    def layout(self) -> tuple[list[str], list[int]]:
        """Return the lines, and the line of each heading."""
        lines: list[str] = []
        numbers = []
        for head, items in zip(self.heads, self.items, strict=True):
            lines += [""] * bool(lines)
            numbers.append(len(lines) + 1)
            lines += [self.style.format(head), *(self.mark + item for item in items)]
        return lines, numbers

    def number(self, section: int, item: int) -> int:
        """Return the line of an item."""
        return self.layout()[1][section] + item + 1


def _pool(kind: str, rng: Random) -> list[str]:
    match kind:
        case "first":
            return list(FIRST_NAMES)
        case "full":
            return [f"{first} {rng.choice(SURNAMES)}" for first in rng.sample(FIRST_NAMES, 30)]
        case "towns":
            return list(TOWNS)
        case _:
            return list(GOODS)


def make_sections(rng: Random) -> tuple[Sections, list[str]]:
    """Make up two to four sections, and items that are in none."""
    files, heads, kind = rng.choice(GROUPS).split(" | ")
    names = DAYS if heads == "days" else heads.split(", ")
    count = rng.randint(2, min(4, len(names)))
    chosen = [name for name in names if name in rng.sample(list(names), count)] or list(names[:2])
    items = rng.sample(_pool(kind, rng), 24)
    lists = [[items.pop() for _ in range(rng.randint(2, 5))] for _ in chosen]
    path = in_folder(rng, rng.choice(files.split(", ")), 0.3)
    style = (
        rng.choice(("# {}", "## {}"))
        if path.endswith("md")
        else rng.choice(("{}:", "[{}]", "{}", "== {} =="))
    )
    mark = rng.choice(MARKS) if style != "{}" else rng.choice(("- ", "* ", "  "))
    if len(chosen) < 2:
        raise Unfit("one section")
    return Sections(path, chosen, lists, style, mark), items


def _start(play: Play, made: Sections | Table, text: str, order: str, word: str = "") -> None:
    rng = play.rng
    play.file(made.path, text)
    sources.distract(play, made.path, most=3)
    target = aim(rng, made.path, word if len(word) > 4 else "")
    play.user(order_text(rng, place(rng, order, target)))
    target.find(play)
    play.read(made.path)


def _text(made: Sections) -> str:
    return "\n".join(made.layout()[0]) + "\n"


def add(play: Play) -> None:
    """A new item at the end of its section."""
    rng = play.rng
    made, free = make_sections(rng)
    at = rng.randrange(len(made.heads))
    item = rng.choice(free)
    _start(play, made, _text(made), one_frame(rng, ADD, i=item, s=made.heads[at]))
    play.insert_after(made.path, made.number(at, len(made.items[at]) - 1), made.mark + item)
    play.say(f"Added {item} to {made.heads[at]} in {made.path}.")


def remove(play: Play) -> None:
    """An item less; another section may have the same one."""
    rng = play.rng
    made, _ = make_sections(rng)
    at = rng.randrange(len(made.heads))
    item = rng.randrange(len(made.items[at]))
    name = made.items[at][item]
    if rng.random() < 0.4:
        other = rng.choice([one for one in range(len(made.heads)) if one != at])
        made.items[other].insert(rng.randrange(len(made.items[other])), name)
    _start(play, made, _text(made), one_frame(rng, REMOVE, i=name, s=made.heads[at]))
    play.delete_lines(made.path, made.number(at, item))
    play.say(f"Removed {name} from {made.heads[at]} in {made.path}.")


def move(play: Play) -> None:
    """An item that goes to another section."""
    rng = play.rng
    made, _ = make_sections(rng)
    old, new = rng.sample(range(len(made.heads)), 2)
    item = rng.randrange(len(made.items[old]))
    name = made.items[old][item]
    order = one_frame(rng, MOVE, i=name, s=made.heads[old], u=made.heads[new])
    _start(play, made, _text(made), order, name)
    play.delete_lines(made.path, made.number(old, item))
    play.insert_after(made.path, made.number(new, len(made.items[new]) - 1), made.mark + name)
    play.say(f"Moved {name} from {made.heads[old]} to {made.heads[new]} in {made.path}.")


def twice(play: Play) -> None:
    """An item that a section has twice."""
    rng = play.rng
    made, _ = make_sections(rng)
    at = rng.randrange(len(made.heads))
    items = made.items[at]
    name = rng.choice(items)
    items.append(name)
    if items[-2] == name:
        raise Unfit("one below the other")
    _start(play, made, _text(made), one_frame(rng, TWICE, i=name))
    play.delete_lines(made.path, made.number(at, len(items) - 1))
    play.say(f"Removed the second {name} from {made.heads[at]} in {made.path}.")


def column(play: Play) -> None:
    """A column of a short table less, or a new one with the same value in each row."""
    rng = play.rng
    table = make_table(rng)
    if len(table.rows) > 6:
        raise Unfit("a long table")
    lines = table.text.removesuffix("\n").split("\n")
    first = len(table.top) + 1
    if rng.random() < 0.55 and len(table.columns) > 2:
        at = rng.randrange(1, len(table.columns))
        name = table.columns[at]
        order, told = one_frame(rng, DROP_COLUMN, c=name), f"Removed the column {name} from {table.path}."
        columns = tuple(one for one in table.columns if one != name)
        rows = [row[:at] + row[at + 1 :] for row in table.rows]
    else:
        name = rng.choice(("paid", "checked", "remark", "done", "seen", "unit", "source"))
        value = rng.choice(("no", "yes", "open", "0", "-", "new", "ok", "?"))
        order, told = one_frame(rng, NEW_COLUMN, c=name, v=value), f"Added the column {name} to {table.path}."
        if name in table.columns:
            raise Unfit("it is there")
        columns, rows = (*table.columns, name), [[*row, value] for row in table.rows]
    after = Table(table.path, table.style, columns, table.kinds, rows, table.top)
    new = after.text.removesuffix("\n").split("\n")[first - 1 :]
    _start(play, table, table.text, order)
    play.set_lines(table.path, (first, len(lines)), "\n".join(new))
    play.say(told)


FAMILIES = (
    Family(add, 1.4),
    Family(remove, 1.0),
    Family(move, 1.2),
    Family(twice, 0.4),
    Family(column, 0.6),
)
