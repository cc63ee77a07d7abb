"""Every key in the settings of an untrusted project: none loosens anything."""

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from bridle.config.agents import AgentFile, load_agent
from bridle.config.keys import ConfigFile
from bridle.config.project_keys import AGENT_KEYS, OWN_KEYS, PROJECT_KEYS, STRICTNESS
from bridle.config.settings import Settings, load_settings
from bridle.config.toml_document import literal
from bridle.config.validation import build, kind_at, known_keys, problems
from bridle.core.agent import Agent

NAMES = {
    "lsp": ("ruff", "evil"),
    "mcp": ("mine", "evil"),
    "models": ("openai/gpt-5", "evil/x"),
    "providers": ("openai", "llama", "evil"),
    "scale": ("openai/gpt-5",),
}
"""What NAME stands for: an entry that the user has, and one that the user has not."""

ENTRY = {"id": "evil", "runtime": {"type": "command", "command": "./evil"}}
TEXTS = (
    *(
        "evil",
        "evil/x",
        "./evil",
        ".evil",
        "/evil",
        "127.0.0.1:1",
        "evil.example",
        "1h",
        "EVIL",
        "bash",
        "f2",
    ),
    *("https://evil.example", "http://evil.example/v1", "postgresql://me@evil/x", "evil-bucket", "3.9"),
)
NUMBERS = (0, 1, 2, 5, 50, 101, 200_000, 10**12, 0.01, 0.5, 0.99)
WORDS = (
    *("plan", "ask", "accept-edits", "yolo", "on", "off", "rules", "open", "json", "rich", "auto", "running"),
    *(
        "never",
        "each",
        "unix",
        "tcp",
        "minilm",
        "server",
        "stdio",
        "http",
        "sse",
        "project",
        "user",
        "session",
    ),
    *(
        "allow",
        "deny",
        "sqlite",
        "jsonl",
        "ephemeral",
        "postgres",
        "normal",
        "full",
        "files",
        "database",
        "s3",
    ),
    *("shared", "local", "dark", "light", "unified", "side-by-side", "bell", "osc9", "scripted", "llama"),
    *("openai", "native", "constrained", "high", "aws"),
)
SINGLE = (True, False, *NUMBERS, *TEXTS, *WORDS)
POOL: tuple[Any, ...] = (
    *SINGLE,
    *([one] for one in SINGLE),
    *({"evil": one} for one in SINGLE),
    *({"EVIL": one} for one in TEXTS),
    *({"evil": [one]} for one in TEXTS),
    *([], [ENTRY], [{"label": "evil"}]),
)

YOURS = """
model = "openai/gpt-5"
[rules]
mode = "ask"
deny = ["read_file(secrets/**)"]
[limits]
max_cost = 2
max_duration = "20m"
[tools]
max_output_bytes = 1000
bash_timeout = 60
[retry]
max_retries = 2
[children]
max_tokens = 1000
[mcp.servers.mine]
command = "mine"
[models."openai/gpt-5"]
window_tokens = 9000
"""


