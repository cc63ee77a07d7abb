import json
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle, Done


def config(bridle: Bridle) -> str:
    return (bridle.home / "config.toml").read_text()


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("a -- uvx server --flag -y", 'command = "uvx"\nargs = ["server", "--flag", "-y"]\n'),
        ("-e K=v=w -e E= a -- x", 'command = "x"\nenv = { K = "v=w", E = "" }\n'),
        ("a -e K=${V} -- x -- y", 'command = "x"\nargs = ["--", "y"]\nenv = { K = "${V}" }\n'),
        ("a x y", 'command = "x"\nargs = ["y"]\n'),
        ("-t stdio a --cwd ~/w --sandbox -- x", 'command = "x"\ncwd = "~/w"\nsandbox = true\n'),
        ("a https://h/mcp", 'url = "https://h/mcp"\n'),
        ("a -t http -u https://h/mcp --scope user", 'url = "https://h/mcp"\nscope = "user"\n'),
        ("-t sse a https://h", 'url = "https://h"\ntransport = "sse"\n'),
        ("a -H X:${V} https://h --user", 'url = "https://h"\nheaders = { X = "${V}" }\n'),
        ("a http://127.0.0.1:1 -H A:1", 'url = "http://127.0.0.1:1"\nheaders = { A = "1" }\n'),
    ],
)
def test_a_server_is_added(bridle: Bridle, words: str, written: str):
    (bridle.home / "config.toml").write_text("# mine\n")

    done = bridle("mcp", "add", *words.split())

    assert (done.code, done.out, done.err.splitlines()[-1]) == (0, "", "hint: bridle mcp test a")
    assert config(bridle) == f"# mine\n\n[mcp.servers.a]\n{written}"


def test_a_header_is_written_as_people_do(bridle: Bridle):
    done = bridle("mcp", "add", "a", "https://h", "-H", "Authorization: Bearer ${TOKEN}", TOKEN="x")

    assert done == Done(0, "", "hint: bridle mcp test a\n")
    assert config(bridle) == (
        '[mcp.servers.a]\nurl = "https://h"\nheaders = { Authorization = "Bearer ${TOKEN}" }\n'
    )


def test_a_secret_in_plain_text_is_warned_about(bridle: Bridle):
    done = bridle("mcp", "add", "a", "-e", "API_KEY=hunter2", "--", "sh")

    assert done == Done(
        0,
        "",
        f"warning: {bridle.home}/config.toml now contains what may be a secret in plain text\n"
        "hint: write '${NAME}' for a variable of your environment instead\n"
        "hint: bridle mcp test a\n",
    )
    assert (bridle.home / "config.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--", "no-such"], "program not found: no-such (hint: install it, or change the command)"),
        (["https://h", "-H", "X: ${NOT_SET}"],
         "headers.X: the variable NOT_SET is not set (hint: set it, or write ${NOT_SET:-default})"),
    ],
)  # fmt: skip
def test_what_is_in_the_way_of_a_new_server_is_said_at_once(bridle: Bridle, words: list[str], why: str):
    done = bridle("mcp", "add", "a", *words)

    assert done == Done(0, "", f"warning: server a: {why}\nhint: bridle mcp test a\n")


def test_paths_mean_what_they_mean_where_they_are_written(bridle: Bridle):
    program = bridle.project / "serve"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (bridle.project / "deep").mkdir()

    done = bridle("mcp", "add", "a", "--cwd", "deep", "--", "./serve", "./not-a-path")

    assert done == Done(0, "", "hint: bridle mcp test a\n")
    assert config(bridle) == (
        f'[mcp.servers.a]\ncommand = "{program}"\nargs = ["./not-a-path"]\ncwd = "{bridle.project}/deep"\n'
    )


