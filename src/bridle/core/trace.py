"""Traces across processes: the ids of a run's spans follow from its own id, so every process knows them.

```
run id ─sha256─▶ trace id, unless whoever asked for the run named a trace of its own
run id + what  ─▶ span id: of the run, of a call, of one try to reach the model
```
"""

import re
from hashlib import sha256

from msgspec import Struct

from bridle.core.ids import RunId

TRACE = "TRACEPARENT"
"""The variable in which programs find what they are a part of."""

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)
_SAMPLED = 0x01


class Trace(Struct, frozen=True):
    """A place in a trace: the span that what comes next is a part of."""

    trace_id: int
    span_id: int
    """0 where there is no span above."""
    sampled: bool | None = True
    """Whether it is kept; None when nobody has decided that yet."""

    @property
    def text(self) -> str:
        """Return it as a W3C traceparent."""
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{'01' if self.sampled else '00'}"


def parse_trace(text: str) -> Trace | None:
    """Read a W3C traceparent; None for what is none."""
    found = _TRACEPARENT.fullmatch(text)
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    is_known = version == "00" and more is None
    if version == "ff" or not (is_known or version != "00"):
        return None
    trace = Trace(int(trace_id, 16), int(span_id, 16), bool(int(flags, 16) & _SAMPLED))
    return trace if trace.trace_id and trace.span_id else None


def trace_of(run: RunId, given: str = "") -> Trace:
    """Return what the span of a run is a part of: the trace that was named, or one of its own."""
    named = parse_trace(given)
    if named is not None:
        return named
    return Trace(int.from_bytes(sha256(f"bridle trace {run}".encode()).digest()[:16]), 0, None)


def span_of(run: RunId, what: str = "") -> int:
    """Return the id of the span of something that happens in a run, or of the run itself."""
    return int.from_bytes(sha256(f"bridle span {run} {what}".encode(errors="replace")).digest()[:8])
