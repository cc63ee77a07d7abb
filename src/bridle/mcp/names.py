"""The names of MCP tools and prompts, as the model and the user see them: `mcp__server__tool`."""

import re
from hashlib import sha256

PREFIX = "mcp__"
MAX_NAME_CHARS = 64  # no vendor accepts more

_HASH_CHARS = 8
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def full_name(server: str, name: str) -> str:
    """Return the full name of a tool or prompt; one that is too long is cut and gets a hash."""
    made = PREFIX + _OTHER.sub("_", server) + "__" + _OTHER.sub("_", name)
    if len(made) <= MAX_NAME_CHARS:
        return made
    digest = sha256(f"{server}\0{name}".encode(errors="surrogatepass")).hexdigest()[:_HASH_CHARS]
    return f"{made[: MAX_NAME_CHARS - _HASH_CHARS - 1]}_{digest}"
