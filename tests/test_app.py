"""Settings reach the rooms that use them."""

from pathlib import Path
from typing import Any

import pytest

from bridle.app import models_dir, open_models
from bridle.app.folders import session_folders
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ConfigError, ProviderError
from bridle.core.model import Model, Price
from bridle.providers import ProviderEntry
from bridle.providers.llama import LlamaOptions
from bridle.providers.vendors import vendor_at


def settings(home: Path, text: str = "", **environ: str) -> Settings:
    (home / "config.toml").write_text(text)
    return load_settings({"HOME": str(home.parent), **environ}, home.parent)


def test_every_key_of_a_provider_arrives(home: Path):
    given = settings(
        home,
        '[providers.x]\nkind = "llama"\nbase_url = "http://h/v1"\napi_key_env = "X"\nwindow_tokens = 1\n'
        'max_output_tokens = 2\nheaders.A = "b"\nparams.c = 3\nconnect_timeout = "4s"\nidle_timeout = "5s"\n'
        'model_file = "m.gguf"\nmodels_dir = "d"\nexecutable = "e"\nhost = "::1"\nport = 6\nctx_size = 7\n'
        'n_gpu_layers = 8\nthreads = 9\nslots = 10\njinja = false\ntool_role = false\ntools = "native"\n'
        'extra_args = ["--f"]\nstart_timeout = "11s"\n',
    )

    assert open_models(given).providers["x"] == ProviderEntry(
        kind="llama",
        base_url="http://h/v1",
        api_key_env="X",
        window_tokens=1,
        max_output_tokens=2,
        headers={"A": "b"},
        params={"c": 3},
        connect_timeout_s=4.0,
        idle_timeout_s=5.0,
        server=LlamaOptions(
            model="m.gguf",
            models_dir="d",
            program=("e",),
            outside=session_folders(given),
            host="::1",
            port=6,
            ctx_size=7,
            n_gpu_layers=8,
            threads=9,
            slots=10,
            jinja=False,
            extra_args=("--f",),
            start_timeout_s=11.0,
        ),
        tools="native",
        tool_role=False,
    )


def test_what_nobody_sets_is_left_to_the_room(home: Path):
    given = settings(home, '[providers.x]\nbase_url = "http://h/v1"\n')

    assert open_models(given).providers["x"] == ProviderEntry(
        base_url="http://h/v1", server=LlamaOptions(outside=session_folders(given))
    )


def test_every_built_in_provider_that_needs_a_key_is_a_vendor_that_is_known(home: Path):
    entries = open_models(settings(home)).providers

    with_key = {name for name, entry in entries.items() if entry.api_key_env}
    vendors = {name: vendor_at(entry.base_url) for name, entry in entries.items()}
    assert {name for name, vendor in vendors.items() if vendor} == with_key
    assert all(vendor.name == name for name, vendor in vendors.items() if vendor)


def test_what_the_user_says_about_a_model_arrives(home: Path):
    given = settings(
        home,
        '[models."openai/gpt-5"]\nwindow_tokens = 5000\nmax_output_tokens = 70\n'
        "price = { input = 1, output = 2, cache_read = 0.1 }\n"
        "images = false\nparams.provider.sort = 'price'\n",
    )

    assert open_models(given).facts("openai/gpt-5").model == Model(
        "openai",
        "gpt-5",
        5000,
        70,
        Price(1.0, 2.0, 0.1, 1.0),
        images=False,
        reasoning=True,
        params={"provider": {"sort": "price"}},
    )


def test_half_a_price_is_told(home: Path):
    given = settings(home, '[models."openai/gpt-5"]\nprice = { output = 2 }\n')

    with pytest.raises(ConfigError, match="input and output are both needed"):
        open_models(given)


async def test_the_key_of_a_provider_comes_from_its_variable(home: Path):
    keyed = open_models(settings(home, OPENAI_API_KEY="sk-1"))

    assert [facts.has_key for facts in map(keyed.facts, ("openai/gpt-5", "xai/grok-4.7"))] == [True, False]
    with pytest.raises(ProviderError, match="XAI_API_KEY is not set"):
        await keyed.resolve("xai/grok-4.7")


@pytest.mark.parametrize("text", ["", '[providers.embedded]\nmodels_dir = "{home}/weights"\n'])
async def test_the_default_model_is_looked_for_where_weights_lie(home: Path, text: str):
    given = settings(home, text.format(home=home))
    folder = home / ("weights" if text else "models")

    with pytest.raises(ProviderError) as caught:
        await open_models(given).resolve(given.model)

    assert models_dir(given) == folder
    assert str(caught.value) == (
        f"smollm2-135m: its weights are not in {folder} yet (hint: bridle models pull)"
    )


def test_prices_are_those_of_today(home: Path):
    listed: dict[str, Any] = {facts.model.ref: facts for facts in open_models(settings(home)).listed()}

    changing = [facts for facts in listed.values() if facts.known and facts.known.later]
    assert changing
    assert all(facts.model.price in (facts.known.price, *facts.known.later.values()) for facts in changing)