def places(key: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths that a key stands for."""
    parts = key.split(".")
    for name in NAMES.get(parts[0], ("evil",)):
        yield tuple(name if part == "NAME" else part for part in parts)
        if "NAME" not in parts:
            return


@cache
def values(shape: type[Struct], path: tuple[str, ...]) -> list[Any]:
    """Return a value that a project could set."""
    kind = kind_at(shape, path)
    return [value for value in POOL if not any(problems(value, kind))]


def some(tried: list[Any], most: int) -> list[Any]:
    """Return values from the whole list."""
    return tried[:: -(-len(tried) // most)]


def tree_of(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for part in reversed(path):
        value = {part: value}
    return value


def toml(tree: dict[str, Any]) -> str:
    return "".join(f"{literal(key)} = {literal(value)}\n" for key, value in tree.items())


class Place:
    """A user with settings, and a project that is not trusted."""

    def __init__(self, folder: Path, yours: str) -> None:
        self.environ = {"HOME": str(folder), "BRIDLE_HOME": str(folder / "bridle")}
        self.project = folder / "project"
        (self.project / ".bridle" / "agents" / "evil").mkdir(parents=True)
        (folder / "bridle").mkdir()
        (folder / "bridle" / "config.toml").write_text(yours)
        self.before = self.load({})

    def load(self, tree: dict[str, Any]) -> Settings:
        (self.project / ".bridle" / "config.toml").write_text(toml(tree))
        return load_settings(self.environ, self.project)

    def agent(self, tree: dict[str, Any]) -> Agent:
        (self.project / ".bridle" / "agents" / "evil" / "config.toml").write_text(toml(tree))
        return load_agent("evil", self.load({})).agent


def config(given: Settings) -> dict[str, Any]:
    return {name: getattr(given, name) for name in ConfigFile.__struct_fields__}


def at(value: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else getattr(value, part, None)
    return value


def is_no_looser(path: tuple[str, ...], now: Any, before: Any) -> bool:
    """A second implementation, independent of the code."""
    match path:
        case ("rules", "mode") | ("mode",):
            return STRICTNESS.index(now) <= STRICTNESS.index(before)
        case ("rules", "ask" | "deny"):
            return set(before) <= set(now)
        case (_, "enabled"):
            return bool(before) or not now
        case _:
            is_number = isinstance(now, int | float) and not isinstance(now, bool)
            return bool(now == before or (is_number and (before is None or now < before)))


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Struct):
        value = {name: getattr(value, name) for name in value.__struct_fields__}
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    else:
        yield path, value


def assert_no_looser(now: dict[str, Any], before: dict[str, Any]) -> None:
    """Every leaf is the same, or is one of those on the list and no looser."""
    old = dict(leaves(before))
    for path, value in leaves(now):
        if path in old and old[path] == value:
            continue
        if path[:2] in {("mcp", "servers"), ("lsp", "servers")}:
            is_off = at(now, (*path[:3], "enabled")) is False
            assert is_off, (path, value)  # then nothing of it runs
            continue
        assert ".".join(path) in PROJECT_KEYS, (path, value)
        assert is_no_looser(path, value, old.get(path)), (path, value, old.get(path))


TABLES = sorted({key.split(".")[0] for key in known_keys(ConfigFile)})


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("yours", ["", YOURS], ids=["defaults", "yours"])
def test_no_key_of_a_project_loosens_anything(tmp_path: Path, table: str, yours: str):
    """Of each key, known or yet to come: it changes nothing unless it is listed, and then only tightens."""
    place = Place(tmp_path, yours)
    before = config(place.before)
    for key in known_keys(ConfigFile):
        if key.split(".")[0] != table:
            continue
        listed = key in PROJECT_KEYS or f"{key.split('.NAME')[0]}.NAME" in PROJECT_KEYS
        for path in places(key):
            tried = values(ConfigFile, path)
            assert tried, f"no value is known that {key} could have"
            for value in some(tried, 4 if "NAME" in key else 8):
                given = place.load(tree_of(path, value))
                if listed:
                    assert_no_looser(config(given), before)
                else:
                    assert config(given) == before
                    assert given.left_out or key in OWN_KEYS
                    assert len(given.warnings) == 1 or key in OWN_KEYS


def test_the_list_names_keys_that_there_are():
    def stems(shape: type[Struct]) -> set[str]:
        known = known_keys(shape)
        return {*known, *(f"{key.split('.NAME')[0]}.NAME" for key in known if ".NAME" in key)}

    assert set(PROJECT_KEYS) <= stems(ConfigFile)
    assert set(AGENT_KEYS) <= stems(AgentFile)
    assert set(known_keys(ConfigFile)) >= OWN_KEYS


def test_whole_tables_are_not_for_a_project():
    """Who answers, where data goes, what holds programs, and what the user sees."""
    listed = {key.split(".")[0] for key in PROJECT_KEYS}

    assert listed == {"children", "limits", "lsp", "mcp", "memory", "retry", "rules", "tools"}


def choices() -> st.SearchStrategy[tuple[tuple[str, ...], Any]]:
    """Draw a key with a value; to find all takes half a second, which no other test is to wait for."""
    return st.sampled_from(
        [
            (path, value)
            for key in known_keys(ConfigFile)
            for path in places(key)
            for value in some(values(ConfigFile, path), 6)
        ]
    )


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.deferred(choices), min_size=1, max_size=12), st.sampled_from(["", YOURS]))
def test_no_settings_of_a_project_together_loosen_anything(chosen: list[tuple[Any, Any]], yours: str):
    tree: dict[str, Any] = {}
    for path, value in chosen:
        table = tree
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = value
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), yours)

        assert_no_looser(config(place.load(tree)), config(place.before))


def test_no_key_of_a_projects_agent_loosens_anything(tmp_path: Path):
    place = Place(tmp_path, YOURS)
    before = place.agent({})
    for key in known_keys(AgentFile):
        path = tuple(key.split("."))
        for value in some(values(AgentFile, path), 12):
            agent = place.agent(tree_of(path, value))
            assert (agent.model, agent.small_model, agent.fallbacks, agent.code, agent.params) == (
                before.model,
                before.small_model,
                before.fallbacks,
                before.code,
                before.params,
            )
            assert is_no_looser(("mode",), agent.mode, before.mode)
            assert set(before.rules) <= set(agent.rules)
            assert {rule.action for rule in agent.rules} <= {"ask", "deny"}
            for name in agent.limits.__struct_fields__:
                assert is_no_looser((name,), getattr(agent.limits, name), getattr(before.limits, name))


def test_the_numbers_that_a_project_may_lower(tmp_path: Path):
    place = Place(tmp_path, YOURS)
    lower = {
        "limits": {"max_cost": 1, "max_duration": "10m", "max_turns": 50, "max_tokens": 5},
        "tools": {"max_output_bytes": 10, "bash_timeout": 1, "max_parallel": 2},
        "retry": {"max_retries": 0},
        "children": {"enabled": False, "max_depth": 1, "max_tokens": 10},
        "rules": {"mode": "plan", "ask": ["edit_file"], "deny": ["bash"]},
        "memory": {"enabled": False},
        "lsp": {"enabled": False, "servers": {"ruff": {"enabled": False}}},
        "mcp": {"servers": {"mine": {"enabled": False}}},
    }

    given = place.load(lower)

    assert given.warnings == ()
    assert build(lower, ConfigFile).limits == given.limits
    assert (given.tools.max_output_bytes, float(given.tools.bash_timeout)) == (10, 1.0)
    assert (given.retry.max_retries, given.children.max_depth, given.memory.enabled) == (0, 1, False)
    assert (given.rules.mode, given.rules.deny) == ("plan", ("read_file(secrets/**)", "bash"))
    assert given.servers_found[0].settings.enabled is False
