"""Client for the llama-server endpoints other than chat: health, model facts and token counts."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import msgspec
from msgspec import Struct

from bridle.core.errors import ProviderError
from bridle.core.malformed import MALFORMED

MAX_ANSWER_BYTES = 64 * 1024 * 1024


class ServerAddress(Struct, frozen=True):
    """Address of a server and the API key it expects."""

    url: str
    """Without a path, such as `http://127.0.0.1:8080`."""
    key: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request.

        They close the connection: llama-server announces keep-alive but closes after a stream, which the
        next request on that connection notices too late.
        """
        close = {"Connection": "close"}
        return {**close, "Authorization": f"Bearer {self.key}"} if self.key else close

    def __repr__(self) -> str:
        return f"Address({self.url!r})"


class ServerResponse(Struct, frozen=True):
    """A status and the decoded body; None if the body is not JSON."""

    status: int
    body: Any


class ServerFacts(Struct, frozen=True):
    """Facts that a server reports about its model; 0 means unknown."""

    window_tokens: int = 0
    slots: int = 1
    parameters: int = 0
    has_tools: bool = True
    """True if the model's chat template supports tools; otherwise the server drops them silently."""
    end_token: str = ""


class ServerClient:
    """Sends requests to llama-servers, except chat."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._opened: aiohttp.ClientSession | None = None

    async def is_healthy(self, address: ServerAddress, timeout_s: float) -> bool:
        """Return True if the server responds and has loaded its model."""
        try:
            return (await self.ask(address, "/health", timeout_s=timeout_s)).status == 200
        except ProviderError:
            return False

    async def facts(self, address: ServerAddress, model: str, timeout_s: float) -> ServerFacts:
        """Return what the server reports about a model; raises ProviderError.

        A server with many models loads the requested one.
        """
        answer = await self.ask(
            address, "/props", query={"model": model} if model else {}, timeout_s=timeout_s
        )
        if answer.status in (401, 403):
            raise ProviderError(
                f"{self._who}: the server at {address.url} rejects the key",
                kind="invalid_api_key",
                hint="another server listens there: choose another port",
            )
        if answer.status != 200 or not isinstance(answer.body, dict):
            raise ProviderError(
                f"{self._who}: /props answered with HTTP {answer.status}: {_message(answer.body)}",
                kind="model_not_found" if answer.status in (400, 404) else "server_error",
            )
        models = await self.ask(address, "/v1/models", timeout_s=timeout_s)
        return parse_facts(answer.body, models.body, model)

    async def ask(
        self,
        address: ServerAddress,
        path: str,
        body: Any = None,
        *,
        query: dict[str, str] | None = None,
        timeout_s: float,
    ) -> ServerResponse:
        """Send one request, POST if it has a body, else GET; raises ProviderError if no response comes."""
        try:
            async with self._session().request(
                "GET" if body is None else "POST",
                f"{address.url}{path}",
                params=query,
                data=None if body is None else msgspec.json.encode(body),
                headers=address.headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=timeout_s),
            ) as response:
                return ServerResponse(response.status, _decode(await _read(response.content)))
        except TimeoutError as error:
            raise ProviderError(
                f"{self._who}: {path} gave no answer within {timeout_s:g} s", kind="network_timeout"
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise ProviderError(f"{self._who}: {path} cannot be reached", kind="connection_reset") from error

    async def aclose(self) -> None:
        """Close the connections; a later request opens new ones."""
        if self._opened is not None:
            session, self._opened = self._opened, None
            await session.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(force_close=True),
                headers={"Content-Type": "application/json"},
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._opened


def parse_facts(props: dict[str, Any], models: Any, model: str = "") -> ServerFacts:
    """Return the facts in the bodies of `/props` and `/v1/models`, from any llama-server version."""
    settings = _table(props.get("default_generation_settings"))
    caps = _table(props.get("chat_template_caps"))
    template = props.get("chat_template")
    # A server without `chat_template_caps` offers only the template to check.
    in_template = "tools" in template if isinstance(template, str) and template else True
    return ServerFacts(
        window_tokens=_count(settings.get("n_ctx")),
        slots=max(1, _count(props.get("total_slots"))),
        parameters=_parameters(models, model),
        has_tools=bool(caps.get("supports_tools", in_template)),
        end_token=str(props.get("eos_token") or ""),
    )


def _parameters(models: Any, model: str) -> int:
    entries = _table(models).get("data")
    known = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    named = [entry for entry in known if entry.get("id") == model]
    chosen = named or (known if len(known) == 1 else [])
    return _count(_table(chosen[0].get("meta")).get("n_params")) if chosen else 0


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _message(body: Any) -> str:
    text = str(_table(_table(body).get("error")).get("message") or "no message")
    return "".join(c if c.isprintable() else " " for c in text[:300])


async def _read(content: aiohttp.StreamReader) -> bytes:
    body = bytearray()
    while not content.at_eof() and len(body) < MAX_ANSWER_BYTES:
        body += await content.readany()
    return bytes(body)


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except MALFORMED:
        return None


# ---------------------------------------------------------------------------- local servers
# Probes for local model servers: Ollama, LM Studio, vLLM, llama-server; no other host is contacted.


PROBE_TIMEOUT_S = 0.5


def is_loopback(base_url: str) -> bool:
    """Return True if an address is on this machine."""
    try:
        host = urlsplit(base_url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def list_models(base_url: str, timeout_s: float = PROBE_TIMEOUT_S) -> list[str] | None:
    """Return the model names of a server; None if no server there lists models.

    No key is sent. A server that requires one counts as running, with an empty list.
    """
    parts = urlsplit(base_url)
    control = ServerClient(base_url)
    try:
        address = ServerAddress(f"{parts.scheme}://{parts.netloc}")
        answer = await control.ask(address, "/v1/models", timeout_s=timeout_s)
    except ProviderError:
        return None
    finally:
        await control.aclose()
    if answer.status in (401, 403):
        return []
    match answer.body:
        case {"data": list(models)} if answer.status == 200:
            return [
                model["id"]
                for model in models
                if isinstance(model, dict) and isinstance(model.get("id"), str)
            ]
        case _:
            return None


async def is_llama_server(base_url: str, timeout_s: float = PROBE_TIMEOUT_S) -> bool:
    """Return True if a llama-server runs at an address; it reports its own context window."""
    parts = urlsplit(base_url)
    control = ServerClient(base_url)
    try:
        answer = await control.ask(
            ServerAddress(f"{parts.scheme}://{parts.netloc}"), "/props", timeout_s=timeout_s
        )
    except ProviderError:
        return False
    finally:
        await control.aclose()
    return answer.status == 200 and isinstance(answer.body, dict)
