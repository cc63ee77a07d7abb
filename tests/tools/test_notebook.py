"""Notebooks: cells are shown with numbers, and an edit changes the source of one cell and nothing else."""

import json
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext
from bridle.tools import EditFile, ReadFile
from bridle.tools.edits import Edit
from bridle.tools.file_tools import MultiEdit
from bridle.tools.notebook import NotebookError, edit_cells, read_cells, show_cells
from bridle.tools.numbered_lines import LineRange

MAX_BYTES = 1_000_000


def cell(source: Any, kind: str = "code", **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, **more, "source": source}


def book(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"a": [1]}, "nbformat": 4, "nbformat_minor": 5}


BOOK = book(
    cell(["# Title\n", "Text"], "markdown"),
    cell(
        ["import math\n", "x = 1"],
        execution_count=3,
        outputs=[
            {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
            {"output_type": "execute_result", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["…"]},
        ],
    ),
    cell([], outputs=[]),
)
STYLES: dict[str, dict[str, Any]] = {
    "nbformat": {"indent": 1, "ensure_ascii": False},
    "two spaces": {"indent": 2},
    "tabs": {"indent": "\t"},
    "one line": {},
    "compact": {"separators": (",", ":")},
}


def show(value: Any, lines: LineRange | None = None) -> str:
    cells = read_cells(json.dumps(value))
    return show_cells(cells, lines or LineRange(), max_bytes=MAX_BYTES, stop=Event())


def edited(text: str, old: str, new: str, number: int = 0) -> str:
    return edit_cells(text, Edit(old, new, cell=number), max_size=MAX_BYTES).text


async def seen(context: ToolContext, path: str) -> ToolContext:
    """Return a context in which the model has read a file."""
    [note] = (await ReadFile().run({"path": path}, context)).notes
    return replace(context, seen={file.path: file.digest for file in note.files})  # type: ignore[union-attr]


# ---------------------------------------------------------------------------- what is shown


def test_cells_are_shown_with_their_numbers_and_outputs():
    assert show(BOOK) == (
        "[cell 1, markdown]\n"
        "1: # Title\n"
        "2: Text\n"
        "[cell 2, code]\n"
        "1: import math\n"
        "2: x = 1\n"
        "[output]\n"
        "> one\n"
        "> two\n"
        "[output]\n"
        "> <Figure>\n"
        "[output: image/png]\n"
        "[output]\n"
        "> ValueError: bad\n"
        "[cell 3, code]"
    )


def test_a_range_counts_cells():
    assert show(BOOK, LineRange(1, 1)) == "[cell 1, markdown]\n1: # Title\n2: Text"
    assert show(BOOK, LineRange(3)) == "[cell 3, code]"
    with pytest.raises(ToolError, match="no cell 4: the notebook has 3 cells"):
        show(BOOK, LineRange(4))


def test_neither_a_source_nor_an_output_can_look_like_a_cell():
    hostile = cell("x\n[cell 9, code]", outputs=[{"text": "y\n[cell 8, code]\r[cell 7, code]"}])

    lines = show(book(hostile)).splitlines()

    assert [line for line in lines if line.startswith("[cell")] == ["[cell 1, code]"]


def test_a_long_output_is_cut():
    text = show(book(cell("x", outputs=[{"text": "y" * 5000}])))

    assert text.endswith("\n> … [3000 more characters]")
    assert len(text) < 2200


def test_cells_that_hold_too_much_are_refused():
    cells = read_cells(json.dumps(book(*[cell("x" * 1500)] * 10)))

    with pytest.raises(ToolError, match="cells 1-4 hold more than 5000 bytes; read fewer cells at once"):
        show_cells(cells, LineRange(), max_bytes=5000, stop=Event())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "{}",
        '{"cells": {}}',
        '{"cells": []}',
        '{"cells": [1]}',
        '{"cells": [{"cell_type": "code"}]}',
        '{"cells": [{"cell_type": "code", "source": 1}]}',
        '{"cells": [{"cell_type": "code\\n", "source": ""}]}',
        json.dumps(BOOK) + "x",
        json.dumps(BOOK)[:-1],
        '{"cells": ' + "[" * 200_000,
        '{"cells": [{"cell_type": "code", "source": "", "n": ' + "9" * 10_000 + "}]}",
    ],
)
def test_anything_else_is_no_notebook(text: str):
    with pytest.raises(NotebookError):
        read_cells(text)


# ---------------------------------------------------------------------------- what an edit changes


@pytest.mark.parametrize("style", STYLES)
def test_an_edit_changes_one_source_and_keeps_the_formatting(style: str):
    text = json.dumps(BOOK, **STYLES[style])
    expected = json.loads(text)
    expected["cells"][1]["source"] = ["import math\n", "y = 2\n", "z = 3"]

    assert edited(text, "x = 1", "y = 2\nz = 3") == json.dumps(expected, **STYLES[style])


