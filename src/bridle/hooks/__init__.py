"""Hooks: user code that runs at named points of a run and may observe, deny or rewrite.

| module | content |
|---|---|
| `opening` | creates the hooks of one run from their entries; checks that they can run on this machine |
| `engine` | `RunHooks`: runs hooks in order or in the background, and returns events to record |
| `handlers`, `command`, `http` | the three runtimes: Python function, program, HTTP server |
| `confined` | runs the programs of a project's hooks in a sandbox |
| `exchange` | runs one program with input and captured output |
| `answer`, `claude` | the JSON formats of input and output, Bridle's and Claude Code's |
| `samples`, `schema` | a sample invocation for each point; the JSON Schema of the formats |
"""

__all__: list[str] = []
