"""Functions of a small program: a new one, one less, another parameter, default or type."""

import re
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.families.create_code import Spec
from training.generator.families.small_scripts import FUNCTIONS, function_spec
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder
from training.generator.targets import aim, order_text, place

ADD = """
add a function {s} that {d}
add {s}, it {d}
(write|put) a (new |)function {s} (at the end|at the bottom), it {d}
we need {s} too, it {d}
append the function {s} that {d}
I need another function {s}, which {d}
(can|could) you add {s}? it {d}
there should be a function {s} that {d}
one more function: {s} {d}
extend it with {s}; {s} {d}
""".strip()
DELETE = """
(delete|remove) (the function |){n}
(delete|remove) {n}()
I don't need {n} any more(, delete it|)
{n} can go
take out the function {n}
(get rid of|throw out) {n}
nobody calls {n}, (remove it|delete the function)
the function {n} should not be in there
(can|could) you remove {n}?
""".strip()
PARAMETER = """
add (a|the) parameter {p} to {n}
{n} (needs|should get|should have) (a|another) parameter {p}
give {n} (a|another|one more) parameter {p}
(put|add) {p} as the last parameter of {n}
{n} should take {p} (too|as well)
I want to call {n} with {p} as well, add the parameter
new parameter {p} for {n}
""".strip()
DEFAULT = """
add (a|the) parameter {p} to {n}, default {v}
{n} (needs|should get) (a|another) parameter {p} with the default {v}
give {n} (a|another) parameter {p}={v}
new parameter {p} for {n}, {v} (by default|if not given)
add {p}={v} to the parameters of {n}
""".strip()
SET_DEFAULT = """
give {p} in {n} the default {v}
{p} of {n} should be {v} by default
(in|for) {n} {p} should default to {v}
make {v} the default of {p} in {n}
set a default for {p} in {n}: {v}
""".strip()
RENAME = """
rename {a} to {p} in {n}
rename the parameter {a} of {n} to {p}
the parameter {a} of {n} should be called {p}
call {a} {p} in {n}
in {n} use {p} instead of {a}
""".strip()
NEW_PARAMETERS = """
scale verbose unit factor limit strict prefix suffix step offset debug color lang title width mode name
count seed
""".split()
DEFAULTS = ("0", "1", "2", "10", "100", "None", "True", "False", '"en"', '"x"', "5", "0.5", '""')
STEMS = """
utils helpers tools lib calc shop math2 convert text words main app numbers game lesson stats common core
money basics
""".split()


class Program(Struct):
    """A file of small functions."""

    path: str
    specs: list[Spec]
    starts: list[int]
    lines: list[str]

    def end(self, at: int) -> int:
        """Return the last line of a function."""
        return self.starts[at] + self.specs[at].code.count("\n")


def make_program(rng: Random, language: str = "") -> Program:
    """Make up a file of two to five functions."""
    language = language or rng.choice(("py", "py", "py", "js"))
    specs: list[Spec] = []
    for block in rng.sample(FUNCTIONS, rng.randint(2, 5)):
        spec = function_spec(rng, block, language)[0]
        if spec.name not in [one.name for one in specs]:
            specs.append(spec)
    lines: list[str] = []
    if rng.random() < 0.3:
        lines += ["# " if language == "py" else "// "]
        lines[0] += rng.choice(
            ("small functions", "helpers", "for the lesson", "tools", "do not change the names")
        )
        lines.append("")
    starts: list[int] = []
    gap = [""] * (2 if language == "py" else 1)
    for spec in specs:
        lines += gap if starts else []
        starts.append(len(lines) + 1)
        lines += spec.code.split("\n")
    return Program(in_folder(rng, f"{rng.choice(STEMS)}.{language}", 0.3), specs, starts, lines)


def _start(play: Play, program: Program, order: str, word: str = "", *, exact_end: bool = False) -> None:
    rng = play.rng
    play.file(program.path, "\n".join(program.lines) + "\n")
    sources.distract(play, program.path, most=3)
    target = aim(rng, program.path, word, named=not word and rng.random() < 0.7)
    if exact_end and target.said:
        order = rng.choice((f"in {target.said} {order}", f"{target.said}: {order}"))
    else:
        order = place(rng, order, target)
    play.user(order_text(rng, order, exact_end=exact_end))
    target.find(play)
    play.read(program.path)


