"""A script is run, changed and run again; back again, or the same with another one."""

import re
from random import Random

from msgspec import Struct

from training.generator import sources
from training.generator.frames import one_frame
from training.generator.knowledge.scripts import Script, load_scripts
from training.generator.play import Family, Play, Unfit
from training.generator.targets import typed

SCRIPTS = [script for script in load_scripts("scripts") if not script.name.endswith(".sql")]
PLACES = ("", "", "", "", "scripts/", "tools/", "src/", "school/", "work/", "code/", "python/")
RUN = """
run {f}
start {f} (and tell me what it prints|)
what does {f} print?
execute {f}
let {f} run
(please |)run {f} (for me|once)
{c}
I want to see what {f} does, run it
could you run {f}?
try {f}
""".strip()
CHANGE_AND_RUN = """
(turn|change) the {o} (into|to) {n} and run it (again|once more)
(turn|change) {o} (into|to) {n}, then run it (again|once more)
make the {o} a {n}, then run it again
{n} instead of {o}, and run (again|it again)
(put|write) {n} (instead of|for) {o} and start it (again|once more)
replace {o} by {n} and run it once more
what does it print with {n} instead of {o}? change it (please|)
{o} should (be|have been) {n}. (correct it and run it again|fix that and run again)
the {o} must be {n}, change that and execute it again
now with {n} (instead of|for) {o}: change and run it
set the {o} to {n} and run again
can you change the {o} to {n} and run it again?
""".strip()
BACK = """
(change|turn|set) it back and run (it |)again
back to {o}, and run it (again|once more)
no, {o} was right. put it back and run it
(put|write) the {o} back and (run|start) it once more
set it to {o} again, then run
I want the {o} back, run it then
make it {o} again and run it
""".strip()
MORE = """
now (with|make it) {n}, (and|then) run (it |)again
and with {n}? change it and run
and {n}? run it again too
now {n}, run it once more
once more with {n}
try {n} (now|too), and run it
the same with {n}
""".strip()
OTHER = """
now do the same with {f}
do the same (in|with|for) {f}
the same change in {f}, and run it too
and {f}: same change, then run it
{f} too please
now {f}, change and run it (like that|the same way)
""".strip()
RUN_OTHER = """
now {f}
and {f}?
run {f} too
do the same with {f}
and what does {f} print?
the same for {f}
""".strip()


class _Runs(Struct):
    """A script in the folder: its path and command, and the number in it that changes."""

    play: Play
    path: str
    code: str
    old: str
    is_shell: bool

    @property
    def command(self) -> str:
        """The command that runs it."""
        return f"{'sh' if self.is_shell else 'python3'} {self.path}"

    def ask(self, block: str, **slots: str) -> None:
        """Let the user say one sentence of a block."""
        self.play.user(
            typed(self.play.rng, one_frame(self.play.rng, block, f=self.path, c=self.command, **slots))
        )

    def run(self) -> str:
        """Run it and return what it printed, as it stands in an answer."""
        shown = self.play.bash(self.command).strip("\n")
        if "[exit status" in shown or shown.count("\n") > 11 or shown == "(no output)" or not shown.strip():
            raise Unfit("nothing to show")
        return f"\n{shown}" if "\n" in shown else f" {shown.strip()}"

    def change(self, old: str, new: str) -> None:
        """Put a number in the place of another, run the script and answer."""
        self.play.read(self.path)
        rows = self.play.text(self.path).removesuffix("\n").split("\n")
        found = [number for number, row in enumerate(rows, 1) if _count(row, old)]
        if len(found) != 1 or _count(rows[found[0] - 1], old) != 1:
            raise Unfit("not in one place")
        row = re.sub(rf"(?<![\w.]){old}(?![\w.])", new, rows[found[0] - 1])
        self.play.set_lines(self.path, found[0], row)
        self.play.say(f"Changed {old} to {new} in {self.path}. Now it printed:{self.run()}")


def _count(text: str, number: str) -> int:
    return len(re.findall(rf"(?<![\w.]){number}(?![\w.])", text))


def _number(rng: Random, code: str) -> str:
    """Return a number that is in the code once."""
    found = re.findall(r"(?<![\w.*])\d{1,3}(?![\w.])", code)
    single = [
        number for number in found if found.count(number) == 1 and number not in ("0", "1", "10", "100")
    ]
    if not single:
        raise Unfit("no number")
    return str(rng.choice(single))


def _other_number(rng: Random, old: str, taken: str) -> str:
    size = int(old)
    low, high = (2, 12) if size < 10 else (max(2, size // 2), size * 2)
    new = str(rng.randint(low, high))
    if new == old or _count(taken, new):
        raise Unfit("taken")
    return new


def _draw(play: Play) -> Script:
    script = play.rng.choice(SCRIPTS).drawn(play.rng)
    if not script.name.endswith((".py", ".sh")) or "random" in script.code or "input(" in script.code:
        raise Unfit("not the same each time")
    return script


def _laid_out(play: Play) -> _Runs:
    script = _draw(play)
    path = play.rng.choice(PLACES) + script.name
    play.file(path, script.code)
    return _Runs(play, path, script.code, _number(play.rng, script.code), path.endswith(".sh"))


def change_and_run(play: Play) -> None:
    """Run, change a number and run; then perhaps back again or yet another number."""
    rng = play.rng
    runs = _laid_out(play)
    sources.distract(play, runs.path, most=2)
    runs.ask(RUN)
    play.say(f"{runs.path} printed:{runs.run()}")
    new = _other_number(rng, runs.old, runs.code)
    runs.ask(CHANGE_AND_RUN, o=runs.old, n=new)
    runs.change(runs.old, new)
    chance = rng.random()
    if chance < 0.35:
        runs.ask(BACK, o=runs.old)
        runs.change(new, runs.old)
    elif chance < 0.6:
        third = _other_number(rng, new, runs.code)
        if third == runs.old:
            raise Unfit("that is back")
        runs.ask(MORE, n=third)
        runs.change(new, third)


def same_in_copy(play: Play) -> None:
    """The same change in another script that holds the same number."""
    rng = play.rng
    runs = _laid_out(play)
    stem, _, ending = runs.path.rpartition(".")
    other = _Runs(
        play, f"{stem}{rng.choice(('2', '_b', '_new', '_copy', '-old'))}.{ending}", "", "", runs.is_shell
    )
    swapped = rng.choice(("Ada", "Kira", "Emil", "total", "result"))
    other.code = runs.code.rstrip("\n") + f'\n{"echo" if runs.is_shell else "print("}"{swapped}"'
    other.code += "\n" if runs.is_shell else ")\n"
    play.file(other.path, other.code.replace('echo"', 'echo "'))
    new = _other_number(rng, runs.old, runs.code)
    runs.ask(
        "\n".join(f"in {{f}} {frame}\n{{f}}: {frame}" for frame in CHANGE_AND_RUN.split("\n")),
        o=runs.old,
        n=new,
    )
    runs.change(runs.old, new)
    other.ask(OTHER)
    other.change(runs.old, new)


def one_after_the_other(play: Play) -> None:
    """Two or three scripts, the later ones named in a word."""
    rng = play.rng
    all_runs = [_laid_out(play) for _ in range(rng.choice((2, 2, 3)))]
    for at, runs in enumerate(all_runs):
        runs.ask(RUN_OTHER if at else RUN)
        play.say(f"{runs.path} printed:{runs.run()}")


FAMILIES = (
    Family(change_and_run, 3.2),
    Family(same_in_copy, 0.5),
    Family(one_after_the_other, 0.5),
)
