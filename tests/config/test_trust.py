from typing import Any

import pytest

from bridle.config.keys import ChildSettings, LimitSettings, ProviderSettings
from bridle.config.layers import Layer, Source
from bridle.config.trust import (
    Held,
    Kept,
    TrustState,
    Withheld,
    withheld_permissions,
    withheld_settings,
    withhold,
)
from bridle.core.permission import Mode

PROVIDER = "a project may not decide where requests and keys go"
SERVER = "a project may not start or reach servers of its own by itself"
MODEL_FILE = "a project may not choose a model file"


def withheld(tree: dict[str, Any], mode: Mode = "ask", **limits: Any) -> list[Withheld]:
    providers = {"openai": ProviderSettings(), "files": ProviderSettings(kind="embedded")}
    return list(
        withheld_settings(
            tree,
            mode=mode,
            user_limits=LimitSettings(**limits),
            providers=providers,
            children=ChildSettings(),
        )
    )


@pytest.mark.parametrize(
    ("tree", "items"),
    [
        (
            {"rules": {"allow": ["bash"]}},
            [(("rules", "allow"), "a project may not allow anything by itself")],
        ),
        (
            {
                "mcp": {
                    "wait": 1,
                    "servers": {"a": {"command": "x"}, "b": {"enabled": True}, "c": {"enabled": False}},
                }
            },
            [
                (("mcp", "wait"), "a project may not decide how tool servers run"),
                (("mcp", "servers", "a"), SERVER),
                (("mcp", "servers", "b"), SERVER),
            ],
        ),
        (
            {"mcp": {"servers": {"c": {"enabled": False, "reads": ["*"]}}}},
            [(("mcp", "servers", "c"), SERVER)],
        ),
        ({"lsp": {"enabled": False, "servers": {"a": {"enabled": False}}}}, []),
        (
            {"lsp": {"enabled": True, "sandbox": False, "servers": {"a": {"settings": {}}}}},
            [
                (("lsp", "enabled"), "a project may not decide how language servers run"),
                (("lsp", "sandbox"), "a project may not decide how language servers run"),
                (("lsp", "servers", "a"), "a project may not say which programs look at its code"),
            ],
        ),
        (
            {"tui": {"keys": {"approval_always": ["enter"]}}},
            [(("tui", "keys"), "a project may not decide what your keys do and what you see")],
        ),
        (
            {"store": {"backend": "ephemeral"}},
            [(("store", "backend"), "a project may not decide how your sessions are kept")],
        ),
        (
            {"providers": {"openai": {"base_url": "http://evil", "headers": {}, "window_tokens": 5}}},
            [(("providers", "openai", "base_url"), PROVIDER), (("providers", "openai", "headers"), PROVIDER)],
        ),
        (
            {"providers": {"openai": {"api_key_env": "AWS_SECRET"}}},
            [(("providers", "openai", "api_key_env"), PROVIDER)],
        ),
        ({"providers": {"openai": {"kind": "scripted"}}}, [(("providers", "openai", "kind"), PROVIDER)]),
        ({"providers": {"openai": {"params": {"a": 1}}}}, [(("providers", "openai", "params"), PROVIDER)]),
        ({"providers": {"evil": {"window_tokens": 5}}}, [(("providers", "evil"), PROVIDER)]),
        (
            {"providers": {"openai": {"executable": "./evil", "model_file": "evil.gguf"}}},
            [
                (("providers", "openai", "executable"), PROVIDER),
                (("providers", "openai", "model_file"), PROVIDER),
            ],
        ),
        (
            {"models": {"a/b": {"price": {"input": 0}, "window_tokens": 5}}},
            [(("models", "a/b", "price"), "a project may not decide what a model costs")],
        ),
        (
            {"sandbox": {"mode": "off", "network": "open", "writable": ["/"], "pass_env": ["KEY"]}},
            [
                (("sandbox", key), "a project may not decide what holds its own programs")
                for key in ("mode", "network", "writable", "pass_env")
            ],
        ),
        ({"model": "files/evil.gguf"}, [(("model",), MODEL_FILE)]),
        ({"small_model": "files//tmp/evil"}, [(("small_model",), MODEL_FILE)]),
        ({"fallbacks": ["openai/x", "files/~/evil"]}, [(("fallbacks",), MODEL_FILE)]),
    ],
)
def test_a_project_may_not_loosen_or_redirect(tree: dict[str, Any], items: list[tuple[Any, str]]):
    assert withheld(tree) == [Withheld(*item) for item in items]


