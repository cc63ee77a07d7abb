"""Query and header fields shared by several operations."""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from bridle.core.protocol.commands import MAX_KEY_CHARS
from bridle.core.trace import parse_trace

MAX_SAFE_INT = 2**53 - 1  # the largest integer that every JSON client can represent

Seq: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_SAFE_INT)]
Cwd: TypeAlias = Annotated[
    str, Meta(max_length=4096, description="The absolute path of a folder; by default that of the service.")
]
Text: TypeAlias = Annotated[str, Meta(max_length=200)]
Key: TypeAlias = Annotated[
    str,
    Meta(
        max_length=MAX_KEY_CHARS,
        pattern="^[!-~]*$",
        description="Sent again with the same key, a request gets its answer again but is not repeated.",
    ),
]


class InFolder(Struct, frozen=True, forbid_unknown_fields=True):
    """The query of operations that depend on a folder."""

    cwd: Cwd = ""


class Keyed(Struct, frozen=True, rename="kebab"):
    """The headers of operations with an idempotency key."""

    idempotency_key: Key = ""


class Traced(Keyed, frozen=True, rename="kebab"):
    """The headers of operations that may start a run."""

    traceparent: Annotated[
        str,
        Meta(description="The trace that the run belongs to (W3C Trace Context); an invalid one is ignored."),
    ] = ""

    @property
    def trace(self) -> str:
        """The given trace if it is valid, else empty."""
        return self.traceparent if parse_trace(self.traceparent) is not None else ""
