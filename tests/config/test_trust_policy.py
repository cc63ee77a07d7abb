from typing import Any

import pytest

from bridle.config.keys import ChildSettings, ConfigFile, LimitSettings, ToolSettings
from bridle.config.layers import Layer, Source
from bridle.config.project_keys import PROJECT_KEYS
from bridle.config.server_keys import McpServerSettings, McpSettings
from bridle.config.trust_policy import (
    CheckedLayer,
    TrustedKey,
    TrustState,
    WithheldKey,
    apply_trust,
    find_withheld,
    warn_untrusted_keys,
)
from bridle.core.permission import Mode

SERVER = "a project may not start or use its own servers"
LOWER = "a project may only lower it"


def found(tree: dict[str, Any], **yours: Any) -> list[WithheldKey]:
    return list(find_withheld(tree, ConfigFile, PROJECT_KEYS, ConfigFile(**yours)))


@pytest.mark.parametrize(
    ("tree", "items"),
    [
        (
            {"rules": {"allow": ["bash"]}},
            [(("rules", "allow"), "a project may not allow anything")],
        ),
        (
            {"mcp": {"wait": 1, "servers": {"a": {"command": "x"}, "b": {"enabled": True}}}},
            [
                (("mcp", "wait"), SERVER),
                (("mcp", "servers", "a"), SERVER),
                (("mcp", "servers", "b"), SERVER),
            ],
        ),
        (
            {"mcp": {"servers": {"c": {"enabled": False, "reads": ["*"]}}}},
            [(("mcp", "servers", "c"), SERVER)],
        ),
        (
            {"lsp": {"enabled": True, "servers": {"a": {"settings": {}}}}},
            [
                (("lsp", "enabled"), "a project may only switch it off"),
                (("lsp", "servers", "a"), "a project may not choose the programs that analyse its code"),
            ],
        ),
        (
            {"hooks": {"entries": [{"runtime": {"type": "in_process", "name": "f"}}] * 2}},
            [(("hooks", "entries", index), "a project may not run its own code") for index in range(2)],
        ),
        (
            {"tools": {"background_after": 1}},
            [(("tools", "background_after"), "a project may not set this without your trust")],
        ),
        ({"tools": {"max_output_bytes": 10**9}}, [(("tools", "max_output_bytes"), LOWER)]),
        (
            {"providers": {"openai": {"window_tokens": 5}}, "model": "a/b"},
            [
                (("providers", "openai"), "a project may not decide where requests and keys go"),
                (("model",), "a project may not choose the model"),
            ],
        ),
    ],
)
def test_a_key_that_is_not_listed_or_looser_is_withheld(tree: dict[str, Any], items: list[tuple[Any, str]]):
    assert found(tree) == [WithheldKey(*item) for item in items]


def test_a_server_that_would_take_the_place_of_yours_is_named_so():
    yours = McpSettings(servers={"a": McpServerSettings(command="x")})

    assert found({"mcp": {"servers": {"a": {"command": "y"}}}}, mcp=yours) == [
        WithheldKey(("mcp", "servers", "a"), f"{SERVER}; it would change your own of that name")
    ]
    assert found({"mcp": {"servers": {"a": {"enabled": False}}}}, mcp=yours) == []


@pytest.mark.parametrize("mode", ["plan", "ask", "accept-edits", "yolo"])
@pytest.mark.parametrize("wanted", ["plan", "ask", "accept-edits", "yolo"])
def test_a_mode_may_only_become_stricter(mode: Mode, wanted: Mode):
    strict = ["plan", "ask", "accept-edits", "yolo"]
    rules = ConfigFile().rules

    looser = strict.index(wanted) > strict.index(mode)
    assert found({"rules": {"mode": wanted}}, rules=type(rules)(mode=mode)) == (
        [WithheldKey(("rules", "mode"), "a project may only choose a stricter mode than yours")]
        if looser
        else []
    )


def test_a_number_may_only_be_lowered():
    yours = {"limits": LimitSettings(max_cost=2.0), "tools": ToolSettings(max_output_bytes=100)}

    assert (
        found({"limits": {"max_cost": 2, "max_tokens": 9}, "tools": {"max_output_bytes": 9}}, **yours) == []
    )
    assert found({"limits": {"max_cost": 3}, "tools": {"max_output_bytes": 101}}, **yours) == [
        WithheldKey(("limits", "max_cost"), LOWER),
        WithheldKey(("tools", "max_output_bytes"), LOWER),
    ]


def test_a_project_may_only_tighten_what_sub_agents_may_do():
    yours = ChildSettings(enabled=False, max_depth=2, max_tokens=1_000)

    assert found({"children": {"enabled": False, "max_depth": 1, "max_tokens": 10}}, children=yours) == []
    for key, looser in (("enabled", True), ("max_depth", 3), ("max_running", 33), ("max_tokens", 1_001)):
        assert [one.path for one in found({"children": {key: looser}}, children=yours)] == [("children", key)]
    assert len(found({"children": {"models": ["a/b"]}})) == 1


TEXT = '[rules]\ndeny = ["a"]\nallow = ["b"]\n[providers.x]\nkind = "openai"\n'
TREE = {"rules": {"deny": ["a"], "allow": ["b"]}, "providers": {"x": {"kind": "openai"}}}
SOURCE = Source("project", "/p/config.toml")
ITEMS = [WithheldKey(("rules", "allow"), "why"), WithheldKey(("providers", "x"), "why too")]
HELD = (
    TrustedKey("/p/config.toml:3", "rules.allow", '["b"]', "why"),
    TrustedKey("/p/config.toml:4", "providers.x", '{ kind = "openai" }', "why too"),
)


@pytest.mark.parametrize("state", ["unknown", "changed"])
def test_a_withheld_key_is_left_out(state: TrustState):
    kept = apply_trust(Layer(SOURCE, TREE, TEXT), ITEMS, lambda layer: state)

    assert kept == CheckedLayer(Layer(SOURCE, {"rules": {"deny": ["a"]}, "providers": {}}, TEXT), HELD, state)
    assert kept.left_out == ("rules.allow", "providers.x")
    assert TREE["rules"] == {"deny": ["a"], "allow": ["b"]}


def test_what_is_left_out_is_said_in_one_line():
    keys = ("rules.allow", "providers.x")

    assert warn_untrusted_keys((), has_lapsed=False) == ()
    told = "ignored rules.allow, providers.x (hint: review and allow them with bridle trust)"
    assert warn_untrusted_keys(keys, has_lapsed=False) == (f"this project is not trusted: {told}",)
    lapsed = f"this project has changed since you trusted it: {told}"
    assert warn_untrusted_keys(keys, has_lapsed=True) == (lapsed,)


def test_a_trusted_project_says_what_it_wants():
    layer = Layer(SOURCE, TREE, TEXT)

    kept = apply_trust(layer, ITEMS, lambda layer: "trusted")

    assert (kept, kept.left_out) == (CheckedLayer(layer, HELD), ())


def test_nobody_is_asked_about_trust_where_nothing_is_withheld():
    layer = Layer(SOURCE, TREE, TEXT)

    assert apply_trust(layer, [], lambda layer: pytest.fail("asked")) == CheckedLayer(layer)