def test_a_project_may_tighten():
    tree = {
        "model": "openai/small",
        "small_model": "files/smollm2-135m",
        "fallbacks": ["openai/org/x.gguf"],
        "models": {"openai/small": {"window_tokens": 5}},
        "agent": "reviewer",
        "limits": {"max_cost": 1, "max_duration": "10m", "max_tokens": 5},
        "rules": {"allow": [], "ask": ["edit_file"], "deny": ["bash"], "mode": "plan"},
        "tools": {"max_parallel": 2},
        "retry": {"max_retries": 0},
        "providers": {"openai": {"window_tokens": 8000, "max_output_tokens": 500}},
    }

    assert withheld(tree, max_cost=2.0, max_duration=1200.0) == []


@pytest.mark.parametrize("mode", ["plan", "ask", "accept-edits", "yolo"])
@pytest.mark.parametrize("wanted", ["plan", "ask", "accept-edits", "yolo"])
def test_a_mode_may_only_become_stricter(mode: Mode, wanted: Mode):
    strict = ["plan", "ask", "accept-edits", "yolo"]

    looser = strict.index(wanted) > strict.index(mode)
    assert withheld({"rules": {"mode": wanted}}, mode) == (
        [Withheld(("rules", "mode"), f'a project may not choose a looser mode than "{mode}"')]
        if looser
        else []
    )


def test_a_limit_the_user_set_may_not_be_raised():
    tree = {"limits": {"max_cost": 3, "max_duration": "1h", "max_turns": 500}}

    assert withheld(tree, max_cost=2.0, max_duration=1200.0) == [
        Withheld(("limits", "max_duration"), "a project may not raise a limit that you set"),
        Withheld(("limits", "max_cost"), "a project may not raise a limit that you set"),
    ]


def test_the_mode_of_an_agent_stands_elsewhere():
    found = withheld_permissions(
        {"mode": "yolo"}, mode="ask", mode_path=("mode",), user_limits=LimitSettings()
    )

    assert list(found) == [Withheld(("mode",), 'a project may not choose a looser mode than "ask"')]


TEXT = '[rules]\ndeny = ["a"]\nallow = ["b"]\n[providers.x]\nkind = "openai"\n'
TREE = {"rules": {"deny": ["a"], "allow": ["b"]}, "providers": {"x": {"kind": "openai"}}}
SOURCE = Source("project", "/p/config.toml")
ITEMS = [Withheld(("rules", "allow"), "why"), Withheld(("providers", "x"), "why too")]
HELD = (
    Held("/p/config.toml:3", "rules.allow", '["b"]', "why"),
    Held("/p/config.toml:4", "providers.x", '{ kind = "openai" }', "why too"),
)


@pytest.mark.parametrize(
    ("state", "hint"),
    [
        ("unknown", "(hint: bridle trust lets it take effect)"),
        ("changed", "(hint: the project has changed since you trusted it; bridle trust shows it again)"),
    ],
)
def test_a_withheld_key_is_left_out_with_a_warning(state: TrustState, hint: str):
    kept = withhold(Layer(SOURCE, TREE, TEXT), ITEMS, lambda layer: state)

    assert kept == Kept(
        Layer(SOURCE, {"rules": {"deny": ["a"]}, "providers": {}}, TEXT),
        HELD,
        (
            f"/p/config.toml:3: rules.allow has no effect: why {hint}",
            f"/p/config.toml:4: providers.x has no effect: why too {hint}",
        ),
        state == "changed",
    )
    assert TREE["rules"] == {"deny": ["a"], "allow": ["b"]}


def test_a_trusted_project_says_what_it_wants():
    layer = Layer(SOURCE, TREE, TEXT)

    assert withhold(layer, ITEMS, lambda layer: "trusted") == Kept(layer, HELD)


def test_nobody_is_asked_about_trust_where_nothing_is_withheld():
    layer = Layer(SOURCE, TREE, TEXT)

    assert withhold(layer, [], lambda layer: pytest.fail("asked")) == Kept(layer)


def test_a_project_may_only_tighten_what_sub_agents_may_do():
    yours = ChildSettings(enabled=False, max_depth=2, max_tokens=1_000, models=("a/b", "a/c"))
    why = "a project may not let sub-agents do more than you do"

    def held(**children: Any) -> list[Withheld]:
        tree = {"children": children}
        judged = withheld_settings(
            tree, mode="ask", user_limits=LimitSettings(), providers={}, children=yours
        )
        return list(judged)

    assert held(enabled=False, max_depth=1, max_tokens=10, models=["a/b"], max_running=1) == []
    for key, looser in (
        ("enabled", True),
        ("max_depth", 3),
        ("max_running", 33),
        ("max_tokens", 1_001),
        ("models", []),
        ("models", ["a/b", "z/z"]),
    ):
        assert held(**{key: looser}) == [Withheld(("children", key), why)]
    assert withheld({"children": {"max_tokens": 5, "models": ["a/b"]}}) == []
