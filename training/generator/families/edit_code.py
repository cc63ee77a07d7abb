"""Changing programs: names, values, texts, lines and whole functions, in some twenty languages."""

import re
from random import Random

from training.generator import sources
from training.generator.families.edit_config import CHANGE, COMMENT, DELETE
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.programs import CodeEdit, Program, functions, make_program
from training.generator.sources_code import COMMENTS, IMPORTS, SIGNS
from training.generator.targets import aim, order_text, place, quoted

RENAME = """
rename {k} to {n}
rename the {w} {k} to {n} (everywhere|)
(rename|change) {k} (in|into|to) {n}(, everywhere|)
call the {w} {n} instead of {k}
the {w} {k} should be called {n}
{k} should be called {n}(, everywhere|, in all places|)
{k} is a bad name, (call it|use|take) {n}
I want the {w} {k} to be named {n}
(can|could|would) you rename {k} to {n}?
replace the name {k} (by|with) {n}
{k} -> {n} everywhere
please use {n} as the name of the {w} {k}
the {w} {k} needs a better name: {n}
(the|our) {w} {k} is called {n} now, (also where it is used|please change all places)
change every {k} to {n}
I don't like the name {k}, make it {n}
we call it {n}, not {k}. rename the {w}
""".strip()
SAY = """
(say|write|print) {v} instead of {o}
it should say {v}, not {o}
it says {o}, (should be|make it|change that to) {v}
(change|replace) {o} (to|by|with|into) {v}
the {k} should be {v} (instead of {o}|)
change the {k} to {v}
{v} instead of {o}
let the {k} be {v}
I want {v} where it says {o}
there is {o} in it, I'd rather have {v}
make the {k} {v}
{o} sounds wrong, use {v}
use {v} as the {k}
the {k} is {o}, I need {v}
can it say {v} and not {o}?
""".strip()
ABOVE = """
add a comment above {k}: {v}
put the comment {v} above the function {k}
write {v} as a comment (before|above) {k}
{k} needs a comment above it: {v}
above {k} I want a comment saying {v}
comment for the function {k}: {v}
""".strip()
DOCSTRING = """
add a docstring to {k}: {v}
give {k} the docstring {v}
{k} has no docstring, it should be {v}
write a docstring for the function {k}: {v}
document {k} with a docstring: {v}
""".strip()
TOP = """
add {v} at the top
(put|insert|write) {v} (at the top|as the first line|on line 1|before everything else)
the first line should be {v}, before all others
I need {v} at the very top
{v} is missing at the top
new first line: {v}
""".strip()
BOTTOM = """
add {v} at the end
(append|put|write) {v} (at the end|as the last line|at the bottom)
the last line should be {v}, after all others
append {v}
I need {v} at the very end
one more line at the end: {v}
""".strip()


def lay_out(play: Play, program: Program, word: str = "") -> None:
    """Put a program into the folder, and others that do not hold the word of the order."""
    rng = play.rng
    play.file(program.path, program.text)
    if rng.random() < 0.35:
        other = make_program(rng)
        same_name = other.path.rpartition("/")[2] == program.path.rpartition("/")[2]
        if not same_name and word and word not in other.text and other.ending != program.ending:
            play.file(other.path, other.text)
    sources.distract(play, program.path, most=3)


def _start(play: Play, program: Program, order: str, word: str = "", *, exact_end: bool = False) -> None:
    """Say the order, find the file and read it."""
    rng = play.rng
    search = word if re.fullmatch(r"\w{4,}", word) else ""
    target = aim(rng, program.path, search, named=not search and rng.random() < 0.5)
    if exact_end and target.said:
        order = f"{target.said}: {order}" if rng.random() < 0.4 else f"in {target.said} {order}"
    elif target.said:
        order = place(rng, order, target)
    play.user(order_text(rng, order, exact_end=exact_end))
    target.find(play)
    play.read(program.path)


def _choose(play: Play, kind: str) -> tuple[Program, CodeEdit]:
    program = make_program(play.rng, kind=kind)
    return program, play.rng.choice([edit for edit in program.edits if edit.kind == kind])


def rename(play: Play) -> None:
    """A function, variable, class or constant with a new name, in the whole file."""
    rng = play.rng
    program, edit = _choose(play, "rename")
    old, new = edit.left, rng.choice(edit.new.split(", "))
    if re.search(rf"\b{re.escape(new)}\b", program.text):
        raise Unfit("the new name is taken")
    lay_out(play, program, old)
    frame = rng.choice(RENAME.split("\n"))
    said = rng.choice(("", "", "", "`", '"'))
    shown = f"{old}()" if edit.right in ("function", "method") and rng.random() < 0.15 else old
    order = one_frame(rng, frame, k=f"{said}{shown}{said}", n=f"{said}{new}{said}", w=edit.right)
    _start(play, program, order, old)
    play.say(replace_name(play, program.path, old, new, edit.right))


