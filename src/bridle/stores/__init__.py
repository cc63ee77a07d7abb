"""Session stores: they store the records of sessions, check them and derive files from them.

| module | holds |
|---|---|
| `sqlite` | `SqliteStore`: one database file in WAL mode, the default |
| `jsonl` | `JsonlStore`: one append-only text file per session |
| `postgres` | `PostgresStore`, claims and blobs for many machines |
| `ephemeral` | `EphemeralStore`: in memory, lost when the process ends |
| `integrity` | `verify` and `fsck`, the same for all stores |
| `projector` | `SessionProjector`: derived files for people |
| `claims` | which process may run a session |
| `blobs`, `s3` | bytes stored under their digest, in files or in a bucket |

Import the module you need: this package itself loads none of them, because `bridle --help` and
`bridle session list` must start quickly and apsw alone costs milliseconds.
"""

__all__: list[str] = []
