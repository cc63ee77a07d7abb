"""Trace ids across processes: a run's span ids are computed from its run id, so every process has the same.

```
run id ─sha256─▶ trace id, unless the caller of the run gave a trace
run id + what  ─▶ span id: of the run, of a call, of one attempt to call the model
```
"""

import re
from hashlib import sha256

from msgspec import Struct

from bridle.core.ids import RunId

TRACE = "TRACEPARENT"
"""The environment variable that passes the trace to programs."""

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.DOTALL)
_SAMPLED = 0x01


class Trace(Struct, frozen=True):
    """A position in a trace: the parent of the spans that follow."""

    trace_id: int
    span_id: int
    """0 if there is no parent span."""
    sampled: bool | None = True
    """True if the trace is kept; None while that is undecided."""

    @property
    def text(self) -> str:
        """The W3C traceparent."""
        return f"00-{self.trace_id:032x}-{self.span_id:016x}-{'01' if self.sampled else '00'}"


def parse_trace(text: str) -> Trace | None:
    """Parse a W3C traceparent; None if the text is not one."""
    found = _TRACEPARENT.fullmatch(text)
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    is_known = version == "00" and more is None
    if version == "ff" or not (is_known or version != "00"):
        return None
    trace = Trace(int(trace_id, 16), int(span_id, 16), bool(int(flags, 16) & _SAMPLED))
    return trace if trace.trace_id and trace.span_id else None


def find_parent_trace(run: RunId, given: str = "") -> Trace:
    """Return the parent of a run's span: the given traceparent, or else a new trace for the run."""
    named = parse_trace(given)
    if named is not None:
        return named
    return Trace(int.from_bytes(sha256(f"bridle trace {run}".encode()).digest()[:16]), 0, None)


def make_span_id(run: RunId, what: str = "") -> int:
    """Return the span id of a step of a run, or of the run itself."""
    return int.from_bytes(sha256(f"bridle span {run} {what}".encode(errors="replace")).digest()[:8])
