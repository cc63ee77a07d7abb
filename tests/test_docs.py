"""The examples in README.md and docs/ do what they show; CONTRIBUTING.md explains the convention."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.surfaces.warm import warm

ROOT = Path(__file__).parents[1]
ELSEWHERE = (
    "tutorial.md",  # it wants keys and a browser: tests/test_tutorial.py follows it
    "seeds.md",  # its commands are in tables: tests/test_seeds.py runs them
)
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if page.exists() and page.name not in ELSEWHERE
]

FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE
)
EXIT = re.compile(r"\[exit (\d+)\]")
MARK = "--end-of-command--"


class Block(NamedTuple):
    """One fenced block that is to be run."""

    language: str
    body: str
    line: int


class Command(NamedTuple):
    """One `$` line of a console block with what it must print; no lines at all means anything."""

    text: str
    output: list[str]
    status: int


def blocks(text: str) -> list[Block]:
    """Find the console and python blocks of a page; `no-run` after the language leaves one out."""
    found = []
    for match in FENCE.finditer(text):
        words = match["info"].split()
        if words[:1] in (["console"], ["python"]) and "no-run" not in words:
            found.append(Block(words[0], match["body"], text.count("\n", 0, match.start()) + 1))
    return found


def commands(body: str) -> list[Command]:
    """Split a console block into its commands."""
    found: list[Command] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], [], 0))
        elif not found:
            raise ValueError(f"a console block starts with a `$ ` line, not {line!r}")
        elif not found[-1].output and (line == ">" or line.startswith("> ")):
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line[2:]}")
        elif match := EXIT.fullmatch(line):
            found[-1] = found[-1]._replace(status=int(match[1]))
        else:
            found[-1].output.append(line)
    return found


def matches(expected: list[str], actual: list[str]) -> bool:
    """Compare line by line: a line `...` stands for any lines, `...` inside a line for any text."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(piece) for piece in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def run_console(body: str, cwd: Path, env: dict[str, str]) -> None:
    """Run the commands of a block in one shell and compare each with what the page shows."""
    wanted = commands(body)
    script = "".join(f"{command.text}\nprintf '\\n%s %d\\n' {MARK} $?\n" for command in wanted)
    done = subprocess.run(
        ["bash", "-c", f"exec 2>&1\n{script}"],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    pieces = re.split(rf"\n{MARK} (\d+)\n", done.stdout)
    outputs, statuses = pieces[:-1:2], pieces[1::2]
    assert len(statuses) == len(wanted), f"the shell ended early:\n{done.stdout}"
    for command, output, status in zip(wanted, outputs, statuses, strict=True):
        assert int(status) == command.status, f"$ {command.text}\n{output}"
        if command.output:
            assert matches(command.output, output.splitlines()), f"$ {command.text}\n{output}"


def run_python(body: str, cwd: Path, env: dict[str, str]) -> None:
    """Run a block as a separate program; it must succeed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", body],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{body}\n{done.stdout}{done.stderr}"


def run_page(text: str, cwd: Path, env: dict[str, str]) -> None:
    """Run the blocks of a page in order, all in one directory and one home."""
    runners = {"console": run_console, "python": run_python}
    for block in blocks(text):
        try:
            runners[block.language](block.body, cwd, env)
        except AssertionError as error:
            error.add_note(f"in the {block.language} block at line {block.line}")
            raise


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_do_what_they_show(page: Path, cwd: Path, env: dict[str, str]):
    if page.name != "README.md":  # which is read first: there each command is a new process
        env["PATH"] = os.pathsep.join([str(warm().program), env["PATH"]])
    run_page(page.read_text(), cwd, env)


GOOD = """
```console
$ cat > note.txt <<END
> one
>
> three 12.5 ms
> END
$ cat note.txt
one
...
three ... ms
$ export WHO=you; mkdir -p deep && cd deep
$ pwd; echo "$WHO" >&2
.../project/deep
you
$ (exit 77)
[exit 77]
$ true
```

```python
from pathlib import Path
assert Path("note.txt").read_text().startswith("one")
```

```sh
this is not run
```

```console no-run
$ neither is this
```
"""


def test_a_true_page_passes(cwd: Path, env: dict[str, str]):
    run_page(GOOD, cwd, env)

    assert [block.language for block in blocks(GOOD)] == ["console", "python"]


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ echo one\none\ntwo\n```\n",
        "```console\n$ printf 'one\\ntwo\\n'\none\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ true\n[exit 1]\n```\n",
        "```console\n$ echo one\n...two...\n```\n",
        "```python\nassert False\n```\n",
    ],
)
def test_a_false_page_fails(page: str, cwd: Path, env: dict[str, str]):
    with pytest.raises(AssertionError):
        run_page(page, cwd, env)
