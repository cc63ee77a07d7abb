"""Lines that are meant by what they are: deleted, commented out, moved, swapped, or with a new one beside."""

import re
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.described_files import BLOCKS, NEW_LINES
from training.generator.families.create_dictated import words
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder
from training.generator.targets import aim, order_text, place, quoted

DELETE = """
(delete|remove) {d}
{d} can go
take out {d}
(get rid of|throw out|drop) {d}
I don't need {d} any more(, delete it|)
(can|could) you (remove|delete) {d}?
{d} should not be in there(, delete it|)
please without {d}
{d} is (wrong|obsolete|too much|not needed), (remove|delete) it
we (don't want|no longer need) {d}
erase {d}
""".strip()
COMMENT = """
comment out {d}
comment {d} out
(turn|make) {d} (into|) a comment
{d} should be commented out
put a comment sign (before|in front of) {d}
(disable|deactivate) {d} (with a comment sign|by commenting it out)
(can|could) you comment out {d}?
I want {d} only as a comment (for now|)
""".strip()
UNCOMMENT = """
uncomment {d}
(comment in|activate) {d} (again|)
remove the comment sign (before|in front of) {d}
{d} should be active again
take the comment sign away from {d}
{d} is commented out, (undo that|make it active)
""".strip()
MOVE = """
move {d} to the (top|beginning|start) | top
{d} should be (the first line|at the top|on top) | top
put {d} (first|at the very top) | top
move {d} to the (end|bottom) | end
{d} should be (the last line|at the end) | end
put {d} (last|at the very end) | end
move {d} (below|after|behind|under) {e} | after
{d} (belongs|should come) (below|after) {e} | after
put {d} (below|after) {e} | after
move {d} (above|before) {e} | before
{d} (belongs|should come) (above|before) {e} | before
put {d} (above|before) {e} | before
""".strip()
SWAP = """
swap {d} and {e}
(exchange|switch) {d} and {e}
{d} and {e} should change places
{d} and {e} are in the wrong order, swap them
let {d} and {e} trade places
""".strip()
BESIDE = """
(insert|add|put|write) {n} (before|above) {d} | before
(insert|add|put|write) {n} (after|below|under) {d} | after
(above|before) {d} (add|write|put|insert) {n} | before
(below|after) {d} (add|write|put|insert) {n} | after
(directly|right) (after|below) {d} I want {n} | after
(directly|right) (before|above) {d} I want {n} | before
a new line {n} (after|below) {d} | after
a new line {n} (before|above) {d} | before
""".strip()
SET = """
replace {d} (by|with) {n}
{d} should (be|read|say) {n}
change {d} to {n}
{d} is wrong, (it should be|make it) {n}
write {n} instead of {d}
""".strip()


class Described(Struct):
    """A file, and the names of those of its lines that have one."""

    path: str
    sign: str
    lines: list[str]
    names: dict[int, list[str]]
    """For the number of a line: how people call it."""


def make_described(rng: Random) -> Described:
    """Make up a file of described lines; some of its lines may be missing."""
    head, *rows = _filled(rng, rng.choice(BLOCKS)).split("\n")
    files, _, sign = head.partition(";")
    path = rng.choice(files.split(", "))
    path = path if "/" in path or path[0] in ".DM" else in_folder(rng, path, 0.2)
    made = Described(path, sign.strip(), [], {})
    for row in rows:
        text, _, names = row.partition(" ## ")
        if names and len(rows) > 5 and rng.random() < 0.12:
            continue
        made.lines.append("" if text == "_" else text)
        if names:
            made.names[len(made.lines)] = names.split(" / ")
    return made


def _filled(rng: Random, block: str) -> str:
    for slot in ("@first4", "@first3", "@first2"):
        block = block.replace(slot, words(rng, "@first"))
    return words(rng, block)


def _lay(play: Play, made: Described) -> None:
    play.file(made.path, "\n".join(made.lines) + "\n")
    sources.distract(play, made.path, most=3)


def _pick(rng: Random, made: Described, count: int = 1) -> list[tuple[int, str]]:
    """Choose lines that an order can name, in the order of the file."""
    if len(made.names) < count + 1:
        raise Unfit("too few lines")
    return [
        (number, rng.choice(made.names[number])) for number in sorted(rng.sample(list(made.names), count))
    ]


def _ask(play: Play, made: Described, order: str, *, exact_end: bool = False) -> None:
    """Say the order, find the file and read it; the line itself cannot be searched for."""
    rng = play.rng
    target = aim(rng, made.path)
    if exact_end and target.said:
        order = rng.choice((f"in {target.said} {order}", f"{target.said}: {order}"))
    else:
        order = place(rng, order, target)
    play.user(order_text(rng, order, exact_end=exact_end))
    target.find(play)
    play.read(made.path)


