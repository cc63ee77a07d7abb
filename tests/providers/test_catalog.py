"""The provider that a model reference names, and the known facts about the model."""

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import bridle.providers
from bridle.core.errors import ConfigError, ProviderError
from bridle.core.messages import user_message
from bridle.core.model import ApiKind, Model, ModelRequest, Price
from bridle.providers import (
    ModelCatalog,
    ModelEntry,
    ModelFacts,
    ProviderEntry,
    Reply,
    Script,
    ScriptedProvider,
)
from bridle.providers.anthropic import AnthropicProvider
from bridle.providers.catalog import UnlistedModelProvider
from bridle.providers.gemini import GeminiProvider
from bridle.providers.llama import LlamaOptions
from bridle.providers.llama.provider import LlamaProvider
from bridle.providers.model_data import known_models
from bridle.providers.openai import OpenAIProvider
from bridle.providers.openai_responses import ResponsesProvider
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.conversation import ask, request

HELLO = b'{"replies": [{"text": "hi"}], "window_tokens": 1000}'
OPENAI = ProviderEntry(
    kind="openai-responses", base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY"
)
SCRIPTED = ProviderEntry(kind="scripted")
NEAR = known_models().near("openai", "gpt-5-minni")
ENTRIES = {
    "local": ProviderEntry(base_url="http://127.0.0.1:8080/v1"),
    "openai": OPENAI,
    "scripted": SCRIPTED,
}


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    (tmp_path / "hello.json").write_bytes(HELLO)
    (tmp_path / "other.toml").write_text('replies = [{text = "ho"}]')
    return tmp_path


def catalog(
    environ: dict[str, str] | None = None,
    scripts: Path | None = None,
    models: dict[str, ModelEntry] | None = None,
    **entries: ProviderEntry,
) -> ModelCatalog:
    folders = [scripts] if scripts else []
    return ModelCatalog(ENTRIES | entries, environ or {}, models=models, script_dirs=folders)


# ---------------------------------------------------------------------------- scripts


async def test_a_script_is_found_by_its_path_or_name(scripts: Path):
    models = catalog(scripts=scripts)

    for ref in (
        f"scripted/{scripts}/hello.json",
        "scripted/hello.json",
        "scripted/hello",
        f"scripted/{scripts}/hello",
    ):
        provider, model = await models.resolve(ref)
        assert (await ask(provider)).shown == [("text", "hi")]
        assert model == Model("scripted", ref.removeprefix("scripted/"), 1000)
    other, _ = await models.resolve("scripted/other")
    assert (await ask(other)).shown == [("text", "ho")]
    await models.aclose()


async def test_a_scripted_entry_may_have_another_name(scripts: Path):
    provider, model = await catalog(scripts=scripts, play=SCRIPTED).resolve("play/hello")

    assert isinstance(provider, ScriptedProvider)
    assert model.ref == "play/hello"


async def test_the_shipped_demo_answers_and_shows_its_tools():
    folder = Path(bridle.providers.__file__).parent / "scripts"
    provider, _ = await catalog(scripts=folder).resolve("scripted/demo")

    plain = await ask(provider, request(user_message("moin")))
    about_a_file = await ask(provider, request(user_message("please fix hello.py")))

    assert "You said: moin" in plain.shown[0][1]
    assert about_a_file.shown[1] == ("read_file call_0_0", '{"path":"hello.py"}')


async def test_a_broken_script_names_its_file(scripts: Path):
    (scripts / "bad.json").write_text("{")

    with pytest.raises(ConfigError, match=r"bad\.json"):
        await catalog(scripts=scripts).resolve("scripted/bad")


# ---------------------------------------------------------------------------- vendors and servers


@pytest.mark.parametrize(
    ("kind", "wire"),
    [
        ("openai", OpenAIProvider),
        ("openai-responses", ResponsesProvider),
        ("anthropic", AnthropicProvider),
        ("gemini", GeminiProvider),
        ("llama", LlamaProvider),
    ],
)
async def test_each_kind_has_its_wire(kind: Any, wire: type):
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        models = catalog(mine=ProviderEntry(kind=kind, base_url=f"{server.url}/v1"))
        provider, model = await models.resolve("mine/m")
        outcome = await ask(provider, ModelRequest(model.name, "", (user_message("hi"),)))
        await models.aclose()

    assert type(provider) is wire
    assert outcome.shown == [("text", "hello")]


@pytest.mark.parametrize("kind", get_args(ApiKind))
async def test_each_api_has_a_module_of_its_name(kind: ApiKind):
    provider, model = await catalog(mine=ProviderEntry(kind, "http://127.0.0.1:1/v1")).resolve("mine/m")
    await provider.aclose()

    assert type(provider).__module__ == f"bridle.providers.{kind.replace('-', '_')}"
    assert model == Model("mine", "m")


