"""Script files for the scripted model: the replies it gives, in JSON or TOML.

```json
{"replies": [
  {"text": "Let me look.", "calls": [{"name": "read_file", "args": {"path": "hello.py"}}]},
  {"text": "It says: {last_tool_result}", "expect": {"tool_result": "print"}}
]}
```

**Which reply.** The number of assistant messages in the request selects the reply. So a new process continues
a conversation at the right place, and one script serves any number of sessions. With `"repeat": true` the
replies start again after the last; without it, a request past the last reply is an error.
A reply with `match` is outside this order. If its regular expression matches in the last user message, the
replies with the same `match` are used, one after the other, counted from that message.

Fields of a script:

- `replies`: the replies, in order
- `repeat`: start again after the last one
- `about`: a note for readers of the file
- `window_tokens`, `max_output_tokens`, `price`, `images`, `reasoning`: facts of the model, if the defaults do
  not fit

Fields of a reply (all optional; `{}` is an empty reply):

- `reasoning`, `text`: a string, streamed word by word, or a list of the chunks to stream
- `calls`: tool calls, each with a `name`; `args`: an object, a string sent unchanged (even invalid JSON) or a
  list of its fragments; `id`: made from the position if omitted, and `""` sends none
- `stop_reason`, `usage`, `model`: what the vendor would report; estimated if omitted
- `delay_ms`, `chunk_delay_ms`: wait before the reply, and before each chunk
- `expect`: what the request must contain, or the reply is an error that names what is missing: `user`,
  `tool_result` and `system` are substrings of the last user message, the last tool result and the system
  prompt; `tools` are names of tools that must be offered
- `match`: see above
- `fault`: what goes wrong, see below

`text`, `reasoning` and the strings in `args` may contain `{last_user}`, `{last_tool_result}`,
`{tool_results}` (all since the last reply, one per line) and `{model}`.

Kinds of `fault`:

- `http`: an error response: a `reason` (our error kind, in each vendor's format) or a `status`, with
  `headers` and `message`; or a whole `body`, as a JSON value or as a string sent unchanged
- `error`: an error event mid-stream, with `reason` and `message`
- `truncate`: the stream closes cleanly without its last event
- `garbage`: invalid bytes, `data` with one byte per character (Latin-1), then the stream closes
- `reset`: the connection breaks
- `hang`: nothing more is sent, until the client gives up

All but `http` take `after`, the number of chunks to send first (default: all of them; with 0, `reset` and
`hang` come before the response head). `times` makes a fault temporary: the same request fails that often,
then succeeds; only this counter is kept in the process.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from bridle.core.errors import ConfigError
from bridle.core.messages import StopReason, Usage
from bridle.core.model import Price

Chunks = str | tuple[str, ...]
Count = Annotated[int, Meta(ge=0)]
Reason = Literal[
    "rate_limited",
    "server_overloaded",
    "network_timeout",
    "server_error",
    "invalid_request",
    "authentication_failed",
    "invalid_api_key",
    "content_filtered",
    "context_length_exceeded",
    "model_not_found",
]

DEFAULT_MESSAGE = "the script says so"
GARBAGE = 'data: {"\u00ff\u00fe\u0000 not json at all\n\n'


class ScriptUsage(Usage, frozen=True, forbid_unknown_fields=True):
    """Usage that rejects unknown fields."""


class ScriptPrice(Price, frozen=True, forbid_unknown_fields=True):
    """Price that rejects unknown fields."""


class Call(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool call the scripted model makes."""

    name: str
    args: dict[str, Any] | Chunks = {}
    id: str | None = None


class Expect(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a request must contain."""

    user: str = ""
    tool_result: str = ""
    system: str = ""
    tools: tuple[str, ...] = ()


class HttpFault(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag="http", tag_field="kind"
):
    """An HTTP error response instead of a stream."""

    status: Annotated[int, Meta(ge=200, le=599)] | None = None
    reason: Reason | None = None
    message: str = ""
    headers: dict[str, str] = {}
    body: Any = None
    times: Count = 0


class StreamFault(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="kind"):
    """A failure during a stream."""

    after: Count | None = None
    """How many chunks to send first; None sends all, but not the end of the stream."""
    times: Count = 0


class ErrorFault(StreamFault, frozen=True, tag="error"):
    """An error event in the middle of the stream."""

    reason: Reason = "server_error"
    message: str = ""


class TruncateFault(StreamFault, frozen=True, tag="truncate"):
    """The stream closes cleanly, too early."""


class GarbageFault(StreamFault, frozen=True, tag="garbage"):
    """Invalid bytes in the stream."""

    data: str = GARBAGE


class ResetFault(StreamFault, frozen=True, tag="reset"):
    """The connection breaks."""


class HangFault(StreamFault, frozen=True, tag="hang"):
    """Nothing more is sent."""


MidStreamFault = ErrorFault | TruncateFault | GarbageFault | ResetFault | HangFault
Fault = HttpFault | MidStreamFault


class Reply(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One reply of the scripted model."""

    text: Chunks = ""
    reasoning: Chunks = ""
    calls: tuple[Call, ...] = ()
    usage: ScriptUsage | None = None
    stop_reason: StopReason | None = None
    model: str = ""
    delay_ms: Count = 0
    chunk_delay_ms: Count = 0
    expect: Expect = Expect()
    match: str = ""
    fault: Fault | None = None


class Script(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The replies and facts of a scripted model."""

    replies: tuple[Reply, ...]
    repeat: bool = False
    about: str = ""
    window_tokens: Annotated[int, Meta(gt=0)] = 128_000
    max_output_tokens: Annotated[int, Meta(gt=0)] = 8_192
    price: ScriptPrice | None = None
    images: bool | None = None
    reasoning: bool | None = None


def load_script(path: Path) -> Script:
    """Read a script file; raises ConfigError that names the file and the key."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: the script cannot be read: {error.strerror}") from error
    return parse_script(data, str(path))


def parse_script(data: bytes, name: str = "script.json") -> Script:
    """Parse a script as TOML if `name` ends in `.toml`, otherwise as JSON; raises ConfigError."""
    try:
        if name.endswith(".toml"):
            script = msgspec.toml.decode(data, type=Script)
        else:
            script = msgspec.json.decode(data, type=Script)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{_place(name, data, error)}: {error}", hint="see bridle.providers.script"
        ) from error
    for number, reply in enumerate(script.replies):
        try:
            re.compile(reply.match)
        except re.error as error:
            raise ConfigError(
                f"{name}: not a regular expression: {error} - at `$.replies[{number}].match`"
            ) from error
    return script


def _place(name: str, data: bytes, error: Exception) -> str:
    """Return the file's name, with the line number if the error contains a byte offset."""
    found = re.search(r"\(byte (\d+)\)", str(error))
    if not found:
        return name
    line = data.count(b"\n", 0, int(found[1])) + 1
    return f"{name}:{line}"
