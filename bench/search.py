"""Cost that grep and glob add to bare ripgrep in a tree of 50,000 files; both must find the same.

Where possible, ripgrep searches by file type, because `--glob` ignores .gitignore.
"""

import asyncio
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from measure import report, rounds
from rows import Line, Row, figure, ours

from bridle.core.ids import SessionId
from bridle.core.ports import Tool, ToolContext
from bridle.tools.glob import Glob
from bridle.tools.grep import Grep
from bridle.tools.ripgrep import find_ripgrep

FOLDERS = 500
FILES = 100
ROUNDS = rounds(15)
BAR = 1.5
KINDS = ("py", "js", "md", "txt", "json")
BARE = (find_ripgrep(), "--no-config", "--hidden", "--no-require-git", "--glob=!.git")


def main() -> list[Line]:
    """Search in several ways, and compare with the bar."""
    with tempfile.TemporaryDirectory() as place:
        make_tree(Path(place))
        context = ToolContext(SessionId("bench"), place, lambda _: None)
        rows = [asyncio.run(compare(*search, context)) for search in searches()]
    return report(rows)


def make_tree(root: Path) -> None:
    """Fill 500 folders with 100 small files each; every tenth folder has a file with a needle in it."""
    for folder in range(FOLDERS):
        place = root / f"package{folder // 25:02}" / f"module{folder % 25:02}"
        place.mkdir(parents=True)
        for number in range(FILES):
            text = f"def function_{number}(argument):\n    return argument + {folder}\n\n" * 12
            if number == 50 and folder % 10 == 0:
                text += "a needle is here\n"
            (place / f"file{number:03}.{KINDS[number % len(KINDS)]}").write_text(text)


def searches() -> list[tuple[str, Tool, dict[str, object], tuple[str, ...], int]]:
    """Return each search: its name, the tool and its arguments, ripgrep's, and how many files match."""
    return [
        ("grep of a rare text", Grep(), {"pattern": "needle"}, ("-n", "-e", "needle"), 50),
        (
            "grep in files by name",
            Grep(),
            {"pattern": "needle", "include": "*.py"},
            ("-n", "--type=py", "-e", "needle"),
            50,
        ),
        (
            "glob of few files",
            Glob(),
            {"pattern": "package0?/module0?/**/file090.py"},
            ("--files", "--glob=package0?/module0?/**/file090.py"),
            100,
        ),
        ("glob of 10,000 files", Glob(), {"pattern": "**/*.py"}, ("--files", "--type=py"), 10_000),
        ("glob of all files", Glob(), {"pattern": "**/*"}, ("--files",), 50_000),
    ]


async def compare(
    name: str, tool: Tool, args: dict[str, object], bare: tuple[str, ...], found: int, context: ToolContext
) -> Row:
    """Run both in turn and compare their CPU time: on a busy machine, wall time means little."""

    def ripgrep() -> int:
        done = subprocess.run([*BARE, *bare, "./"], cwd=context.cwd, capture_output=True, check=True)
        return done.stdout.count(b"\n")

    assert ripgrep() == found
    shown = (await tool.run(args, context)).text
    assert sum(line.startswith("package") for line in shown.splitlines()) == min(found, 100)
    times: dict[str, list[float]] = {"bare": [], "tool": []}
    for _ in range(ROUNDS):
        started = cpu_s()
        ripgrep()
        between = cpu_s()
        await tool.run(args, context)
        times["bare"].append(between - started)
        times["tool"].append(cpu_s() - between)
    alone = figure("bare ripgrep", times["bare"], scale=1e3)
    return Row(f"search.{slug(name)}", name, "ms CPU", ours(times["tool"], scale=1e3), (alone,), BAR)


def slug(name: str) -> str:
    """Return a name as part of an id."""
    return name.replace(",", "").replace(" ", "-")


def cpu_s() -> float:
    """Return the CPU time of this process and of the children it has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
