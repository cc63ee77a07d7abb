"""Hooks: the user's code at named points of a run; it may look, refuse or rewrite.

| module | holds |
|---|---|
| `opening` | from entries to the hooks of one run; what is wrong with them on this machine |
| `engine` | `RunHooks`: asks them in order, keeps those in the background, says what came of it |
| `handlers`, `command`, `http` | the three runtimes |
| `exchange` | one program: what it reads, what it prints, its end |
| `answer`, `claude` | what is said on the wire, in our words and in those of Claude Code |
| `samples`, `schema` | an example of each point; the JSON Schema of all that is said |
"""

__all__: list[str] = []
