"""A call that a model writes as text, held to a schema: turned into fragments of arguments while it comes.

```
{"tool": "list_files", "arguments": {"pattern": "*"}}
└────────── head ──────────────────┘└── arguments ──┘└ the closing brace is held back
```
"""

import re

from bridle.core.protocol import ToolCallDelta
from bridle.providers.reply import ReplyBuilder

_HEAD = re.compile(r'\s*\{\s*"tool"\s*:\s*"([^"\\]*)"\s*,\s*"arguments"\s*:\s*')
_TAIL = re.compile(r"[\s}]*\Z")


class WrittenCall:
    """Read one call; with a name given, the text is the arguments alone."""

    def __init__(self, builder: ReplyBuilder, name: str = "") -> None:
        self._builder = builder
        self._name = name
        self._is_bare = bool(name)
        self._held = ""

    def feed(self, fragment: str) -> list[ToolCallDelta]:
        """Take a fragment of the text, return what it shows of the arguments."""
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
        """Take the end of the text; what was cut off is left as it is, and is then no valid JSON."""
        if not self._is_bare:
            self._held = self._held.rstrip().removesuffix("}")
        return self._show(len(self._held))

    def _show(self, count: int) -> list[ToolCallDelta]:
        shown, self._held = self._held[:count], self._held[count:]
        return [self._builder.call(0, name=self._name, args=shown)] if shown else []
