"""Orders about one row of a long file, the row meant by its name: found, changed, taken out, or not there."""

import re
from random import Random

from msgspec import Struct

from training.generator import long_shapes, sources
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import value
from training.generator.targets import order_text, quoted
from training.generator.value_files import value_of
from training.generator.word_pools import FIRST_NAMES, GOODS, SURNAMES, TOWNS

MAX_CHARS = 11_500
_PARTS = """
max min default user order mail cache file login page image audio video upload backup export import
network printer sensor motor door light timer alarm score level player enemy map tax price stock report
search filter menu button label theme font window cursor table chart query batch worker token session
cookie proxy router socket queue buffer
""".split()
_ENDS = """
size limit count timeout name path color width height rate level mode delay port host key offset margin
speed depth weight volume length index retries format scale ratio step range
""".split()
_ADJECTIVES = """
red blue green small large old new round long short heavy light brass oak steel glass linen woolen wooden
plastic paper golden silver striped plain folding garden kitchen travel winter summer
""".split()


class LongFile(Struct):
    """A long file of named rows."""

    path: str
    lines: list[str]
    what: list[str]
    """How a row's value is called."""
    rows: dict[str, tuple[int, str, str]]
    """For each name: the line with its value, the value, and the name as the line has it."""
    single: bool
    """Each row is one line that holds its name."""
    kind: str
    """The kind of the names."""


def _names(rng: Random, kind: str, count: int) -> list[str]:
    match kind:
        case "full":
            made = [f"{first} {last}" for first in FIRST_NAMES for last in SURNAMES[:40]]
        case "goods":
            made = [f"{word} {good}" for word in _ADJECTIVES for good in GOODS]
        case "towns":
            made = list(TOWNS) + [
                f"{side} {town}" for side in ("North", "South", "Old", "New") for town in TOWNS
            ]
        case "code":
            made = [
                f"{letter}{other}-{number}"
                for letter in "ABDKMRTX"
                for other in "CEHLNS"
                for number in range(100, 999, 7)
            ]
        case _:
            made = [f"{first}_{last}" for first in _PARTS for last in _ENDS]
    return rng.sample(made, min(count, len(made)))


def _value(rng: Random, kind: str) -> str:
    match kind:
        case "onoff":
            return rng.choice(("on", "off"))
        case "big":
            return str(rng.randint(900, 900_000))
        case _:
            return value_of(rng, kind)


def _shown(key: str) -> dict[str, str]:
    first, *rest = key.split("_")
    return {
        "k": key,
        "K": key.upper(),
        "u": key,
        "d": key.replace("_", "-"),
        "h": key.replace("_", "-") + ".lan",
        "c": first + "".join(word.capitalize() for word in rest),
        "T": key.title(),
    }


