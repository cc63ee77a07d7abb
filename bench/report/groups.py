"""All benches, in the order in which they run and appear on the page."""

from msgspec import Struct


class Group(Struct, frozen=True):
    """Benches that share a heading."""

    title: str
    modules: tuple[str, ...]


GROUPS = (
    Group("Compared with other frameworks", ("peers",)),
    Group("Starting", ("startup", "coldstart", "first_request", "tui_start")),
    Group("Turns and streams", ("turns", "parallel", "deltas", "cancel", "idle", "telemetry")),
    Group("Long-lived processes", ("flat",)),
    Group("Hooks and MCP servers", ("hooks", "tool_servers")),
    Group("Stores", ("store",)),
    Group("Files, search and the sandbox", ("edits", "search", "sandboxed")),
    Group("Cells", ("kernel",)),
    Group("Surfaces", ("daemon", "grpc_events", "rpc_events", "rest", "watchers", "tui_stream", "web_page")),
    Group("Memory", ("memory",)),
    Group(
        "Many machines",
        (
            "scale_turns",
            "scale_workers",
            "scale_watch",
            "scale_waiting",
            "scale_store",
            "scale_many",
            "scale_size",
        ),
    ),
    Group(
        "Growth",
        ("growth_history", "growth_sessions", "growth_tools", "growth_events", "growth_memory"),
    ),
)
MODULES = tuple(module for group in GROUPS for module in group.modules)
