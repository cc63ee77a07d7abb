import math
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.toml_document import KeyPath, key_text, literal, parse_key, parse_toml, scan
from bridle.core.errors import ConfigError

EVERYTHING = '''\
# a comment with [brackets] and a = sign
model = "a # no comment"
"quoted key".'other one' = 1
text = """
[not.a.table]
max = 1 \\""" and ""\"""

list = [ # comment ]
  "one", # first
  'two',
  [3, { four = 4 }],
]
date = 1979-05-27 07:32:00 # with a space
inline = { x = 1, y.z = "}", "q r" = [] }

  [ limits . "deep.er" ] # header
  max = 5
  dotted.key = true
lines = \'\'\'
[limits]
\'\'\'

[[servers]]
name = "a"
[servers.tls]
cert = "c"
[[servers]]
name = "b"
[[servers.ports]]
number = 1
[[servers.ports]]
number = 2
'''


def test_every_key_has_its_line():
    tomllib.loads(EVERYTHING)

    assert scan(EVERYTHING).lines == {
        ("model",): 2,
        ("quoted key",): 3,
        ("quoted key", "other one"): 3,
        ("text",): 4,
        ("list",): 8,
        ("list", 0): 9,
        ("list", 1): 10,
        ("list", 2): 11,
        ("list", 2, 0): 11,
        ("list", 2, 1): 11,
        ("list", 2, 1, "four"): 11,
        ("date",): 13,
        ("inline",): 14,
        ("inline", "x"): 14,
        ("inline", "y"): 14,
        ("inline", "y", "z"): 14,
        ("inline", "q r"): 14,
        ("limits",): 16,
        ("limits", "deep.er"): 16,
        ("limits", "deep.er", "max"): 17,
        ("limits", "deep.er", "dotted"): 18,
        ("limits", "deep.er", "dotted", "key"): 18,
        ("limits", "deep.er", "lines"): 19,
        ("servers",): 23,
        ("servers", 0): 23,
        ("servers", 0, "name"): 24,
        ("servers", 0, "tls"): 25,
        ("servers", 0, "tls", "cert"): 26,
        ("servers", 1): 27,
        ("servers", 1, "name"): 28,
        ("servers", 1, "ports"): 29,
        ("servers", 1, "ports", 0): 29,
        ("servers", 1, "ports", 0, "number"): 30,
        ("servers", 1, "ports", 1): 31,
        ("servers", 1, "ports", 1, "number"): 32,
    }


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_value_has_its_span(newline: str):
    text = EVERYTHING.replace("\n", newline)
    tree = tomllib.loads(text)

    for path, (start, end) in scan(text).values.items():
        assert tomllib.loads(f"v = {text[start:end]}")["v"] == at(tree, path), path


def test_a_key_that_is_not_there_has_the_line_of_its_table():
    document = scan("model = 1\n[limits]\nmax = 1\n")

    assert [document.line_of(("limits", "none")), document.line_of(("none",)), document.line_of(())] == [
        2,
        1,
        1,
    ]


def test_a_file_of_nothing_has_no_places():
    assert [scan(text).lines for text in ("", "\n\n", "# only this", "  ")] == [{}, {}, {}, {}]


def at(tree: Any, path: KeyPath) -> Any:
    for part in path:
        tree = tree[part]
    return tree


