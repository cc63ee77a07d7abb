"""Language servers: found, started, told of every change, asked and ended.

| module | holds |
|---|---|
| `languages` | `LocalLanguages`: the projects, and what the engine asks of them |
| `project` | which servers serve a file, where each begins, and how they are |
| `catalogue`, `programs`, `settings` | the servers that are known, where their programs lie, how they run |
| `server`, `instance` | one server over time, and one run of it |
| `connection`, `frames`, `wire`, `greeting` | JSON-RPC over pipes, what is said, and the first words |
| `documents`, `files`, `folder` | the files that are open, and those on the disk |
| `problems`, `hearing` | what is wrong with files, and whether that is all of it |
| `news`, `difference` | what an edit brings |
| `questions`, `spots`, `symbols`, `words` | questions about code, and the place that they mean |
| `edits`, `fixes` | what servers would change |
| `texts` | words of servers, as they may be shown |
| `places` | addresses and positions, in our terms and in theirs |
"""