def replace_name(play: Play, path: str, old: str, new: str, what: str) -> str:
    """Replace a name in a file that was read, and return the sentence that tells it."""
    text = play.text(path)
    count = text.count(old)
    if count != len(re.findall(rf"(?<!\w){re.escape(old)}(?!\w)", text)):
        raise Unfit("the name is also a part of other words")
    play.replace_all(path, old, new)
    places = "1 place" if count == 1 else f"{count} places"
    return f"Renamed the {what} {old} to {new} in {path} ({places})."


def split_mark(pattern: str) -> tuple[str, str, str]:
    before, _, rest = pattern.partition("«")
    old, _, after = rest.partition("»")
    return before, old, after


def _replace_part(program: Program, edit: CodeEdit, new: str) -> tuple[int, str, str]:
    """The line that an edit changes, its new text and the old value."""
    before, old, after = split_mark(edit.left)
    number = program.line_with(before + old + after)
    return number, program.lines[number - 1].replace(before + old + after, before + new + after), old


def value(play: Play) -> None:
    """A number, constant, default or path in a program."""
    rng = play.rng
    program, edit = _choose(play, "value")
    new = sources.other_value(rng, edit.new, split_mark(edit.left)[1]).strip()
    number, line, old = _replace_part(program, edit, new)
    name = rng.choice(edit.right.split(", "))
    is_name = name in program.text and re.fullmatch(r"\w+", name) is not None
    lay_out(play, program, name)
    article = "" if is_name or rng.random() < 0.2 else "the "
    order = one_frame(rng, CHANGE, k=article + name, v=new, o=old)
    _start(play, program, order, name if is_name else "")
    play.set_lines(program.path, number, line)
    play.say(f"Changed {article or ''}{name} from {old} to {new} in {program.path}.")


def text(play: Play) -> None:
    """A text that is printed or shown."""
    rng = play.rng
    program, edit = _choose(play, "text")
    new = rng.choice(edit.new.split("/"))
    number, line, old = _replace_part(program, edit, new)
    lay_out(play, program, old)
    marks = rng.choice(("{}", "{}", '"{}"', "'{}'", "`{}`"))
    name = rng.choice(edit.right.split(", "))
    order = one_frame(rng, SAY, k=name, v=marks.format(new), o=marks.format(old))
    _start(play, program, order, old if old in order else "")
    play.set_lines(program.path, number, line)
    play.say(f"Changed “{old}” to “{new}” in {program.path}, line {number}.")


def line(play: Play) -> None:
    """A line that has to work otherwise: an operator, a parameter, a call."""
    rng = play.rng
    program, edit = _choose(play, "line")
    number = program.line_with(edit.left)
    old = program.lines[number - 1]
    new = old[: len(old) - len(old.lstrip())] + edit.new.removeprefix("\\").strip()
    lay_out(play, program)
    order = rng.choice(edit.right.split("; "))
    _start(play, program, order, exact_end=True)
    play.set_lines(program.path, number, new)
    play.say(f"Changed line {number} of {program.path} to “{new.strip()}”.")


def below(play: Play) -> None:
    """A line, a field or a method that is new."""
    rng = play.rng
    program, edit = _choose(play, "below")
    number = program.line_with(edit.left)
    lay_out(play, program)
    _start(play, program, rng.choice(edit.right.split("; ")), exact_end=True)
    play.insert_after(program.path, number, edit.new)
    added = next(line.strip() for line in edit.new.split("\n") if line.strip())
    play.say(f"Added “{added}” below line {number} of {program.path}.")


def delete(play: Play) -> None:
    """A line that is not wanted any longer."""
    rng = play.rng
    program, edit = _choose(play, "delete")
    number = program.line_with(edit.left)
    lay_out(play, program)
    order = one_frame(rng, DELETE, k=rng.choice(edit.right.split("; ")))
    if rng.random() < 0.15:
        order += rng.choice(
            (", it annoys me", ", I debugged enough", " before we release", ", not needed there")
        )
    _start(play, program, order)
    play.delete_lines(program.path, number)
    play.say(f"Removed the line “{program.lines[number - 1].strip()}” from {program.path}.")


