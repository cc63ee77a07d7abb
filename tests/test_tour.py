"""Every path and name in docs/tour.md, ARCHITECTURE.md and AGENTS.md exists; no code is imported."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "bridle"
TOUR = ROOT / "docs" / "tour.md"
PAGES = (TOUR, ROOT / "ARCHITECTURE.md", ROOT / "AGENTS.md")

FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_FILE = r"[\w./-]+/[\w.-]+\.(?:py|md|toml|json)|[\w-]+\.md"
REFERENCE = re.compile(rf"`(?P<path>{_FILE})(?::(?P<name>[\w.]+))?`")
MENTION = re.compile(rf"^# in (?P<path>{_FILE})\b", re.MULTILINE)
"""A comment in an example that says which existing file it changes."""


def references(text: str) -> Iterator[tuple[str, str]]:
    """Yield each path with the name after its colon, or with an empty one."""
    for match in REFERENCE.finditer(FENCE.sub("", text)):
        yield match["path"], match["name"] or ""
    for block in FENCE.findall(text):
        for match in MENTION.finditer(block):
            yield match["path"], ""


def find_file(path: str) -> Path | None:
    """Return the file below src/bridle or below the root."""
    return next((folder / path for folder in (SOURCE, ROOT) if (folder / path).is_file()), None)


def problem(path: str, name: str) -> str:
    """Return the problem with a reference, or an empty text."""
    file = find_file(path)
    if file is None:
        return f"there is no file {path}"
    return "" if not name or name in names_in(file) else f"{path} has no {name}"


@cache
def names_in(file: Path) -> frozenset[str]:
    """Return the classes, functions, tables and methods that a module defines, methods as `Class.method`."""
    return frozenset(_defined(ast.parse(file.read_text()).body))


def _defined(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield prefix + node.name
                yield from _defined(node.body, f"{prefix}{node.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield prefix + node.name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name
            case _:
                pass


FOUND = sorted({found for page in PAGES for found in references(page.read_text())})


@pytest.mark.parametrize(("path", "name"), FOUND, ids=lambda part: part)
def test_every_path_and_name_exists(path: str, name: str):
    assert problem(path, name) == ""


def test_the_tour_names_something_in_every_step_and_recipe():
    text = TOUR.read_text()
    steps = re.split(r"^\d+\. ", text.split("## Recipes")[0], flags=re.MULTILINE)[1:]
    recipes = text.split("\n### ")[1:]

    assert len(recipes) == 6
    for part in (*steps, *recipes):
        assert any(name for _, name in references(part)), part
    assert len(text.splitlines()) <= 250


@pytest.mark.parametrize(
    "text",
    [
        "`sessions/no_such_module.py`",
        "`src/bridle/sessions/no_such_module.py`",
        "`no-such-page.md`",
        "`sessions/run/driver.py:NoSuchClass`",
        "`sessions/run/driver.py:Driver.no_such_method`",
        "`sessions/run/driver.py:run`",
        "`config/keys.py:NO_SUCH_TABLE`",
        "```python no-run\n# in sessions/no_such_module.py\n```",
    ],
)
def test_a_wrong_path_or_name_is_noticed(text: str):
    assert [problem(path, name) for path, name in references(text)] != [""]
    assert list(references(text))


def test_a_right_path_and_name_passes():
    text = "`sessions/run/driver.py:Driver.run`, `src/bridle/core/loop.py`, `docs/tools.md`, `CHANGELOG.md`"

    assert [problem(path, name) for path, name in references(text)] == ["", "", "", ""]
