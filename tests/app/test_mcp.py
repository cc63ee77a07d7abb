import asyncio
import json
import sys
from pathlib import Path

import pytest

from bridle.app import open_sandbox
from bridle.app.mcp import check_server, folder_servers, open_tool_servers, server_settings
from bridle.app.tools import command_environment, server_secrets
from bridle.config.settings import Settings, load_settings
from bridle.config.trust_record import fingerprint, set_trust
from bridle.core.ids import SessionId
from bridle.core.server_views import ServerView
from bridle.mcp.settings import FolderServers, OAuth, ServerSettings

TIME_SERVER = str(Path(sys.executable).with_name("mcp-server-time"))


@pytest.fixture
def environ(env: dict[str, str]) -> dict[str, str]:
    return {**env, "TOKEN": "abcdefgh1234", "PLAIN": "value", "OPENAI_API_KEY": "sk-12345678"}


@pytest.fixture
def project(home: Path) -> Path:
    path = home.parent / "project"
    (path / ".bridle").mkdir(parents=True)
    return path


def settings_of(environ: dict[str, str], project: Path, text: str) -> Settings:
    (Path(environ["BRIDLE_HOME"]) / "config.toml").write_text(text)
    return load_settings(environ, project)


def test_a_server_gets_what_commands_get_and_its_own(environ: dict[str, str], project: Path):
    settings = settings_of(
        environ,
        project,
        '[mcp.servers.a]\ncommand = "x"\nargs = ["${PLAIN}"]\nenv = { K = "${TOKEN}", PAGER = "less" }\n'
        'tools = ["t"]\nwithout_tools = ["u"]\nreads = ["r"]\nscope = "session"\nstart_timeout = 5\n'
        'timeout = 7\nsampling = "allow"\nsandbox = true\n'
        '[mcp.servers.b]\nurl = "https://h"\nheaders.X = "${TOKEN}"\ntransport = "sse"\n'
        '[mcp.servers.b.oauth]\nclient_id = "me"\nclient_secret_env = "TOKEN"\nscopes = ["s"]\n'
        "callback_port = 8\n",
    )

    base = command_environment(settings, environ)
    assert "TOKEN" not in base
    assert "OPENAI_API_KEY" not in base
    assert folder_servers(settings, environ) == FolderServers(
        (
            ServerSettings(
                "a",
                "stdio",
                ("x", "value"),
                {**base, "K": "abcdefgh1234", "PAGER": "less"},
                tools=("t",),
                without_tools=("u",),
                reads=("r",),
                scope="session",
                start_timeout_s=5.0,
                timeout_s=7.0,
                sampling="allow",
                confined=True,
            ),
            ServerSettings(
                "b",
                "sse",
                url="https://h",
                headers={"X": "abcdefgh1234"},
                oauth=OAuth("me", "abcdefgh1234", ("s",), 8),
            ),
        )
    )


def test_one_that_cannot_be_used_does_not_hurt_the_others(environ: dict[str, str], project: Path):
    settings = settings_of(
        environ,
        project,
        '[mcp.servers]\noff = { command = "x", enabled = false }\ngood = { command = "x" }\n'
        'bad = { command = "${MISSING}" }\nneither = {}\n',
    )

    found = folder_servers(settings, environ)

    file = f"{environ['BRIDLE_HOME']}/config.toml"
    assert [server.name for server in found.servers] == ["good"]
    hint = "(hint: set it, or write ${MISSING:-default})"
    assert found.inert == (
        ("bad", "failed", f"command: the variable MISSING is not set {hint}"),
        ("neither", "failed", f"{file}:5: it needs a command or a url"),
        ("off", "off", f"disabled in {file}:2"),
    )


def test_those_of_a_project_wait_for_trust(environ: dict[str, str], project: Path):
    home = Path(environ["BRIDLE_HOME"])
    servers = {
        "theirs": {"command": "./run"},
        "both": {"command": "y"},
        "off": {"command": "z", "disabled": True},
    }
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    before = settings_of(environ, project, '[mcp.servers.both]\ncommand = "mine"\n')
    set_trust(home, str(project), fingerprint(project))
    after = load_settings(environ, project)
    (project / "run").touch()
    lapsed = load_settings(environ, project)

    off = ("off", "off", f"disabled in {project}/.mcp.json:1")
    untrusted = ("theirs", "untrusted", "the project is not trusted (hint: bridle trust)")
    changed = ("theirs", "untrusted", "the project has changed since you trusted it (hint: bridle trust)")
    found = [folder_servers(settings, environ) for settings in (before, after, lapsed)]
    assert [one.inert for one in found] == [(off, untrusted), (off,), (off, changed)]
    assert [[server.argv for server in one.servers] for one in found] == [
        [("mine",)],
        [("y",), (f"{project}/run",)],
        [("mine",)],
    ]
    assert [server.cwd for server in found[1].servers] == [str(project), str(project)]


