"""The store for many machines: sessions, claims and blobs in one PostgreSQL database.

| module | holds |
|---|---|
| `pool` | `Postgres`: a process's connections, and how long it waits for an unreachable database |
| `errors` | how PostgreSQL errors are classified |
| `schema`, `migrations` | the tables, and how they are created |
| `store` | `PostgresStore`: the session store |
| `claims` | `PostgresClaims`: which worker holds a session |
| `notifications`, `listener` | how nodes notify each other of new records and claims |
| `blobs` | `PostgresBlobs` |
| `retention` | what is removed after a while |

Only these modules import psycopg, which the extra `scale` installs.
"""

__all__: list[str] = []
