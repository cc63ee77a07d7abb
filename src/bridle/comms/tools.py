"""The peer tools for a model: send, request, respond and list."""

from collections.abc import Awaitable, Callable
from functools import cache
from pkgutil import get_data
from typing import Any, TypeVar

from msgspec.json import encode

from bridle.comms.envelope import MAX_INTENT_CHARS, STATUSES, Status
from bridle.comms.hub import Comms
from bridle.core.errors import BridleError, ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.core.tool import Access, Subject, ToolSpec

_MAX_NAME_CHARS = 64
_Args = dict[str, Any]
_T = TypeVar("_T")


def peer_tools(comms: Comms) -> tuple[Tool, ...]:
    """Create the peer tools."""
    return (
        PeerTool("peer_send", _SEND, comms, show=lambda args: _text(args, "body"), act=_send),
        PeerTool("peer_request", _REQUEST, comms, show=_show_request, act=_request),
        PeerTool("peer_respond", _RESPOND, comms, show=_show_response, act=_respond),
        PeerList(comms),
    )


class PeerTool:
    """A tool that sends something to a peer."""

    parallel = False  # a peer must get messages in the order the model sent them

    def __init__(
        self,
        name: str,
        parameters: dict[str, Any],
        comms: Comms,
        *,
        show: Callable[[_Args], str],
        act: Callable[[Comms, _Args, SessionId], Awaitable[str]],
    ) -> None:
        """Create with `show`, which renders a call for its preview, and `act`, which performs it."""
        self.spec = ToolSpec(name, _description(name), parameters)
        self._comms = comms
        self._show = show
        self._act = act

    def is_useful(self, cwd: str) -> bool:
        """Return whether there is any peer to send to."""
        return self._comms.has_peers()

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return network access to the named peer, so that a rule like `peer_send(builder)` can match it."""
        return Access(self.spec.name, "network", (Subject("text", _peer(args)),))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return what would be sent, and where; raises ToolError for an unknown peer."""
        text = self._show(args)
        peer = await _as_tool_error(self._comms.find(_peer(args)))
        return f"to {peer.name}, {peer.address}\n{text}"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Send it and return the outcome."""
        return ToolOutput(await _as_tool_error(self._act(self._comms, args, context.session)))


class PeerList:
    """The tool that lists the peers."""

    parallel = True

    def __init__(self, comms: Comms) -> None:
        self.spec = ToolSpec("peer_list", _description("peer_list"), _LIST)
        self._comms = comms

    def is_useful(self, cwd: str) -> bool:
        """Return whether there is any peer to send to."""
        return self._comms.has_peers()

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return read access without subjects."""
        return Access("peer_list", "read")

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return nothing: the tool changes nothing."""
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the peers, one per line."""
        peers = await _as_tool_error(self._comms.peers())
        return ToolOutput(
            "\n".join(f"{peer.name}  {peer.address}" for peer in peers) or "There are no peers."
        )


# ---------------------------------------------------------------------------- actions


async def _send(comms: Comms, args: _Args, session: SessionId) -> str:
    to = _peer(args)
    comms.note_sent(session, to)
    await comms.send(to, _text(args, "body"))
    return f"Message delivered to {to}"


async def _request(comms: Comms, args: _Args, session: SessionId) -> str:
    to = _peer(args)
    request_id = await comms.request(to, _intent(args), args.get("params"), session)
    return f"Request delivered to {to}, id {request_id}"


async def _respond(comms: Comms, args: _Args, session: SessionId) -> str:
    to = _peer(args)
    comms.note_sent(session, to)
    await comms.respond(to, _text(args, "in_reply_to"), _status(args), args.get("result"))
    return f"Answer sent to {to}"


def _show_request(args: _Args) -> str:
    return f"{_intent(args)}\n{_json(args.get('params'))}".strip()


def _show_response(args: _Args) -> str:
    return f"{_status(args)}\n{_json(args.get('result'))}".strip()


async def _as_tool_error(answer: Awaitable[_T]) -> _T:
    """Await a result, turning errors into ToolError for the model."""
    try:
        return await answer
    except BridleError as error:
        raise ToolError(error.message, hint=error.hint) from error


# ---------------------------------------------------------------------------- arguments


def _peer(args: _Args) -> str:
    return _text(args, "to").strip()[: _MAX_NAME_CHARS + 1]


def _text(args: _Args, key: str) -> str:
    value = args.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ToolError(f"{key} is missing")
    return value


def _intent(args: _Args) -> str:
    intent = _text(args, "intent")
    if len(intent) > MAX_INTENT_CHARS:
        raise ToolError(f"intent has more than {MAX_INTENT_CHARS} characters", hint="put details into params")
    return intent


def _status(args: _Args) -> Status:
    for status in STATUSES:
        if args.get("status") == status:
            return status
    raise ToolError(f"status must be one of {', '.join(STATUSES)}")


def _json(value: Any) -> str:
    try:
        return "" if value is None else encode(value).decode()
    except (UnicodeEncodeError, RecursionError) as error:
        raise ToolError(f"it cannot be sent: {error}") from error


# ---------------------------------------------------------------------------- descriptions and parameters


@cache
def _description(tool: str) -> str:
    return (get_data(__package__, f"{tool}.md") or b"").decode().strip()


def _parameters(required: int, **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)[:required]}


_TEXT = {"type": "string"}
_SEND = _parameters(2, to=_TEXT, body=_TEXT)
_REQUEST = _parameters(
    2,
    to=_TEXT,
    intent={"type": "string", "description": "What to do, in a few words"},
    params={"type": "object"},
)
_RESPOND = _parameters(
    3,
    to=_TEXT,
    in_reply_to=_TEXT,
    status={"type": "string", "enum": list(STATUSES)},
    result={"description": "Any JSON value"},
)
_LIST = _parameters(0)
