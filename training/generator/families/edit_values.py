"""Values that are meant by what they are: one, two or three of them, with the same key in other sections."""

import re
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.frames import joined, one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder
from training.generator.targets import aim, order_text, place, quoted
from training.generator.value_files import BLOCKS, value_of
from training.generator.word_pools import FIRST_NAMES, GOODS

SET = """
{k} should be {v}
{k} must be {v}
{k} has to be {v}
{k} is {v} (now|from today|from now on)
set {k} to {v}
change {k} to {v}
make {k} {v}
put {v} as {k}
{k}: {v}
{k} -> {v}
update {k}, it is {v} now
{k} (is wrong|is not right), (it should be|it must be|correct is) {v}
{k} changed to {v}(, please update it|)
I need {v} as {k}
correct {k} to {v}
(can|could) you set {k} to {v}?
(can|could) you change {k} to {v}?
{v} is (the new value for|right for) {k}
we want {v} for {k}
use {v} for {k}
{k} was {o}, (now it is|make it) {v}
{k} is {v}, not {o}
{v} instead of {o} for {k}
change {k} from {o} to {v}
replace {k} ({o}) by {v}
it says {o} for {k}, but (it is|it should be) {v}
I got {k} wrong, it is {v}
new value for {k}: {v}
""".strip()
FOREIGN = """
ändere {k} auf {v} | {k} ist jetzt {v} in {f}, vorher {o}.
{k} soll {v} sein | {k} ist jetzt {v} in {f}, vorher {o}.
setze {k} auf {v} | {k} ist jetzt {v} in {f}, vorher {o}.
change {k} en {v} | {k} : {v} dans {f}, avant {o}.
mets {v} pour {k} | {k} : {v} dans {f}, avant {o}.
cambia {k} a {v} | {k}: {v} en {f}, antes {o}.
pon {v} en {k} | {k}: {v} en {f}, antes {o}.
cambia {k} in {v} | {k}: {v} in {f}, prima {o}.
zet {k} op {v} | {k} is nu {v} in {f}, eerst {o}.
muda {k} para {v} | {k}: {v} em {f}, antes {o}.
""".strip()
PAIR = """
{k} to {v}
{k} {v}
{k} is {v}
{k} should be {v}
{k} = {v}
{k}: {v}
""".strip()
SEVERAL = """
{a} and {b}
{a}, {b}
please {a} and {b}
two (things|changes): {a}, {b}
{a}, and (also|then) {b}
{a}. Also {b}
""".strip()
_MARK = re.compile(r"\[\[(\w+)\]\]")


class Place(Struct):
    """A value in a file."""

    number: int
    before: str
    old: str
    after: str
    kind: str
    names: list[str]

    def line(self, new: str) -> str:
        """Return the line with a new value."""
        return self.before + new + self.after


class ValueFile(Struct):
    """A file, and its values that have a name."""

    path: str
    lines: list[str]
    places: list[Place]


def make_file(rng: Random) -> ValueFile:
    """Make up a file of values."""
    head, *rows = rng.choice(BLOCKS).split("\n")
    name = rng.choice(head.split(", "))
    made = ValueFile(name if "/" in name else in_folder(rng, name, 0.25), [], [])
    for row in rows:
        text, _, names = row.partition(" ## ")
        kinds = _MARK.findall(text)
        values = [value_of(rng, kind) for kind in kinds]
        parts = _MARK.split(text)[::2]
        line = parts[0] + "".join(value + part for value, part in zip(values, parts[1:], strict=True))
        made.lines.append(line)
        if names:
            before = (
                "".join(part + value for part, value in zip(parts, values[:-1], strict=False)) + parts[-2]
            )
            made.places.append(
                Place(len(made.lines), before, values[-1], parts[-1], kinds[-1], names.split(" / "))
            )
    return made


def _new(rng: Random, place: Place) -> str:
    for _ in range(20):
        new = value_of(rng, place.kind)
        if new != place.old:
            return new
    raise Unfit("no other value")


def whole(place: Place, value: str) -> str:
    """Return a value with the digits and units that belong to it, as the user says it."""
    before = re.search(r"[\d.]+$", place.before)
    after = re.match(r"[\d.]*\d| ?(?:ml|mg|g|min|px|°C|%|m)\b|px| %| °C", place.after)
    return (before[0] if before else "") + value + (after[0] if after else "")


def _lay(play: Play, made: ValueFile) -> None:
    play.file(made.path, "\n".join(made.lines) + "\n")
    sources.distract(play, made.path, most=3)


def _say(play: Play, made: ValueFile, order: str, *, exact_end: bool = False) -> None:
    rng = play.rng
    target = aim(rng, made.path)
    if exact_end and target.said:
        order = f"in {target.said} {order}"
    else:
        order = place(rng, order, target)
    play.user(order_text(rng, order, exact_end=exact_end))
    target.find(play)
    play.read(made.path)


