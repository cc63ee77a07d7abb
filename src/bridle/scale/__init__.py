"""Running sessions on many machines: they are stored in PostgreSQL and driven by any available worker.

| module | holds |
|---|---|
| `orders` | the work of a leg (one command for one session), and its outcome |
| `durable` | queues and durable steps; the only module that uses DBOS |
| `legs` | runs a leg: submits its command, drives the session until it rests |
| `node` | one process of the cluster: a worker, which runs legs, a gateway, or both |
| `cluster_door` | a session API for all sessions, wherever they run |
| `members` | which processes live, and what happens to the work of dead ones |

Import the module you need: DBOS and PostgreSQL's driver are loaded only when used.
"""

__all__: list[str] = []
