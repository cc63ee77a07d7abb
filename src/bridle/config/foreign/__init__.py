"""What other programs are told by their users, read as rules, tool servers, skills and agents of ours.

```
claude | codex | crush ── findings(folder…) ──▶ Finding… ── bring ──▶ config.toml, skills/, agents/
```

Only `bring` writes. Nothing that is there is overwritten, and no secret is copied: where a value may be one,
the name of a variable takes its place, and the user is told to set it.
"""