async def test_the_same_reference_is_the_same_provider(scripts: Path):
    models = catalog({"OPENAI_API_KEY": "k"}, scripts)

    providers = [
        (await models.resolve(ref))[0]
        for ref in ("scripted/hello", "scripted/hello", "openai/gpt-5", "openai/gpt-5-mini")
    ]

    assert providers[0] is providers[1]
    assert providers[2] is providers[3]
    await models.aclose()


async def test_a_provider_is_asked_with_its_key_headers_and_params():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        entry = ProviderEntry(
            base_url=f"{server.url}/v1",
            api_key_env="MINE",
            window_tokens=10,
            max_output_tokens=5,
            headers={"X-Team": "blue"},
            params={"seed": 7},
        )
        models = catalog({"MINE": " sk-1\n"}, mine=entry)
        provider, model = await models.resolve("mine/some-model")
        outcome = await ask(provider, ModelRequest(model.name, "", (user_message("hi"),)))
        await models.aclose()

    seen = server.requests[0]
    assert outcome.shown == [("text", "hello")]
    assert model == Model("mine", "some-model", 10, 5)
    assert (seen.headers["authorization"], seen.headers["x-team"]) == ("Bearer sk-1", "blue")
    assert (seen.body["model"], seen.body["seed"]) == ("some-model", 7)


async def test_no_key_no_authorization():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        models = catalog(local=ProviderEntry(base_url=f"{server.url}/v1"))
        await ask((await models.resolve("local/m"))[0])
        await models.aclose()

    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": " \n"}])
async def test_a_missing_key_is_named(environ: dict[str, str]):
    with pytest.raises(ProviderError) as caught:
        await catalog(environ).resolve("openai/gpt-5")

    assert caught.value.kind == "invalid_api_key"
    assert str(caught.value) == (
        "openai: no API key: the environment variable OPENAI_API_KEY is not set "
        "(hint: export OPENAI_API_KEY=..., with a key from https://platform.openai.com/api-keys)"
    )


async def test_a_missing_key_of_a_server_that_is_not_known():
    entry = ProviderEntry(base_url="https://models.example/v1", api_key_env="MINE")

    with pytest.raises(ProviderError) as caught:
        await catalog(mine=entry).resolve("mine/m")

    assert caught.value.hint == "export MINE=..."


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt-5-minni", f"did you mean {' or '.join(f'openai/{name}' for name in NEAR)}?"),
        ("zzz", "bridle models list openai/"),
    ],
)
async def test_a_model_that_the_vendor_may_not_know_gets_a_hint(name: str, hint: str):
    provider, model = await catalog({"OPENAI_API_KEY": "k"}).resolve(f"openai/{name}")

    assert isinstance(provider, UnlistedModelProvider)
    assert provider.hint == hint
    assert model == Model("openai", name)


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        (
            "gpt-5",
            'model "gpt-5": write it as PROVIDER/MODEL (hint: providers are local, openai, scripted)',
        ),
        ("openai/", 'model "openai/": write it as PROVIDER/MODEL'),
        ("", 'model ""'),
        ("opnai/gpt-5", 'model "opnai/gpt-5": no provider named "opnai" (hint: did you mean openai?)'),
        ("zzz/gpt-5", "(hint: providers are local, openai, scripted)"),
        ("scripted/helo", 'no script file named "helo" (hint: did you mean scripted/hello?)'),
        ("scripted/zzz.json", "(hint: name a .json or .toml file)"),
        ("scripted/no/such/dir/x", "(hint: name a .json or .toml file)"),
        ("scripted/.", "no script file named"),
        ("scripted//", "no script file named"),
        ("scripted/\0", "no script file named"),
        (f"scripted/{'x' * 5000}", "no script file named"),
    ],
)
async def test_an_unknown_model_is_told_with_near_misses(ref: str, says: str, scripts: Path):
    models = catalog(scripts=scripts)

    with pytest.raises(ConfigError) as caught:
        await models.resolve(ref)
    with pytest.raises(ConfigError) as again:
        models.facts(ref)

    assert says in str(caught.value)
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (ProviderEntry(), "base_url '' is not an address"),
        (ProviderEntry(base_url="localhost:8080"), "base_url 'localhost:8080' is not an address"),
        (ProviderEntry(base_url="file:///etc/passwd"), "is not an address"),
        (ProviderEntry(base_url="http://h:99999/v1"), "is not an address"),
        (ProviderEntry(base_url="http://[::1"), "is not an address"),
        (ProviderEntry(kind="llama"), "base_url '' is not an address"),
        (
            ProviderEntry(base_url="http://h", headers={"X-A": "b\r\nX-C: d"}),
            "the header 'X-A' cannot be sent",
        ),
        (
            ProviderEntry(base_url="http://h", api_key_env="BAD"),
            "BAD contains characters that are not valid in a key",
        ),
    ],
)
async def test_what_cannot_be_sent_is_told_before(entry: ProviderEntry, says: str):
    with pytest.raises(ConfigError, match='provider "mine"') as caught:
        await catalog({"BAD": "sk-\n1"}, mine=entry).resolve("mine/m")

    assert says in str(caught.value)


