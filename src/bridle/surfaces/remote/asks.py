"""The protocol between a client and the daemon: one JSON object per line, UTF-8, in both directions.

```
client  {"version":"0.1.0","token":""}                              first line
daemon  {"version":"0.1.0","pid":4711}
client  {"id":1,"ask":{"type":"submit","session":…,"command":…}}    any number, without waiting for answers
        {"id":2,"ask":{"type":"watch","session":…,"after":0}}
        {"id":6,"ask":{"type":"query","query":{"type":"status",…}}}     any query of core/queries.py
daemon  {"id":1,"result":…}            one per request, or …
        {"id":1,"failure":{"kind":"SessionBusy","message":…}}
        {"id":2,"item":…}              … many for a watch, until the client sends
client  {"id":3,"ask":{"type":"unwatch","watch":2}}
        {"id":4,"ask":{"type":"provide_tools","session":…,"specs":[…]}}   a stream of tool calls,
        {"id":5,"ask":{"type":"finish","loan":4,"call_id":…,…}}           which the client runs
```
"""

import hashlib

import msgspec
from msgspec import Struct

from bridle.core.codec import ErrorData
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, Message
from bridle.core.protocol import AnyCommand, SessionOptions
from bridle.core.protocol.values import snake
from bridle.core.queries import AnyQuery
from bridle.core.session_api import LiveSession
from bridle.core.tool import Access, ToolSpec

MAX_LINE_BYTES = 64 * 1024 * 1024  # the longest line is a message with images


class Hello(Struct, frozen=True, omit_defaults=True):
    """The first line of a client."""

    version: str
    token: str = ""


class Welcome(Struct, frozen=True, omit_defaults=True):
    """The daemon's reply to `Hello`; with a `refusal`, its last line."""

    version: str
    pid: int
    refusal: str = ""
    salt: str = ""
    keys: dict[str, str] = {}
    """Fingerprints of the daemon's API keys, by environment variable."""


def fingerprint(salt: str, key: str) -> str:
    """Return a salted hash, to compare keys without revealing them."""
    return hashlib.sha256(f"{salt}\0{key}".encode(errors="replace")).hexdigest()[:16]


class AskKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """The base of all requests to the daemon."""


class Create(AskKind, frozen=True):
    cwd: str
    agent: str = ""
    title: str = ""
    session_id: SessionId | None = None
    options: SessionOptions = SessionOptions()
    messages: tuple[Message, ...] = ()
    labels: dict[str, str] = {}


class Submit(AskKind, frozen=True):
    session: SessionId
    command: AnyCommand


class Watch(AskKind, frozen=True):
    session: SessionId
    after: int | None = 0


class Unwatch(AskKind, frozen=True):
    watch: int


class ProvideTools(AskKind, frozen=True):
    session: SessionId
    specs: tuple[ToolSpec, ...]
    access: dict[str, Access] = {}
    """What calls of each tool access, by tool name; a missing one accesses nothing that is guarded."""


class Finish(AskKind, frozen=True, rename={"offer": "loan"}):
    """The result of a call; `offer` is the number of the `ProvideTools` request."""

    offer: int
    call_id: CallId
    text: str
    is_error: bool = False
    media: tuple[Media, ...] = ()


class AskQuery(AskKind, frozen=True, tag="query"):
    query: AnyQuery


class WatchAll(AskKind, frozen=True):
    """Watch the state of all sessions."""


class OpenWeb(AskKind, frozen=True):
    """Request a link that opens the web page in a browser, once."""


class Status(AskKind, frozen=True):
    """Request the status of the daemon."""


class Shutdown(AskKind, frozen=True):
    """Request the end of the daemon."""


Ask = (
    Create
    | Submit
    | AskQuery
    | Watch
    | WatchAll
    | Unwatch
    | ProvideTools
    | Finish
    | OpenWeb
    | Status
    | Shutdown
)


class AskRequest(Struct, frozen=True):
    """An ask, numbered by the client."""

    id: int
    ask: Ask


class Answer(Struct, frozen=True, omit_defaults=True):
    """A line to the client: a result, a failure, or the next item of a watch."""

    id: int
    result: msgspec.Raw = msgspec.Raw()
    failure: ErrorData | None = None
    item: msgspec.Raw = msgspec.Raw()


class WebAddress(Struct, frozen=True):
    """The address of the web page."""

    url: str
    """A link that logs the browser in, once."""
    address: str
    """Host and port."""


class DaemonStatus(Struct, frozen=True, omit_defaults=True):
    """The status of the daemon."""

    version: str
    pid: int
    started_at: int
    """Milliseconds since 1970."""
    home: str
    socket: str
    listening: tuple[str, ...] = ()
    """The other addresses at which it listens."""
    memory_bytes: int = 0
    clients: int = 0
    sessions: tuple[LiveSession, ...] = ()
    """The sessions in memory; for a cluster node, those of all machines in the news it has received."""
    is_stopping: bool = False
    is_node: bool = False
    """True if it belongs to a cluster: runs that it does not list may be active on other machines."""
