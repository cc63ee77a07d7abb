"""Kontekst's config and data directory as settings."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.config.agents import AgentFile, list_agents, load_agent
from bridle.config.duration import Duration
from bridle.config.keys import ProviderSettings, ToolSettings
from bridle.config.kontekst import (
    DEFAULT_AGENT_FILES,
    TOOLS,
    KontekstConfig,
    convert_agent,
    kontekst_layer,
    make_home,
    read_kontekst,
)
from bridle.config.rule_list import list_rules
from bridle.config.settings import Settings, load_settings
from bridle.config.skills import load_skills
from bridle.core.budget import Limits
from bridle.core.errors import ConfigError

DOCUMENTED = """\
bind = ":50051"
endpoint = "http://127.0.0.1:8080"
model_dir = "~/models"
context_size = 4096
gpu_layers = 0

[tools]
working_dir = ""
[tools.file]
max_size_bytes = 10485760
[tools.web]
timeout_seconds = 30
max_response_bytes = 5242880
"""


@pytest.fixture
def user(tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    (folder / ".kontekst").mkdir(parents=True)
    return folder


def read(user: Path, text: str, **environ: str) -> KontekstConfig:
    file = user / ".kontekst" / "config.toml"
    file.write_text(text)
    return read_kontekst(file, {"HOME": str(user), **environ})


def provider(config: KontekstConfig) -> dict[str, Any]:
    found: dict[str, Any] = kontekst_layer(config).tree["providers"]["llama"]
    return found


def opened(user: Path, text: str = "", cwd: Path = Path("/")) -> Settings:
    """Return the settings in the home that lies beside an installation."""
    home = make_home(read(user, text))
    return load_settings({"HOME": str(user), "BRIDLE_HOME": str(home)}, cwd)


def refusal(user: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(user, text)
    return str(caught.value).removeprefix(f"{user}/.kontekst/config.toml")


# ---------------------------------------------------------------------------- the file


def test_an_empty_file_and_the_documented_one_mean_the_same(user: Path):
    assert read(user, "") == read(user, DOCUMENTED)


def test_every_key_is_read(user: Path):
    config = read(
        user,
        """
