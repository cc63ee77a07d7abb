"""The gRPC surface: clients built for Kontekst run prompts and answer approvals over it.

```
client ─ RunCommand ─▶ stream.py ─ Command ─▶ the session API
       ◀─ RunEvent ──  events.py ◀─ Record, Delta
```

Importing this package loads grpc, so only servers of it should.
"""

from bridle.surfaces.grpc.daemon import Daemon, DaemonStatus
from bridle.surfaces.grpc.run_starter import Approvals, RenderSkill
from bridle.surfaces.grpc.server import GrpcServer, serve_grpc

__all__ = ["Approvals", "Daemon", "DaemonStatus", "GrpcServer", "RenderSkill", "serve_grpc"]
