"""Hooks: user code that runs at named points of a run and may observe, deny or rewrite.

| module | content |
|---|---|
| `factory` | creates the hooks of one run from their entries; checks that they can run on this machine |
| `engine` | `RunHooks`: runs hooks in order or in the background, and returns events to record |
| `function_hooks`, `command_hooks`, `http_hooks` | the runtimes: Python function, program, HTTP server |
| `sandboxed_programs` | runs the programs of a project's hooks in a sandbox |
| `program_process` | runs one program with input and captured output |
| `response`, `claude_format` | the JSON formats of input and output, Bridle's and Claude Code's |
| `samples`, `schema` | a sample invocation for each point; the JSON Schema of the formats |
"""

__all__: list[str] = []
