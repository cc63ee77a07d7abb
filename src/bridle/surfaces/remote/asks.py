"""What a client can ask of the daemon, and what comes back: one JSON object a line, UTF-8, both ways.

```
client  {"version":"0.1.0","token":""}                              first
daemon  {"version":"0.1.0","pid":4711}
client  {"id":1,"ask":{"type":"submit","session":…,"command":…}}    any number, without waiting
        {"id":2,"ask":{"type":"watch","session":…,"after":0}}
        {"id":6,"ask":{"type":"query","query":{"type":"plan_rewind",…}}}
daemon  {"id":1,"result":…}            one for each ask, or …
        {"id":1,"failure":{"kind":"SessionBusy","message":…}}
        {"id":2,"item":…}              … for a watch as many as there are, until the client says
client  {"id":3,"ask":{"type":"unwatch","watch":2}}
        {"id":4,"ask":{"type":"provide_tools","session":…,"specs":[…]}}   the same way: the items are calls,
        {"id":5,"ask":{"type":"finish","loan":4,"call_id":…,…}}       which the client makes for the session
```
"""

import hashlib

import msgspec
from msgspec import Struct

from bridle.core.error_codec import ErrorData
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media
from bridle.core.protocol import AnyCommand
from bridle.core.protocol.names import snake
from bridle.core.queries import AnyQuery
from bridle.core.session_api import LiveSession
from bridle.core.tool import Access, ToolSpec

MAX_LINE_BYTES = 64 * 1024 * 1024  # a message with pictures is the longest thing there is


class Hello(Struct, frozen=True, omit_defaults=True):
    """Who wants to come in."""

    version: str
    token: str = ""


class Welcome(Struct, frozen=True, omit_defaults=True):
    """Who answers; `refusal` says why nothing more will come."""

    version: str
    pid: int
    refusal: str = ""
    salt: str = ""
    keys: dict[str, str] = {}
    """Fingerprints of the daemon's API keys, by the variable that each came in."""


def fingerprint(salt: str, key: str) -> str:
    """Return what tells two keys apart and none of them away."""
    return hashlib.sha256(f"{salt}\0{key}".encode(errors="replace")).hexdigest()[:16]


class AskKind(Struct, frozen=True, tag=snake, omit_defaults=True):
    """Something to be done by the daemon."""


class Create(AskKind, frozen=True):
    cwd: str
    agent: str = ""
    title: str = ""
    session_id: SessionId | None = None


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
    """What calls of them touch, by their names; without a word nothing that is guarded."""


class Finish(AskKind, frozen=True):
    loan: int
    call_id: CallId
    text: str
    is_error: bool = False
    media: tuple[Media, ...] = ()


class AskQuery(AskKind, frozen=True, tag="query"):
    query: AnyQuery


class WatchAll(AskKind, frozen=True):
    """Ask for the state of all sessions, and its changes."""


class OpenWeb(AskKind, frozen=True):
    """Ask for a link that opens the page in a browser once."""


class Status(AskKind, frozen=True):
    """Ask how the daemon is."""


class Shutdown(AskKind, frozen=True):
    """Ask the daemon to end."""


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
    """Where the page is."""

    url: str
    """Logs in who opens it, once."""
    address: str
    """Host and port."""


class DaemonStatus(Struct, frozen=True, omit_defaults=True):
    """How the daemon is."""

    version: str
    pid: int
    started_at: int
    """Milliseconds since 1970."""
    home: str
    socket: str
    listening: tuple[str, ...] = ()
    """Where else it can be reached."""
    memory_bytes: int = 0
    clients: int = 0
    sessions: tuple[LiveSession, ...] = ()
    """What is in memory; of a node of a cluster that of all machines, as far as it has heard."""
    is_stopping: bool = False
    is_node: bool = False
    """It belongs to a cluster: a run that it has not heard of may go on elsewhere."""
