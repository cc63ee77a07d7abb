"""Event journals: where the records of a session are kept, checked and shown as files.

| module | holds |
|---|---|
| `sqlite` | `SqliteStore`: one database file in WAL mode, the default |
| `jsonl` | `JsonlStore`: one append-only text file per session |
| `postgres` | `PostgresStore`, claims and blobs of many machines |
| `ephemeral` | `EphemeralStore`: nothing outlives the process |
| `check` | `verify` and `fsck`, the same for all of them |
| `projector` | `SessionProjector`: derived files for people |
| `claims` | which process may run a session |
| `blobs`, `s3` | bytes kept under their digest, in files or in a bucket |

Import the module you need: this package itself loads none of them, because `bridle --help` and
`bridle session list` must start quickly and apsw alone costs milliseconds.
"""

__all__: list[str] = []
