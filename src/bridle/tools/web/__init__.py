"""Web tools: read pages as text and download files, from public addresses only."""

from bridle.core.ports import Tool
from bridle.tools.web.download import Download
from bridle.tools.web.fetch import WebFetch
from bridle.tools.web.network import DIRECT, Network

__all__ = ["DIRECT", "Download", "Network", "WebFetch", "web_tools"]


def web_tools(network: Network = DIRECT) -> tuple[Tool, ...]:
    """Return all web tools."""
    return Download(network), WebFetch(network)
