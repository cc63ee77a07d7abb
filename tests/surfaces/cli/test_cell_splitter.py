import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.cli import kernel as cells_module
from bridle.surfaces.cli.kernel import CellSplitter


def cells_in(text: str) -> list[str]:
    cells = CellSplitter()
    found = [cell for line in text.split("\n") for cell in cells.feed(line)]
    return found + cells.end()


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("1 + 1\nx = 2", ["1 + 1", "x = 2"]),
        ("\n  \n# nothing\n", ["# nothing"]),
        ("def f():\n    return 1\n\nf()", ["def f():\n    return 1\n", "f()"]),
        ("def f():\n    return 1\nf()", ["def f():\n    return 1", "f()"]),
        ("@cache\ndef f(): ...\nf()", ["@cache\ndef f(): ...", "f()"]),
        (
            "if x:\n    1\n# why\nelse:\n    2\nfor y in z:\n  3",
            ["if x:\n    1\n# why\nelse:\n    2", "for y in z:\n  3"],
        ),
        ("try:\n  1\nexcept E:\n  2\nfinally:\n  3\nx", ["try:\n  1\nexcept E:\n  2\nfinally:\n  3", "x"]),
        ('x = """\nif y:\n"""\nx', ['x = """\nif y:\n"""', "x"]),
        ("f(\n1,\n2)\nx", ["f(\n1,\n2)", "x"]),
        ("x = 1 + \\\n2\nx", ["x = 1 + \\\n2", "x"]),
        (
            "await f()\nasync with g() as h:\n    await h\nx",
            ["await f()", "async with g() as h:\n    await h", "x"],
        ),
        ("async for x in y:\n    1\n    2\nz", ["async for x in y:\n    1\n    2", "z"]),
        ("1 +\nx", ["1 +", "x"]),
        ("'never closed\nx", ["'never closed", "x"]),
        ("def f(:\nx", ["def f(:", "x"]),
        ("x = \x00\ny", ["x = \x00", "y"]),
        ("while True:\n    pass", ["while True:\n    pass"]),
        ("f(", ["f("]),
    ],
)
def test_lines_become_cells(text: str, cells: list[str]):
    assert cells_in(text) == cells


def test_a_long_block_is_not_read_anew_for_each_line(monkeypatch: pytest.MonkeyPatch):
    asked = []
    is_whole = cells_module._is_whole
    monkeypatch.setattr(cells_module, "_is_whole", lambda code: asked.append(code) or is_whole(code))
    block = "def f():\n" + "    x = [\n        1]\n" * 500

    assert cells_in(f"{block}\nf()\n") == [block, "f()"]
    assert len(asked) < 10


def test_a_block_that_was_dropped_leaves_no_trace():
    cells = CellSplitter()
    for line in ("if x:", "    1"):
        cells.feed(line)
    cells.drop()

    assert [cells.feed(line) for line in ("f(", "  2)")] == [[], ["f(\n  2)"]]


def test_a_cell_that_wants_more_can_be_dropped():
    cells = CellSplitter()
    cells.feed("def f():")
    was_open = cells.is_open

    cells.drop()

    assert (was_open, cells.is_open, cells.end()) == (True, False, [])


@given(st.text(alphabet="ab1 :=()\n'\"\\#@\t") | st.text())
def test_no_line_with_code_is_lost(text: str):
    kept = [line for cell in cells_in(text) for line in cell.split("\n") if line.strip()]

    assert kept == [line for line in text.split("\n") if line.strip()]