def test_walls_that_are_switched_off_hold_nobody(environ: dict[str, str], project: Path):
    settings = settings_of(
        environ, project, 'sandbox.mode = "off"\n[mcp.servers.a]\ncommand = "x"\nsandbox = true\n'
    )

    assert not server_settings(settings.servers_found[0], settings, environ).confined


def test_what_servers_are_given_is_known_as_secret(environ: dict[str, str], project: Path):
    settings = settings_of(
        environ,
        project,
        '[mcp.servers]\na = { command = "x", env = { MY_KEY = "hunter2hunter2", MODE = "readwrite" } }\n'
        'b = { url = "https://h", headers = { Authorization = "Bearer ${TOKEN}" } }\n'
        'c = { command = "x", env = { MY_SECRET = "${MISSING}" } }\n'
        'd = { command = "x", enabled = false, env = { OTHER_KEY = "hunter3hunter3" } }\n'
        'e = { url = "https://h", oauth = { client_secret_env = "PLAIN" } }\n',
    )

    assert server_secrets(settings, environ) == {
        "MY_KEY": "hunter2hunter2",
        "Authorization": "abcdefgh1234",
        "PLAIN": "value",
    }


def test_a_server_is_tried_alone(environ: dict[str, str], project: Path):
    settings = settings_of(environ, project, f'[mcp.servers.time]\ncommand = "{TIME_SERVER}"\n')
    chosen = server_settings(settings.servers_found[0], settings, environ)

    trial = asyncio.run(check_server(chosen, settings, open_sandbox(settings)))

    view = trial.view
    assert (view.name, view.state, view.tools) == ("time", "ready", 2)
    assert sorted(tool.name for tool in trial.offered.tools) == ["convert_time", "get_current_time"]
    assert trial.duration_ms > 0
    assert not Path(f"/proc/{view.pid}").exists()


def test_a_server_that_falls_says_its_last_words(environ: dict[str, str], project: Path):
    settings = settings_of(
        environ, project, '[mcp.servers.a]\ncommand = "sh"\nargs = ["-c", "echo no luck >&2; exit 3"]\n'
    )
    chosen = server_settings(settings.servers_found[0], settings, environ)

    trial = asyncio.run(check_server(chosen, settings, open_sandbox(settings)))

    assert trial.view.state == "failed"
    assert "no luck" in trial.view.detail


async def test_what_is_added_is_there_for_the_next_prompt(environ: dict[str, str], project: Path):
    """Also for a process that was running before."""
    settings = settings_of(environ, project, "")
    servers = open_tool_servers(settings, environ, open_sandbox(settings))
    try:
        before = await servers.views(str(project))
        settings_of(environ, project, f'[mcp.servers.time]\ncommand = "{TIME_SERVER}"\n')
        after = await servers.views(str(project))
        offer = await servers.offer(SessionId("s"), str(project))
    finally:
        await servers.aclose()

    assert before == ()
    assert after == (ServerView("mcp", "time", "idle", cwd=str(project)),)
    assert {tool.spec.name for tool in offer.tools} <= {
        "mcp__time__convert_time",
        "mcp__time__get_current_time",
    }


async def test_a_file_that_is_wrong_is_said(environ: dict[str, str], project: Path):
    servers = open_tool_servers(
        settings_of(environ, project, ""), environ, open_sandbox(load_settings(environ, project))
    )
    (project / ".mcp.json").write_text("{")
    try:
        first = await servers.offer(SessionId("s"), str(project))
        again = await servers.offer(SessionId("s"), str(project))
    finally:
        await servers.aclose()

    assert (first.tools, again.notes) == ((), ())
    [note] = first.notes
    assert note.startswith(f"{project}/.mcp.json:1: not valid JSON: ")
    assert note.endswith("; its MCP servers are skipped (hint: fix the file, or remove it)")


