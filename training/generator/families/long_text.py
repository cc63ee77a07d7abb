"""Orders about one line of a long file: found with a search or by its number, counted, changed, taken out."""

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from training.generator import long_text_frames as frames
from training.generator.folder_texts import sentence
from training.generator.folder_words import POOLS, entries
from training.generator.folders import distractors
from training.generator.frames import ask, joined, one_frame, prompt, say, spell
from training.generator.play import Family, Play, Unfit

MAX_BYTES = 11_500
_RANGE = re.compile(r"\[(-?\d+)\.\.(-?\d+)\]")


@dataclass(frozen=True)
class LongFile:
    """A long file of rows of one shape."""

    path: str
    called: str
    """The path, or the name alone, as the user says it."""
    text: str
    thing: str
    rows: dict[str, tuple[int, str]]
    """For each label: the number of its line, and its value."""

    def line(self, label: str) -> str:
        """Return the line of a label."""
        return self.text.split("\n")[self.rows[label][0] - 1]


def _values(rng: Random, text: str) -> Callable[[], str]:
    if "[" in text:
        return lambda: _RANGE.sub(lambda found: str(rng.randint(int(found[1]), int(found[2]))), text)
    return lambda: rng.choice(POOLS.get(text) or text.split(","))


def _days(count: int, start: int) -> list[str]:
    """Return days one after the other, in a calendar in which each month has 28."""
    days = range(start, start + count)
    return [f"{2022 + day // 336}-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}" for day in days]


def long_file(rng: Random) -> LongFile:
    """Return a file of 150 to 300 lines."""
    name, head, line, label, thing, values = rng.choice(frames.TABLES).split(" | ")
    count = rng.randint(150, 300)
    value = _values(rng, values)
    days = _days(count, rng.randint(0, 300))
    lines, rows = [head], {}
    indent = rng.choice(("", "  ")) if head.endswith(("{", ":")) else ""
    indent = "  " if name.endswith(".yaml") else indent
    for at, day in enumerate(days, 1):
        chosen = value()
        slots = {"i": f"{at:03}", "d": day, "v": chosen}
        rows[_put(label, slots)] = (len(lines) + 1, chosen)
        lines.append(indent + _put(line, slots))
    if head == "{":
        lines[-1] = lines[-1].rstrip(",")
    if head.endswith("{"):
        lines.append("}")
    path = rng.choice(("", "", "data/", "config/")) + name
    text = "\n".join(lines) + "\n"
    if len(text) > MAX_BYTES:
        raise Unfit("too long")
    return LongFile(path, _called(rng, path), text, thing, rows)


def _called(rng: Random, path: str) -> str:
    return posixpath.basename(path) if rng.random() < 0.35 else path


def _run(play: Play, command: str, called: str, path: str) -> str:
    """Run a command on a file; if the file is not where the user says, find it and run it again."""
    shown = play.bash(command.replace("{file}", called))
    if called != path:
        play.glob(f"**/{called}")
        shown = play.bash(command.replace("{file}", path))
    return shown


def _put(text: str, slots: dict[str, str]) -> str:
    return re.sub(r"\{([idv])\}", lambda found: slots[found[1]], text)


def _lay(play: Play) -> LongFile:
    found = long_file(play.rng)
    play.file(found.path, found.text)
    for path, text in distractors(play.rng, play.rng.choice((0, 0, 1, 2)), {found.path: ""}).items():
        play.file(path, text)
    return found


def _search(play: Play, found: LongFile, label: str, order: str) -> None:
    """Search for a row: in the file if the order names it."""
    pattern = label.replace(".", r"\.")
    shown = play.grep(pattern, found.called) if found.called in order else play.grep(pattern)
    if shown.count("\n"):
        raise Unfit("several matches")


def look_up(play: Play) -> None:
    """The value of one row."""
    rng = play.rng
    found = _lay(play)
    label = rng.choice(list(found.rows))
    number, value = found.rows[label]
    order = ask(rng, frames.LOOK_UP, row=label, thing=found.thing, file=found.called)
    play.user(order)
    _search(play, found, label, order)
    play.say(
        f"{found.path}, line {number}: {found.line(label).strip()}\nThe {found.thing} of {label} is {value}."
    )


def change_row(play: Play) -> None:
    """Another value for one row."""
    rng = play.rng
    found = _lay(play)
    label = rng.choice(list(found.rows))
    number, old = found.rows[label]
    new = rng.choice(sorted({value for _, value in found.rows.values()} - {old}))
    line = found.line(label)
    if line.count(old) != 1 or old in label:
        raise Unfit("the value is not clear")
    order = ask(rng, frames.CHANGE, row=label, thing=found.thing, file=found.called, new=new, old=old)
    play.user(order)
    _search(play, found, label, order)
    if f"\n{number}: " not in play.read(found.path):
        raise Unfit("the line is not shown")
    play.set_lines(found.path, number, line.replace(old, new))
    changed = "(Changed {row} from {old} to {new} in {file}.|{row} in {file} is now {new}, it was {old}.)"
    say(play, changed, row=label, old=old, new=new, file=found.path)


