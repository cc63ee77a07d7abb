"""Generates bash lines from the rules in `grammar.txt` and from the tables of the judge itself."""

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from bridle.tools.commands import program_tables
from bridle.tools.commands.program_tables import Program, git_command, reading_program
from tests.tools.commands import bash_oracle

MAX_LINE = 4000
_HERE = Path(__file__).parent
_WRITTEN = Path(bash_oracle.__file__).with_name("commands.txt")
_MAX_DEPTH = 12
_HUGE = 1 / 1500
_REFERENCE = re.compile("«([^»]+)»")
_WEIGHT = re.compile(r"(\d+) × ")

READERS = tuple(program_tables._rows(program_tables._READING))
GIT_COMMANDS = tuple(program_tables._rows(program_tables._GIT))


class Grammar:
    """Makes lines; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"lines:{seed}")
        self._rules = _rules()
        self._made: dict[str, Callable[[], str]] = {
            "reader": self._reader,
            "reader-name": lambda: self._random.choice(READERS),
            "git-call": self._git,
            "written": lambda: self._random.choice(_written_lines()),
        }
        self._depth = 0

    def line(self) -> str:
        """Return the next line."""
        if self._chance(_HUGE):
            return self._huge()
        line = self._choose("line")
        for _ in range(self._random.choice((0, 0, 0, 0, 0, 0, 1, 1, 2, 3))):
            line = self._changed(line)
        return line.replace("\0", "")[:MAX_LINE]

    # ------------------------------------------------------------------ rules

    def _choose(self, rule: str) -> str:
        if rule in self._made:
            return self._made[rule]()
        if rule.startswith("U+"):
            return chr(int(rule[2:], 16))
        if self._depth > _MAX_DEPTH:
            return "ls"
        self._depth += 1
        chosen = self._random.choice(self._rules[rule])
        made = _REFERENCE.sub(lambda found: self._choose(found[1]), chosen)
        self._depth -= 1
        return self._word(made) if rule in ("operand", "folder") else made

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    # ------------------------------------------------------------------ programs with their own flags

    def _reader(self) -> str:
        name = self._random.choice(READERS)
        return self._call(self._word(name), reading_program(name))

    def _git(self) -> str:
        name = self._random.choice(GIT_COMMANDS)
        known = git_command(name)
        if self._chance(0.12):
            name, known = self._choose("git-other"), None
        before = "git"
        while self._chance(0.15):
            before += " " + self._choose("git-global")
        made = self._call(f"{before} {self._word(name)}", known)
        return f"{made} {self._choose('revision')}" if self._chance(0.4) else made

    def _call(self, name: str, known: Program | None) -> str:
        parts = [self._flag(known) for _ in range(self._random.choice((0, 0, 1, 1, 2, 3)))]
        parts += [self._choose("operand") for _ in range(self._random.choice((0, 1, 1, 1, 2, 3)))]
        if self._chance(0.1):
            self._random.shuffle(parts)
        return " ".join([name, *parts])

    def _flag(self, known: Program | None) -> str:
        """Return a flag that the program knows, mostly; sometimes cut short, as programs take them, too."""
        if known is None or not known.flags or self._chance(0.06):
            return self._choose("hostile-flag")
        name = self._random.choice(list(known.flags))
        mark = known.flags[name]
        if self._chance(0.02):
            name = name[: self._random.randint(2, len(name))] if name.startswith("--") else name + "o"
        if not mark or (mark == "?" and self._chance(0.5)):
            return name
        value = self._choose("operand" if mark in "<>" else "value")
        return f"{name}{'=' if name.startswith('--') else self._random.choice(('', ' '))}{value}"

    # ------------------------------------------------------------------ words

    def _word(self, text: str) -> str:
        """Return a word, sometimes written in another way."""
        if not self._chance(0.06) or not text.isascii():
            return text
        parts = []
        while text:
            size = self._random.randint(1, 4)
            parts.append(self._quoted(text[:size]))
            text = text[size:]
        return "".join(parts)

    def _quoted(self, text: str) -> str:
        match self._random.randrange(8):
            case 0 if "'" not in text:
                return f"'{text}'"
            case 1 if '"' not in text:
                return f'"{text}"'
            case 2:
                return "$'" + "".join(f"\\x{ord(char):02x}" for char in text) + "'"
            case 3:
                return "".join(f"\\{char}" for char in text)
            case 4 if "'" not in text:
                return f"$'{text}'"
            case 5:
                return f"{text}\\\n"
            case _:
                return text

    # ------------------------------------------------------------------ whole lines

    def _changed(self, line: str) -> str:
        at = self._random.randint(0, len(line))
        match self._random.randrange(9):
            case 0 | 1 | 2 | 3:
                return line[:at] + self._choose("seam") + line[at:]
            case 4:
                return line[:at] + self._choose("seam") + self._choose("payload") + line[at:]
            case 5:
                return line[:at] + line[at + self._random.randint(1, 4) :]
            case 6:
                return line.replace(
                    " ", self._random.choice((" \\\n", "\t", "  ", "${IFS}", "\u00a0", " '' ")), 1
                )
            case 7:
                comment = self._random.choice((" # ", "\\\n#", " \\\n# ", "#", "\n#", "; #"))
                return line + comment + self._choose("payload")
            case _:
                return line[:at] + chr(self._random.randrange(33, 127)) + line[at:]

    def _huge(self) -> str:
        """Return a line that is long, deep, or grows while it is read."""
        count = self._random.choice((20, 64, 200, 1000))
        few = min(count, 64)
        forms = (
            f"a=x; {'a=$a$a; ' * few}ls $a",
            "".join(f"x{i}=$x{i - 1}$x{i - 1}; " for i in range(few)) + "ls $x9",
            f"echo {'$(echo ' * few}{')' * few}",
            f"echo {'{a,b}' * few}",
            f"ls {'*' * count}",
            f"ls {'*/' * few}x",
            f"cat {'a.txt ' * count}",
            "ls && " * few + "ls",
            "(" * count + "ls" + ")" * count,
            f"echo $(({'(' * count}1{')' * count}))",
            f"echo '{'x' * count * 50}'",
            f"echo {'${x:-' * few}{'}' * few}",
            "cat <<E\n" + "$x\n" * count + "E",
            "{ " * few + "ls; " + "}; " * few,
            f"grep -E '{'(a|b)*' * few}' a.txt",
            f"{'cd here && ' * few}git status",
            f"[[ {'! ' * count}-n x ]]",
            f"echo {'`' * count}",
            f"sed -n '{'s/a/b/;' * count}p' a.txt",
            f"ls {'{1..99}' * min(count, 20)}",
            f"find . {'! ' * count}-name x",
            " | ".join(["cat"] * few) + " < /dev/null",
        )
        return self._random.choice(forms)


@cache
def _rules() -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {}
    choices: list[str] = []
    for line in (_HERE / "grammar.txt").read_text().splitlines():
        if line.startswith("    "):
            text = line[4:]
            weight = _WEIGHT.match(text)
            choices += [_plain(text[weight.end() if weight else 0 :])] * (int(weight[1]) if weight else 1)
        elif line and not line.startswith("#"):
            name, listed = re.split(" =|:", line, maxsplit=1)
            choices = rules.setdefault(name, [])
            choices += map(_plain, listed.split())
    return rules


def _plain(text: str) -> str:
    return text.replace("⏎", "\n")


@cache
def _written_lines() -> list[str]:
    """Return the lines that the tests of the judge name."""
    lines = [line[2:] for line in _WRITTEN.read_text().splitlines() if line.startswith("$ ")]
    return [line.encode("latin-1", "backslashreplace").decode("unicode_escape") for line in lines]