def cut(play: Play) -> None:
    """A function, target or block that is taken out whole."""
    rng = play.rng
    program, edit = _choose(play, "cut")
    what = rng.choice(edit.right.split("; "))
    lay_out(play, program, what.split()[-1])
    _start(play, program, one_frame(rng, DELETE, k=what))
    play.delete_lines(program.path, _block(program, edit.left))
    play.say(f"Removed {what} from {program.path}.")


def _block(program: Program, pattern: str) -> tuple[int, int]:
    """The lines of a block and of the empty lines that would be left over."""
    begin, end = pattern.split(" .. ")
    lines = program.lines
    first = program.line_with(begin)
    fits = (lambda line: line.startswith(end[1:])) if end.startswith("^") else (lambda line: end in line)
    last = next(number for number in range(first, len(lines) + 1) if fits(lines[number - 1]))
    while last < len(lines) and not lines[last]:
        last += 1
    while last == len(lines) and first > 1 and not lines[first - 2]:
        first -= 1
    return first, last


def comment(play: Play) -> None:
    """A line that becomes a comment."""
    rng = play.rng
    program, edit = _choose(play, "comment")
    number = program.line_with(edit.left)
    old = program.lines[number - 1]
    lay_out(play, program)
    _start(play, program, one_frame(rng, COMMENT, k=rng.choice(edit.right.split("; "))))
    play.set_lines(
        program.path, number, re.sub(r"\S", lambda match: SIGNS[program.ending] + match[0], old, count=1)
    )
    play.say(f"Commented out “{old.strip()}” in {program.path}, line {number}.")


def _program_with_function(rng: Random, endings: tuple[str, ...]) -> tuple[Program, str, int]:
    program = make_program(rng)
    found = functions(program)
    if not found or program.ending not in endings:
        raise Unfit("no function")
    name, number = rng.choice(found)
    return program, name, number


def comment_above(play: Play) -> None:
    """A comment above a function."""
    rng = play.rng
    program, name, number = _program_with_function(rng, ("py", "js", "ts", "go", "rs", "rb", "lua", "kt"))
    words = sources.fill(rng, rng.choice(COMMENTS.strip().split("\n")))
    lay_out(play, program, name)
    shown = quoted(rng, words, bare=0.5)
    order = one_frame(rng, ABOVE, k=name, v=shown)
    _start(play, program, order, name, exact_end=True)
    old = program.lines[number - 1]
    indent = old[: len(old) - len(old.lstrip())]
    play.insert_after(program.path, number - 1, f"{indent}{SIGNS[program.ending]}{words}")
    play.say(f"Added the comment “{words}” above {name} in {program.path}.")


def docstring(play: Play) -> None:
    """A docstring in a Python function."""
    rng = play.rng
    program, name, number = _program_with_function(rng, ("py",))
    words = sources.fill(rng, rng.choice(COMMENTS.strip().split("\n"))).capitalize() + "."
    lay_out(play, program, name)
    order = one_frame(rng, DOCSTRING, k=name, v=quoted(rng, words, bare=0.5))
    _start(play, program, order, name, exact_end=True)
    old = program.lines[number - 1]
    indent = old[: len(old) - len(old.lstrip())] + "    "
    play.insert_after(program.path, number, f'{indent}"""{words}"""')
    play.say(f"Added the docstring to {name} in {program.path}.")


def top_or_bottom(play: Play) -> None:
    """An import or a comment at the top, or a line at the end."""
    rng = play.rng
    program = make_program(rng)
    sign = SIGNS.get(program.ending)
    if program.lines[0].startswith(("#!", "<", "import", "FROM")) or not sign:
        raise Unfit("the top is taken")
    at_top = rng.random() < 0.6
    if at_top and program.ending in IMPORTS and rng.random() < 0.6:
        new = rng.choice(IMPORTS[program.ending].split("/"))
    else:
        new = sign + sources.fill(rng, rng.choice(COMMENTS.strip().split("\n")))
    if new in program.text:
        raise Unfit("it is there")
    lay_out(play, program)
    order = one_frame(rng, TOP if at_top else BOTTOM, v=quoted(rng, new, bare=0.4))
    _start(play, program, order, exact_end=True)
    play.insert_after(program.path, 0 if at_top else len(program.lines), new)
    play.say(f"Added “{new}” at the {'top' if at_top else 'end'} of {program.path}.")


FAMILIES = (
    Family(rename, 2.2),
    Family(value, 2.6),
    Family(text, 1.0),
    Family(line, 1.6),
    Family(below, 1.1),
    Family(delete, 0.9),
    Family(cut, 0.5),
    Family(comment, 0.5),
    Family(comment_above, 0.5),
    Family(docstring, 0.3),
    Family(top_or_bottom, 0.7),
)
