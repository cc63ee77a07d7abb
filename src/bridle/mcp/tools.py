"""The tools of servers as the model sees them, and two more to look at their resources."""

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.mcp.listing import OfferedResource, OfferedTool
from bridle.mcp.names import full_name
from bridle.mcp.patience import CAP
from bridle.mcp.server import Server
from bridle.mcp.settings import ServerSettings

RESOURCES_PER_PAGE = 100

LIST_RESOURCES = "list_resources"
READ_RESOURCE = "read_resource"


class McpTool:
    """A tool of a server."""

    def __init__(self, server: Server, tool: OfferedTool) -> None:
        self._server = server
        self._tool = tool
        self._spec = ToolSpec(full_name(server.settings.name, tool.name), tool.description, tool.schema)
        self._reads = _fits(tool.name, server.settings.reads)

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return self._spec

    @property
    def server(self) -> str:
        """The server it belongs to."""
        return self._server.settings.name

    @property
    def parallel(self) -> bool:
        """Whether the user says that it changes nothing; what the server says of that does not count."""
        return self._reads

    def longest_s(self) -> float:
        """Return what a call may take that shows signs of progress, and the start of a server before it."""
        settings = self._server.settings
        return settings.start_timeout_s + CAP * settings.timeout_s

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Touch what nobody can know, unless the user says that it only reads."""
        return Access(self._spec.name, "read" if self._reads else "execute")

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show which tool of which server would be called, and with what."""
        shown = json.dumps(args, indent=2, ensure_ascii=False) if args else "(no arguments)"
        return f"{self.server} → {self._tool.name}\n{shown}"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Have the server do it; raises ToolError."""
        return await self._server.current.call(self._tool.name, args, context)


def wanted_tools(server: Server) -> list[OfferedTool]:
    """Return the tools of a server that the user wants, by its settings."""
    settings = server.settings
    return [tool for tool in server.listing.tools if _is_wanted(tool.name, settings)]


def resource_tools(servers: Sequence[Server]) -> tuple[Tool, ...]:
    """Return tools for the resources of these servers; none if there are none."""
    having = {server.settings.name: server for server in servers if server.listing.resources}
    return (ListResources(having), ReadResource(having)) if having else ()


class ListResources:
    """Shows what there is to read."""

    parallel = True

    def __init__(self, servers: dict[str, Server]) -> None:
        self._servers = servers

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        about = (
            "List what MCP servers offer to be read with read_resource: addresses, and patterns of addresses "
            "with {names} to be filled in."
        )
        return ToolSpec(
            LIST_RESOURCES,
            about,
            {
                "type": "object",
                "properties": {
                    "server": {"type": "string", "enum": sorted(self._servers)},
                    "cursor": {"type": "integer", "minimum": 0, "description": "where to go on"},
                },
                "additionalProperties": False,
            },
        )

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Touch nothing: it is known already."""
        return Access(LIST_RESOURCES, "read")

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show nothing: nothing changes."""
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return one line for each; raises ToolError."""
        wanted = args.get("server")
        servers = [_named(self._servers, wanted)] if wanted else list(self._servers.values())
        lines = [_resource_line(server, one) for server in servers for one in server.listing.resources]
        start = int(args.get("cursor", 0))
        shown = lines[start : start + RESOURCES_PER_PAGE]
        if rest := len(lines) - start - len(shown):
            shown.append(f"[{rest} more: cursor {start + len(shown)}]")
        return ToolOutput("\n".join(shown) or "There is nothing more.")


class ReadResource:
    """Reads something of a server."""

    parallel = True

    def __init__(self, servers: dict[str, Server]) -> None:
        self._servers = servers

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return ToolSpec(
            READ_RESOURCE,
            "Read a resource of an MCP server, by an address as list_resources shows it.",
            {
                "type": "object",
                "properties": {
                    "server": {"type": "string", "enum": sorted(self._servers)},
                    "uri": {"type": "string", "minLength": 1, "maxLength": 4000},
                },
                "required": ["server", "uri"],
                "additionalProperties": False,
            },
        )

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Read what is listed; the server hears of any other address, and does with it what it likes.

        Rules for all of the server's tools hold for its resources, too.
        """
        name, uri = args["server"], args["uri"]
        listed = self._servers[name].listing.resources if name in self._servers else ()
        is_listed = any(one.uri == uri and not one.is_template for one in listed)
        subject = Subject("text", "", tool=full_name(name, READ_RESOURCE))
        return Access(READ_RESOURCE, "read" if is_listed else "network", (subject,))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show which address of which server would be read."""
        return f"{args['server']} → {args['uri']}"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return what it holds; raises ToolError."""
        server = _named(self._servers, args["server"]).current
        changed = server.has_changed(args["uri"])
        output = await server.read(args["uri"], context)
        return replace(output, text=f"[changed since it was read]\n{output.text}") if changed else output


def _named(servers: dict[str, Server], name: str) -> Server:
    if name not in servers:
        raise ToolError(f"no MCP server {name!r} has resources", hint=f"it may be {', '.join(servers)}")
    return servers[name]


def _resource_line(server: Server, place: OfferedResource) -> str:
    about = ": ".join(filter(None, (place.name, place.description)))
    marks = " ".join(filter(None, (place.mime, "pattern" if place.is_template else "")))
    changed = " [changed since it was read]" if server.has_changed(place.uri) else ""
    return f"{server.settings.name} {place.uri}" + (f" ({marks})" if marks else "") + f" {about}{changed}"


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _is_wanted(name: str, settings: ServerSettings) -> bool:
    return (not settings.tools or _fits(name, settings.tools)) and not _fits(name, settings.without_tools)