def delete(play: Play) -> None:
    """A described line that goes, or two."""
    rng = play.rng
    made = make_described(rng)
    chosen = _pick(rng, made, rng.choice((1, 1, 1, 2)))
    _lay(play, made)
    said = " and ".join(name for _, name in chosen)
    _ask(
        play,
        made,
        one_frame(
            rng, DELETE if len(chosen) == 1 else "delete {d}\nremove {d}\n{d} can go\ntake out {d}", d=said
        ),
    )
    for number, _ in chosen:
        play.delete_lines(made.path, number)
    told = " and ".join(f"“{made.lines[number - 1].strip()}”" for number, _ in chosen)
    play.say(f"Removed the line{'s' if len(chosen) > 1 else ''} {told} from {made.path}.")


def comment(play: Play) -> None:
    """A described line that becomes a comment, or is none any longer."""
    rng = play.rng
    made = make_described(rng)
    if not made.sign:
        raise Unfit("no comments")
    number, name = _pick(rng, made)[0]
    live = made.lines[number - 1]
    if live.lstrip().startswith(made.sign) or "comment" in name or "TODO" in name:
        raise Unfit("a comment already")
    dead = re.sub(r"\S", lambda match: f"{made.sign} {match[0]}", live, count=1)
    back = rng.random() < 0.35
    if back:
        made.lines[number - 1] = dead
    _lay(play, made)
    _ask(play, made, one_frame(rng, UNCOMMENT if back else COMMENT, d=name))
    play.set_lines(made.path, number, live if back else dead)
    done = "is active again" if back else "is a comment now"
    play.say(f"The line “{live.strip()}” {done} in {made.path}.")


ORDERED = ("#!", "package", "fn ", "class ", "server {", "services", "FROM", "[")


def move(play: Play) -> None:
    """A described line that goes to another place."""
    rng = play.rng
    made = make_described(rng)
    if any(line.startswith(ORDERED) for line in made.lines):
        raise Unfit("the order of the lines has a meaning")
    frame, _, where = rng.choice(MOVE.split("\n")).rpartition(" | ")
    pair = _pick(rng, made, 2)
    (number, name), (other, other_name) = pair if rng.random() < 0.5 else pair[::-1]
    last = len(made.lines)
    below = {"top": 0, "end": last, "after": other, "before": other - 1}[where]
    if below in (number, number - 1) or (where == "end" and not made.lines[-1]):
        raise Unfit("it is there")
    _lay(play, made)
    _ask(play, made, one_frame(rng, frame, d=name, e=other_name))
    text = made.lines[number - 1]
    play.delete_lines(made.path, number)
    play.insert_after(made.path, below, text)
    play.say(f"Moved “{text.strip()}” {_moved(where, other_name)} {made.path}.")


def _moved(where: str, other: str) -> str:
    told = {"top": "to the top of", "end": "to the end of", "after": f"below {other} in"}
    return told.get(where, f"above {other} in")


def swap(play: Play) -> None:
    """Two described lines that change places."""
    rng = play.rng
    made = make_described(rng)
    (first, name), (second, other) = _pick(rng, made, 2)
    texts = made.lines[first - 1], made.lines[second - 1]
    _lay(play, made)
    names = (name, other) if rng.random() < 0.7 else (other, name)
    _ask(play, made, one_frame(rng, SWAP, d=names[0], e=names[1]))
    if second == first + 1:
        play.set_lines(made.path, (first, second), f"{texts[1]}\n{texts[0]}")
    else:
        play.set_lines(made.path, first, texts[1])
        play.set_lines(made.path, second, texts[0])
    play.say(f"Swapped “{texts[0].strip()}” and “{texts[1].strip()}” in {made.path}.")


def _new_line(rng: Random, made: Described) -> str:
    return words(rng, rng.choice(NEW_LINES[made.sign]))


def beside(play: Play) -> None:
    """A new line before or after a described one."""
    rng = play.rng
    made = make_described(rng)
    number, name = _pick(rng, made)[0]
    new = _new_line(rng, made)
    frame, _, where = rng.choice(BESIDE.split("\n")).rpartition(" | ")
    _lay(play, made)
    order = one_frame(rng, frame, n=quoted(rng, new, bare=0.15), d=name)
    _ask(play, made, order, exact_end=order[-1] not in "abcdefghijklmnopqrstuvwxyz")
    old = made.lines[number - 1]
    indent = old[: len(old) - len(old.lstrip())]
    play.insert_after(made.path, number - (where == "before"), indent + new)
    play.say(f"Added “{new}” {'above' if where == 'before' else 'below'} “{old.strip()}” in {made.path}.")


def set_line(play: Play) -> None:
    """A described line that gets a new text."""
    rng = play.rng
    made = make_described(rng)
    if made.sign:
        raise Unfit("a text is needed")
    number, name = _pick(rng, made)[0]
    new = _new_line(rng, made)
    if made.lines[number - 1][0] in " <.":
        raise Unfit("no plain text")
    _lay(play, made)
    order = one_frame(rng, SET, n=quoted(rng, new, bare=0.1), d=name)
    _ask(play, made, order, exact_end=not order.endswith(name))
    play.set_lines(made.path, number, new)
    play.say(f"Changed “{made.lines[number - 1].strip()}” to “{new}” in {made.path}.")


FAMILIES = (
    Family(delete, 3.0),
    Family(comment, 1.0),
    Family(move, 1.0),
    Family(swap, 0.6),
    Family(beside, 1.4),
    Family(set_line, 0.4),
)
