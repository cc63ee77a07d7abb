from pathlib import Path
from typing import Any

import pytest

from bridle.config.keys import ConfigFile
from bridle.config.layers import Layer, Merged, Source, merge, read_layer
from bridle.core.errors import ConfigError

RULE_HINT = '(hint: write tool or tool(pattern), for example "edit_file(src/**)")'
LOW, HIGH = Source("user", "/low"), Source("project", "/high")


def laid(low: dict[str, Any], high: dict[str, Any]) -> Merged:
    return merge([Layer(LOW, low), Layer(HIGH, high)])


def test_tables_are_merged_and_values_replaced():
    merged = laid(
        {"model": "a/b", "limits": {"max_tokens": 1, "max_turns": 2}},
        {"limits": {"max_tokens": 3, "max_cost": 4}},
    )

    assert merged == Merged(
        {"model": "a/b", "limits": {"max_tokens": 3, "max_turns": 2, "max_cost": 4}},
        {
            ("model",): (LOW,),
            ("limits", "max_tokens"): (HIGH,),
            ("limits", "max_turns"): (LOW,),
            ("limits", "max_cost"): (HIGH,),
        },
    )


def test_rule_lists_are_joined_and_remember_both_places():
    merged = laid({"rules": {"deny": ["a"]}}, {"rules": {"deny": ["c"]}})

    assert merged == Merged({"rules": {"deny": ["a", "c"]}}, {("rules", "deny"): (LOW, HIGH)})


def test_an_empty_rule_list_takes_nothing_away():
    merged = laid({"rules": {"deny": ["a"]}}, {"rules": {"deny": []}})

    assert merged == Merged({"rules": {"deny": ["a"]}}, {("rules", "deny"): (LOW,)})


def test_other_lists_are_replaced():
    assert laid({"tools": ["a", "b"]}, {"tools": ["c"]}).tree == {"tools": ["c"]}


def test_layers_are_not_changed_by_merging():
    low: dict[str, Any] = {"rules": {"deny": ["a"]}, "providers": {"x": {"params": {"a": 1}}}}

    laid(low, {"rules": {"deny": ["b"]}, "providers": {"x": {"params": {"a": 2}}}})

    assert low == {"rules": {"deny": ["a"]}, "providers": {"x": {"params": {"a": 1}}}}


def test_a_source_says_layer_and_file():
    assert [str(LOW), str(Source("flag"))] == ["user /low", "flag"]


def test_a_missing_file_is_no_layer(tmp_path: Path):
    assert read_layer("user", tmp_path / "none", ConfigFile) is None


def refusal(file: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read_layer("user", file, ConfigFile)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "# one\n[limits]\nmax_turns = 3\nmax_token = 5\n",
            ":4: unknown key limits.max_token (hint: did you mean limits.max_tokens?)",
        ),
        (
            "limits.max_turns = 3\nlimits.max_tokens = 'ten'\n",
            ':2: limits.max_tokens must be a whole number, 1 or more, not "ten"',
        ),
        (
            "\n\nlimits = { max_turns = 0 }",
            ":3: limits.max_turns must be a whole number, 1 or more, not 0",
        ),
        (
            'model = "a/b"\n\n[[limits]]\nmax_turns = 3\n',
            ":3: limits must be a table, not [{ max_turns = 3 }]",
        ),
        (
            '[rules]\nallow = [\n  "read_file",\n  "bash(",\n]\n',
            f':4: rules.allow[1]: malformed rule "bash(" {RULE_HINT}',
        ),
        (
            '[providers."x"]\nparams.note = """\n[limits]\nmax_turns = 0\n"""\n[limits]\nmax_turns = 0\n',
            ":7: limits.max_turns must be a whole number, 1 or more, not 0",
        ),
        (
            "[providers.x]\r\nkind = 'openai'\r\n[providers.x.headers]\r\nX-Key = 5\r\n",
            ":4: providers.x.headers.X-Key must be text on one line",
        ),
        ("[limit]\nmax_turns = 3\n", ":1: unknown key limit (hint: did you mean limits?)"),
        ("a = 1\nb =\n", ":2: not valid TOML: invalid value (column 4)"),
        (
            "[providers.x.params]\na = 1979-05-27\n",
            ":2: providers.x.params.a must be text, a number, true, false, a list or a table, not 1979-05-27",
        ),
    ],
)
def test_an_error_names_file_line_and_key(tmp_path: Path, text: str, message: str):
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode())

    assert refusal(file) == f"{file}{message}"


OLD, NEW = "https://old.example/v1", "https://new.example/v1"
KEYED = {"base_url": OLD, "api_key_env": "KEY", "headers": {"X-Token": "t"}, "window_tokens": 5}


def provider(low: dict[str, Any], high: dict[str, Any]) -> Merged:
    return laid({"providers": {"x": low, "y": {"api_key_env": "Y"}}}, {"providers": {"x": high}})


def test_a_key_does_not_follow_to_another_address():
    merged = provider(KEYED, {"base_url": NEW})

    assert merged == Merged(
        {"providers": {"x": {"base_url": NEW, "window_tokens": 5}, "y": {"api_key_env": "Y"}}},
        {
            ("providers", "x", "base_url"): (HIGH,),
            ("providers", "x", "window_tokens"): (LOW,),
            ("providers", "y", "api_key_env"): (LOW,),
        },
    )


@pytest.mark.parametrize(
    ("high", "left"),
    [
        ({"base_url": NEW, "api_key_env": "KEY"}, {"api_key_env": "KEY"}),
        ({"base_url": NEW, "headers": {"A": "b"}}, {"headers": {"A": "b"}}),
        ({"base_url": f"{OLD}/"}, {"api_key_env": "KEY", "headers": {"X-Token": "t"}}),
        ({"window_tokens": 6}, {"api_key_env": "KEY", "headers": {"X-Token": "t"}}),
    ],
)
def test_credentials_stay_with_their_address_or_are_named_again(high: dict[str, Any], left: dict[str, Any]):
    tree = provider(KEYED, high).tree["providers"]["x"]

    assert {key: tree[key] for key in ("api_key_env", "headers") if key in tree} == left


def test_an_address_that_comes_later_keeps_the_key_it_was_named_for():
    tree = provider({"api_key_env": "KEY"}, {"base_url": NEW}).tree["providers"]["x"]

    assert tree == {"api_key_env": "KEY", "base_url": NEW}


def server(**entry: Any) -> dict[str, Any]:
    return {"mcp": {"servers": {"a": entry}}}


@pytest.mark.parametrize("key", ["command", "url"])
def test_a_tool_server_replaces_one_of_its_name_as_a_whole(key: str):
    merged = laid(server(command="x", env={"KEY": "secret"}), server(**{key: "y"}))

    assert merged == Merged(server(**{key: "y"}), {("mcp", "servers", "a", key): (HIGH,)})


def test_an_entry_that_is_no_server_by_itself_changes_the_one_below():
    merged = laid(server(command="x", env={"KEY": "secret"}), server(enabled=False))

    path = ("mcp", "servers", "a")
    assert merged == Merged(
        server(command="x", env={"KEY": "secret"}, enabled=False),
        {(*path, "command"): (LOW,), (*path, "env", "KEY"): (LOW,), (*path, "enabled"): (HIGH,)},
    )


def test_a_layer_that_is_not_toml_knows_its_lines():
    layer = Layer(HIGH, server(command="x"), "{", {("mcp", "servers", "a"): 7})

    assert layer.place(("mcp", "servers", "a", "command")) == "/high:7"
    assert layer.place(("mcp", "servers", "b")) == "/high:1"
