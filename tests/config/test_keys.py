import re
from pathlib import Path
from typing import Any

import pytest

from bridle.config.agents import AgentFile
from bridle.config.duration import Delay, Duration
from bridle.config.edit import get_value
from bridle.config.keys import (
    DEFAULT_MODEL,
    DEFAULTS,
    KINDS_OF_KEY,
    ConfigFile,
    LimitSettings,
    PriceSettings,
    ProviderSettings,
    RetrySettings,
    RuleLists,
    StoreSettings,
    ToolSettings,
)
from bridle.config.rules import AllowText, DenyText
from bridle.config.settings import load_settings
from bridle.config.toml_document import key_text, literal, parse_toml
from bridle.config.validation import build, known_keys, problems
from bridle.core.budget import Limits
from bridle.core.errors import ConfigError
from bridle.core.model import Price
from bridle.core.permission import Rule
from bridle.core.retry import RetryPolicy
from tests.config.page import PAGE, page_table


def test_the_page_lists_exactly_the_keys_there_are():
    assert list(page_table("Every key")) == known_keys(ConfigFile)


def test_the_page_lists_exactly_the_keys_of_an_agent():
    assert list(page_table("Agents")) == known_keys(AgentFile)


def test_the_page_tells_the_defaults(tmp_path: Path):
    settings = load_settings({"HOME": str(tmp_path)}, tmp_path)
    told = {key: cells[0] for key, cells in page_table("Every key").items() if ".NAME." not in key}

    values = {key: get_value(settings, key) for key in told}
    assert told == {key: "none" if value is None else f"`{literal(value)}`" for key, value in values.items()}


def test_the_page_tells_the_providers_that_are_built_in(tmp_path: Path):
    settings = load_settings({"HOME": str(tmp_path)}, tmp_path)
    examples = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    told = next(parse_toml(text, "page") for text in examples if text.startswith("[providers]"))

    assert told == {"providers": DEFAULTS["providers"]}
    assert build(told, ConfigFile).providers == settings.providers


@pytest.mark.parametrize("block", re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL))
def test_every_example_of_the_page_is_a_good_config(block: str):
    shape = AgentFile if block.startswith("# agents/") else ConfigFile

    assert list(problems(parse_toml(block, "example"), shape)) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("model",), "gpt-5"),
        (("model",), "/gpt-5"),
        (("model",), "openai/"),
        (("model",), "openai/a\nb"),
        (("agent",), ""),
        (("agent",), ".."),
        (("agent",), "a/b"),
        (("agent",), "a" * 65),
        (("limits", "max_tokens"), 0),
        (("limits", "max_tokens"), 10**13),
        (("limits", "max_duration"), 0),
        (("limits", "max_tool_calls"), -1),
        (("limits", "max_cost"), float("inf")),
        (("limits", "max_turns"), 1.0),
        (("retry", "max_retries"), 101),
        (("retry", "multiplier"), 0.5),
        (("rules", "mode"), "YOLO"),
        (("store", "backend"), "oracle"),
        (("store", "sync"), "off"),
        (("tools", "max_parallel"), 0),
        (("tools", "timeout"), "0s"),
        (("providers", "a b"), {}),
        (("providers", "a", "kind"), "bedrock"),
        (("providers", "a", "port"), 65536),
        (("providers", "a", "host"), "h/x"),
        (("providers", "a", "model_file"), ""),
        (("providers", "a", "jinja"), "yes"),
        (("providers", "a", "idle_timeout"), "0s"),
        (("providers", "a", "tools"), "none"),
        (("models", "gpt-5"), {}),
        (("models", "a/b", "window_tokens"), 0),
        (("models", "a/b", "price", "input"), -1),
        (("small_model",), "gpt-5"),
        (("fallbacks",), "a/b"),
        (("providers", "a", "base_url"), "ftp://host"),
        (("providers", "a", "base_url"), "host/v1"),
        (("providers", "a", "base_url"), "https://me:pw@host/v1"),
        (("providers", "a", "base_url"), "https://host/v1?key=1"),
        (("providers", "a", "base_url"), "https://host/v1\n"),
        (("providers", "a", "api_key_env"), "sk-abc"),
        (("providers", "a", "headers", "X Y"), "v"),
        (("providers", "a", "headers", "X-Y"), "v\r\nHost: evil"),
    ],
)
def test_a_bad_value_is_refused(path: tuple[str, ...], value: Any):
    tree: Any = value
    for part in reversed(path):
        tree = {part: tree}

    assert [problem.path for problem in problems(tree, ConfigFile)] == [path], key_text(path)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "https://host/v1", "http://[::1]:80/a/b/"])
def test_an_address_is_accepted(url: str):
    assert list(problems({"providers": {"a": {"base_url": url}}}, ConfigFile)) == []


def test_the_defaults_are_good_themselves():
    assert list(problems(DEFAULTS, ConfigFile)) == []


def test_the_sections_have_their_defaults():
    config = build(DEFAULTS, ConfigFile)

    assert [config.limits, config.retry, config.store, config.tools] == [
        LimitSettings(max_turns=100),
        RetrySettings(3, Delay(0.5), Delay(30), 2.0),
        StoreSettings("sqlite", sync="normal"),
        ToolSettings(10 * 1024 * 1024, 64 * 1024, Duration(600), 32),
    ]


def test_limits_become_those_of_the_core():
    limits = LimitSettings(1000, Duration(60), 5, 2.5, 7).limits()

    assert limits == Limits(tokens=1000, duration_s=60.0, tool_calls=5, cost=2.5, turns=7)
    assert type(limits.duration_s) is float
    assert LimitSettings().limits() == Limits()


def test_retry_becomes_the_policy_of_the_core():
    policy = RetrySettings(5, Delay(1), Delay(10), 3.0).policy()

    assert policy == RetryPolicy(5, 1.0, 10.0, 3.0)
    assert [type(policy.initial_s), type(policy.max_s)] == [float, float]


def test_rules_become_those_of_the_core():
    lists = RuleLists(allow=(AllowText("read_file"),), deny=(DenyText("edit_file(src/**)"),))

    assert lists.rules() == (Rule("deny", "edit_file", "src/**"), Rule("allow", "read_file"))


def test_a_price_becomes_that_of_the_core():
    """Cached tokens without a separate price cost as much as input, as vendors charge it."""
    assert PriceSettings().price("a/b") is None
    assert PriceSettings(1.0, 4.0).price("a/b") == Price(1.0, 4.0, 1.0, 1.0)
    assert PriceSettings(1.0, 4.0, 0.1, 1.25).price("a/b") == Price(1.0, 4.0, 0.1, 1.25)
    assert PriceSettings(0.0, 0.0).price("a/b") == Price(0.0, 0.0)


@pytest.mark.parametrize("price", [PriceSettings(input=1.0), PriceSettings(cache_read=1.0)])
def test_half_a_price_is_refused(price: PriceSettings):
    with pytest.raises(ConfigError) as caught:
        price.price("a/b")

    assert str(caught.value) == 'models."a/b".price: input and output are both needed'


def test_the_keys_of_some_kinds_are_keys():
    assert set(KINDS_OF_KEY) <= set(ProviderSettings.__struct_fields__)


def test_the_default_model_is_one_of_a_provider_that_is_there():
    provider, _, _ = DEFAULT_MODEL.partition("/")

    assert DEFAULTS["providers"][provider] == {"kind": "embedded"}
