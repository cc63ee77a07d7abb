"""A tool server that says what it hears, for `tool_servers.py`."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("echo")


@server.tool()
def echo(text: str) -> str:
    """Say what was heard."""
    return text


if __name__ == "__main__":
    server.run("stdio")
