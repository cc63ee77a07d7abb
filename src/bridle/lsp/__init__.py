"""The language server client: finds and starts servers, syncs files, asks for symbols, problems and fixes.

| module | holds |
|---|---|
| `languages` | `LocalLanguages`: one project per root; the interface for the engine |
| `project` | which servers serve a file, the root of each, and their states |
| `catalogue`, `settings` | known servers, where their programs are, how they run |
| `server`, `instance` | one server with its restarts, and one running process of it |
| `connection`, `protocol`, `initialize` | JSON-RPC over pipes, framing, message types, start-up |
| `documents` | open files, and files on disk |
| `diagnostics`, `diagnostics_wait` | diagnostics per file, and waiting until they are complete |
| `edit_watch` | how an edit changes the diagnostics |
| `queries`, `symbol_lookup`, `symbols`, `word_search` | queries about code, and the symbols they name |
| `edits`, `code_actions` | workspace edits and code actions |
| `display_text` | server texts, cleaned for display |
| `positions` | URIs and positions, converted between our counting and the server's |
"""
