import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.players import CAST
from tests.mcp.test_login import Authority, guarded
from tests.shebang import shebang
from tests.surfaces.command import Bridle, Done, steady


def write(bridle: Bridle, text: str) -> None:
    (bridle.home / "config.toml").write_text(text)


def bring(bridle: Bridle, **servers: Any) -> None:
    (bridle.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


ALL = """\
[mcp.servers]
gone = { command = "no-such-program", args = ["-x"] }
here = { command = "sh", args = ["-c", "exit 3"], env = { KEY = "hunter2" } }
off = { command = "x", enabled = false }
remote = { url = "https://h/mcp?key=hunter2", headers = { X = "hunter2" } }
wants = { url = "https://h", headers = { X = "${NOT_SET}" } }
"""


def test_no_servers_yet(bridle: Bridle):
    assert bridle("mcp", "list") == Done(0, "", "no MCP servers yet\nhint: bridle mcp add --help\n")
    assert bridle("mcp", "list", "--json") == Done(0, "[]\n", "")


def test_servers_are_listed_with_what_stands_in_their_way(bridle: Bridle):
    write(bridle, ALL)
    bring(bridle, theirs={"command": "./run"}, here={"command": "evil"})

    done = bridle("mcp", "list")

    assert done == Done(
        0,
        "SERVER  STATE      TRANSPORT  WHERE                    COMMAND OR ADDRESS\n"
        "gone    missing    stdio      ~/.bridle/config.toml:2  no-such-program -x\n"
        "here    on         stdio      ~/.bridle/config.toml:3  sh -c exit 3\n"
        "off     off        stdio      ~/.bridle/config.toml:4  x\n"
        "remote  on         http       ~/.bridle/config.toml:5  https://h/mcp?(hidden)\n"
        "wants   failed     http       ~/.bridle/config.toml:6  https://h\n"
        "here    untrusted  stdio      .mcp.json:1              evil\n"
        "theirs  untrusted  stdio      .mcp.json:1              ./run\n",
        "warning: server gone: program not found: no-such-program "
        "(hint: install it, or change the command)\n"
        "warning: server wants: headers.X: the variable NOT_SET is not set "
        "(hint: set it, or write ${NOT_SET:-default})\n"
        "hint: run bridle trust to activate those of the project\n",
    )


def test_a_broken_file_of_a_project_is_left_out_and_told(bridle: Bridle):
    (bridle.project / ".mcp.json").write_text('{"mcpServers": {\n "a": }}\n')
    broken = f"{bridle.project}/.mcp.json:2: not valid JSON: invalid character"
    broken += "; its MCP servers are skipped (hint: fix the file, or remove it)"

    ran = bridle("run", "--model", bridle.script({"text": "All done."}), "look")
    listed = bridle("mcp", "list")
    found = json.loads(bridle("doctor", "--json").out)

    assert ran == Done(0, "All done.\n", f"warning: {broken}\n")
    assert listed.err.splitlines()[0] == f"warning: {broken}"
    assert [one["fix"] for one in found if one["text"] == broken] == [
        f"${{EDITOR:-vi}} +2 {bridle.project}/.mcp.json"
    ]


def test_the_list_as_json(bridle: Bridle):
    write(bridle, '[mcp.servers.a]\nurl = "https://h"\nheaders = { X = "${NOT_SET}" }\n')

    assert json.loads(bridle("mcp", "list", "--json").out) == [
        {
            "name": "a",
            "state": "failed",
            "transport": "http",
            "target": "https://h",
            "where": f"{bridle.home}/config.toml:1",
            "layer": "user",
            "problem": "server a: headers.X: the variable NOT_SET is not set",
            "hint": "set it, or write ${NOT_SET:-default}",
        }
    ]


def test_one_server_is_shown_without_secrets(bridle: Bridle):
    write(bridle, ALL)

    done = bridle("mcp", "get", "remote")
    as_json = json.loads(bridle("mcp", "get", "here", "--json").out)

    assert done == Done(
        0,
        f"remote  on  {bridle.home}/config.toml:5\n"
        '  url = "https://h/mcp?(hidden)"\n'
        '  headers = { X = "(hidden)" }\n',
        "",
    )
    assert as_json == {
        "name": "here",
        "state": "on",
        "where": f"{bridle.home}/config.toml:3",
        "command": "sh",
        "args": ["-c", "exit 3"],
        "env": {"KEY": "(hidden)"},
    }


def test_a_server_that_is_not_there(bridle: Bridle):
    write(bridle, ALL)

    near = Done(1, "", "error: unknown MCP server remot\nhint: did you mean remote?\n")
    none = Done(1, "", "error: unknown MCP server zzzzzzzz\nhint: bridle mcp list\n")
    for command in ("get", "test", "login", "logout", "enable", "disable"):
        assert bridle("mcp", command, "remot") == near
    assert bridle("mcp", "get", "zzzzzzzz") == none


def test_a_server_is_tried(bridle: Bridle):
    bridle("mcp", "add", "time", "--", "mcp-server-time", "--local-timezone", "UTC")

    done = bridle("mcp", "test", "time")
    as_json = json.loads(bridle("mcp", "test", "time", "--json").out)

    out = re.sub(r"mcp-time \S+, protocol \S+", "ABOUT", steady(done.out))
    assert (done.code, done.err) == (0, "")
    assert out == (
        "ok  time  ABOUT  TIME\n"
        "2 tools\n"
        "  get_current_time  Get current time in a specific timezone\n"
        "  convert_time  Convert time between timezones\n"
    )
    assert (as_json["view"]["state"], len(as_json["offered"]["tools"])) == ("ready", 2)


def test_a_trial_says_which_tools_the_settings_leave_out(bridle: Bridle):
    write(bridle, '[mcp.servers.a]\ncommand = "mcp-server-time"\nwithout_tools = ["convert_*"]\n')

    lines = bridle("mcp", "test", "a").out.splitlines()

    assert lines[1:] == [
        "2 tools",
        "  get_current_time  Get current time in a specific timezone",
        "  convert_time  (excluded by the settings)  Convert time between timezones",
    ]


def test_a_prompt_of_a_server_is_run(bridle: Bridle):
    bridle("mcp", "add", "plain", "--", sys.executable, str(CAST / "plain.py"), "plain")
    model = bridle.script({"text": "Hi"})

    done = bridle("run", "--model", model, "/mcp__plain__greet Ann mood=merry")
    wrong = bridle("run", "--model", model, "/mcp__plain__greet")

    assert done == Done(0, "Hi\n", "")
    assert wrong == Done(
        64, "", "error: /mcp__plain__greet needs name\nhint: /mcp__plain__greet name [mood]\n"
    )
    assert [one["title"] for one in bridle.sessions()] == ["Greet Ann in a merry way."]


def test_who_sits_there_hears_that_a_run_waits(bridle: Bridle):
    write(bridle, '[mcp]\nwait = "1m"\n[mcp.servers.slow]\ncommand = "sleep"\nargs = ["60"]\n')

    with bridle.terminal("run", "--model", bridle.script({"text": "Hi"}), "hi") as terminal:
        terminal.expect("waiting for the run to start")
        terminal.interrupt()
        assert terminal.finish() == 130


def test_a_server_that_falls_is_heard(bridle: Bridle):
    write(
        bridle,
        "[mcp.servers.a]\ncommand = 'sh'\nargs = ['-c', 'echo the database is away >&2; exit 3']\n",
    )

    done = bridle("mcp", "test", "a")

    first, *words, hint = done.err.splitlines()
    assert (done.code, done.out) == (1, "")
    assert first.startswith("error: a: ")
    assert "  the database is away" in words
    assert hint == "hint: run its command directly to see more; bridle mcp get shows it"
    assert json.loads(bridle("mcp", "test", "a", "--json").out)["view"]["state"] == "failed"


def test_what_is_not_trusted_is_not_tried(bridle: Bridle):
    bring(bridle, a={"command": "touch", "args": ["started"]}, b={"url": "http://127.0.0.1:9/"})

    error = "error: {} belongs to a project that is not trusted\nhint: bridle trust shows it\n"
    assert bridle("mcp", "test", "a") == Done(1, "", error.format("a"))
    assert bridle("mcp", "login", "b") == Done(1, "", error.format("b"))
    assert not (bridle.project / "started").exists()


def test_a_run_says_once_which_servers_it_does_without(bridle: Bridle):
    write(bridle, '[mcp.servers]\nmine = { command = "sh", enabled = false }\n')
    bring(bridle, theirs={"command": "./run"}, mine={"command": "evil"})

    done = bridle("run", "--model", bridle.script({"text": "Hi"}), "hi")

    assert (done.code, done.out) == (0, "Hi\n")
    assert done.err == (
        "warning: this project is not trusted: ignored mcp.servers.theirs, mcp.servers.mine "
        "(hint: review and allow them with bridle trust)\n"
    )


@pytest.mark.parametrize("command", ["login", "logout"])
def test_a_program_wants_no_login(bridle: Bridle, command: str):
    write(bridle, ALL)

    assert bridle("mcp", command, "here") == Done(
        64, "", "error: here is a local program and needs no login\n"
    )


def test_a_login_does_not_go_over_an_open_line(bridle: Bridle):
    write(bridle, '[mcp.servers.a]\nurl = "http://example.com/mcp"\n')

    why = "the address of a is unencrypted, so the login would be sent to example.com in the clear"
    error = f"error: {why}\nhint: use https\n"
    assert bridle("mcp", "login", "a") == Done(1, "", error)


def test_who_is_not_logged_in_cannot_log_out(bridle: Bridle):
    write(bridle, '[mcp.servers.a]\nurl = "https://example.com/mcp"\n')

    error = "error: not logged in to a\nhint: bridle mcp login a\n"
    assert bridle("mcp", "logout", "a") == Done(1, "", error)


async def test_logging_in_trying_and_logging_out(bridle: Bridle, tmp_path: Path):
    browser = tmp_path / "browser"
    browser.write_text(
        f"{shebang(bridle.env['PATH'].split(':')[0] + '/python')}"
        "import sys, urllib.request\nurllib.request.urlopen(sys.argv[1]).read()\n"
    )
    browser.chmod(0o755)
    async with guarded(Authority()) as server:
        write(bridle, f'[mcp.servers.a]\nurl = "{server.url}"\n')
        before = await asyncio.to_thread(bridle, "mcp", "test", "a")
        login = await asyncio.to_thread(bridle, "mcp", "login", "a", BROWSER=f"{browser} %s")
        between = await asyncio.to_thread(bridle, "mcp", "test", "a")
        logout = await asyncio.to_thread(bridle, "mcp", "logout", "a")
        after = await asyncio.to_thread(bridle, "mcp", "test", "a")

    assert (before.code, before.err.splitlines()[-1]) == (1, "hint: bridle mcp login a")
    assert (login.code, login.out) == (0, "")
    assert login.err.startswith("log in to a with your browser: http://127.0.0.1:")
    assert (between.code, between.out.split()[:2]) == (0, ["ok", "a"])
    assert logout == Done(0, "", "")
    assert after.err == before.err
