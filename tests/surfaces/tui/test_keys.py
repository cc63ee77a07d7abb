"""The table of keys: no conflicts, and validation of the user's changes."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from textual.dom import DOMNode

from bridle.core.errors import ConfigError
from bridle.surfaces.tui.app import BridleApp
from bridle.surfaces.tui.conversation.view import Conversation
from bridle.surfaces.tui.editor import PromptEditor
from bridle.surfaces.tui.keys import KEYS, SCOPES, Changed, KeyBinding, bindings, format_keys, keymap
from bridle.surfaces.tui.main_screen import MainScreen
from bridle.surfaces.tui.panels.palette_commands import COMMANDS

PAGE = Path(__file__).parents[3] / "docs" / "tui.md"
WIDGETS: dict[str, type[DOMNode]] = {"prompt": PromptEditor, "conversation": Conversation}


def refusal(changed: Changed) -> str:
    with pytest.raises(ConfigError) as caught:
        keymap(changed)
    return str(caught.value)


def ours() -> list[KeyBinding]:
    return [row for row in KEYS if row.scope in ("app", *WIDGETS)]


@pytest.mark.parametrize("row", ours(), ids=lambda row: row.name)
def test_every_key_of_ours_does_something(row: KeyBinding):
    if row.of == "command":
        assert row.name in COMMANDS
        return
    owner = {"screen": MainScreen, "app": BridleApp}.get(row.of) or WIDGETS.get(row.scope, MainScreen)
    assert hasattr(BridleApp if row.always else owner, f"action_{row.name}")


def test_the_page_lists_the_keys_as_they_are():
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", PAGE.read_text(), re.MULTILINE)

    listed = [row for row in KEYS if row.scope in ("app", "prompt", "conversation", "approval")]
    assert rows == [(row.name, format_keys(row.name, {}), row.help) for row in listed]


def test_names_are_there_once():
    assert len({row.name for row in KEYS}) == len(KEYS)


def test_no_key_means_two_things_at_once():
    for row in KEYS:
        assert keymap({row.name: row.keys}) == {row.name: ",".join(row.keys)}


@pytest.mark.parametrize("scope", SCOPES)
def test_within_a_scope_every_key_is_bound_once(scope):
    keys = [binding.key.split(",") for binding in bindings(scope)]

    assert all(not set(one) & set(other) for one, other in combinations(keys, 2))


def test_settings_give_an_action_other_keys_or_none():
    assert keymap({"steer": ["f12", "ctrl+r"], "suspend": [], "find": [","]}) == {
        "steer": "f12,ctrl+r",
        "suspend": "none",
        "find": "comma",
    }


def test_an_action_that_does_not_exist_is_named_with_a_near_one():
    assert refusal({"steeer": ["f12"]}) == "tui.keys.steeer: unknown action (hint: did you mean steer)"


def test_a_key_that_means_something_else_is_refused():
    assert refusal({"steer": ["ctrl+p"]}) == (
        "tui.keys.steer: Ctrl+P is the key of palette (find a command by name) "
        "(hint: give palette another key)"
    )


def test_two_actions_may_change_their_keys():
    assert keymap({"send": ["ctrl+s"], "steer": ["enter"]}) == {"send": "ctrl+s", "steer": "enter"}


def test_the_same_key_may_mean_something_else_in_another_place():
    assert keymap({"approve_once": ["j"]}) == {"approve_once": "j"}


def test_what_always_works_clashes_everywhere():
    assert refusal({"leave": ["y"]}).startswith("tui.keys.leave: y is the key of ")


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("steer", {}, "Ctrl+S or Alt+Enter"),
        ("scroll_up", {}, "PgUp"),
        ("cancel", {}, "Esc"),
        ("go_end", {}, "End or G"),
        ("send", {"send": ["f12"]}, "F12"),
        ("send", {"send": []}, ""),
    ],
)
def test_keys_as_people_write_them(name: str, changed: Changed, words: str):
    assert format_keys(name, changed) == words
