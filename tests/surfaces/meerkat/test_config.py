"""The settings over the wire: without secrets, changed completely or not at all."""

from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ConfigError, UsageError
from bridle.surfaces.meerkat.config import SettingsChanged, UserConfig, generation

TEXT = """\
# my model
model = "openai/gpt-5"  # the best

[limits]
max_turns = 5

[providers.mine]
base_url = "https://example.com/v1"
headers = { Authorization = "Bearer secret" }

[mcp.servers.time]
command = "uvx"
env = { TOKEN = "secret" }

[mcp.servers.far]
url = "https://example.com/mcp?key=secret"
"""


@pytest.fixture
def config(env: dict[str, str], tmp_path: Path) -> UserConfig:
    file_of(env).write_text(TEXT)
    return UserConfig(env, tmp_path)


def file_of(env: dict[str, str]) -> Path:
    return Path(env["BRIDLE_HOME"]) / "config.toml"


def test_what_may_be_secret_is_not_shown(config: UserConfig):
    shown = config.read()

    assert "secret" not in str(shown.config)
    assert shown.config == {
        "model": "openai/gpt-5",
        "limits": {"max_turns": 5},
        "providers": {
            "mine": {
                "base_url": "https://example.com/v1",
                "headers": {"Authorization": "(hidden)"},
            }
        },
        "mcp": {
            "servers": {
                "time": {"command": "uvx", "env": {"TOKEN": "(hidden)"}},
                "far": {"url": "https://example.com/mcp?(hidden)"},
            }
        },
    }
    assert shown.generation == generation(TEXT)


def test_a_patch_changes_what_it_names_and_keeps_comments(config: UserConfig, env: dict[str, str]):
    patched = config.patch({"limits": {"max_turns": None, "max_cost": 2.5}, "small_model": "openai/mini"})

    assert patched.config["limits"] == {"max_cost": 2.5}
    text = file_of(env).read_text()
    assert text == TEXT.replace("max_turns = 5", "max_cost = 2.5").replace(
        "# the best\n", '# the best\nsmall_model = "openai/mini"\n'
    )
    assert patched.generation == generation(text)


def test_what_was_shown_can_be_given_back(config: UserConfig, env: dict[str, str]):
    shown = config.read().config

    config.replace({**shown, "limits": {"max_turns": 6}})

    assert file_of(env).read_text() == TEXT.replace("= 5", "= 6")


def test_replacing_takes_away_what_is_not_named(config: UserConfig, env: dict[str, str]):
    assert config.replace({"model": "openai/gpt-6"}).config == {"model": "openai/gpt-6"}
    assert "secret" not in file_of(env).read_text()


def test_nothing_is_written_over_what_somebody_else_has_changed(config: UserConfig, env: dict[str, str]):
    seen = config.read().generation
    config.patch({"model": "openai/a"}, seen)
    before = file_of(env).read_text()

    with pytest.raises(SettingsChanged, match="of generation"):
        config.patch({"model": "openai/b"}, seen)

    assert file_of(env).read_text() == before


def test_keys_of_meerkat_are_translated_or_named(config: UserConfig, env: dict[str, str]):
    patched = config.patch({"max_tokens": 2048, "agent": {"temperature": 0.5, "max_turns": 7}})
    cleared = config.patch({"max_tokens": None})
    replaced = config.replace({"max_tokens": 1024, "budget": {"max_duration": "30m"}})

    assert (patched.config["max_output_tokens"], patched.config["limits"]) == (2048, {"max_turns": 7})
    assert list(patched.left_out) == ["agent.temperature"]
    assert "max_output_tokens" not in cleared.config
    assert replaced.config == {"max_output_tokens": 1024, "limits": {"max_duration": "30m"}}
    assert (cleared.left_out, replaced.left_out) == ({}, {})


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ({"nonsense": 1}, "unknown key nonsense"),
        ({"max_tokens": "many"}, "max_output_tokens"),
        ({"comms": {"mode": "carrier pigeon"}}, "comms.mode"),
        ({"limits": {"max_turns": "many"}}, "max_turns"),
        ({"limits": {"max_turns": True}}, "max_turns"),
        ({"providers": {"mine": {"port": 1}}}, "port"),
        ({"hooks": {"entries": [{"id": "", "runtime": {"type": "command", "command": "x"}}]}}, "id"),
        ({"small_model": "(hidden)"}, "nothing is hidden"),
        ({"rules": {"allow": [None]}}, "null is not a setting"),
        ({"rules": {"allow": ["bash("]}}, "bash"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    config: UserConfig, env: dict[str, str], patch: dict[str, Any], says: str
):
    with pytest.raises((ConfigError, UsageError), match=says):
        config.patch(patch)

    assert file_of(env).read_text() == TEXT


def test_settings_that_are_nested_without_end_are_refused(config: UserConfig):
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"a": deep}

    with pytest.raises(UsageError, match="nested deeper"):
        config.patch(deep)


def test_a_home_without_settings_gets_some(env: dict[str, str], tmp_path: Path):
    config = UserConfig(env, tmp_path)

    assert config.read().config == {}
    assert config.patch({"rules": {"allow": ["bash(ls)"]}}).config == {"rules": {"allow": ["bash(ls)"]}}
    assert file_of(env).read_text() == '[rules]\nallow = ["bash(ls)"]\n'