BARE = "an address starts with https:// or http://"
NAME = "a name of at most 48 letters, digits, - and single _ inside"
OPEN = "is unencrypted, so headers would be sent to h in the clear"
IN_HEADERS = 'put it into headers, as Authorization = "Bearer ${TOKEN}"'
ADD_HINT = "hint: bridle mcp add --help\n"
BOTH = "hint: bridle mcp add NAME -- COMMAND [ARG ...], or bridle mcp add NAME URL\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], f"a server needs a name and a command or an address\n{BOTH}"),
        (["a"], f"a server needs a name and a command or an address\n{BOTH}"),
        (["a b", "--", "x"], f'servers."a b" must be {NAME}, not "a b"\n'),
        (["a__b", "--", "x"], f'servers.a__b must be {NAME}, not "a__b"\n'),
        (["a", "-e", "K", "--", "x"], f"-e needs NAME=VALUE\n{ADD_HINT}"),
        (["a", "-e", "=v", "--", "x"], f"-e needs NAME=VALUE\n{ADD_HINT}"),
        (["a", "-e", "K L=hunter2", "--", "x"],
         'servers.a.env."K L" must be the name of an environment variable, not the key itself\n'),
        (["a", "-H", "X", "https://h"], f"-H needs 'NAME: VALUE'\n{ADD_HINT}"),
        (["a", "-H", "X: y", "--", "x"], f"-H applies to an address only\n{ADD_HINT}"),
        (["a", "-e", "K=v", "https://h"], f"-e applies to a program only\n{ADD_HINT}"),
        (["a", "-u", "https://h", "--", "x"], f"give an address or a command, not both\n{ADD_HINT}"),
        (["a", "-t", "http", "--", "x"], f"a command is reached by stdio, not by http\n{ADD_HINT}"),
        (["a", "-t", "stdio", "https://h"], f"a url is reached by http or sse, not by stdio\n{ADD_HINT}"),
        (["a", "-t", "ws", "https://h"],
         'transport "ws" is not one of stdio, http, sse\nhint: bridle mcp add --help\n'),
        (["a", "-u", "ftp://h"], "the address must be an http:// or https:// address\nhint: write https://host/path\n"),
        (["a", "ftp://h"], "the address must be an http:// or https:// address\nhint: write https://host/path\n"),
        (["a", "example.com/mcp"], f"program not found: example.com/mcp; {BARE}\n{ADD_HINT}"),
        (["a", "localhost:8000"], f"program not found: localhost:8000; {BARE}\n{ADD_HINT}"),
        (["a", "--sandbox", "https://h"], f"--sandbox applies to a program only\n{ADD_HINT}"),
        (["a", "https://me:hunter2@h"],
         f"the address has a user or password in it\nhint: {IN_HEADERS}\n"),
        (["a", "http://h", "-H", "X: y"], f"the address {OPEN}\nhint: use https\n"),
        (["a", "--bogus", "--", "x"],
         "unknown flag --bogus\nhint: bridle mcp add --help; put the program after --\n"),
        (["a", "--project", "--user", "--", "x"],
         f"argument --user: not allowed with argument --project\n{ADD_HINT}"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(bridle: Bridle, words: list[str], message: str):
    assert bridle("mcp", "add", *words) == Done(64, "", f"error: {message}")
    assert not (bridle.home / "config.toml").exists()


def test_a_name_is_taken_once(bridle: Bridle):
    bridle("mcp", "add", "a", "--", "x")
    before = config(bridle)

    done = bridle("mcp", "add", "a", "--", "y")

    error = f"error: {bridle.home}/config.toml: already has a server a\nhint: bridle mcp remove a\n"
    assert (done, config(bridle)) == (Done(1, "", error), before)


def test_a_server_of_a_project_is_written_and_not_trusted(bridle: Bridle):
    (bridle.project / ".git").mkdir()
    deep = bridle.project / "deep"
    deep.mkdir()

    done = bridle("mcp", "add", "a", "--project", "--", "./run", cwd=deep)

    file = bridle.project / ".bridle" / "config.toml"
    assert done == Done(0, "", "hint: run bridle trust to activate it\n")
    assert file.read_text() == '[mcp.servers.a]\ncommand = "./run"\n'
    assert [one["state"] for one in json.loads(bridle("mcp", "list", "--json").out)] == ["untrusted"]
    assert not (bridle.home / "trust.json").exists()


def test_a_server_is_removed_from_where_it_stands(bridle: Bridle):
    bridle("mcp", "add", "mine", "--", "x")
    bridle("mcp", "add", "ours", "--project", "--", "x")
    (bridle.project / ".mcp.json").write_text('{"mcpServers": {"shared": {"command": "x"}}}')

    mine, ours = f"{bridle.home}/config.toml", f"{bridle.project}/.bridle/config.toml"
    assert bridle("mcp", "remove", "ours") == Done(
        1, "", f"error: ours is not in {mine}, but in {ours}:1\nhint: bridle mcp remove ours --project\n"
    )
    assert bridle("mcp", "remove", "shared") == Done(
        1,
        "",
        f"error: shared is not in {mine}, but in {bridle.project}/.mcp.json:1\n"
        "hint: edit that file, or disable it\n",
    )
    assert bridle("mcp", "remove", "none").err.startswith("error: unknown MCP server none\n")
    assert bridle("mcp", "remove", "mine") == bridle("mcp", "remove", "ours", "--project") == Done(0, "", "")
    assert (Path(mine).read_text(), Path(ours).read_text()) == ("", "")


def states(bridle: Bridle) -> dict[str, str]:
    return {one["name"]: one["state"] for one in json.loads(bridle("mcp", "list", "--json").out)}


def test_a_server_is_switched_off_and_on(bridle: Bridle):
    (bridle.home / "config.toml").write_text('[mcp.servers.a] # why\ncommand = "sh"\n')

    off = bridle("mcp", "disable", "a"), states(bridle), config(bridle)
    on = bridle("mcp", "enable", "a"), states(bridle), config(bridle)

    text = '[mcp.servers.a] # why\ncommand = "sh"\nenabled = '
    assert off == (Done(0, "", ""), {"a": "off"}, f"{text}false\n")
    assert on == (Done(0, "", ""), {"a": "on"}, f"{text}true\n")


def test_one_of_yours_is_switched_off_in_a_project(bridle: Bridle):
    bridle("mcp", "add", "a", "--", "sh")
    (bridle.project / ".bridle").mkdir()

    done = bridle("mcp", "disable", "a", "--project")

    elsewhere = json.loads(bridle("mcp", "list", "--json", cwd=bridle.home.parent).out)
    assert done == Done(0, "", "")
    assert (states(bridle), [one["state"] for one in elsewhere]) == ({"a": "off"}, ["on"])


def test_one_of_a_project_is_switched_off_there(bridle: Bridle):
    """This changes the project, so its other settings must be reviewed again."""
    servers = {"a": {"command": "sh"}, "b": {"command": "sh"}}
    (bridle.project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    bridle("trust", "--yes")

    done = bridle("mcp", "disable", "a")
    between = states(bridle)
    bridle("trust", "--yes")

    assert done == Done(0, "", "hint: the project has changed: run bridle trust to activate its servers\n")
    assert (between, states(bridle)) == ({"a": "off", "b": "untrusted"}, {"a": "off", "b": "on"})