def test_an_entry_is_read_strictly():
    with pytest.raises(msgspec.ValidationError, match="unknown field `base_ulr`"):
        msgspec.convert({"base_ulr": "x"}, ProviderEntry)


# ---------------------------------------------------------------------------- local servers


async def test_a_running_llama_server_tells_its_window():
    async with ScriptedServer(Script((Reply("hello"),), window_tokens=3000)) as server:
        models = catalog(
            box=ProviderEntry(kind="llama", base_url=server.url),
            small=ProviderEntry(kind="llama", base_url=server.url, window_tokens=2000),
            large=ProviderEntry(kind="llama", base_url=server.url, window_tokens=9000),
        )
        found = [(await models.resolve(f"{name}/m"))[1].window_tokens for name in ("box", "small", "large")]
        await models.aclose()

    assert found == [3000, 2000, 3000]


async def test_a_llama_server_that_is_not_there_is_found_out_by_the_request():
    models = catalog(box=ProviderEntry(kind="llama", base_url="http://127.0.0.1:9", window_tokens=2000))

    provider, model = await models.resolve("box/m")
    outcome = await ask(provider)
    await models.aclose()

    assert model == Model("box", "m", 2000, 1000)
    assert outcome.error == "connection_reset"


async def test_a_managed_server_whose_file_is_absent_is_an_error(tmp_path: Path):
    entry = ProviderEntry(kind="llama", server=LlamaOptions(model=str(tmp_path / "none.gguf")))
    models = catalog(box=entry)

    with pytest.raises(ProviderError, match=r"none\.gguf: file not found"):
        await models.resolve("box/m")
    await models.aclose()


async def test_weights_are_not_pulled_when_nobody_can_be_told(tmp_path: Path):
    models = ModelCatalog({"embedded": ProviderEntry(kind="embedded")}, {}, models_dir=tmp_path)

    with pytest.raises(ProviderError) as caught:
        await models.resolve("embedded/smollm2-135m")

    assert str(caught.value) == (
        f"smollm2-135m: its weights are not in {tmp_path} yet (hint: bridle models pull)"
    )
    assert list(tmp_path.iterdir()) == []


async def test_an_unknown_embedded_model_is_told_with_a_near_miss(tmp_path: Path):
    models = ModelCatalog({"embedded": ProviderEntry(kind="embedded")}, {}, models_dir=tmp_path)

    with pytest.raises(ConfigError, match=r"did you mean smollm2-135m\?"):
        await models.resolve("embedded/smolm2")


# ---------------------------------------------------------------------------- facts


def test_facts_come_from_the_data():
    facts = catalog({"OPENAI_API_KEY": "k"}).facts("openai/gpt-5.4-2026-03-05")
    known = known_models().find("openai", "gpt-5.4")

    assert known
    assert facts == ModelFacts(
        Model("openai", "gpt-5.4-2026-03-05", 1_050_000, 32_000, known.price, images=True, reasoning=True),
        "openai-responses",
        known,
        "OPENAI_API_KEY",
        has_key=True,
    )


def test_the_address_decides_which_vendor_it_is_and_not_the_name():
    models = catalog(
        work=ProviderEntry(base_url="https://api.openai.com/v1"),
        openai=ProviderEntry(base_url="http://127.0.0.1:4000/v1"),
    )

    assert models.facts("work/gpt-5").model.window_tokens == 400_000
    assert models.facts("openai/gpt-5") == ModelFacts(
        Model("openai", "gpt-5"), "openai", None, "", has_key=True
    )


def test_the_users_words_count_over_the_providers_and_those_over_the_data():
    price = Price(1.0, 2.0)
    models = catalog(
        models={"openai/gpt-5": ModelEntry(window_tokens=5000, price=price)},
        openai=msgspec.structs.replace(OPENAI, window_tokens=8000, max_output_tokens=700),
    )

    assert models.facts("openai/gpt-5").model == Model(
        "openai", "gpt-5", 5000, 700, price, images=True, reasoning=True
    )
    mini = models.facts("openai/gpt-5-mini").model
    assert (mini.window_tokens, mini.max_output_tokens) == (8000, 700)
    assert mini.price == Price(0.25, 2.0, 0.025, 0.25)


