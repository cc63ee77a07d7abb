"""Identifiers: UUIDv7 as text, so that ids sort by creation time.

```
 48 bits unix milliseconds | 4 version | 12 counter or random | 2 variant | 62 random
```
"""

import re
from typing import NewType

SessionId = NewType("SessionId", str)
"""The id of a session."""
RunId = NewType("RunId", str)
"""The id of a run."""
CallId = NewType("CallId", str)
"""The id of a tool call."""

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def uuid7(now_ms: int, entropy: bytes) -> str:
    """Build a UUIDv7 from a clock reading and ten random bytes."""
    value = (now_ms & (1 << 48) - 1) << 80 | int.from_bytes(entropy[:10], "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_session_id(text: str) -> bool:
    """Return True if a text can be a session id: a plain file name, never a path."""
    return _SESSION_ID.fullmatch(text) is not None and ".." not in text