bind = "127.0.0.1:4000"
endpoint = "https://models.example:8443/"
model_dir = "~/weights"
context_size = 8192
gpu_layers = 33
data_dir = "~/elsewhere"
[tools]
working_dir = "/unused"
[tools.file]
max_size_bytes = 1000
[tools.web]
timeout_seconds = 5
max_response_bytes = 2000
[debug]
log_requests = true
log_directory = "/tmp/log"
validate_roles = false
""",
    )

    assert (config.bind, config.endpoint) == ("127.0.0.1:4000", "https://models.example:8443")
    assert (config.model_dir, config.data_dir) == (user / "weights", user / "elsewhere")
    assert (config.context_size, config.gpu_layers) == (8192, 33)
    assert (config.tools.file.max_size_bytes, config.tools.web.timeout_seconds) == (1000, 5)
    assert config.tools.web.max_response_bytes == 2000
    debug = config.debug
    assert (debug.log_requests, debug.log_responses, debug.validate_roles) == (True, False, False)
    assert debug.log_directory == "/tmp/log"


def test_unknown_keys_are_ignored_as_kontekst_does(user: Path):
    text = 'future = 1\n[tools]\nx = []\n[tools.file]\ny = 1\n[debug]\nz = "?"\n[other.table]\na = 1\n'

    assert read(user, text) == read(user, "")


def test_the_environment_speaks_about_debugging(user: Path):
    config = read(
        user,
        "",
        KONTEKST_DEBUG_LOG_REQUESTS="1",
        KONTEKST_DEBUG_LOG_RESPONSES="1",
        KONTEKST_DEBUG_VALIDATE_ROLES="0",
    )

    debug = config.debug
    assert (debug.log_requests, debug.log_responses, debug.validate_roles) == (True, True, False)
    assert debug.log_directory == str(user / ".kontekst/debug")
    assert len(config.notes()) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('endpoint = ""', ":1: endpoint is required"),
        ("a = 1\nendpoint = 5", ":2: endpoint must be text, not 5"),
        ('endpoint = "ftp://x"', ":1: endpoint must be an http:// or https:// address without a password"),
        (
            'endpoint = "http://u:p@x"',
            ":1: endpoint must be an http:// or https:// address without a password",
        ),
        ('endpoint = "http://x y"', ":1: endpoint must be an http:// or https:// address without a password"),
        ('\n\nbind = "here"', ':3: bind must be an address, written HOST:PORT, not "here"'),
        ('bind = "::1:50051"', ':1: bind must be an address, written HOST:PORT, not "::1:50051"'),
        ('bind = "a:70000"', ':1: bind must be an address, written HOST:PORT, not "a:70000"'),
        ('context_size = "4096"', ':1: context_size must be a whole number, 0 or more, not "4096"'),
        ("context_size = -1", ":1: context_size must be a whole number, 0 or more, not -1"),
        (
            "[tools.file]\nmax_size_bytes = 0",
            ":2: tools.file.max_size_bytes must be a whole number, 1 or more, not 0",
        ),
        ("tools = 5", ":1: tools must be a table, not 5"),
        ("[debug]\nlog_requests = 1", ":2: debug.log_requests must be true or false, not 1"),
        ('data_dir = ""', ":1: data_dir must be the path of a folder"),
        ("x =", ":1: not valid TOML: invalid value"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, message: str, user: Path):
    assert refusal(user, text) == message


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(ConfigError, match="file not found"):
        read_kontekst(tmp_path / "config.toml", {})


@given(text=st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str, tmp_path_factory: pytest.TempPathFactory):
    user = tmp_path_factory.getbasetemp() / "any"
    (user / ".kontekst").mkdir(parents=True, exist_ok=True)
    for key in ("bind", "endpoint", "data_dir", "model_dir"):
        quoted = text.encode("unicode_escape", "replace").decode().replace('"', '\\"')
        with suppress(ConfigError):
            kontekst_layer(read(user, f'{key} = "{quoted}"'))


# ---------------------------------------------------------------------------- the settings


@pytest.mark.parametrize(
    ("bind", "address", "is_told"),
    [
        (":50051", "127.0.0.1:50051", True),
        ("0.0.0.0:1", "127.0.0.1:1", True),
        ("[::]:1", "127.0.0.1:1", True),
        ("192.168.1.5:1", "127.0.0.1:1", True),
        ("localhost:1", "127.0.0.1:1", False),
        ("127.0.0.1:1", "127.0.0.1:1", False),
        ("[::1]:1", "[::1]:1", False),
    ],
)
def test_only_this_machine_is_let_in(bind: str, address: str, is_told: bool, user: Path):
    config = read(user, f'bind = "{bind}"')

    assert kontekst_layer(config).tree["grpc"] == {"bind": address, "token": False}
    assert any(address in note and bind in note for note in config.notes()) == is_told


def test_a_server_that_runs_is_used(user: Path):
    assert provider(read(user, 'endpoint = "http://127.0.0.1:9"\ncontext_size = 100')) == {
        "kind": "llama",
        "base_url": "http://127.0.0.1:9",
        "window_tokens": 100,
    }


def test_with_a_folder_of_models_it_is_ours_to_start(user: Path):
    (user / "models").mkdir()

    assert provider(read(user, "gpu_layers = 7")) == {
        "kind": "llama",
        "base_url": "http://127.0.0.1:8080",
        "window_tokens": 4096,
        "models_dir": str(user / "models"),
        "host": "127.0.0.1",
        "port": 8080,
        "ctx_size": 4096,
        "n_gpu_layers": 7,
    }
    assert "n_gpu_layers" not in provider(read(user, "gpu_layers = -1"))
    assert provider(read(user, 'endpoint = "http://0.0.0.0:1"'))["host"] == "127.0.0.1"


@pytest.mark.parametrize(
    "text",
    ['endpoint = "http://other.example:8080"', 'endpoint = "https://127.0.0.1:8080"', 'model_dir = ""'],
)
def test_a_server_elsewhere_is_not_ours_to_start(text: str, user: Path):
    (user / "models").mkdir()

    assert "models_dir" not in provider(read(user, text))


def test_a_home_beside_it_has_its_settings(user: Path):
    text = "context_size = 5\n[tools.file]\nmax_size_bytes = 77\n[tools.web]\ntimeout_seconds = 7\n"
    settings = opened(user, text)

    assert settings.home == user / ".kontekst/bridle"
    assert settings.model == "llama/default"
    assert settings.providers["llama"] == ProviderSettings(
        kind="llama", base_url="http://127.0.0.1:8080", window_tokens=5
    )
    assert settings.tools == ToolSettings(max_file_bytes=77, web_timeout=Duration(7))
    assert (settings.grpc.bind, settings.grpc.token) == ("127.0.0.1:50051", False)
    assert settings.kontekst == read(user, text)


def test_what_bridle_is_told_there_is_above_it(user: Path):
    home = make_home(read(user, ""))
    (home / "config.toml").write_text('agent = "coder"\n[grpc]\nbind = "127.0.0.1:9"\n')

    settings = opened(user, "")

    assert (settings.agent, settings.grpc.bind, settings.grpc.token) == ("coder", "127.0.0.1:9", False)


def test_any_other_home_knows_nothing_of_it(user: Path):
    settings = load_settings({"HOME": str(user)}, Path("/"))

    assert settings.kontekst is None
    assert settings.written == settings.home


# ---------------------------------------------------------------------------- agents and skills


def test_the_first_start_makes_what_kontekst_makes(user: Path):
    settings = opened(user)

    made = sorted(str(path.relative_to(user / ".kontekst")) for path in (user / ".kontekst").rglob("*"))
    assert made == [
        "agents",
        "agents/default",
        "agents/default/agent.md",
        "agents/default/config.toml",
        "bridle",
        "bridle/kontekst",
        "config.toml",
        "sessions",
        "skills",
    ]
    agent = load_agent("default", settings).agent
    assert (agent.display_name, agent.model) == ("Default Assistant", "llama/gpt-oss-20b-Q4_K_M")
    assert agent.tools == TOOLS
    assert agent.params == {
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 40,
        "repeat_penalty": 1.1,
        "max_tokens": 4096,
        "tool_role": False,
    }
    assert agent.prompt == DEFAULT_AGENT_FILES["agent.md"].strip()
    assert agent.limits == Limits(turns=100)


def test_a_default_agent_that_is_there_is_left_alone(user: Path):
    (user / ".kontekst/agents/default").mkdir(parents=True)
    (user / ".kontekst/agents/default/agent.md").write_text("Mine.")

    agent = load_agent("default", opened(user)).agent

    assert (agent.prompt, agent.model, agent.tools) == ("Mine.", "llama/default", TOOLS)
    assert not (user / ".kontekst/agents/default/config.toml").exists()


@pytest.mark.parametrize(
    ("tree", "adapted"),
    [
        ({}, {}),
        ({"model": "m.gguf", "future": 1}, {"model": "llama/m"}),
        ({"model": "sub/m.gguf"}, {"model": "llama/sub/m"}),
        ({"model": "plain"}, {"model": "llama/plain"}),
        ({"model": "anthropic/claude-opus-5-5"}, {"model": "anthropic/claude-opus-5-5"}),
        ({"model": "", "name": ""}, {}),
        ({"tool_role": True, "tools": ["bash"]}, {"tool_role": True, "tools": ["bash"]}),
        ({"sampling": {"top_k": 4, "mirostat": 2}}, {"sampling": {"top_k": 4}}),
        ({"model": 5, "sampling": 3}, {"model": 5, "sampling": 3}),
    ],
)
def test_an_agent_in_words_of_ours(tree: dict[str, Any], adapted: dict[str, Any]):
    assert convert_agent(tree, AgentFile) == {"tool_role": False, "tools": list(TOOLS)} | adapted


def test_agents_and_skills_are_those_of_the_installation(user: Path):
    data = user / ".kontekst"
    (data / "agents/coder").mkdir(parents=True)
    (data / "agents/coder/config.toml").write_text('model = "q.gguf"\n[rules]\ndeny = ["bash"]\n')
    (data / "skills/review").mkdir(parents=True)
    (data / "skills/review/SKILL.md").write_text('+++\ndescription = "Look"\n+++\n\nLook.')
    (data / "skills/short.md").write_text("Be short.")

    settings = opened(user, cwd=user)

    assert {"coder", "default"} < set(list_agents(settings))
    assert load_agent("coder", settings).agent.model == "llama/q"
    assert [rule.rule for rule in list_rules(settings, "coder")] == ["bash"]
    assert [(skill.name, skill.file) for skill in load_skills(settings).skills] == [
        ("review", str(data / "skills/review/SKILL.md")),
        ("short", str(data / "skills/short.md")),
    ]


def test_a_broken_agent_is_told_with_its_line(user: Path):
    settings = opened(user)
    file = user / ".kontekst/agents/default/config.toml"
    file.write_text('name = "x"\n[sampling]\ntemperature = 3\n')

    with pytest.raises(ConfigError) as caught:
        load_agent("default", settings)

    assert str(caught.value) == f"{file}:3: sampling.temperature must be a number from 0 to 2, not 3"
