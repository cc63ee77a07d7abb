"""The JSON-RPC surface: clients built for Meerkat or for Bridle run sessions over it.

```
lines ─▶ protocol.py ─▶ connection.py ─▶ methods.py, runs.py, streams.py ─▶ the session API
lines ◀─ outbox.py ◀─ streams.py ◀─ Record, Delta
         tools.py: client tools, called over the same lines
```

A connection only needs a line source and a line sink: stdin and stdout, a socket, or a WebSocket.
"""

from bridle.surfaces.rpc.connection import RpcConnection
from bridle.surfaces.rpc.server_context import RpcContext
from bridle.surfaces.rpc.servers import SocketServer, serve_stdio

__all__ = ["RpcConnection", "RpcContext", "SocketServer", "serve_stdio"]
