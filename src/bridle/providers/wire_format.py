"""Helpers that all vendor APIs share: one request/response exchange, and the encoding of a conversation.

A session may switch vendors midway. Each part keeps its vendor's opaque metadata under the name of that API
(`meta["anthropic"]`), and only that API reads it: a part without it is sent plain, or not at all.
"""

import base64
import binascii
import hashlib
import itertools
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar, Literal, Protocol, Self
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ProviderError
from bridle.core.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from bridle.core.model import ModelReply, ModelRequest, merge_params
from bridle.core.protocol import Delta
from bridle.providers.http import CONNECT_TIMEOUT_S, IDLE_TIMEOUT_S, Endpoint, HttpClient, Sign
from bridle.providers.supported_schema import Dialect, reduce_schema
from bridle.providers.vendors import vendor_at

EMPTY = "(empty)"  # the text of an empty user message, because vendors reject an empty one
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # accepted by both Anthropic (characters) and OpenAI (length)
TOOL_PARAMS = ("tool_choice", "parallel_tool_calls", "tool_config", "toolConfig")
_VERSION = re.compile(r"v\d\w*")
_TEXT_MIMES = ("application/json", "application/xml", "application/yaml", "application/toml")


Items = AsyncGenerator[Delta | ModelReply, None]


class Reader(Protocol):
    """Decodes the events of one streamed reply."""

    is_done: bool

    def read(self, data: bytes) -> Iterable[Delta]:
        """Read one event and return its deltas; raises ProviderError."""
        ...

    def reply(self) -> ModelReply:
        """Return the whole reply; raises ProviderError if the stream ended early."""
        ...


def send_request(
    client: HttpClient,
    endpoint: Endpoint,
    request: ModelRequest,
    write: Callable[[ModelRequest], dict[str, Any]],
    read: Callable[[Endpoint, ModelRequest], Reader],
) -> Items:
    """Send a request and yield deltas, then the reply; retry without the output schema if it is rejected."""
    asked = with_and_without_schema(request)
    return first_accepted([exchange(client, endpoint, write(one), read(endpoint, one)) for one in asked])


async def exchange(client: HttpClient, endpoint: Endpoint, body: dict[str, Any], reader: Reader) -> Items:
    """Send one request and yield the reader's deltas, then the whole reply."""
    async with client.post(endpoint, msgspec.json.encode(body)) as answer:
        async for events in answer:
            for event in events:
                for delta in reader.read(event.data):
                    yield delta
            if reader.is_done:
                break
    yield reader.reply()


