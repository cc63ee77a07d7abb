import json
from pathlib import Path
from typing import Any

import pytest

from bridle.config.layers import Layer, Source
from bridle.config.mcp_files import McpFile, mcp_file_paths, read_mcp_file, read_mcp_files
from bridle.core.errors import ConfigError


def read(folder: Path, tree: Any) -> McpFile:
    file = folder / ".mcp.json"
    file.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    found = read_mcp_file(file, folder)
    assert found is not None
    return found


def entries(folder: Path, servers: Any) -> Any:
    return read(folder, {"mcpServers": servers}).layer.tree["mcp"]["servers"]


def test_a_file_becomes_a_layer_whose_lines_are_known(tmp_path: Path):
    text = (
        '{"other": 1,\n "mcpServers": {\n  "a.b": {\n   "command": "x",\n   "args": ["1"]\n  },\n'
        '  "c": {"url": "https://h", "type": "sse"}\n }\n}\n'
    )

    found = read(tmp_path, text)

    file = str(tmp_path / ".mcp.json")
    servers = {"a_b": {"command": "x", "args": ["1"]}, "c": {"url": "https://h", "transport": "sse"}}
    assert found.faults == {}
    assert found.layer == Layer(
        Source("project", file),
        {"mcp": {"servers": servers}},
        text,
        {
            ("mcp", "servers"): 2,
            ("mcp", "servers", "a_b"): 3,
            ("mcp", "servers", "a_b", "command"): 4,
            ("mcp", "servers", "a_b", "args"): 5,
            ("mcp", "servers", "c"): 7,
            ("mcp", "servers", "c", "url"): 7,
            ("mcp", "servers", "c", "type"): 7,
        },
    )
    assert found.layer.place(("mcp", "servers", "a_b", "env")) == f"{file}:3"


def test_what_others_write_is_understood_and_the_rest_passed_over(tmp_path: Path):
    server = {
        "command": "x",
        "args": None,
        "env": {"A": "${A}"},
        "cwd": "sub",
        "disabled": True,
        "alwaysAllow": ["everything"],
        "timeout": "whatever",
    }
    remote = {
        "type": "streamable-http",
        "url": "https://h/mcp",
        "headers": {"X-Key": "v"},
        "oauth": {"clientId": "me", "callbackPort": 8080, "more": 1},
    }

    assert entries(tmp_path, {"a": server, "b": remote, "c": {"type": "stdio", "command": "y"}}) == {
        "a": {"command": "x", "env": {"A": "${A}"}, "cwd": "sub", "enabled": False},
        "b": {
            "url": "https://h/mcp",
            "headers": {"X-Key": "v"},
            "transport": "http",
            "oauth": {"client_id": "me", "callback_port": 8080},
        },
        "c": {"command": "y", "transport": "stdio"},
    }


@pytest.mark.parametrize("text", ["{}", '{"mcpServers": {}}', '{"servers": {"a": 1}}'])
def test_a_file_may_name_no_server(tmp_path: Path, text: str):
    assert read(tmp_path, text).layer.tree == {"mcp": {"servers": {}}}


@pytest.mark.parametrize(
    ("server", "fault"),
    [
        ("x", "mcpServers.s must be a table"),
        ({"command": 1}, "mcpServers.s.command must be a program, not 1"),
        ({"command": "x", "args": "y"}, 'mcpServers.s.args must be a list, not "y"'),
        ({"command": "x", "args": ["a", 2]}, "mcpServers.s.args[1] must be text, not 2"),
        ({"command": "x", "env": {"A": 5}}, "mcpServers.s.env.A must be text"),
        (
            {"command": "x", "env": {"A B": "secret"}},
            'mcpServers.s.env."A B" must be the name of an environment variable, not the key itself',
        ),
        (
            {"url": "https://h", "headers": {"A B": "secret"}},
            'mcpServers.s.headers."A B" must be the name of an HTTP header',
        ),
        ({"type": "ws", "url": "wss://h"}, "mcpServers.s.type must be one of stdio, http, sse"),
        ({"type": 1, "url": "https://h"}, "mcpServers.s.type must be one of stdio, http, sse"),
    ],
)
def test_a_server_that_is_wrong_fails_alone(tmp_path: Path, server: Any, fault: str):
    found = read(tmp_path, {"mcpServers": {"s": server, "good": {"command": "x"}}})

    assert found.layer.tree == {"mcp": {"servers": {"s": {}, "good": {"command": "x"}}}}
    assert found.faults == {"s": fault}


