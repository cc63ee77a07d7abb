"""The script of a scripted model: what it answers, written down in one JSON or TOML file.

```json
{"replies": [
  {"text": "Let me look.", "calls": [{"name": "read_file", "args": {"path": "hello.py"}}]},
  {"text": "It says: {last_tool_result}", "expect": {"tool_result": "print"}}
]}
```

**Which reply.** The number of assistant messages in the request is the number of the reply: a new process
that continues a conversation goes on at the right place, and one script serves any number of sessions.
With `"repeat": true` the replies start again after the last; without it, asking further is an error.
A reply with `match` stands outside this order. If the regular expression is found in the last user
message, the replies with that same `match` answer, one after the other, counted from that message.

Of a script:

- `replies`: the replies, in order
- `repeat`: start again after the last one
- `about`: a note to the reader
- `window_tokens`, `max_output_tokens`, `price`: facts about the model, where the defaults do not do

Of a reply (all optional; `{}` is an answer with nothing in it):

- `reasoning`, `text`: a text, streamed word by word, or a list of the chunks to stream
- `calls`: tool calls, each with a `name`; `args`: an object, a text sent as it is (broken JSON too) or a
  list of its fragments; `id`: else one is made from the position, and with `""` none is sent
- `stop_reason`, `usage`, `model`: what the vendor would report; estimated where left out
- `delay_ms`, `chunk_delay_ms`: wait before the answer, and before each chunk
- `expect`: what the request must hold, or the answer is an error that says what is missing: `user`,
  `tool_result` and `system` are texts to be found in the last one, `tools` are names that must be offered
- `match`: see above
- `fault`: what goes wrong, see below

`text`, `reasoning` and the strings in `args` may hold `{last_user}`, `{last_tool_result}`,
`{tool_results}` (all since the last answer, one per line) and `{model}`.

Of a fault, by its `kind`:

- `http`: an error answer: a `reason` (our error kind, told in each vendor's own words) or a `status`, with
  `headers` and `message`; or a whole `body`, as a JSON value or a text sent as it is
- `error`: an error event in mid-stream, with `reason` and `message`
- `truncate`: the stream closes cleanly without its last event
- `garbage`: nonsense, `data` with one byte per character (Latin-1), then the stream closes
- `reset`: the connection breaks
- `hang`: silence, until the other side gives up

All but `http` take `after`, the number of chunks to send first (default: all of them; with 0, `reset` and
`hang` come before the response head). `times` makes a fault pass: the same request fails that often, then
gets its answer; this one count lives in the process.
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


class Tokens(Usage, frozen=True, forbid_unknown_fields=True):
    """Usage, read strictly."""


class Dollars(Price, frozen=True, forbid_unknown_fields=True):
    """Price, read strictly."""


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
    """An error answer instead of a stream."""

    status: Annotated[int, Meta(ge=200, le=599)] | None = None
    reason: Reason | None = None
    message: str = ""
    headers: dict[str, str] = {}
    body: Any = None
    times: Count = 0


class StreamFault(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="kind"):
    """Something that goes wrong in a stream."""

    after: Count | None = None
    """How many chunks come first; None means all, without the end of the stream."""
    times: Count = 0


class ErrorFault(StreamFault, frozen=True, tag="error"):
    """An error event in the middle of the stream."""

    reason: Reason = "server_error"
    message: str = ""


class TruncateFault(StreamFault, frozen=True, tag="truncate"):
    """The stream closes cleanly, too early."""


class GarbageFault(StreamFault, frozen=True, tag="garbage"):
    """Bytes that are no answer."""

    data: str = GARBAGE


class ResetFault(StreamFault, frozen=True, tag="reset"):
    """The connection breaks."""


class HangFault(StreamFault, frozen=True, tag="hang"):
    """Nothing more is sent."""


MidStreamFault = ErrorFault | TruncateFault | GarbageFault | ResetFault | HangFault
Fault = HttpFault | MidStreamFault


class Reply(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One answer of the scripted model."""

    text: Chunks = ""
    reasoning: Chunks = ""
    calls: tuple[Call, ...] = ()
    usage: Tokens | None = None
    stop_reason: StopReason | None = None
    model: str = ""
    delay_ms: Count = 0
    chunk_delay_ms: Count = 0
    expect: Expect = Expect()
    match: str = ""
    fault: Fault | None = None


class Script(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything a scripted model will say."""

    replies: tuple[Reply, ...]
    repeat: bool = False
    about: str = ""
    window_tokens: Annotated[int, Meta(gt=0)] = 128_000
    max_output_tokens: Annotated[int, Meta(gt=0)] = 8_192
    price: Dollars | None = None


def load_script(path: Path) -> Script:
    """Read a script file; raises ConfigError that names the file and the key."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: the script cannot be read: {error.strerror}") from error
    return parse_script(data, str(path))


def parse_script(data: bytes, name: str = "script.json") -> Script:
    """Read a script from bytes; a name that ends in `.toml` says it is TOML, anything else is JSON."""
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
    """Add the line to the file's name where the error knows its byte."""
    found = re.search(r"\(byte (\d+)\)", str(error))
    if not found:
        return name
    line = data.count(b"\n", 0, int(found[1])) + 1
    return f"{name}:{line}"
