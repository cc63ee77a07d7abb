"""Which provider a model reference means."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import bridle.providers
from bridle.core.errors import ConfigError, ProviderError
from bridle.core.messages import user_message
from bridle.core.model import Model, ModelRequest
from bridle.providers import ModelCatalog, ProviderEntry, Reply, Script, ScriptedProvider
from bridle.providers.openai import OpenAIProvider
from bridle.providers.scripted_server import ScriptedServer
from tests.providers.conversation import ask, request

HELLO = b'{"replies": [{"text": "hi"}], "window_tokens": 1000}'


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    (tmp_path / "hello.json").write_bytes(HELLO)
    (tmp_path / "other.toml").write_text('replies = [{text = "ho"}]')
    return tmp_path


def catalog(*, environ: dict[str, str] | None = None, scripts: Path | None = None, **entries: ProviderEntry):
    return ModelCatalog(entries, environ or {}, script_dirs=[scripts] if scripts else [])


async def test_a_script_is_found_by_its_path_or_name(scripts: Path):
    models = catalog(scripts=scripts)

    for ref in (
        f"scripted/{scripts}/hello.json",
        "scripted/hello.json",
        "scripted/hello",
        f"scripted/{scripts}/hello",
    ):
        provider, model = models.resolve(ref)
        assert (await ask(provider)).shown == [("text", "hi")]
        assert model == Model("scripted", ref.removeprefix("scripted/"), 1000)
    assert (await ask(models.resolve("scripted/other")[0])).shown == [("text", "ho")]
    await models.aclose()


def test_the_same_reference_is_the_same_provider(scripts: Path):
    models = catalog(scripts=scripts, environ={"OPENAI_API_KEY": "k"})

    assert models.resolve("scripted/hello")[0] is models.resolve("scripted/hello")[0]
    assert models.resolve("openai/a")[0] is models.resolve("openai/b")[0]


def test_built_in_providers():
    models = catalog(environ={"OPENAI_API_KEY": "k"})

    assert list(models.providers) == ["local", "openai", "scripted"]
    provider, model = models.resolve("openai/gpt-5")
    assert isinstance(provider, OpenAIProvider)
    assert model == Model("openai", "gpt-5")
    assert models.resolve("local/org/model:tag")[1] == Model("local", "org/model:tag")


async def test_a_configured_provider_is_asked_with_its_key_headers_and_params():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        entry = ProviderEntry(
            base_url=f"{server.url}/v1",
            api_key_env="MINE",
            window_tokens=10,
            max_output_tokens=5,
            headers={"X-Team": "blue"},
            params={"seed": 7},
        )
        models = catalog(mine=entry, environ={"MINE": " sk-1\n"})
        provider, model = models.resolve("mine/some-model")
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
        await ask(models.resolve("local/m")[0])
        await models.aclose()

    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": " \n"}])
def test_a_missing_key_is_named(environ: dict[str, str]):
    with pytest.raises(ProviderError) as caught:
        catalog(environ=environ).resolve("openai/gpt-5")
    assert caught.value.kind == "invalid_api_key"
    assert str(caught.value) == (
        "openai: no API key: the environment variable OPENAI_API_KEY is not set "
        "(hint: export OPENAI_API_KEY=...)"
    )


def test_an_entry_takes_from_the_built_in_what_it_leaves_out():
    entries = catalog(openai=ProviderEntry(window_tokens=9)).providers

    assert entries["openai"] == ProviderEntry(
        base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY", window_tokens=9
    )


async def test_a_key_does_not_follow_to_another_address():
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        models = catalog(
            openai=ProviderEntry(base_url=f"{server.url}/v1"), environ={"OPENAI_API_KEY": "sk-1"}
        )
        await ask(models.resolve("openai/m")[0])
        await models.aclose()

    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("ref", "says"),
    [
        (
            "gpt-5",
            'model "gpt-5": a model is named PROVIDER/MODEL (hint: providers are local, openai, scripted)',
        ),
        ("openai/", 'model "openai/": a model is named PROVIDER/MODEL'),
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
def test_an_unknown_model_is_told_with_near_misses(ref: str, says: str, scripts: Path):
    with pytest.raises(ConfigError) as caught:
        catalog(scripts=scripts).resolve(ref)
    assert says in str(caught.value)


def test_a_broken_script_names_its_file(scripts: Path):
    (scripts / "bad.json").write_text("{")

    with pytest.raises(ConfigError, match=r"bad\.json"):
        catalog(scripts=scripts).resolve("scripted/bad")


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (ProviderEntry(), "base_url '' is no address"),
        (ProviderEntry(base_url="localhost:8080"), "base_url 'localhost:8080' is no address"),
        (ProviderEntry(base_url="file:///etc/passwd"), "is no address"),
        (ProviderEntry(base_url="http://h:99999/v1"), "is no address"),
        (
            ProviderEntry(base_url="http://h", headers={"X-A": "b\r\nX-C: d"}),
            "the header 'X-A' cannot be sent",
        ),
        (ProviderEntry(base_url="http://h", api_key_env="BAD"), "BAD holds characters that no key has"),
    ],
)
def test_what_cannot_be_sent_is_told_before(entry: ProviderEntry, says: str):
    with pytest.raises(ConfigError, match='provider "mine"') as caught:
        catalog(mine=entry, environ={"BAD": "sk-\n1"}).resolve("mine/m")
    assert says in str(caught.value)


def test_an_entry_is_read_strictly():
    with pytest.raises(msgspec.ValidationError, match="unknown field `base_ulr`"):
        msgspec.convert({"base_ulr": "x"}, ProviderEntry)


def test_a_scripted_entry_may_have_another_name(scripts: Path):
    provider, model = catalog(scripts=scripts, play=ProviderEntry(kind="scripted")).resolve("play/hello")

    assert isinstance(provider, ScriptedProvider)
    assert model.ref == "play/hello"


async def test_the_shipped_demo_answers_and_shows_its_tools():
    provider, _ = catalog(scripts=Path(bridle.providers.__file__).parent / "scripts").resolve("scripted/demo")

    plain = await ask(provider, request(user_message("moin")))
    about_a_file = await ask(provider, request(user_message("please fix hello.py")))

    assert "You said: moin" in plain.shown[0][1]
    assert about_a_file.shown[1] == ("read_file call_0_0", '{"path":"hello.py"}')


def test_no_network_client_is_loaded_for_a_script(scripts: Path):
    code = (
        "import sys; from pathlib import Path; from bridle.providers import ModelCatalog;"
        f"models = ModelCatalog({{}}, {{}}, script_dirs=[Path({str(scripts)!r})]);"
        "models.resolve('scripted/hello');"
        "print([name for name in sys.modules if name.partition('.')[0] == 'aiohttp'])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