def add(play: Play) -> None:
    """A new function at the end of a program."""
    rng = play.rng
    program = make_program(rng)
    spec = function_spec(rng, rng.choice(FUNCTIONS), program.specs[0].ending)[0]
    if spec.name in [one.name for one in program.specs]:
        raise Unfit("it is there")
    order = one_frame(rng, ADD, s=spec.signature, d=rng.choice(spec.does))
    _start(play, program, order, exact_end=True)
    gap = "\n\n" if spec.ending == "py" else "\n"
    play.insert_after(program.path, len(program.lines), gap + spec.code)
    play.say(f"Added {spec.signature} at the end of {program.path}.")


def delete(play: Play) -> None:
    """A function less, with the empty lines that belong to it."""
    rng = play.rng
    program = make_program(rng)
    if len(program.specs) < 2:
        raise Unfit("the only one")
    at = rng.randrange(len(program.specs))
    name = program.specs[at].name
    if "\n".join(program.lines).count(name) != 1:
        raise Unfit("used elsewhere")
    _start(play, program, one_frame(rng, DELETE, n=name), name)
    first, last = program.starts[at], program.end(at)
    if at + 1 < len(program.specs):
        last = program.starts[at + 1] - 1
    else:
        first = program.end(at - 1) + 1
    play.delete_lines(program.path, (first, last))
    play.say(f"Removed the function {name} from {program.path}.")


def _parameters(line: str) -> list[str]:
    inner = re.search(r"\((.*)\)", line)
    assert inner
    return inner[1].split(", ")


def _with(line: str, parameters: list[str]) -> str:
    return re.sub(r"\(.*\)", lambda _: f"({', '.join(parameters)})", line, count=1)


def parameter(play: Play) -> None:
    """Another parameter, with or without a default, or a default for one that is there."""
    rng = play.rng
    program = make_program(rng)
    at = rng.randrange(len(program.specs))
    name, line = program.specs[at].name, program.lines[program.starts[at] - 1]
    names = _parameters(line)
    new, default = rng.choice(NEW_PARAMETERS), rng.choice(DEFAULTS)
    if new in names or (program.path.endswith("js") and default in ("None", "True", "False")):
        raise Unfit("does not fit")
    kind = rng.choice(("plain", "default", "set"))
    if kind == "set":
        order = one_frame(rng, SET_DEFAULT, n=name, p=names[-1], v=default)
        changed = [*names[:-1], _default(program.path, names[-1], default)]
    elif kind == "default":
        order = one_frame(rng, DEFAULT, n=name, p=new, v=default)
        changed = [*names, _default(program.path, new, default)]
    else:
        order, changed = one_frame(rng, PARAMETER, n=name, p=new), [*names, new]
    _start(play, program, order, name if "\n".join(program.lines).count(name) == 1 else "")
    after = _with(line, changed)
    play.set_lines(program.path, program.starts[at], after)
    play.say(f"Line {program.starts[at]} of {program.path} is now “{after.strip()}”.")


def _default(path: str, name: str, default: str) -> str:
    return f"{name}={default}" if path.endswith("py") else f"{name} = {default}"


def rename_parameter(play: Play) -> None:
    """A parameter with another name, in its function only."""
    rng = play.rng
    program = make_program(rng)
    at = rng.randrange(len(program.specs))
    spec = program.specs[at]
    old = rng.choice(_parameters(program.lines[program.starts[at] - 1]))
    new = rng.choice((*NEW_PARAMETERS, f"{old}_value", f"the_{old}", f"{old}1"))
    if re.search(rf"\b{new}\b", spec.code) or len(re.findall(rf"\b{old}\b", spec.code)) > 5:
        raise Unfit("taken")
    _start(play, program, one_frame(rng, RENAME, n=spec.name, a=old, p=new))
    code = re.sub(rf"\b{old}\b(?!\()", new, spec.code)
    play.set_lines(program.path, (program.starts[at], program.end(at)), code)
    play.say(f"Renamed the parameter {old} of {spec.name} to {new} in {program.path}.")


FAMILIES = (
    Family(add, 1.6),
    Family(delete, 0.9),
    Family(parameter, 1.2),
    Family(rename_parameter, 0.6),
)
