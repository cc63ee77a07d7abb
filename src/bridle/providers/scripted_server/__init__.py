"""A scripted model on a real HTTP server: `python -m bridle.providers.scripted_server SCRIPT`."""

from bridle.providers.scripted_server.server import ScriptedServer, SeenRequest

__all__ = ["ScriptedServer", "SeenRequest"]