class VendorProvider:
    """A vendor's API at one endpoint: the base of the providers for each API."""

    dialect: ClassVar[Dialect]
    """The part of JSON Schema that the vendor enforces."""

    def __init__(
        self,
        endpoint: Endpoint,
        client: HttpClient,
        *,
        params: dict[str, Any] | None = None,
        system_prefix: str = "",
    ) -> None:
        vendor = vendor_at(endpoint.url)
        self._endpoint = endpoint
        self._client = client
        self._params = merge_params(vendor.params if vendor else {}, params or {})
        self._system_prefix = system_prefix

    @classmethod
    def at(
        cls,
        who: str,
        base_url: str,
        key: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        params: dict[str, Any] | None = None,
        system_prefix: str = "",
        sign: Sign | None = None,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> Self:
        """Return a provider for the server at `base_url`, with a new client; an empty key sends none."""
        url, vendor = cls.url_below(base_url), vendor_at(base_url)
        usual = {**cls.key_headers(key), **(vendor.headers if vendor else {})}
        return cls(
            Endpoint(who, url, usual | dict(headers or {}), sign),
            HttpClient(connect_timeout_s=connect_timeout_s, idle_timeout_s=idle_timeout_s),
            params=params,
            system_prefix=system_prefix,
        )

    @staticmethod
    def url_below(base_url: str) -> str:
        """Return the address that requests are sent to."""
        raise NotImplementedError

    @staticmethod
    def key_headers(key: str) -> dict[str, str]:
        """Return the headers of every request, with the key unless it is empty."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _prefixed(self, request: ModelRequest) -> ModelRequest:
        """Return a request with the prefix of the provider before its instructions."""
        if not self._system_prefix:
            return request
        return replace(request, system=f"{self._system_prefix}\n\n{request.system}".strip())

    def unenforced(self, schema: dict[str, Any]) -> tuple[str, ...]:
        """Return the parts of a schema that the vendor cannot enforce, as sentences."""
        return reduce_schema(schema, self.dialect).said_of(self._endpoint.who)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def vendor_params(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Merge parameters for a vendor, with the tables in them; later layers win.

    `tool_role`, which sets how a local model receives tool results, is removed: no vendor accepts it.
    """
    merged = merge_params(*layers)
    merged.pop("tool_role", None)
    return merged


def request_params(
    request: ModelRequest,
    own: Mapping[str, Any],
    effort: Mapping[str, Any] | None = None,
    *,
    takes_temperature: bool = True,
) -> dict[str, Any]:
    """Return the parameters of a request; with an output schema, without those about tools.

    `effort` is the request's effort in the words of the vendor.

    Such a request also sets the temperature to 0, which is removed if the model does not accept it.
    """
    merged = vendor_params(own, request.params, effort or {})
    if request.output_schema is not None:
        for key in TOOL_PARAMS if takes_temperature else (*TOOL_PARAMS, "temperature"):
            merged.pop(key, None)
    return merged


def with_format(params: dict[str, Any], key: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with `format` added under `key`; what is already set there wins."""
    given = params.get(key)
    return {**params, key: {"format": wanted, **(given if isinstance(given, dict) else {})}}


def with_and_without_schema(request: ModelRequest) -> list[ModelRequest]:
    """Return the request, then the same without its schema, to send if the schema is rejected."""
    return [request] if request.output_schema is None else [request, replace(request, output_schema=None)]


def first_accepted(answers: Sequence[Items]) -> Items:
    """Yield the first reply whose request is not rejected as invalid; raises the error of the last one.

    Servers differ in which schemas they can enforce, and some can enforce none.
    """
    return answers[0] if len(answers) == 1 else _first_accepted(answers)


async def _first_accepted(answers: Sequence[Items]) -> Items:
    for place, answer in enumerate(answers, 1):
        has_begun = False
        try:
            async with aclosing(answer) as items:
                async for item in items:
                    has_begun = True
                    yield item
            return
        except ProviderError as error:
            if has_begun or place == len(answers) or error.kind != "invalid_request":
                raise


def add_api_version(base_url: str, version: str) -> str:
    """Return an address that ends in an API version, adding `version` if it has none."""
    base_url = base_url.rstrip("/")
    last = urlsplit(base_url).path.rpartition("/")[2]
    return base_url if _VERSION.fullmatch(last) else f"{base_url}/{version}"


# ---------------------------------------------------------------------------- conversation


class Turn(Struct):
    """Consecutive messages of one role, merged."""

    role: Literal["user", "assistant"]
    parts: list[Part] = []
    results: list[ToolResult] = []
    """Tool results, in the order of their calls."""

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls, in order."""
        return [part for part in self.parts if isinstance(part, ToolCall)]


def merge_turns(messages: Sequence[Message], can_send: Callable[[Part], bool]) -> list[Turn]:
    """Merge messages so that roles alternate; drops the assistant's parts that cannot be sent."""
    turns: list[Turn] = []
    for message in messages:
        if message.role == "assistant":
            _add(turns, "assistant", _assistant_parts(message, can_send), [])
        elif message.role == "tool":
            _add(turns, "user", [], [part for part in message.parts if isinstance(part, ToolResult)])
        else:
            _add(turns, "user", _user_parts(message), [])
    for before, turn in itertools.pairwise(turns):
        places = {call.id: place for place, call in enumerate(before.calls)}
        turn.results.sort(key=lambda result: places.get(result.call_id, len(places)))
    return turns


def _assistant_parts(message: Message, can_send: Callable[[Part], bool]) -> list[Part]:
    parts = [part for part in message.parts if can_send(part)]
    while parts and isinstance(parts[-1], Reasoning):
        parts.pop()  # vendors reject reasoning that nothing follows
    return parts


def _user_parts(message: Message) -> list[Part]:
    parts: list[Part] = [
        part
        for part in message.parts
        if isinstance(part, Media) or (isinstance(part, Text) and part.text.strip())
    ]
    return parts or [Text(EMPTY)]


def _add(
    turns: list[Turn], role: Literal["user", "assistant"], parts: list[Part], results: list[ToolResult]
) -> None:
    if not parts and not results:
        return
    if not turns or turns[-1].role != role:
        turns.append(Turn(role))
    turns[-1].parts += parts
    turns[-1].results += results


def vendor_metadata(part: Text | Reasoning | ToolCall, wire: str) -> dict[str, Any]:
    """Return the metadata of a part for this vendor API; empty if another vendor wrote the part."""
    kept = part.meta.get(wire)
    return kept if isinstance(kept, dict) else {}


# ---------------------------------------------------------------------------- calls and files


def wire_call_id(call_id: str) -> str:
    """Return an id that every vendor accepts; any other id is hashed, so it maps to the same id each time."""
    if _CALL_ID.fullmatch(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def wire_args(call: ToolCall) -> dict[str, Any]:
    """Return a call's arguments; invalid JSON is wrapped in an object, because vendors require one."""
    return {"invalid_json": call.invalid} if call.invalid else call.args


def data_url(media: Media) -> str:
    """Return a file as a data URL."""
    return f"data:{media.mime};base64,{media.data}"


def decode_text(media: Media) -> str | None:
    """Return the content of a text file, or None if it is something else."""
    mime = media.mime.partition(";")[0]
    if not (mime.startswith("text/") or mime in _TEXT_MIMES or mime.endswith(("+json", "+xml"))):
        return None
    try:
        return base64.b64decode(media.data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def omitted_file_note(media: Media) -> str:
    """Return a note for the model that a file could not be sent."""
    return f"[{media.name or 'a file'} of type {media.mime} was left out: this model cannot read it]"


# ---------------------------------------------------------------------------- decoded JSON


def string_at(value: Any, *path: str) -> str:
    """Return the string at a path of keys; empty for anything else, because vendors send null freely."""
    found = _at(value, path)
    return found if isinstance(found, str) else ""


def count_at(value: Any, *path: str) -> int:
    """Return the integer at a path of keys; 0 if it is negative or not an integer."""
    found = _at(value, path)
    return max(0, found) if isinstance(found, int) else 0


def list_at(value: Any, *path: str) -> list[Any]:
    """Return the list at a path of keys; empty if it is not a list."""
    found = _at(value, path)
    return found if isinstance(found, list) else []


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
