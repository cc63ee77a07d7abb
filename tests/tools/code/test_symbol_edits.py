"""A symbol in its text: found by name, cut out with its decorators, and replaced in the right form."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.core.language_servers import Span, SymbolInfo
from bridle.tools.code.symbol_edits import PieceAction, edit_symbol, find_symbol


def symbol(
    name: str, line: int = 1, end: int = 0, *, depth: int = 0, column: int = 1, end_column: int = 99
) -> SymbolInfo:
    span = Span("f", line, column, end or line, end_column)
    return SymbolInfo(name, "function", span, span, depth=depth)


def edited(text: str, at: SymbolInfo, action: PieceAction, new: str = "") -> str:
    return edit_symbol(text, at, action, new)


# ---------------------------------------------------------------------------- found by name

WHICH = "(hint: use a qualified name such as Class.method, or use edit_file)"
SYMBOLS = (
    symbol("Order", 1, 9),
    symbol("total", 2, 3, depth=1),
    symbol("tax", 3, depth=2),
    symbol("add(int)", 4, depth=1),
    symbol("Cart", 10, 19),
    symbol("total", 11, 12, depth=1),
    symbol("price", 20),
    symbol("twice", 21),
    symbol("twice", 22),
    symbol("total.x", 23),
)


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ("price", 20),
        ("Order.total", 2),
        ("Cart.total", 11),
        ("Cart::total", 11),
        ("Cart#total", 11),
        ("Order.total.tax", 3),
        ("total.tax", 3),
        ("tax", 3),
        ("add", 4),
        ("add(int)", 4),
        ("total.x", 23),
    ],
)
def test_a_symbol_is_found_by_its_name_and_what_it_is_part_of(wanted: str, line: int):
    assert find_symbol(SYMBOLS, wanted, "f").span.line == line


def test_the_outermost_of_one_name_is_meant():
    inner, outer = symbol("total", 2, depth=1), symbol("total", 9)

    assert find_symbol((symbol("f", 1), inner, outer), "total", "f") is outer


def test_a_container_counts_where_symbols_are_no_tree():
    flat = SymbolInfo("total", "method", Span("f", 3, 1, 3, 9), Span("f", 3, 1, 3, 9), "shop.Order")

    assert find_symbol((flat,), "Order.total", "f") is flat
    with pytest.raises(ToolError):
        find_symbol((flat,), "Cart.total", "f")


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("total", f"f defines total 2 times, in lines 2, 11 {WHICH}"),
        ("twice", f"f defines twice 2 times, in lines 21, 22 {WHICH}"),
        ("Cart.tax", "f defines no Cart.tax (hint: use symbols to list what it defines)"),
        ("none", "f defines no none (hint: use symbols to list what it defines)"),
    ],
)
def test_what_is_not_there_or_not_clear_is_refused(wanted: str, why: str):
    with pytest.raises(ToolError) as caught:
        find_symbol(SYMBOLS, wanted, "f")

    assert str(caught.value) == why


# ---------------------------------------------------------------------------- replaced

SHOP = """\
class Shop:
    @cached
    def open(self):
        if x:
            y()

    def close(self):
        pass


def main():
    pass
