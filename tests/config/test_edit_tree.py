"""Changing many keys at once: named keys get the new values, all others stay."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.edit_tree import change_file, edit_text, merge_patch
from bridle.config.toml_document import parse_toml
from bridle.core.errors import ConfigError

TEXT = """\
# above
a = 1  # beside
b = { c = 2, d = 3 }

[t]
x = "y"

[[list]]
n = 1

[[list]]
n = 2
"""


def edited(**wanted: Any) -> str:
    return edit_text(TEXT, parse_toml(TEXT, ""), wanted)


def test_keys_are_set_added_and_taken_away_in_place():
    text = edited(a=5, b={"d": 3, "e": 4}, t={"x": "y", "z": [1]}, list=[{"n": 1}, {"n": 2}])

    assert text == TEXT.replace("a = 1", "a = 5").replace("{ c = 2, d = 3 }", "{ d = 3, e = 4 }").replace(
        'x = "y"\n', 'x = "y"\nz = [1]\n'
    )


def test_a_list_of_tables_can_be_replaced():
    text = edited(a=1, b={"c": 2, "d": 3}, t={"x": "y"}, list=[{"n": 3}])

    assert parse_toml(text, "")["list"] == [{"n": 3}]
    assert text.startswith("# above\na = 1  # beside\n")


def test_a_table_can_become_a_value_and_back():
    text = edited(a={"n": 1}, t=3)

    assert parse_toml(text, "") == {"a": {"n": 1}, "t": 3}


def test_the_same_again_changes_nothing():
    assert edited(**parse_toml(TEXT, "")) == TEXT


NAMES = st.sampled_from(["a", "b", "c.d", "x y"])
SCALARS = st.one_of(st.integers(-5, 5), st.booleans(), st.text('ab"\\\n', max_size=3))
LEAVES = st.one_of(SCALARS, st.lists(SCALARS, max_size=2))
TREES = st.recursive(
    st.dictionaries(NAMES, LEAVES, max_size=3), lambda t: st.dictionaries(NAMES, t, max_size=3)
)


def pruned(tree: dict[str, Any]) -> dict[str, Any]:
    inner = {key: pruned(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in inner.items() if value != {}}


@given(TREES, TREES)
def test_any_tree_can_be_made_of_any_other(before: dict[str, Any], wanted: dict[str, Any]):
    text = edit_text("", {}, before)

    assert pruned(parse_toml(edit_text(text, parse_toml(text, ""), wanted), "")) == pruned(wanted)


@pytest.mark.parametrize(
    ("tree", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({"a": "foo"}, {"b": {"c": None}}, {"a": "foo", "b": {}}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_patches_merge_as_rfc_7396_says(tree: Any, patch: Any, merged: Any):
    assert merge_patch(tree, patch) == merged


def test_what_the_judge_refuses_is_not_written(tmp_path: Path):
    def refuse(text: str) -> None:
        raise ConfigError(f"no: {text}")

    with pytest.raises(ConfigError, match="no: agent = "):
        change_file(tmp_path / "config.toml", lambda text, tree: {"agent": "coder"}, refuse)

    assert not (tmp_path / "config.toml").exists()
