"""File revisions: every change a session makes on disk can be undone, byte for byte.

| module | content |
|---|---|
| `files` | `FileRevisions`: one `FileKeeper` per session |
| `keeper` | `FileKeeper`: saves paths before they change, and returns what changed |
| `gather` | collects what to save before one path changes |
| `compare` | compares the saved states with the disk |
| `pending` | the states saved since the last `collect`, in a file that survives a crash |
| `sight` | reads the state of a path without following links |
| `restore` | restores paths to earlier states |
| `names` | the encoding of paths in change records |

Import the module you need: this package imports none of them.
"""

__all__: list[str] = []
