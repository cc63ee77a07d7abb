"""The language server client: finds and starts servers, syncs files, asks for symbols, problems and fixes.

| module | holds |
|---|---|
| `languages` | `LocalLanguages`: one project per root; the interface for the engine |
| `project` | which servers serve a file, the root of each, and their states |
| `catalogue`, `programs`, `settings` | known servers, where their programs are, how they run |
| `server`, `instance` | one server with its restarts, and one running process of it |
| `connection`, `frames`, `wire`, `greeting` | JSON-RPC over pipes, framing, message types, `initialize` |
| `documents`, `files`, `folder` | open files, and files on disk |
| `problems`, `hearing` | diagnostics per file, and waiting until they are complete |
| `news`, `difference` | how an edit changes the diagnostics |
| `questions`, `spots`, `symbols`, `words` | queries about code, and resolving the symbol they name |
| `edits`, `fixes` | workspace edits and code actions |
| `texts` | server texts, cleaned for display |
| `places` | URIs and positions, converted between our counting and the server's |
"""
