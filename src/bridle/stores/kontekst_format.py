"""Encode messages in the format of Kontekst's session files, one JSON line each.

```
{"role","content","tool_calls":[{"id","name","arguments"}],
 "tool_result":{"call_id","name","output","is_error"},"agent_name","tokens"}
```

Empty fields are omitted, except role and content; `<`, `>` and `&` are escaped as Go does. A message with
several results becomes several lines. The format cannot hold reasoning or media.
"""

from typing import Any

import msgspec
from msgspec import Struct

from bridle.core.context import Counted
from bridle.core.messages import ToolResult
from bridle.core.protocol import Event, RunEnded, RunStarted
from bridle.core.transcript import message_of

_encoder = msgspec.json.Encoder(order="deterministic")

_GO_ESCAPES = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}


class _Call(Struct, omit_defaults=True):
    id: str
    name: str
    arguments: dict[str, Any] = {}


class _Result(Struct, omit_defaults=True):
    call_id: str
    name: str
    output: str
    is_error: bool = False


class _Line(Struct, omit_defaults=True):
    role: str
    content: str
    tool_calls: tuple[_Call, ...] = ()
    tool_result: _Result | None = None
    agent_name: str = ""
    tokens: int = 0


def encode_message(item: Counted, agent: str) -> bytes:
    """Return the lines of one message: one for each result, or a single one."""
    message = item.message
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    if not results:
        calls = tuple(_Call(call.id, call.name, call.args) for call in message.calls)
        return _encoded(_Line(message.role, message.text, calls, None, agent, item.tokens))
    shares = list(item.result_tokens) or [0] * len(results)
    shares[0] += item.tokens - sum(shares)
    return b"".join(
        _encoded(_Line(message.role, result.output, (), _shaped(result), agent, tokens))
        for result, tokens in zip(results, shares, strict=True)
    )


def encode_event(event: Event, agent: str) -> bytes:
    """Return the lines that an event adds to the file; most events add none."""
    item = message_of(event)
    return b"" if item is None else encode_message(item, agent)


class LineEncoder:
    """Encodes a session's events under its agent's name, or under the agent a run was started with."""

    def __init__(self, usual: str, now: str = "") -> None:
        self._usual = usual
        self._now = now or usual

    @property
    def guest(self) -> str:
        """The current run's agent, if it is not the session's agent; else empty."""
        return self._now if self._now != self._usual else ""

    def lines(self, event: Event) -> bytes:
        """Return the lines of the next event."""
        if isinstance(event, RunStarted):
            self._now = event.options.agent or self._usual
        lines = encode_event(event, self._now)
        if isinstance(event, RunEnded):
            self._now = self._usual
        return lines


def encode_meta(agent: str) -> bytes:
    """Return the content of the `.meta.json` file."""
    return _encoder.encode({"default_agent": agent} if agent else {})


def _shaped(result: ToolResult) -> _Result:
    return _Result(result.call_id, result.name, result.output, result.is_error)


def _encoded(line: _Line) -> bytes:
    data = _encoder.encode(line)
    for character, escape in _GO_ESCAPES.items():
        data = data.replace(character, escape)  # these characters occur only inside strings
    return data + b"\n"
