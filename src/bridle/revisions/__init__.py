"""Earlier file contents: whatever a session changes on disk can be brought back, byte for byte.

| module | holds |
|---|---|
| `files` | `FileRevisions`: the keepers of all sessions |
| `keeper` | `FileKeeper`: keeps paths before they change, and tells what has changed |
| `gather` | all that has to be kept before one path may change |
| `compare` | what has changed of all that was kept |
| `pending` | what was kept since the last time, in a file that outlives a killed process |
| `sight` | what lies at a path, seen without following any link |
| `restore` | the way back |
| `names` | paths as change records name them |

Import the module you need: this package itself loads none of them.
"""

__all__: list[str] = []