def test_a_server_behind_walls_does_not_see_what_rules_deny(environ: dict[str, str], project: Path):
    settings = settings_of(
        environ,
        project,
        'rules.deny = ["read_file(.env)", "read_file(/opt/keys)"]\n'
        '[mcp.servers.a]\ncommand = "x"\nsandbox = true\n'
        '[mcp.servers.b]\ncommand = "x"\nsandbox = true\nscope = "user"\n'
        '[mcp.servers.c]\ncommand = "x"\n',
    )
    denied = [[str(rule) for rule in one.rules] for one in folder_servers(settings, environ).servers]

    everywhere = "read_file(/opt/keys)"
    assert denied == [[f"read_file({project}/.env)", "read_file(.env)", everywhere], [everywhere], []]


def test_what_a_project_brings_runs_in_the_sandbox(environ: dict[str, str], project: Path):
    """Your own word lets it out, by its name; that of the project does not."""
    (project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}})
    )
    (project / ".bridle/config.toml").write_text(
        '[sandbox]\nmode = "off"\n[mcp.servers.a]\nsandbox = false\n[mcp.servers.d]\nargs = ["-m", "x"]\n'
    )
    own = (
        '[mcp.servers.b]\nsandbox = false\n[mcp.servers.c]\ncommand = "x"\n[mcp.servers.d]\ncommand = "x"\n'
        "[mcp.servers.e]\nsandbox = false\n"
    )
    set_trust(Path(environ["BRIDLE_HOME"]), str(project), fingerprint(project))
    held = folder_servers(settings_of(environ, project, own), environ)
    (project / ".bridle/config.toml").write_text("")
    set_trust(Path(environ["BRIDLE_HOME"]), str(project), fingerprint(project))
    off = folder_servers(settings_of(environ, project, 'sandbox.mode = "off"\n'), environ)

    confined = {server.name: (server.confined, server.project) for server in held.servers}
    assert confined == {
        "a": (True, str(project)),
        "b": (False, ""),
        "c": (False, ""),
        "d": (True, str(project)),
    }
    assert held.inert == ()
    assert [server.confined for server in off.servers] == [False, False]


def test_a_confined_server_reaches_the_hosts_that_rules_allow(environ: dict[str, str], project: Path):
    text = 'rules.allow = ["mcp(domain:api.example.com)"]\n[mcp.servers.a]\ncommand = "x"\nsandbox = true\n'
    [closed] = folder_servers(settings_of(environ, project, text), environ).servers
    [opened] = folder_servers(
        settings_of(environ, project, f'sandbox.network = "open"\n{text}'), environ
    ).servers

    assert ([str(rule) for rule in closed.rules], closed.open_network) == (
        ["mcp(domain:api.example.com)"],
        False,
    )
    assert opened.open_network


def program(path: Path, text: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_program_is_named_by_where_it_lies_outside_of_the_project(
    environ: dict[str, str], project: Path, tmp_path: Path
):
    program(project / "node_modules/.bin/npx")
    own = program(tmp_path / "own/npx")
    environ["PATH"] = f"{project}/node_modules/.bin:.:{tmp_path}/own:/usr/bin:/bin"
    environ["NODE_PATH"] = f"{project}/node_modules"
    settings = settings_of(environ, project, '[mcp.servers.a]\ncommand = "npx"\nargs = ["x"]\n')

    (found,) = folder_servers(settings, environ).servers

    assert found.argv == (own, "x")
    assert found.env["PATH"] == f"{tmp_path}/own:/usr/bin:/bin"
    assert "NODE_PATH" not in found.env


def test_a_program_that_only_the_project_has_runs_in_the_sandbox_or_not_at_all(
    environ: dict[str, str], project: Path
):
    theirs = program(project / ".venv/bin/served")
    environ["PATH"] = f"{project}/.venv/bin:/usr/bin:/bin"
    text = '[mcp.servers.a]\ncommand = "served"\n[mcp.servers.b]\ncommand = "served"\nsandbox = true\n'
    found = folder_servers(settings_of(environ, project, text), environ)

    assert [(one.name, one.argv, one.confined) for one in found.servers] == [("b", ("served",), True)]
    why = f"served is not used: {theirs} is in a folder that agents can write to"
    hint = "(hint: use the absolute path of another program, or run the server with sandbox = true)"
    assert found.inert == (("a", "failed", f"{why} {hint}"),)


def test_a_program_that_the_user_names_by_its_path_is_used_as_it_is(environ: dict[str, str], project: Path):
    theirs = program(project / ".venv/bin/served")
    settings = settings_of(environ, project, f'[mcp.servers.a]\ncommand = "{theirs}"\n')

    assert [one.argv for one in folder_servers(settings, environ).servers] == [(theirs,)]
