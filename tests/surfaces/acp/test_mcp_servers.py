"""MCP servers, in the protocol's format."""

from typing import Any

import pytest
from acp.schema import AcpMcpServer, EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio, SseMcpServer

from bridle.core.errors import UsageError
from bridle.mcp.settings import ServerSettings
from bridle.surfaces.acp.mcp_servers import MAX_SERVERS, check_servers, server_settings


def program(name: str = "a", command: str = "/bin/x", args: list[str] | None = None) -> McpServerStdio:
    return McpServerStdio(name=name, command=command, args=args or [], env=[EnvVariable(name="K", value="v")])


def test_each_kind_of_server_is_understood():
    key = HttpHeader(name="Authorization", value="Bearer x")
    servers = [
        program(args=["-v"]),
        HttpMcpServer(type="http", name="b", url="https://b", headers=[key]),
        SseMcpServer(type="sse", name="c", url="https://c", headers=[]),
    ]

    assert server_settings(servers) == [
        ServerSettings("a", "stdio", ("/bin/x", "-v"), {"K": "v"}),
        ServerSettings("b", "http", url="https://b", headers={"Authorization": "Bearer x"}),
        ServerSettings("c", "sse", url="https://c"),
    ]


@pytest.mark.parametrize(
    ("servers", "why"),
    [
        ([program("a"), program("a")], "two MCP servers are called 'a'"),
        ([program("")], "cannot name an MCP server"),
        ([program("x" * 100)], "cannot name an MCP server"),
        ([program(command="")], "its command is invalid"),
        ([program(args=["\0"])], "its command is invalid"),
        ([AcpMcpServer(type="acp", name="x", server_id="1")], "servers inside the editor"),
        ([program(str(number)) for number in range(MAX_SERVERS + 1)], "may have 32 MCP servers, and not 33"),
    ],
)
def test_what_cannot_be_reached_is_refused(servers: list[Any], why: str):
    with pytest.raises(UsageError, match=why):
        server_settings(servers)


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"mcpServers": [5]}, "mcpServers.0: expected `object`, got `int`"),
        ({"mcpServers": [{"name": "x"}]}, "mcpServers.0: command: is missing"),
        (
            {"mcpServers": [{"name": "x", "command": "y", "args": [1], "env": []}]},
            r"mcpServers.0: args\[0\]: expected `str`, got `int`",
        ),
        (
            {"mcpServers": [{"type": "http", "name": "x", "url": "y", "headers": [{"name": "z"}]}]},
            "value: is missing",
        ),
        ({"additionalDirectories": [5]}, "a session works in one folder"),
    ],
)
def test_nothing_is_left_out_without_a_word(params: dict[str, Any], why: str):
    with pytest.raises(UsageError, match=why):
        check_servers(params)