"""
OPEN = symbol("open", 3, 5, column=5)
CLOSE = symbol("close", 7, 8, column=5)


@pytest.mark.parametrize(
    "new",
    [
        "    def open(self):\n        return 1\n",  # as it stands in the file
        "def open(self):\n    return 1\n",  # flush left
        "def open(self):\n        return 1",  # only its first line
        "\n\n    def open(self):\n        return 1\n\n",
        "    def open(self):\r\n        return 1\r\n",
    ],
)
def test_new_code_gets_the_indentation_of_the_old(new: str):
    wanted = SHOP.replace("        if x:\n            y()\n", "        return 1\n")

    assert edited(SHOP, OPEN, "replace", new) == wanted


def test_a_decorator_stays_unless_new_ones_come():
    bare = edited(SHOP, OPEN, "replace", "    def open(self): ...")
    other = edited(SHOP, OPEN, "replace", "    @other\n    def open(self): ...")

    assert bare.split("\n")[:4] == ["class Shop:", "    @cached", "    def open(self): ...", ""]
    assert other.split("\n")[:4] == ["class Shop:", "    @other", "    def open(self): ...", ""]


@pytest.mark.parametrize(
    "new",
    [
        "    def open(self):\n        return 1",
        "def open(self):\n    return 1",
        "def open(self):\n        return 1",
        "    @cached\n    def open(self):\n        return 1",
        "@cached\ndef open(self):\n    return 1",
        "@cached\n    def open(self):\n        return 1",
    ],
)
def test_it_does_not_matter_whether_a_span_holds_the_decorators(new: str):
    wanted = SHOP.replace("        if x:\n            y()\n", "        return 1\n")
    span = Span("f", 2, 5, 5, 99)
    whole = SymbolInfo("open", "method", span, Span("f", 3, 9, 3, 13))

    assert edited(SHOP, whole, "replace", new) == edited(SHOP, OPEN, "replace", new) == wanted
    assert edited(SHOP, whole, "delete") == edited(SHOP, OPEN, "delete")
    assert edited(SHOP, whole, "insert_before", "x = 1") == edited(SHOP, OPEN, "insert_before", "x = 1")


@pytest.mark.parametrize(
    ("new", "wanted"),
    [
        ("total = 2", "export const total = 2;"),
        ("const total = 2;", "export const total = 2;"),
        ("export const total = 2;", "export const total = 2;"),
        ("total = {\n  a: 1,\n}", "export const total = {\n  a: 1,\n};"),
    ],
)
def test_what_stands_beside_a_symbol_stays_once(new: str, wanted: str):
    text = "export const total = 1;\nnext();\n"

    assert (
        edited(text, symbol("total", 1, column=14, end_column=23), "replace", new) == f"{wanted}\nnext();\n"
    )


def test_the_end_of_a_file_stays_as_it_is():
    assert edited("a = 1\nb = 2", symbol("b", 2, end_column=6), "replace", "b = 3\n") == "a = 1\nb = 3"
    assert edited("a = 1\r\nb = 2\r\n", symbol("b", 2, end_column=6), "replace", "b = 3\nc = 4") == (
        "a = 1\r\nb = 3\r\nc = 4\r\n"
    )


def test_a_span_that_ends_where_the_next_line_begins_is_cut_there():
    text = "def a():\n    pass\ndef b():\n    pass\n"

    assert edited(text, symbol("a", 1, 3, end_column=1), "replace", "A = 1") == "A = 1\ndef b():\n    pass\n"
    assert edited(text, symbol("b", 3, 5, end_column=1), "replace", "B = 1") == "def a():\n    pass\nB = 1\n"


# ---------------------------------------------------------------------------- deleted


def test_a_deleted_symbol_takes_its_decorators_and_its_gap_along():
    main = symbol("main", 11, 12)

    assert edited(SHOP, OPEN, "delete") == (
        "class Shop:\n    def close(self):\n        pass\n\n\ndef main():\n    pass\n"
    )
    assert edited(SHOP, CLOSE, "delete") == (
        "class Shop:\n    @cached\n    def open(self):\n        if x:\n            y()\n\n"
        "def main():\n    pass\n"
    )
    assert edited(SHOP, main, "delete") == SHOP.split("\n\n\ndef main")[0] + "\n"
    assert edited("x = 1\n\ny\n", symbol("x"), "delete") == "y\n"
    assert edited("w\nx = 1\n\ny\n", symbol("x", 2), "delete") == "w\n\ny\n"
    assert edited("x = 1;\n", symbol("x", end_column=6), "delete") == ""


def test_a_symbol_that_shares_its_line_is_not_deleted():
    for text, column, end_column in (("const x = 1;\n", 7, 12), ("x = 1; y = 2\n", 1, 6)):
        with pytest.raises(ToolError, match=r"^x shares its lines with other code; use edit_file$"):
            edited(text, symbol("x", column=column, end_column=end_column), "delete")


# ---------------------------------------------------------------------------- inserted


def test_code_is_inserted_with_the_gap_that_is_usual_there():
    before = edited(SHOP, OPEN, "insert_before", "x = 1")
    after = edited(SHOP, OPEN, "insert_after", "def half(self):\n    pass")
    end = edited(SHOP, symbol("main", 11, 12), "insert_after", "def last(): ...\n")
    constant = edited(
        "a = 1\nb = 2\n\n\ndef f(): ...\n", symbol("b", 2, end_column=6), "insert_after", "c = 3"
    )
    only = edited("a = 1", symbol("a", 1, end_column=6), "insert_after", "b = 2")

    assert before == SHOP.replace("    @cached", "    x = 1\n\n    @cached")
    assert after == SHOP.replace("y()\n\n", "y()\n\n    def half(self):\n        pass\n\n")
    assert end == SHOP + "\n\ndef last(): ...\n"
    assert constant == "a = 1\nb = 2\nc = 3\n\n\ndef f(): ...\n"
    assert only == "a = 1\nb = 2\n"


def test_code_goes_above_decorators_of_several_lines():
    text = "x = f(\n    1,\n)\n@decorated(\n    1,\n)\n@other\ndef g(): ...\n"

    assert edited(text, symbol("g", 8), "insert_before", "y = 2") == text.replace("@dec", "y = 2\n@dec")


# ---------------------------------------------------------------------------- hostile


@pytest.mark.parametrize(
    "at",
    [
        symbol("main", 99),
        symbol("main", 0),
        symbol("main", 12, 11),
        symbol("main", 1, 2),
        symbol("main", 11, 99),
        symbol("main", -5, 12),
    ],
)
def test_a_symbol_that_is_elsewhere_is_refused(at: SymbolInfo):
    with pytest.raises(ToolError, match=r"^main is not where the language server says; call it again$"):
        edited(SHOP, at, "replace", "x")


def test_an_empty_file_has_no_symbols():
    with pytest.raises(ToolError):
        edited("", symbol("x"), "replace", "y")


TEXTS = st.text(st.sampled_from("ab @);\t\r\n😀"), max_size=60)
PLACES = st.integers(-1, 8)


@given(
    TEXTS,
    TEXTS,
    st.sampled_from(["replace", "insert_before", "insert_after", "delete"]),
    PLACES,
    PLACES,
    PLACES,
    PLACES,
)
def test_whatever_a_server_says_the_lines_around_stay(
    text: str, new: str, action: PieceAction, line: int, end: int, column: int, end_column: int
):
    at = SymbolInfo("a", "x", *[Span("f", line, column, end, end_column)] * 2)
    try:
        after = edit_symbol(text, at, action, new)
    except ToolError:
        return

    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
    if action.startswith("insert"):
        kept = [old for old in lines if old.strip()]
        rest = iter(re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", after))
        assert all(any(old.strip("\r\n") == there.strip("\r\n") for there in rest) for old in kept)
    else:
        below = "".join(lines[end:])
        assert after.rstrip().endswith(below.strip())
