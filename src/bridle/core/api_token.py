"""The text of an API token: `brdl_<id>_<secret>`."""

import hashlib
import re

BEGIN = "brdl_"
ID_BYTES = 8
SECRET_BYTES = 32
MAX_CHARS = 128

_TOKEN = re.compile(r"brdl_([0-9a-f]{16})_([0-9a-f]{64})")


def format_token(token_id: str, secret: bytes) -> str:
    """Return the token that a client sends."""
    return f"{BEGIN}{token_id}_{secret.hex()}"


def parse_token(text: str) -> tuple[str, bytes] | None:
    """Return the id and the secret of a token; None if the text is not a token."""
    found = _TOKEN.fullmatch(text) if len(text) <= MAX_CHARS else None
    return None if found is None else (found[1], bytes.fromhex(found[2]))


def secret_digest(secret: bytes) -> bytes:
    """Return the hash to store for a secret: with 256 random bits it cannot be reversed."""
    return hashlib.sha256(secret).digest()
