"""HTTP server for a scripted model: `python -m bridle.providers.scripted_server SCRIPT`."""

from bridle.providers.scripted_server.server import ScriptedServer, SeenRequest

__all__ = ["ScriptedServer", "SeenRequest"]
