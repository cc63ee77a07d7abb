"""The cluster: many machines share sessions that are stored in PostgreSQL, and any worker can drive one.

| module | contents |
|---|---|
| `jobs` | a job and its outcome |
| `durable` | durable queues of jobs, and their steps: the only module that uses DBOS |
| `assignments` | runs a job: submit a command, drive the session until it rests |
| `node` | a process of the cluster: a worker, which runs jobs, a gateway, or both |
| `cluster_api` | the session API of all sessions, on whichever machine they run |
| `members` | which processes are alive, and how the work of dead ones continues |

Import the module you need: DBOS and the PostgreSQL driver are loaded only when they are used.
"""

__all__: list[str] = []
