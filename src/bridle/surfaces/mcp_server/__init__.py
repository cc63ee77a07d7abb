"""Bridle as an MCP server: runs, sessions and settings for clients that speak that protocol.

```
client ─▶ stdio, http ─▶ server ─▶ tools ─▶ runs ─▶ session API
                           │        └─ sessions, settings, meerkat
                           └─ resources, prompts
```
"""
