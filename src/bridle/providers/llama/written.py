"""Streaming parser of a tool call that a model writes as schema-constrained text.

```
{"tool": "list_files", "arguments": {"pattern": "*"}}
└────────── head ──────────────────┘└── arguments ──┘└ the last brace is held back
```
"""

import re

from bridle.core.protocol import ToolCallDelta
from bridle.providers.reply_builder import ReplyBuilder

_HEAD = re.compile(r'\s*\{\s*"tool"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*')
_TAIL = re.compile(r"[\s}]*\Z")


class CallParser:
    """Parses one call; if `name` is given, the text is only the arguments."""

    def __init__(self, builder: ReplyBuilder, name: str = "") -> None:
        self._builder = builder
        self._name = name
        self._is_bare = bool(name)
        self._held = ""

    def feed(self, fragment: str) -> list[ToolCallDelta]:
        """Add a fragment of the text and return the new deltas of the arguments."""
        self._held += fragment
        if self._is_bare:
            return self._show(len(self._held))
        if not self._name:
            head = _HEAD.match(self._held)
            if head is None:
                return []
            self._name = head[1]
            self._held = self._held[head.end() :]
        tail = _TAIL.search(self._held)
        return self._show(tail.start() if tail else len(self._held))

    def finish(self) -> list[ToolCallDelta]:
        """Return the last deltas; a truncated text stays truncated, so its arguments are invalid JSON."""
        if not self._is_bare:
            self._held = self._held.rstrip().removesuffix("}")
        return self._show(len(self._held))

    def _show(self, count: int) -> list[ToolCallDelta]:
        shown, self._held = self._held[:count], self._held[count:]
        return [self._builder.call(0, name=self._name, args=shown)] if shown else []
