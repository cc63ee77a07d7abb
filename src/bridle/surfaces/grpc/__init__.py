"""The gRPC surface: clients that were built for Kontekst run prompts and answer approvals over it.

```
client ─ RunCommand ─▶ stream.py ─ Command ─▶ the session API
       ◀─ RunEvent ──  events.py ◀─ Record, Delta
```

Importing this loads grpc; only what serves it does.
"""

from bridle.surfaces.grpc.daemon import Daemon, DaemonStatus
from bridle.surfaces.grpc.server import GrpcServer, serve_grpc
from bridle.surfaces.grpc.starts import Approvals, RenderSkill

__all__ = ["Approvals", "Daemon", "DaemonStatus", "GrpcServer", "RenderSkill", "serve_grpc"]