NO_TABLE = 'mcpServers must be a table of servers (hint: write {"mcpServers": {"name": {"command": "…"}}})'
NAME_HINT = "(hint: letters, digits, - and single _ inside, at most 48)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[1]",
            f"1: {NO_TABLE}",
        ),
        (
            '{\n"mcpServers": 3}',
            f"2: {NO_TABLE}",
        ),
        ('{"mcpServers": {"a__b": {}}}', f"1: mcpServers.a__b is not a valid server name {NAME_HINT}"),
        ('{"mcpServers":\n {"": {}}}', f'2: mcpServers."" is not a valid server name {NAME_HINT}'),
        ('{"mcpServers": {"..": {}}}', f'1: mcpServers.".." is not a valid server name {NAME_HINT}'),
        (
            f'{{"mcpServers": {{"{"a" * 49}": {{}}}}}}',
            f"1: mcpServers.{'a' * 49} is not a valid server name {NAME_HINT}",
        ),
        (
            '{"mcpServers": {"a b": {},\n"a.b": {}}}',
            '2: mcpServers."a.b" would get the name a_b, which is already used (hint: rename one of them)',
        ),
    ],
)
def test_a_file_that_is_wrong_is_an_error_with_its_line(tmp_path: Path, text: str, message: str):
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)

    assert str(caught.value) == f"{tmp_path}/.mcp.json:{message}"


@pytest.mark.parametrize(
    ("written", "name"),
    [("a b", "a_b"), ("a. b", "a_b"), ("a.", "a"), ("@x/y", "x_y"), ("-a-", "-a-"), ("a_b", "a_b")],
)
def test_a_name_is_made_usable(tmp_path: Path, written: str, name: str):
    assert entries(tmp_path, {written: {"command": "x"}}) == {name: {"command": "x"}}


def test_too_many_servers_are_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"has more than 1,000 servers"):
        read(tmp_path, {"mcpServers": {f"s{number}": {} for number in range(1001)}})


def test_a_file_that_is_not_there_or_leads_out_of_the_project(tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("{}")
    (project / ".mcp.json").symlink_to(tmp_path / "secret")

    assert read_mcp_file(tmp_path / "none", tmp_path) is None
    with pytest.raises(ConfigError, match="points outside the project"):
        read_mcp_file(project / ".mcp.json", project)


def test_a_file_that_is_wrong_is_left_out_and_the_other_one_counts(tmp_path: Path):
    ours = tmp_path / ".bridle" / "mcp.json"
    ours.parent.mkdir()
    ours.write_text('{"mcpServers": {"good": {"command": "x"}}}')
    shared = tmp_path / ".mcp.json"
    shared.write_text('{"mcpServers": {\n')
    unparsed = read_mcp_files(tmp_path, Path("/home"))
    shared.unlink()
    shared.mkdir()
    unread = read_mcp_files(tmp_path, Path("/home"))

    end = "; its MCP servers are skipped (hint: fix the file, or remove it)"
    assert unparsed.broken == (f"{shared}:1: not valid JSON: input data was truncated{end}",)
    assert unread.broken == (f"{shared}: is not a regular file{end}",)
    assert [list(found.files) for found in (unparsed, unread)] == [[read_mcp_file(ours, tmp_path)]] * 2


def test_where_the_files_of_a_project_are(tmp_path: Path):
    """In the user's own folder `.bridle` holds the user's settings, not a project's."""
    ours = tmp_path / ".bridle"

    assert mcp_file_paths(tmp_path, Path("/home")) == (tmp_path / ".mcp.json", ours / "mcp.json")
    assert mcp_file_paths(tmp_path, ours) == (tmp_path / ".mcp.json",)