def take_out(play: Play) -> None:
    """One row less."""
    rng = play.rng
    found = _lay(play)
    label = rng.choice(list(found.rows)[:-1])
    number, _ = found.rows[label]
    order = ask(rng, frames.TAKE_OUT, row=label, file=found.called)
    play.user(order)
    _search(play, found, label, order)
    if f"\n{number}: " not in play.read(found.path):
        raise Unfit("the line is not shown")
    play.delete_lines(found.path, number)
    say(
        play,
        "(Deleted|Removed) {row}, line {number}, from {file}.",
        row=label,
        number=str(number),
        file=found.path,
    )


def append_row(play: Play) -> None:
    """One line more at the end."""
    rng = play.rng
    found = _lay(play)
    if found.text.endswith("}\n"):
        raise Unfit("the end is no row")
    labels = list(found.rows)
    last, value = found.rows[labels[-1]]
    digits = re.findall(r"\d+", labels[-1])
    following = f"{len(labels) + 1:03}"
    if not digits or f"{len(labels):03}" not in found.line(labels[-1]):
        raise Unfit("no number to count on")
    line = found.line(labels[-1]).replace(f"{len(labels):03}", following, 1)
    if value in line:
        line = line.replace(value, rng.choice([one for _, one in found.rows.values()]))
    prompt(
        play,
        frames.APPEND,
        line=rng.choice((f'"{line.strip()}"', f"`{line.strip()}`", line.strip())),
        file=found.called,
    )
    if found.called != found.path and f"did you mean {found.path}?" not in play.read(found.called):
        raise Unfit("the file was not found")
    if f"\n{last}: " not in play.read(found.path):
        raise Unfit("the line is not shown")
    play.insert_after(found.path, last, line)
    say(
        play,
        "(Added {line} at the end of {file}.|Appended {line} to {file}.)",
        line=line.strip(),
        file=found.path,
    )


def odd_rows(play: Play) -> None:
    """The few rows of a long list that are not like the others."""
    rng = play.rng
    name, head, shape, usual, odd, question = rng.choice(frames.ODD).split(" | ")
    count = rng.randint(120, 230)
    strange = sorted(rng.sample(range(count), rng.choice((1, 1, 1, 2, 3, 4))))
    lines, labels = [head], []
    for at, day in enumerate(_days(count, rng.randint(0, 300))):
        people = {"p": rng.choice(POOLS["person"]), "s": rng.choice(POOLS["surname"])}
        words = {"i": f"{at + 1:03}", "d": day, **people}
        lines.append(spell(rng, shape, v=odd if at in strange else usual, **words))
        labels.append(spell(rng, _label_shape(shape), **words))
    path = rng.choice(("", "", "lists/", "2025/")) + name
    play.file(path, "\n".join(lines) + "\n")
    for other, text in distractors(rng, rng.choice((0, 0, 1, 2)), {path: ""}).items():
        if odd not in str(text):
            play.file(other, text)
    called = _called(rng, path)
    order = ask(rng, spell(rng, rng.choice(entries(frames.ODD_ASK)), question=question), v=odd, file=called)
    play.user(order)
    shown = play.grep(odd, called) if called in order else play.grep(odd)
    if shown.count("\n") + 1 != len(strange) or not shown.startswith(path):
        raise Unfit("other matches")
    found = "\n".join(f"{path}, line {at + 2}: {lines[at + 1].strip()}" for at in strange)
    play.say(f"{found}\nThat is {joined([labels[at] for at in strange])}.")


def _label_shape(shape: str) -> str:
    """Return the part of a line that says whom or what it is about: `{p}`, `door {i}`."""
    name = re.search(r"\{[ps]\}( ?\{i\})?", shape) or re.search(r"([a-z]+ )?[#\w]*\{i\}[\w.]*", shape)
    assert name
    return name[0] + (" on {d}" if "{d}" in shape else "")


def in_long_prose(play: Play) -> None:
    """A word in a long text: on which line it is, or another word in its place."""
    rng = play.rng
    pool = POOLS[rng.choice(("animal", "city", "tool", "food", "product", "instrument"))]
    word, other = rng.sample(pool, 2)
    lines: list[str] = []
    while len(lines) < rng.randint(100, 150):
        line = sentence(rng) if rng.random() < 0.85 else ""
        if word not in line.lower() and other not in line.lower() and word not in line and other not in line:
            lines.append(line)
    at = rng.randrange(5, len(lines))
    lines[at] = one_frame(rng, frames.STORY, word=word, person=rng.choice(POOLS["person"]))
    path = rng.choice(("", "", "texts/")) + rng.choice(frames.STORY_FILES.split())
    play.file(path, "\n".join(lines) + "\n")
    changes = rng.random() < 0.4
    called = _called(rng, path)
    order = ask(rng, frames.STORY_CHANGE if changes else frames.STORY_ASK, word=word, new=other, file=called)
    play.user(order)
    shown = play.grep(f"(?i){word}", called) if called in order else play.grep(f"(?i){word}")
    if shown.count("\n") or not shown.startswith(path):
        raise Unfit("several matches")
    if not changes:
        play.say(f"{path}, line {at + 1}: {lines[at]}\nIt is on line {at + 1} of {path}.")
        return
    if f"\n{at + 1}: " not in play.read(path):
        raise Unfit("the line is not shown")
    play.set_lines(path, at + 1, lines[at].replace(word, other))
    play.say(f"Replaced {word} with {other} on line {at + 1} of {path}.")


