"""The JSON-RPC surface: programs that were built for Meerkat, or for Bridle, run sessions over it.

```
lines ─▶ protocol.py ─▶ connection.py ─▶ methods.py, runs.py, streams.py ─▶ the session API
lines ◀─ outbox.py ◀─ telling.py ◀─ Record, Delta
         tools.py: tools of the client, called over the same lines
```

A connection needs only a pair that reads and writes lines: stdin and stdout, a socket, a WebSocket.
"""

from bridle.surfaces.rpc.connection import Connection
from bridle.surfaces.rpc.desk import Desk
from bridle.surfaces.rpc.listening import Listener
from bridle.surfaces.rpc.stdio import serve_stdio

__all__ = ["Connection", "Desk", "Listener", "serve_stdio"]
