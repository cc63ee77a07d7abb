"""Bridle as an MCP server: runs, sessions and settings as MCP tools, resources and prompts.

```
client ─▶ stdio, http ─▶ server ─▶ tools ─▶ runs ─▶ the session API
                           │        └─ sessions, settings, meerkat
                           └─ resources, prompts
```
"""
