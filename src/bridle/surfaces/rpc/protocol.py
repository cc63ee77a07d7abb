"""JSON-RPC 2.0 with one message per line: parsing and encoding."""

from typing import Any, TypeGuard

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from bridle.core.errors import BridleError
from bridle.surfaces.shared.error_codes import classify_error

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_ID_CHARS = 256
MAX_METHOD_CHARS = 100

Id = str | int


class Request(Struct, frozen=True):
    """A request from the client."""

    id: Id
    method: str
    params: Raw


class Notification(Struct, frozen=True):
    """A notification from the client."""

    method: str


class RpcReply(Struct, frozen=True):
    """The client's answer to a request from the server."""

    id: Id
    result: Any = None
    error: str = ""
    """Why there is no result."""


class InvalidLine(Struct, frozen=True):
    """What is wrong with a line."""

    code: int
    message: str
    id: Id | None = None
    """The id of the request, if it could be read."""


Incoming = Request | Notification | RpcReply | InvalidLine


class _Line(Struct, frozen=True):
    """The fields common to all messages."""

    jsonrpc: Any | UnsetType = UNSET
    id: Any | UnsetType = UNSET
    method: Any | UnsetType = UNSET
    params: Raw = Raw(b"{}")
    result: Any | UnsetType = UNSET
    error: Any | UnsetType = UNSET


_lines = msgspec.json.Decoder(_Line)
_encoder = msgspec.json.Encoder()


def parse_line(line: bytes) -> Incoming:
    """Parse one line of any kind."""
    try:
        read = _lines.decode(line)
    except msgspec.ValidationError:
        is_list = line.lstrip()[:1] == b"["
        why = "batches are not supported, send one request per line" if is_list else "not a JSON object"
        return InvalidLine(PARSE_ERROR, f"Parse error: {why}")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return InvalidLine(PARSE_ERROR, f"Parse error: {error}")
    except RecursionError:
        return InvalidLine(PARSE_ERROR, "Parse error: nested too deeply")
    return _checked(read)


def _checked(read: _Line) -> Incoming:
    id_ = read.id if _is_id(read.id) else None
    if not isinstance(read.jsonrpc, str):
        return InvalidLine(INVALID_REQUEST, 'Invalid request: "jsonrpc" is missing', id_)
    if read.id is not UNSET and id_ is None:
        return InvalidLine(
            INVALID_REQUEST, "Invalid request: the id is neither an integer nor a short string"
        )
    if read.method is UNSET and id_ is not None and (read.result is not UNSET or read.error is not UNSET):
        return _reply(read, id_)
    if not isinstance(read.method, str) or len(read.method) > MAX_METHOD_CHARS:
        return InvalidLine(INVALID_REQUEST, "Invalid request: there is no method", id_)
    if id_ is None:
        return Notification(read.method)
    params = bytes(read.params)
    if params == b"null":
        return Request(id_, read.method, Raw(b"{}"))
    if params[:1] != b"{":
        return InvalidLine(INVALID_REQUEST, "Invalid request: the params are not an object", id_)
    return Request(id_, read.method, read.params)


def _is_id(value: Any) -> TypeGuard[Id]:
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARS
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _reply(read: _Line, id_: Id) -> RpcReply:
    if read.error is UNSET or read.error is None:
        return RpcReply(id_, read.result)
    said = read.error.get("message") if isinstance(read.error, dict) else read.error
    return RpcReply(id_, error=said if isinstance(said, str) and said else "the client failed")


# ---------------------------------------------------------------------------- output


class ErrorResponse(Struct, frozen=True, omit_defaults=True):
    """Why a request failed."""

    code: int
    message: str
    data: dict[str, Any] = {}


def error_response(error: BaseException) -> ErrorResponse:
    """Convert an error to the contract's numbers; the details of unexpected errors are not sent."""
    problem = classify_error(error)
    if not isinstance(error, BridleError):
        return ErrorResponse(problem.rpc, problem.title, {"name": problem.code})
    hint = {"hint": error.hint} if error.hint else {}
    return ErrorResponse(problem.rpc, error.message, {"name": problem.code, **hint})


def result_line(id_: Id, result: Any) -> bytes:
    """Encode the answer to a request."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (_encoder.encode(id_), _encoder.encode(result))


def failure_line(id_: Id | None, failure: ErrorResponse) -> bytes:
    """Encode the error of a request."""
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (_encoder.encode(id_), _encoder.encode(failure))


def request_line(id_: Id, method: str, params: Any) -> bytes:
    """Encode a request to the client."""
    body = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    return _encoder.encode(body) + b"\n"


def notification_line(method: str, params: Any) -> bytes:
    """Encode a notification."""
    return _encoder.encode({"jsonrpc": "2.0", "method": method, "params": params}) + b"\n"
