"""The journal of many machines: sessions, claims and blobs in one PostgreSQL database.

| module | holds |
|---|---|
| `pool` | `Postgres`: the connections of a process, and how long it waits for a database that is away |
| `faults` | what an error of PostgreSQL means for us |
| `schema`, `migrations` | the tables, and how they come to be |
| `store` | `PostgresStore`: the journal |
| `claims` | `PostgresClaims`: which worker holds a session |
| `telling`, `listener` | how nodes hear of each other's records and claims |
| `blobs` | `PostgresBlobs` |
| `retention` | what is removed after a while |

Only these modules import psycopg, which comes with the extra `scale`.
"""

__all__: list[str] = []
