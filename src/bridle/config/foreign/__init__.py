"""Read the settings of other programs as Bridle's rules, MCP servers, skills and agents.

```
claude | codex | crush ── findings(folder…) ──▶ Finding… ── bring ──▶ config.toml, skills/, agents/
```

Only `importer` writes. Nothing is overwritten, and no secret is copied: a value that may be one is replaced
by the name of a variable, and the user is told to set it.
"""
