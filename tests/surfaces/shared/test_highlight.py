import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.shared.highlight import MAX_PAINTED_CHARS, Piece, paint_pieces, scan_python
from bridle.surfaces.shared.terminal import Screen

PLAIN = Screen(io.StringIO(), {})
COLOURED = Screen(io.StringIO(), {"FORCE_COLOR": "1"})


def painted(code: str) -> list[tuple[str, str]]:
    """Return the highlighted texts with their styles."""
    return [(piece.text, piece.colour) for line in scan_python(code) for piece in line if piece.colour]


@pytest.mark.parametrize(
    ("code", "pieces"),
    [
        (
            "async def f(x): pass",
            [("async", "keyword"), ("def", "keyword"), ("f", "defined"), ("pass", "keyword")],
        ),
        ("class K(Exception):", [("class", "keyword"), ("K", "defined"), ("Exception", "builtin")]),
        ("x = 0x_fF + 1_0.5e-3j + .5", [("0x_fF", "number"), ("1_0.5e-3j", "number"), (".5", "number")]),
        ("x1 = a.print(b.if_)", []),
        ("print(1) # 'no string", [("print", "builtin"), ("1", "number"), ("# 'no string", "comment")]),
        ("from . import x", [("from", "keyword"), ("import", "keyword")]),
        ("match x:", [("match", "keyword")]),
        ("  case [1]:", [("case", "keyword"), ("1", "number")]),
        ("type X = int", [("type", "keyword"), ("int", "builtin")]),
        ("f(match [x])", []),
        ("match = re.match(type(x))", [("type", "builtin")]),
        (r"rb'a\'b' + 'c'", [(r"rb'a\'b'", "string"), ("'c'", "string")]),
        ("'never closed\nx", [("'never closed", "string")]),
        ("'goes \\\non' + x", [("'goes \\", "string"), ("on'", "string")]),
        ('"""a\n"b"\n""" + x', [('"""a', "string"), ('"b"', "string"), ('"""', "string")]),
        ("'''never closed\nx", [("'''never closed", "string"), ("x", "string")]),
        ("__import__('os')", [("__import__", "builtin"), ("'os'", "string")]),
    ],
)
def test_what_is_painted(code: str, pieces: list[tuple[str, str]]):
    assert painted(code) == pieces


def test_what_runs_inside_a_string_is_not_painted_as_one():
    assert scan_python("f'a{{b}} {rm(x)}!'") == [
        [Piece("f'a{{b}} ", "string"), Piece("{rm(x)}"), Piece("!'", "string")]
    ]


def shown(screen: Screen, code: str) -> list[str]:
    return [paint_pieces(screen, line) for line in scan_python(code)]


def test_code_behind_a_carriage_return_does_not_look_like_a_comment():
    assert shown(COLOURED, "# ok\rrm(x)\r\n# done") == [
        "\x1b[2m# ok\x1b[0m",
        "rm(x)",
        "\x1b[2m# done\x1b[0m",
    ]


def test_nothing_in_the_code_steers_the_screen():
    assert shown(PLAIN, "x\x1b[2J = '\u202e'\t# \x07") == ["x\\x1b[2J = '\\u202e'\t# \\x07"]
    assert shown(COLOURED, "'\x1b[0m'") == ["\x1b[32m'\\x1b[0m'\x1b[0m"]


def test_a_screen_without_colours_gets_none():
    assert shown(PLAIN, "def f():\n    return 'x'\n") == ["def f():", "    return 'x'", ""]


@given(st.text() | st.text(alphabet="'\"\\{}#f\n\r x1.=def"))
def test_lines_put_together_are_the_code_again(code: str):
    lines = ["".join(piece.text for piece in line) for line in scan_python(code)]

    assert "\n".join(lines) == code.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("piece", ["(", "'", "'\n", '"""', "{", "\\", "f'{", "a.b ", "1_", "\n", "#"])
def test_much_of_anything_is_painted_in_no_time(piece: str):
    code = "f'" + piece * (300_000 // len(piece))
    began = time.process_time()

    shown(COLOURED, code)

    assert time.process_time() - began < 10


def test_what_follows_very_much_code_has_no_colour():
    code = "1\n" * (MAX_PAINTED_CHARS // 2) + "1"

    lines = shown(COLOURED, code)

    assert (lines[0], lines[-1]) == ("\x1b[33m1\x1b[0m", "1")