@pytest.mark.parametrize(
    ("entry", "said", "tokens"),
    [
        (ModelEntry(), 128_000, 8_192),
        (ModelEntry(window_tokens=4096), 4096, 1024),
        (ModelEntry(window_tokens=2), 2, 1),
        (ModelEntry(max_output_tokens=100_000), 128_000, 100_000),
    ],
)
def test_the_longest_answer_leaves_room_for_a_question(entry: ModelEntry, said: int, tokens: int):
    model = catalog(models={"local/m": entry}).facts("local/m").model

    assert (model.window_tokens, model.max_output_tokens, model.price) == (said, tokens, None)


async def test_a_user_can_say_what_a_model_can_do_that_the_data_lacks(scripts: Path):
    able = ModelEntry(images=True, reasoning=True, params={"seed": 1})
    models = catalog(models={"local/m": able, f"scripted/{scripts}/hello.json": able})
    found = [models.facts(ref).model for ref in ("local/m", f"scripted/{scripts}/hello.json", "local/other")]

    assert [(model.images, model.reasoning, model.params) for model in found] == [
        (True, True, {"seed": 1}),
        (True, True, {"seed": 1}),
        (None, None, {}),
    ]


async def test_a_user_can_say_what_the_model_of_a_llama_server_can_do():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        entry = ProviderEntry(kind="llama", base_url=server.url)
        models = catalog(models={"box/m": ModelEntry(images=True)}, box=entry)
        _, model = await models.resolve("box/m")
        await models.aclose()

    assert model.images


def test_a_price_changes_on_the_day_that_was_announced():
    entries = {"g": ProviderEntry(kind="gemini", base_url="https://generativelanguage.googleapis.com")}
    name, model = next((n, m) for n, m in known_models().vendors["gemini"].items() if m.later)
    day = next(iter(model.later))

    prices = [
        ModelCatalog(entries, {}, today=lambda today=today: today).facts(f"g/{name}").model.price
        for today in ("2026-11-15", day, "2999-01-01")
    ]

    assert prices == [model.price, model.later[day], model.later[day]]


def test_what_runs_here_is_free(tmp_path: Path):
    (tmp_path / "my.gguf").write_bytes(b"GGUF")
    options = LlamaOptions(models_dir=str(tmp_path), ctx_size=2048)
    models = catalog(
        embedded=ProviderEntry(kind="embedded", server=options),
        box=ProviderEntry(kind="llama", server=options),
    )

    assert models.facts("embedded/my").model == Model("embedded", "my", 2048, 512, Price(0.0, 0.0))
    assert models.facts("box/my").model == Model("box", "my", 2048, 512, Price(0.0, 0.0))


def test_every_model_with_a_name_is_listed(scripts: Path):
    (scripts / "my.gguf").write_bytes(b"GGUF")
    models = ModelCatalog(
        {
            "embedded": ProviderEntry(kind="embedded"),
            "file": ProviderEntry(kind="llama", server=LlamaOptions(model="~/models/q.gguf")),
            "folder": ProviderEntry(kind="llama", server=LlamaOptions(models_dir=str(scripts))),
            "local": ProviderEntry(base_url="http://127.0.0.1:8080/v1"),
            "play": SCRIPTED,
            "xai": ProviderEntry(base_url="https://api.x.ai/v1", api_key_env="XAI_API_KEY"),
        },
        {},
        models={ref: ModelEntry() for ref in ("local/mine", "gone/x", "play/gone", "embedded/gone")},
        script_dirs=[scripts],
        models_dir=scripts,
    )

    listed = models.listed()

    assert [facts.model.ref for facts in listed] == [
        "embedded/my",
        "embedded/smollm2-135m",
        "file/q",
        "folder/my",
        "local/mine",
        "play/hello",
        "play/other",
        *(f"xai/{name}" for name in sorted(known_models().vendors["xai"])),
    ]
    assert {facts.model.provider for facts in listed if not facts.has_key} == {"xai"}


async def test_providers_on_this_machine_are_asked_whether_they_answer():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        models = catalog(
            here=ProviderEntry(base_url=f"{server.url}/v1"),
            box=ProviderEntry(kind="llama", base_url=server.url),
            local=ProviderEntry(base_url="http://127.0.0.1:9/v1"),
            wire=ProviderEntry(kind="anthropic", base_url=server.url),
        )

        assert await models.answering() == {"box": ["scripted"], "here": ["scripted"]}


def test_no_network_client_and_no_data_is_loaded_for_a_script(scripts: Path):
    code = (
        "import asyncio, sys; from pathlib import Path;"
        "from bridle.providers import ModelCatalog, ProviderEntry;"
        "from bridle.providers.model_data import known_models;"
        f"entries = {{'scripted': ProviderEntry(kind='scripted')}}; folders = [Path({str(scripts)!r})];"
        "asyncio.run(ModelCatalog(entries, {}, script_dirs=folders).resolve('scripted/hello'));"
        "print([name for name in sys.modules if name.partition('.')[0] in ('aiohttp', 'xllamacpp')]);"
        "print(known_models.cache_info().misses)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n0\n"
