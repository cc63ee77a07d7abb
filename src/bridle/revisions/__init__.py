"""File revisions: every change a session makes on disk can be undone, byte for byte.

| module | content |
|---|---|
| `file_revisions` | `FileRevisions`: one `FileKeeper` per session |
| `file_keeper` | `FileKeeper`: saves paths before they change, and returns what changed |
| `snapshot` | collects what to save before one path changes |
| `comparison` | compares the saved states with the disk |
| `pending_file` | the states saved since the last `collect`, in a file that survives a crash |
| `file_reader` | reads the state of a path without following links |
| `restoration` | restores paths to earlier states |
| `path_names` | the encoding of paths in change records |

Import the module you need: this package imports none of them.
"""

__all__: list[str] = []