KEYS = st.sampled_from(["a", "b-c", "d_1", "e f", "g.h", 'q"', "ü", "#", "", "]", "\n"])
SCALARS = (
    st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(['"""', "'''", "\\", "# x", "]", "}", "a\nb", "\x1b[31m", "\u2028"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
TREES = st.dictionaries(KEYS, VALUES, max_size=4)


@st.composite
def written(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """Draw a tree and one of the many ways to write it."""
    tree = draw(TREES)
    lines: list[str] = []
    tables: list[str] = []
    for key, value in tree.items():
        name = key_text((key,))
        lines += draw(st.lists(st.sampled_from(["", "# note", "   ", "\t# [x] = 1"]), max_size=2))
        comment = draw(st.sampled_from(["", " # why", "\t"]))
        if isinstance(value, dict) and value and draw(st.booleans()):
            pairs = [f"{key_text((inner,))} = {literal(item)}{comment}" for inner, item in value.items()]
            if draw(st.booleans()):
                lines += [f"{name} . {pair}" for pair in pairs]
            else:
                tables += [f"[ {name} ]{comment}", *(f"  {pair}" for pair in pairs)]
        elif isinstance(value, list) and draw(st.booleans()):
            lines += [f"{name}=[ # open", *(f"{literal(item)}, # item" for item in value), f"]{comment}"]
        else:
            lines.append(f"{name} = {literal(value)}{comment}")
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return tree, newline.join([*lines, *tables])


@given(written())
def test_the_scanner_finds_what_tomllib_reads(case: tuple[dict[str, Any], str]):
    tree, text = case
    document = scan(text)

    assert tomllib.loads(text) == tree
    for path, (start, end) in document.values.items():
        assert tomllib.loads(f"v = {text[start:end]}")["v"] == at(tree, path)
        assert 0 <= text.count("\n", 0, start) + 1 - document.line_of(path) <= 1
    assert {path[0] for path in document.lines} == set(tree)


@given(VALUES)
def test_a_literal_is_one_printable_line_that_reads_back(value: Any):
    text = literal(value)

    assert text.isprintable()
    assert tomllib.loads(f"v = {text}")["v"] == value


@given(st.lists(KEYS, min_size=1, max_size=4))
def test_a_written_key_reads_back(parts: list[str]):
    assert parse_key(key_text(tuple(parts))) == tuple(parts)


def test_a_path_into_a_list_is_written_with_its_index():
    assert key_text(("rules", "allow", 1)) == "rules.allow[1]"


@pytest.mark.parametrize(
    "text", ["", ".", "a.", ".a", "a..b", "a b", "a = 1", "[a]", '"a', 'a."\\x"', "ü", "a\n"]
)
def test_a_malformed_key_is_refused(text: str):
    with pytest.raises(ConfigError) as caught:
        parse_key(text)

    assert str(caught.value) == (
        f'malformed key {literal(text)} (hint: write section.key, for example "limits.max_turns")'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb", "f:2: not valid TOML: expected '=' after a key in a key/value pair"),
        ("a = 1\n\nb = x\n", "f:3: not valid TOML: invalid value (column 5)"),
        ("a = 1\na = 2\n", "f:2: not valid TOML: cannot overwrite a value (column 6)"),
        ("[a]\n[a]\n", "f:2: not valid TOML: cannot declare ('a',) twice (column 3)"),
        ("a = '\x1b'", "f:1: not valid TOML: found invalid character '\\x1b' (column 6)"),
        ("x = 1\na = " + "9" * 5000, "f:2: not valid TOML: a number has too many digits"),
        ("a = " + "[" * 100_000, "f: not valid TOML: nested too deeply"),
        ("a = " + "{b=" * 100_000, "f: not valid TOML: nested too deeply"),
        ("x = 1\n" + "a." * 100_000 + "a = 1", "f:2: a key has more than 32 parts"),
        ("[" + "'a' . " * 100_000 + "a]", "f:1: a key has more than 32 parts"),
        ("a = {" + "a." * 100_000 + "a = 1}", "f:1: a key has more than 32 parts"),
    ],
)
def test_a_text_that_is_not_toml_is_refused_with_its_line(text: str, message: str):
    """The long ones would take minutes or end the interpreter if they were not stopped."""
    with pytest.raises(ConfigError) as caught:
        parse_toml(text, "f")

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "a = '''" + "x" * 900_000 + "'''",
        'a = """' + '\\"x' * 300_000 + '"""',
        "a = [" + "1," * 50_000 + "]",
        "[t]\n" + "".join(f"k{n} = 1\n" for n in range(20_000)),
        "k" + " " * 900_000 + "= 1",
        "# x\n" * 200_000,
    ],
)
def test_a_long_text_is_scanned_in_time(text: str):
    """Each is near the largest text that is read at all; a square would not end within the time limit."""
    tomllib.loads(text)

    assert len(scan(text).statements) in (0, 1, 20_000)


def test_numbers_without_end_are_written_as_toml_has_them():
    assert [literal(math.inf), literal(True), literal(())] == ["inf", "true", "[]"]
