"""Programs with one slip that stops them: the order describes it, pastes the error, or says that it fails."""

import re
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.families.small_scripts import SCRIPTS, script_spec
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import in_folder
from training.generator.targets import order_text
from training.generator.word_pools import GOODS

PASTED = """
{f} fails: {e}. (fix it|please fix)
python3 {f} says {e}, (repair|fix) it
when I start {f} I get "{e}"
{f} does not run, {e}
(I get|there is) this error in {f}: {e}
fix {f}, it stops with {e}
what is wrong in {f}? {e}. repair it
{e} - that is what {f} says. (can you fix it|please repair)?
""".strip()
DESCRIBED = """
there is {w} in line {n} of {f}, (add it|fix it|please fix)
line {n} of {f} has {w}
fix line {n} in {f}, there is {w}
{f}: {w} in line {n}
I think {f} has {w} in line {n}, repair it
in {f} line {n} has {w}, correct it
(can|could) you fix line {n} of {f}? it has {w}
""".strip()
RUN = """
{f} does not work, (run it and repair it|find the error and fix it|fix it)
run {f} and fix the error
{f} crashes, (please |)fix it
why does {f} fail? fix it
start {f}; if there is an error, repair it
something is broken in {f}, (run it and fix it|repair it)
""".strip()


class Broken(Struct):
    """A program with a slip."""

    path: str
    lines: list[str]
    number: int
    right: str
    """The line as it should be."""
    what: str
    """The slip in words."""


_WORDS = {
    "print": ("pirnt", "prnit", "pritn", "printt"),
    "range": ("rnage", "rage", "ragne"),
    "len": ("lne", "leng"),
    "sorted": ("sortd", "soted"),
    "enumerate": ("enumrate", "enumerat"),
    "sum": ("smu",),
    "max": ("maxx",),
}


def _slips(line: str) -> list[tuple[str, str]]:
    """Return wrong forms of a line, each with what is wrong in it."""
    found = []
    if re.match(r"\s*(for|if|while|def) .*:$", line):
        found.append((line[:-1], "a missing colon|no colon at the end|a colon missing"))
    if line.endswith(")") and line.count("(") == line.count(")"):
        found.append((line[:-1], "a missing bracket|an unclosed bracket|a closing bracket missing"))
    if line.count('"') == 2 and line.endswith('")'):
        found.append((line[:-2] + ")", "a missing quote|an unclosed string|a quotation mark missing"))
    for right, wrongs in _WORDS.items():
        if re.search(rf"\b{right}\(", line):
            for wrong in wrongs:
                what = f"a misspelt {right}|a typo ({wrong})|{wrong} instead of {right}"
                found.append((line.replace(f"{right}(", f"{wrong}("), what))
    if re.match(r"\s*if .* == ", line):
        found.append((line.replace(" == ", " = ", 1), "a single = instead of ==|= where == should be"))
    return found


def make_broken(rng: Random) -> Broken:
    """Make up a Python program with a slip in one line."""
    spec = script_spec(rng, rng.choice(SCRIPTS), "py")
    lines = spec.code.split("\n")
    if len(lines) == 1 and rng.random() < 0.7:
        lines = [f'title = "{rng.choice(GOODS)}"', "print(title)", *lines]
    choices = [(at, wrong, what) for at, line in enumerate(lines) for wrong, what in _slips(line)]
    if not choices:
        raise Unfit("no slip")
    at, wrong, what = rng.choice(choices)
    right, lines[at] = lines[at], wrong
    name = rng.choice((spec.name, f"{rng.choice(GOODS)}.py"))
    return Broken(in_folder(rng, name, 0.25), lines, at + 1, right, rng.choice(what.split("|")))


def _lay(play: Play, made: Broken) -> None:
    play.file(made.path, "\n".join(made.lines) + "\n")
    sources.distract(play, made.path, most=3)


def _repair(play: Play, made: Broken) -> None:
    play.read(made.path)
    play.set_lines(made.path, made.number, made.right)


def _error(made: Broken) -> str:
    """Return the last line of what Python says about a program, without a call of the conversation."""
    try:
        compile("\n".join(made.lines) + "\n", made.path, "exec")
    except SyntaxError as error:
        return f"{type(error).__name__}: {error.msg} (line {error.lineno})"
    called = re.findall(r"(\w+)\(", made.lines[made.number - 1])
    wrong = next((name for name in called if any(name in wrongs for wrongs in _WORDS.values())), "")
    if not wrong:
        raise Unfit("no error")
    return f"NameError: name '{wrong}' is not defined (line {made.number})"


def pasted(play: Play) -> None:
    """The order has the error."""
    rng = play.rng
    made = make_broken(rng)
    error = _error(made)
    _lay(play, made)
    if f"line {made.number})" not in error and rng.random() < 0.5:
        raise Unfit("another line is named")
    if rng.random() < 0.3:
        error = error.rpartition(" (")[0]
    play.user(
        order_text(rng, one_frame(rng, PASTED, f=made.path, e="\x01").replace("\x01", error), exact_end=True)
    )
    _repair(play, made)
    play.say(f"Fixed line {made.number} of {made.path}: “{made.right.strip()}”.")


def described(play: Play) -> None:
    """The order says which line and what is wrong with it."""
    rng = play.rng
    made = make_broken(rng)
    _lay(play, made)
    play.user(order_text(rng, one_frame(rng, DESCRIBED, f=made.path, w=made.what, n=str(made.number))))
    _repair(play, made)
    play.say(f"Fixed line {made.number} of {made.path}: “{made.right.strip()}”.")


def run_and_fix(play: Play) -> None:
    """The program is run, read, repaired and run again."""
    rng = play.rng
    made = make_broken(rng)
    _lay(play, made)
    play.user(order_text(rng, one_frame(rng, RUN, f=made.path)))
    shown = play.bash(f"python3 {made.path}")
    if "Error" not in shown or len(shown) > 700:
        raise Unfit("no error")
    _repair(play, made)
    shown = play.bash(f"python3 {made.path}").strip()
    if "Error" in shown or not shown or len(shown.split("\n")) > 14:
        raise Unfit("still broken, or a long output")
    play.say(f"Fixed line {made.number} of {made.path}: “{made.right.strip()}”. It prints now:\n{shown}")


FAMILIES = (
    Family(pasted, 1.0),
    Family(described, 1.0),
    Family(run_and_fix, 0.8),
)