def make_long(rng: Random) -> LongFile:
    """Make up a long file of 150 to 400 lines, as far as it may be so long."""
    parts = rng.choice(long_shapes.SHAPES).split(" | ")
    files, head, row, what, names, kind = parts
    shape = row.split("¶")
    per_row = len(shape)
    lines = [head]
    rows: dict[str, tuple[int, str, str]] = {}
    key_at = re.findall(r"\{([kKudhcT])\}", row)[0]
    for at, key in enumerate(_names(rng, names, rng.randint(150, 400) // per_row), 1):
        chosen = _value(rng, kind)
        slots = _shown(key) | {
            "v": chosen,
            "i": str(at),
            "y": str(rng.randint(1990, 2026)),
            "m": value(rng, "money"),
        }
        slots |= {"x": rng.choice(TOWNS), "t": f"{7 + at // 60 % 16:02}:{at % 60:02}"}
        for part in shape:
            if "{v}" in part:
                rows[slots[key_at]] = (len(lines) + 1, chosen, key)
            lines.append(re.sub(r"\{(\w)\}", lambda found: slots.get(found[1], found[0]), part))  # noqa: B023
    if head in ("{",):
        lines[-1] = lines[-1].rstrip(",")
    lines += ["};"] * head.startswith("module") + ["}"] * (
        head.endswith("{") and not head.startswith("module")
    )
    path = rng.choice(("", "", "", "data/", "lists/", "src/", "config/")) + rng.choice(files.split(", "))
    if len("\n".join(lines)) > MAX_CHARS:
        raise Unfit("too long")
    return LongFile(path, lines, what.split(", "), rows, per_row == 1, names)


def _lay(play: Play) -> LongFile:
    made = make_long(play.rng)
    play.file(made.path, "\n".join(made.lines) + "\n")
    sources.distract(play, made.path, most=2)
    return made


def _order(play: Play, made: LongFile, order: str, *, exact_end: bool = False) -> str:
    """Say the order; return the file to search in, empty if the order names none."""
    rng = play.rng
    name = made.path.rpartition("/")[2]
    said = rng.choice((made.path, made.path, name, ""))
    if said:
        before = exact_end or rng.random() < 0.4
        mark = "?" if order.endswith("?") and not before else ""
        order = (
            f"{rng.choice((f'in {said}:', f'{said}:', f'in {said}'))} {order}"
            if before
            else f"{order.removesuffix('?')} in {said}{mark}"
        )
    play.user(order_text(rng, order, exact_end=exact_end))
    return said


def escaped(text: str) -> str:
    """Return a text as a pattern that finds it."""
    return re.sub(r"([.+*?()\[\]{}|^$\\])", r"\\\1", text)


def _find(play: Play, made: LongFile, name: str, said: str) -> list[int]:
    """Search for a name; return the lines that have it."""
    shown = play.grep(escaped(name), said)
    found = [line.split(":", 2) for line in shown.split("\n")]
    if any(len(parts) < 3 or parts[0] != made.path for parts in found):
        raise Unfit("other matches")
    return [int(parts[1]) for parts in found]


def _choose(play: Play, made: LongFile) -> tuple[str, int, str]:
    name = play.rng.choice(list(made.rows))
    number, old, _ = made.rows[name]
    if sum(name in line for line in made.lines) != 1:
        raise Unfit("the name is in other lines too")
    return name, number, old


def _read(play: Play, made: LongFile, number: int) -> None:
    if f"\n{number}: " not in play.read(made.path):
        raise Unfit("the line is not shown")


def look_up(play: Play) -> None:
    """What a row says."""
    rng = play.rng
    made = _lay(play)
    name, number, old = _choose(play, made)
    what = rng.choice(made.what)
    said = _order(play, made, one_frame(rng, long_shapes.ASK, k=name, w=what))
    found = _find(play, made, name, said)
    if number not in found:
        _read(play, made, number)
    play.say(f"{made.path}, line {number}: {made.lines[number - 1].strip()}\nThe {what} of {name} is {old}.")


def where(play: Play) -> None:
    """On which line a name is."""
    rng = play.rng
    made = _lay(play)
    name, _, _ = _choose(play, made)
    said = _order(play, made, one_frame(rng, long_shapes.WHERE, k=name))
    number = _find(play, made, name, said)[0]
    evidence = f"{made.path}, line {number}: {made.lines[number - 1].strip()}"
    play.say(f"{evidence}\n{name} is on line {number} of {made.path}.")


def change(play: Play) -> None:
    """Another value for a row."""
    rng = play.rng
    made = _lay(play)
    name, number, old = _choose(play, made)
    line = made.lines[number - 1]
    new = rng.choice([other for _, other, _ in made.rows.values() if other != old])
    if line.count(old) != 1 or old in name:
        raise Unfit("not clear")
    order = one_frame(rng, long_shapes.CHANGE, k=name, w=rng.choice(made.what), v=new, o=old)
    said = _order(play, made, order)
    _find(play, made, name, said)
    _read(play, made, number)
    play.set_lines(made.path, number, line.replace(old, new))
    play.say(f"Changed {name} from {old} to {new} in {made.path}.")


def delete(play: Play) -> None:
    """A row less."""
    rng = play.rng
    made = _lay(play)
    name, number, _ = _choose(play, made)
    if not made.single or (made.lines[0] == "{" and number > len(made.lines) - 2):
        raise Unfit("more than a line")
    said = _order(play, made, one_frame(rng, long_shapes.DELETE, k=name))
    _find(play, made, name, said)
    _read(play, made, number)
    play.delete_lines(made.path, number)
    play.say(f"Removed the line “{made.lines[number - 1].strip()}” from {made.path}.")


def beside(play: Play) -> None:
    """A new row before or after another."""
    rng = play.rng
    made = _lay(play)
    name, number, _ = _choose(play, made)
    if not made.single or number > len(made.lines) - 2:
        raise Unfit("more than a line")
    other = make_long(rng)
    new = rng.choice(other.lines[1:]) if rng.random() < 0.3 else sources.text_line(rng)
    if made.path.endswith((".json", ".js", ".py", ".h", ".css", ".csv", ".yaml", ".env")) or not new.strip():
        raise Unfit("a text does not fit")
    frame, _, side = rng.choice(long_shapes.INSERT.split("\n")).rpartition(" | ")
    order = one_frame(rng, frame, k=name, n=quoted(rng, new.strip(), bare=0))
    said = _order(play, made, order, exact_end=True)
    _find(play, made, name, said)
    _read(play, made, number)
    play.insert_after(made.path, number - (side == "above"), new.strip())
    play.say(f"Added “{new.strip()}” {side} “{made.lines[number - 1].strip()}” in {made.path}.")


def not_there(play: Play) -> None:
    """A name that the file does not have: nothing is changed."""
    rng = play.rng
    made = _lay(play)
    name = _names(rng, made.kind, 1)[0]
    if made.kind == "key" and next(iter(made.rows)).isupper():
        name = name.upper()
    if any(name.lower() in line.lower() for line in made.lines):
        raise Unfit("it is there")
    edits = rng.random() < 0.5
    block = (
        rng.choice((long_shapes.CHANGE, long_shapes.DELETE))
        if edits
        else rng.choice((long_shapes.ASK, long_shapes.WHERE))
    )
    row = next(iter(made.rows.values()))
    order = one_frame(rng, block, k=name, w=rng.choice(made.what), v=_value(rng, "n"), o=row[1])
    said = _order(play, made, order)
    if play.grep(escaped(name), said) != "No matches found":
        raise Unfit("it is there")
    where_ = said or "this folder"
    answer = one_frame(
        rng, "There is no {k} in {f}.\n{f} has no {k}.\nI found no {k} in {f}.", k=name, f=where_
    )
    answer = answer[0].upper() + answer[1:] if answer.startswith("this") else answer
    play.say(answer + (rng.choice((" I changed nothing.", " Nothing was changed.")) if edits else ""))


FAMILIES = (
    Family(look_up, 2.2),
    Family(change, 2.2),
    Family(delete, 1.0),
    Family(where, 0.6),
    Family(beside, 0.4),
    Family(not_there, 0.9),
)
