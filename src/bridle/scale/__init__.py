"""Many machines: the same sessions, kept in PostgreSQL and driven by whichever worker is there.

| module | holds |
|---|---|
| `jobs` | what a leg is to do, and what came of it |
| `durable` | the engine that keeps legs and steps: the only module that knows DBOS |
| `assignments` | the work of a leg: take a command, drive the session until it rests |
| `worker` | a process that does legs |
| `gateway` | the session API of all sessions, wherever they run |
| `members` | which processes live, and what becomes of the work of those that do not |

Import the module you need: DBOS and PostgreSQL's driver are not loaded before they are used.
"""

__all__: list[str] = []