@pytest.mark.parametrize("style", STYLES)
def test_an_empty_cell_can_be_filled_and_a_full_one_emptied(style: str):
    text = json.dumps(BOOK, **STYLES[style])
    expected = json.loads(text)
    expected["cells"][2]["source"] = ["a\n", "b"]
    filled = edited(text, "", "a\nb", 3)

    assert json.loads(filled) == expected
    assert ("\n" in text) <= (filled == json.dumps(expected, **STYLES[style]))
    assert edited(filled, "a\nb", "", 3) == text


def test_a_source_that_is_one_string_stays_one():
    assert edited(json.dumps(book(cell("a\nb"))), "b", "c\nd") == json.dumps(book(cell("a\nc\nd")))


@pytest.mark.parametrize(
    ("text", "shown"),
    [(json.dumps(book(cell("é")), ensure_ascii=False), '"ü"'), (json.dumps(book(cell("é"))), '"\\u00fc"')],
)
def test_other_letters_are_written_as_the_file_writes_them(text: str, shown: str):
    assert f'"source": {shown}' in edited(text, "é", "ü")


def test_half_of_a_pair_can_be_written_back():
    text = '{"cells": [{"cell_type": "code", "source": ["\\ud800\\n", "é"]}]}'

    assert json.loads(edited(text, "é", "e").encode())["cells"][0]["source"] == ["\ud800\n", "e"]


def test_of_two_sources_the_last_counts_as_it_does_for_every_parser():
    text = '{"cells": [{"source": "no", "cell_type": "code", "source": "yes"}]}'

    assert edited(text, "yes", "new") == text.replace("yes", "new")


def test_a_text_in_several_cells_needs_the_number_of_one():
    text = json.dumps(book(cell("x"), cell("y x"), cell("z")))

    with pytest.raises(ToolError, match=r"old_str is in the cells 1, 2 \(hint: name one of them"):
        edited(text, "x", "w")
    with pytest.raises(ToolError, match="old_str is in no cell"):
        edited(text, "nothing", "w")
    with pytest.raises(ToolError, match="no cell 9: the notebook has 3 cells"):
        edited(text, "x", "w", 9)
    assert [one.source for one in read_cells(edited(text, "x", "w", 2))] == ["x", "y w", "z"]


@given(
    st.lists(st.one_of(st.text(), st.lists(st.text())), min_size=1, max_size=4),
    st.text(),
    st.sampled_from(sorted(STYLES)),
)
def test_every_edit_leaves_a_notebook_whose_other_cells_are_the_same(
    sources: list[Any], new: str, style: str
):
    text = json.dumps(book(*map(cell, sources)), **STYLES[style])
    before = read_cells(text)
    old = before[-1].source
    if old == new or not old:
        return

    after = read_cells(edited(text, old, new, len(before)))

    assert [one.source for one in after] == [*(one.source for one in before[:-1]), new]
    assert [replace(one, source="", start=0, end=0, content={}) for one in after] == [
        replace(one, source="", start=0, end=0, content={}) for one in before
    ]


# ---------------------------------------------------------------------------- the tools


async def test_the_tools_read_and_edit_cells(cwd: Path, context: ToolContext):
    text = json.dumps(BOOK, indent=1)
    (cwd / "a.ipynb").write_text(text)
    context = await seen(context, "a.ipynb")
    args = {"path": "a.ipynb", "old_str": "x = 1", "new_str": "x = 2", "cell": 2}

    assert (await ReadFile().run({"path": "a.ipynb", "start_line": 3}, context)).text == "[cell 3, code]"
    assert '-    "x = 1"\n+    "x = 2"\n' in await EditFile().preview(args, context)
    output = await EditFile().run(args, context)

    assert output.text == "Replaced 1 occurrence(s) in cell 2 in a.ipynb"
    assert (cwd / "a.ipynb").read_text() == text.replace("x = 1", "x = 2")


async def test_several_edits_may_name_several_cells(cwd: Path, context: ToolContext):
    (cwd / "a.ipynb").write_text(json.dumps(book(cell("x"), cell("x"))))
    context = await seen(context, "a.ipynb")
    edits = [{"old_str": "x", "new_str": f"y{number}", "cell": number} for number in (1, 2)]

    assert (await MultiEdit().run({"path": "a.ipynb", "edits": edits}, context)).text == (
        "Made 2 edits in a.ipynb\n1: ok, 1 occurrence(s) in cell 1\n2: ok, 1 occurrence(s) in cell 2"
    )
    assert [one.source for one in read_cells((cwd / "a.ipynb").read_text())] == ["y1", "y2"]


async def test_a_notebook_that_is_none_is_text(cwd: Path, context: ToolContext):
    (cwd / "a.ipynb").write_text("<<<<<<< HEAD\n{}\n")
    context = await seen(context, "a.ipynb")
    args = {"path": "a.ipynb", "old_str": "<<<<<<< HEAD\n", "new_str": ""}

    assert (await ReadFile().run({"path": "a.ipynb"}, context)).text == "1: <<<<<<< HEAD\n2: {}"
    with pytest.raises(ToolError, match=r"a\.ipynb is not a notebook, so it has no cells"):
        await EditFile().run({**args, "cell": 1}, context)
    await EditFile().run(args, context)

    assert (cwd / "a.ipynb").read_text() == "{}\n"