def one(play: Play) -> None:
    """One value."""
    rng = play.rng
    made = make_file(rng)
    place_ = rng.choice(made.places)
    new = _new(rng, place_)
    _lay(play, made)
    name = rng.choice(place_.names)
    said, old = whole(place_, new), whole(place_, place_.old)
    frame = rng.choice(SET.split("\n"))
    mark = '"{}"' if place_.kind in ("good", "word", "full", "town") and rng.random() < 0.2 else "{}"
    _say(play, made, one_frame(rng, frame, k=name, v=mark.format(said), o=old))
    play.set_lines(made.path, place_.number, place_.line(new))
    play.say(f"Changed {name} from {old} to {said} in {made.path}.")


def foreign(play: Play) -> None:
    """One value, asked for in another language by the name that the file has for it."""
    rng = play.rng
    made = make_file(rng)
    keys = [(re.match(r'[\s"|]*([A-Za-z][\w. ]*?)"?\s*[:=|]', one.before), one) for one in made.places]
    found = [
        (match[1], one) for match, one in keys if match and not match[1].startswith(("const ", "static "))
    ]
    names = [key for key, _ in found]
    found = [(key, one) for key, one in found if names.count(key) == 1]
    if not found:
        raise Unfit("no key")
    key, place_ = rng.choice(found)
    new = _new(rng, place_)
    frame, _, answer = rng.choice(FOREIGN.split("\n")).rpartition(" | ")
    said, old = whole(place_, new), whole(place_, place_.old)
    _lay(play, made)
    play.user(f"{made.path}: {frame.format(k=key, v=said)}")
    play.read(made.path)
    play.set_lines(made.path, place_.number, place_.line(new))
    play.say(answer.format(k=key, v=said, o=old, f=made.path))


def several(play: Play) -> None:
    """Two or three values in one order."""
    rng = play.rng
    made = make_file(rng)
    if len(made.places) < 3:
        raise Unfit("too few")
    chosen = rng.sample(made.places, rng.choice((2, 2, 3)))
    _lay(play, made)
    frame = rng.choice(PAIR.split("\n"))
    start = "set {k} to {v}" if frame == "{k} to {v}" else frame
    said: list[str] = []
    told: list[str] = []
    changes: list[tuple[Place, str]] = []
    for place_ in chosen:
        new, name = _new(rng, place_), rng.choice(place_.names)
        shown, old = whole(place_, new), whole(place_, place_.old)
        said.append((frame if said else start).format(k=name, v=shown))
        told.append(f"{name} from {old} to {shown}")
        changes.append((place_, new))
    order = one_frame(rng, SEVERAL, a=", ".join(said[:-1]), b=said[-1])
    if order.startswith("please ") and not said[0].startswith("set"):
        order = order.removeprefix("please ")
    _say(play, made, order)
    for place_, new in changes:
        play.set_lines(made.path, place_.number, place_.line(new))
    play.say(f"Changed {joined(told)} in {made.path}.")


MIXED = """
{a} and {b}
{a}. {b}
{a}, then {b}
first {a}, then {b}
{b} and {a}
two things: {a}; {b}
""".strip()


def with_line(play: Play) -> None:
    """A value that changes, and a line that goes or is new at the end."""
    rng = play.rng
    made = make_file(rng)
    last = made.lines[-1]
    if not re.search(r"\.(txt|md)$", made.path) or "|" in last:
        raise Unfit("no plain text")
    first, other = rng.sample(made.places, 2)
    new, name = _new(rng, first), rng.choice(first.names)
    shown, old = whole(first, new), whole(first, first.old)
    change = one_frame(rng, "set {k} to {v}\nchange {k} to {v}\nmake {k} {v}", k=name, v=shown)
    removes = rng.random() < 0.5
    gone = rng.choice(other.names)
    added = rng.choice(
        (f"bring the {rng.choice(GOODS)}", f"thanks to {rng.choice(FIRST_NAMES)}", f"no {rng.choice(GOODS)}s")
    )
    second = (
        one_frame(rng, "delete the line with {k}\nremove the line of {k}\ntake out the line with {k}", k=gone)
        if removes
        else one_frame(
            rng, "add {v} at the end\nappend {v}\nput {v} at the bottom", v=quoted(rng, added, bare=0)
        )
    )
    if gone.startswith(("how", "when", "who", "where", "what", "until", "on ", "for ")):
        raise Unfit("no name of a line")
    _lay(play, made)
    _say(play, made, one_frame(rng, MIXED, a=change, b=second))
    play.set_lines(made.path, first.number, first.line(new))
    if removes:
        play.delete_lines(made.path, other.number)
        told = f"removed the line “{made.lines[other.number - 1].strip()}”"
    else:
        play.insert_after(made.path, len(made.lines), added)
        told = f"added “{added}” at the end"
    play.say(f"Changed {name} from {old} to {shown} and {told} in {made.path}.")


FAMILIES = (
    Family(one, 3.6),
    Family(several, 1.8),
    Family(with_line, 1.2),
    Family(foreign, 0.6),
)
