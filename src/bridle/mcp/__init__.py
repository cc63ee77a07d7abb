"""MCP servers: starts them, connects to them, calls their tools, and stops them (Model Context Protocol)."""
