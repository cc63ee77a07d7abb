import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.mcp_files import MAX_DEPTH, json_lines, parse_json
from bridle.core.errors import ConfigError

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def expected(value: Any, path: tuple[str, ...] | None, line: int) -> tuple[dict[Any, int], int]:
    """Return where each key stands in what `json.dumps` writes with an indent, and the last line.

    A path of None is inside of a list.
    """
    if not isinstance(value, dict | list) or not value:
        return {}, line
    found: dict[Any, int] = {}
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        line += 1
        here = None if path is None or isinstance(key, int) else (*path, key)
        if here is not None and len(here) <= MAX_DEPTH:
            found[here] = line
        inner, line = expected(item, here, line)
        found |= inner
    return found, line + 1


@given(TREES)
def test_every_key_has_its_line(tree: Any):
    assert json_lines(json.dumps(tree, indent=1)) == expected(tree, (), 1)[0]


@given(TREES)
def test_on_one_line_everything_is_on_the_first(tree: Any):
    assert set(json_lines(json.dumps(tree)).values()) <= {1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json:1: not valid JSON: input data was truncated"),
        ('{"ä":\n 1,\n', "f.json:2: not valid JSON: input data was truncated"),
        ('{"ä"\n 1}', "f.json:2: not valid JSON: expected ':'"),
        ('{\n"a": 1 // why\n}', "f.json:2: not valid JSON: expected ',' or '}'"),
        ("[" * 100_000, "f.json: not valid JSON: nested too deeply"),
    ],
)
def test_what_is_no_json_is_an_error_with_its_line(text: str, message: str):
    with pytest.raises(ConfigError) as caught:
        parse_json(text, "f.json")

    assert caught.value.message == message


def test_a_text_that_is_deep_and_long_costs_little():
    """A user who clones a repository has not read its files."""
    text = '{"a":' * 500 + "[" + ",".join(['{"b":1}'] * 100_000) + "]" + "}" * 500

    assert json_lines(text) == {("a",) * depth: 1 for depth in range(1, MAX_DEPTH + 1)}
