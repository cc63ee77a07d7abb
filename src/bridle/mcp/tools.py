"""The tools of MCP servers as the model sees them, and two tools to list and read resources."""

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.mcp.names import full_name
from bridle.mcp.offers import OfferedResource, OfferedTool
from bridle.mcp.server import Server
from bridle.mcp.settings import ServerSettings

RESOURCES_PER_PAGE = 100

LIST_RESOURCES = "list_resources"
READ_RESOURCE = "read_resource"


class McpTool:
    """A tool of an MCP server."""

    def __init__(self, server: Server, tool: OfferedTool) -> None:
        self._server = server
        self._tool = tool
        self._spec = ToolSpec(full_name(server.settings.name, tool.name), tool.description, tool.schema)
        self._reads = _fits(tool.name, server.settings.reads)

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return self._spec

    @property
    def server(self) -> str:
        """The name of its server."""
        return self._server.settings.name

    @property
    def parallel(self) -> bool:
        """True if the user's settings say that it changes nothing; the server's own claim does not count."""
        return self._reads

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return "execute" access, because its effects are unknown, or "read" if the settings say so."""
        return Access(self._spec.name, "read" if self._reads else "execute")

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show the server, the tool and the arguments."""
        shown = json.dumps(args, indent=2, ensure_ascii=False) if args else "(no arguments)"
        return f"{self.server} → {self._tool.name}\n{shown}"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Call the tool on the server; raises ToolError."""
        return await self._server.current.call(self._tool.name, args, context)


def select_tools(server: Server) -> list[OfferedTool]:
    """Return the tools of a server that the user's settings include."""
    settings = server.settings
    return [tool for tool in server.listing.tools if _is_wanted(tool.name, settings)]


def resource_tools(servers: Sequence[Server]) -> tuple[Tool, ...]:
    """Return tools for the resources of these servers; none if there are no resources."""
    having = {server.settings.name: server for server in servers if server.listing.resources}
    return (ListResources(having), ReadResource(having)) if having else ()


class ListResources:
    """Lists the resources of servers."""

    parallel = True

    def __init__(self, servers: dict[str, Server]) -> None:
        self._servers = servers

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
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
        """Return "read" access: the list is known already."""
        return Access(LIST_RESOURCES, "read")

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show nothing: nothing changes."""
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return one line per resource; raises ToolError."""
        wanted = args.get("server")
        servers = [_named(self._servers, wanted)] if wanted else list(self._servers.values())
        lines = [_resource_line(server, one) for server in servers for one in server.listing.resources]
        start = int(args.get("cursor", 0))
        shown = lines[start : start + RESOURCES_PER_PAGE]
        if rest := len(lines) - start - len(shown):
            shown.append(f"[{rest} more: cursor {start + len(shown)}]")
        return ToolOutput("\n".join(shown) or "There is nothing more.")


class ReadResource:
    """Reads a resource of a server."""

    parallel = True

    def __init__(self, servers: dict[str, Server]) -> None:
        self._servers = servers

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
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
        """Return "read" for a listed address, "network" for others: the server gets it and may do anything.

        Rules for all of the server's tools apply to its resources, too.
        """
        name, uri = args["server"], args["uri"]
        listed = self._servers[name].listing.resources if name in self._servers else ()
        is_listed = any(one.uri == uri and not one.is_template for one in listed)
        subject = Subject("text", "", tool=full_name(name, READ_RESOURCE))
        return Access(READ_RESOURCE, "read" if is_listed else "network", (subject,))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show the server and the address."""
        return f"{args['server']} → {args['uri']}"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the content of the resource; raises ToolError."""
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
