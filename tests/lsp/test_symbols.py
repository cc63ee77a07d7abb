"""Symbol names, as servers write them and as models ask for them."""

import pytest

from bridle.core.language_servers import Span, SymbolInfo
from bridle.lsp.positions import TextSource
from bridle.lsp.protocol import LspLocation, Position, Range, Symbol
from bridle.lsp.symbols import base_name, kind_name, matches_name, outline, split_name


def reach(line: int, start: int, end: int) -> Range:
    return Range(Position(line, start), Position(line, end))


def span(line: int, column: int, end: int) -> Span:
    return Span("/a", line, column, line, end)


def test_an_outline_is_flat_and_in_order():
    source = TextSource("class A: def run(): x\ndef run(): y\n")
    inner = Symbol("run", 6, reach(0, 9, 21), reach(0, 13, 16))
    outer = Symbol("A", 5, reach(0, 0, 21), reach(0, 6, 7), [inner])
    flat = Symbol("run()", 12, location=LspLocation("file:///a", reach(1, 0, 12)), container_name="module")
    nowhere = Symbol("lost", 99)

    assert outline([outer, flat, nowhere], "/a", source, "utf-16") == [
        SymbolInfo("A", "class", span(1, 1, 22), span(1, 7, 8)),
        SymbolInfo("run", "method", span(1, 10, 22), span(1, 14, 17), "A", 1),
        SymbolInfo("run()", "function", span(2, 1, 13), span(2, 5, 8), "module"),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("run", "run"),
        ("run(int, A.B)", "run"),
        ("(*Type).Run", "Run"),
        ("A::run", "run"),
        ("Mod.fn", "fn"),
        ("", ""),
    ],
)
def test_a_name_alone(name: str, expected: str):
    assert base_name(name) == expected


@pytest.mark.parametrize(
    ("asked", "name", "container", "expected"),
    [
        ("run", "run", "", True),
        ("run", "runs", "", False),
        ("A.run", "run", "module.A", True),
        ("A::run", "run", "A", True),
        ("A#run", "run(int)", "A", True),
        ("A.run", "run", "B", False),
        ("A.run", "A::run", "", True),
        ("Type.Run", "(*Type).Run", "", True),
        ("m.A.run", "run", "A", False),
    ],
)
def test_a_dotted_name_names_what_is_around(asked: str, name: str, container: str, expected: bool):
    symbol = SymbolInfo(name, "method", span(1, 1, 2), span(1, 1, 2), container)

    assert matches_name(symbol, split_name(asked)) is expected


def test_kinds_have_names():
    assert [kind_name(number) for number in (0, 1, 5, 12, 26, 27, -1)] == [
        "symbol",
        "file",
        "class",
        "function",
        "type_parameter",
        "symbol",
        "symbol",
    ]