def by_line_number(play: Play) -> None:
    """A line by its number, the first or the last ones."""
    rng = play.rng
    found = _lay(play)
    count = found.text.count("\n")
    few = rng.randint(2, 6)
    kind = rng.choice(("line", "line", "line", "last", "first", "last few", "first few"))
    number = rng.randint(4, count - 1)
    frame, command, at = {
        "line": (frames.LINE, f"sed -n '{number}p' {{file}}", number),
        "last": (frames.LAST, "tail -n 1 {file}", count),
        "first": (frames.FIRST, "head -n 1 {file}", 1),
        "last few": (frames.LAST_FEW, f"tail -n {few} {{file}}", 0),
        "first few": (frames.FIRST_FEW, f"head -n {few} {{file}}", 0),
    }[kind]
    prompt(play, frame, n=str(number if at else few), file=found.called)
    shown = _run(play, command, found.called, found.path)
    if not at:
        play.say(shown)
        return
    place = "last line" if kind == "last" else f"line {at}"
    play.say(f"{found.path}, {place}: {shown.strip()}")


def count_lines(play: Play) -> None:
    """How many lines there are, or how many hold a value."""
    rng = play.rng
    found = _lay(play)
    if rng.random() < 0.5:
        prompt(play, frames.LINES, file=found.called)
        shown = _run(play, "wc -l < {file}", found.called, found.path)
        play.say(f"{found.path} has {shown.strip()} lines.")
        return
    value = rng.choice(sorted({value for _, value in found.rows.values()}))
    if value.isdigit() or any(value in label for label in found.rows):
        raise Unfit("a number may be part of others")
    prompt(play, frames.ROWS_WITH, value=value, file=found.called)
    shown = _run(play, f"grep -cw '{value}' {{file}}", found.called, found.path)
    say(
        play,
        "{value} is on {count} lines of {file}." if shown != "1" else "{value} is on 1 line of {file}.",
        value=value,
        count=shown,
        file=found.path,
    )


def _log(rng: Random, word: str, failures: int) -> str:
    def put(block: str) -> str:
        slots = {name: rng.choice(words) for name, words in sorted(POOLS.items())}
        return spell(rng, rng.choice(entries(block)), word=word, num=str(rng.randint(100, 999)), **slots)

    count = rng.randint(130, 190)
    bad = set(rng.sample(range(5, count), failures))
    minute = rng.randint(0, 300)
    lines = []
    for at in range(count):
        minute += rng.randint(1, 5)
        clock = f"{minute // 60 % 24:02}:{minute % 60:02}:{rng.randint(0, 59):02}"
        lines.append(f"{clock} {put(frames.LOG_FAILURES if at in bad else frames.LOG_TEXTS)}")
    return "\n".join(lines) + "\n"


def in_a_log(play: Play) -> None:
    """The few lines of a long log that tell of failures, listed or counted."""
    rng = play.rng
    word = rng.choice(("ERROR", "ERROR", "WARN", "FATAL", "CRITICAL", "FAIL", "PANIC"))
    failures = rng.choice((0, 1, 1, 2, 3, 4))
    path = rng.choice(("", "logs/", "var/")) + rng.choice(POOLS["host"] + POOLS["mod"]) + ".log"
    play.file(path, _log(rng, word, failures))
    called = _called(rng, path)
    counts = rng.random() < 0.25
    said = rng.choice((word, word.lower()))
    play.user(
        ask(rng, frames.COUNT_LEVEL if counts else frames.LOG_LEVELS, word=said, file=called).replace(
            "s?", "s"
        )
    )
    if counts:
        shown = _run(play, f"grep -c {word} {{file}}", called, path)
        number = shown.split("\n")[0]
        play.say(f"{path} has {number} line{'' if number == '1' else 's'} with {word}.")
        return
    shown = play.grep(word, called)
    if shown == "No matches found":
        say(play, "(There is no {word} in {file}.|No line of {file} has {word}.)", word=word, file=path)
        return
    found = [re.sub(r":(\d+): ", r", line \1: ", line, count=1) for line in shown.split("\n")]
    times = [line.split(": ", 1)[1].split(" ")[0] for line in found]
    play.say(
        "\n".join(found)
        + f"\nThat is {len(found)} {word} line{'s' if len(found) > 1 else ''}, at {joined(times)}."
    )


FAMILIES = (
    Family(look_up, 1.6),
    Family(change_row, 1.2),
    Family(take_out, 0.7),
    Family(append_row, 0.3),
    Family(odd_rows, 0.8),
    Family(in_long_prose, 0.6),
    Family(by_line_number, 0.8),
    Family(count_lines, 0.6),
    Family(in_a_log, 0.8),
)
