"""Login to remote servers by OAuth 2.1 with a browser, and later use of the tokens without one.

```
login    401 ─▶ discovery ─▶ registration ─▶ browser ─▶ 127.0.0.1/callback ─▶ tokens ─▶ logins.json
a run    token ─▶ (expired or 401: refreshed) ─▶ (still 401: LoginNeeded)
```
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from secrets import compare_digest
from typing import Any
from urllib.parse import parse_qs, urldefrag, urlsplit

import httpx2
import msgspec
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from msgspec import Struct
from pydantic import AnyUrl, ValidationError

from bridle.core.errors import ToolError
from bridle.core.malformed import MALFORMED
from bridle.mcp.http import create_client, explain, redact_url
from bridle.mcp.server_log import clean_line
from bridle.mcp.settings import ServerSettings
from bridle.system.files import PRIVATE_FOLDER, lock_file, write_atomically

# ---------------------------------------------------------------------------- login store
# The store of logins: one file that only its owner can read, shared by all processes of a home.
#
# ```
# <home>/mcp/logins.json    {"logins": {"<address> <client id>": {tokens, expiry, registration, endpoints}}}
# ```
#
# Its content is never logged or shown. Every method blocks; raises ToolError.


MAX_FILE_BYTES = 4 * 1024 * 1024
_HINT = "log in again with bridle mcp login"


class Login(Struct, frozen=True, omit_defaults=True):
    """The data from a server and its authorization server, unchanged."""

    tokens: dict[str, Any]
    expires_at: float | None = None
    """Seconds since 1970."""
    client: dict[str, Any] = {}
    """Our client registration."""
    endpoints: dict[str, Any] = {}
    """The authorization server's metadata: where to refresh a token."""
    resource: dict[str, Any] = {}
    """The server's own metadata."""


class _File(Struct, frozen=True):
    logins: dict[str, Login] = {}


class LoginStore:
    """The logins of a home, by the server's address and client id."""

    def __init__(self, home: Path) -> None:
        self._path = home / "mcp" / "logins.json"

    def get(self, settings: ServerSettings) -> Login | None:
        """Return the login to a server, if there is one."""
        return self._read().get(_key(settings))

    def put(self, settings: ServerSettings, login: Login) -> None:
        """Save a login; it replaces an earlier one."""
        with self._changing() as logins:
            logins[_key(settings)] = login

    def remove(self, settings: ServerSettings) -> bool:
        """Delete a login; False if there is none."""
        if self.get(settings) is None:
            return False
        with self._changing() as logins:
            return logins.pop(_key(settings), None) is not None

    def _read(self) -> dict[str, Login]:
        try:
            with open(self._path, "rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
            return dict(msgspec.json.decode(data, type=_File).logins)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ToolError(f"cannot read {self._path}: {error.strerror}") from error
        except MALFORMED:  # the error text would show the content
            raise ToolError(f"{self._path} is damaged", hint=f"remove it and {_HINT}") from None

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Login]]:
        """Yield the logins to change them, under a lock against other processes."""
        try:
            with lock_file(self._path):
                os.chmod(self._path.parent, PRIVATE_FOLDER)
                logins = self._read()
                yield logins
                write_atomically(self._path, msgspec.json.format(msgspec.json.encode(_File(logins))) + b"\n")
        except OSError as error:
            raise ToolError(f"cannot save the login in {self._path}: {error.strerror}") from error


def _key(settings: ServerSettings) -> str:
    return f"{urldefrag(settings.url).url} {settings.oauth.client_id}".rstrip()


# ---------------------------------------------------------------------------- login callback
# The page to which the browser returns after a login: on this machine's loopback address, for one visit.


HOST = "127.0.0.1"
PATH = "/callback"
READ_TIMEOUT_S = 5.0
MAX_HEAD_BYTES = 16 * 1024
_PAGE = "<!doctype html><meta charset=utf-8><title>Bridle</title><p>{}</p>"


class LoginCallback(AbstractAsyncContextManager["LoginCallback"]):
    """Listens while entered; only the visit with the right state counts."""

    def __init__(self, port: int = 0) -> None:
        """Set the port to listen on, 0 for any."""
        self.port = port
        self._state: str | None = None
        self._server: asyncio.Server | None = None
        self._visits: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "LoginCallback":
        self._found: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._visit, HOST, self.port, limit=MAX_HEAD_BYTES)
        except OSError as error:
            raise ToolError(
                f"cannot listen at {HOST}:{self.port} for the browser: {error.strerror}",
                hint="set another callback_port, or none",
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)
        self._found.cancel()

    def expect(self, url: str) -> None:
        """Set the page to which the user is sent: its state must come back."""
        self._state = (parse_qs(urlsplit(url).query).get("state") or [""])[0]

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the browser; raises ToolError if the user or the server refused."""
        return await self._found

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.current_task()
        assert visit is not None
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                status, words = self._read(head)
                body = _PAGE.format(words).encode()
                lines = f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\n"
                writer.write(f"{lines}connection: close\r\n\r\n".encode() + body)
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return  # a visitor without a valid request
        finally:
            writer.close()

    def _read(self, head: bytes) -> tuple[str, str]:
        """Check a visit; return the status and text of its page."""
        method, _, rest = head.decode("latin-1").partition(" ")
        target = urlsplit(rest.split(" ", 1)[0])
        if method != "GET" or target.path != PATH:
            return "404 Not Found", "Not found."
        given = {name: values[0] for name, values in parse_qs(target.query).items()}
        if not self._state or not compare_digest(given.get("state", "").encode(), self._state.encode()):
            return "400 Bad Request", "This is not the expected login."
        if self._found.done():
            return "400 Bad Request", "This login has expired."
        if "code" not in given:
            why = clean_line(given.get("error_description") or given.get("error") or "no code came back", 300)
            self._found.set_exception(ToolError(f"the login was refused: {why}"))
            return "200 OK", "The login was refused. You can close this page."
        self._found.set_result(
            AuthorizationCodeResult(code=given["code"], state=given["state"], iss=given.get("iss"))
        )
        return "200 OK", "You are logged in. You can close this page."


# ---------------------------------------------------------------------------- login


LOGIN_TIMEOUT_S = 300.0
EARLY_S = 30.0  # a token that expires sooner is refreshed before it is used
MAX_WHY_CHARS = 300
_BUSY = frozenset({408, 429, 500, 502, 503, 504})


async def login(
    settings: ServerSettings,
    home: Path,
    open_browser: Callable[[str], bool],
    tell: Callable[[str], None],
    *,
    timeout_s: float = LOGIN_TIMEOUT_S,
) -> None:
    """Let the user log in with a browser and save the tokens; raises ToolError.

    `open_browser` blocks (it is called in a thread) and returns whether it succeeded; `tell` shows a line to
    the user.
    """
    _refuse_needless(settings)
    memory = _LoginStorage(settings)
    try:
        async with asyncio.timeout(timeout_s), LoginCallback(settings.oauth.callback_port) as callback:

            async def send_user(url: str) -> None:
                callback.expect(url)
                tell(f"log in to {settings.name} with your browser: {url}")
                if not await asyncio.to_thread(open_browser, url):
                    tell("no browser could be opened here: copy the address into one on this machine")

            provider = OAuthClientProvider(
                server_url=settings.url,
                client_metadata=_metadata(settings, callback.port),
                storage=memory,
                redirect_handler=send_user,
                callback_handler=callback.answer,
            )
            status = await _knock(settings, provider)
    except TimeoutError:
        raise ToolError(f"no login to {settings.name} within {timeout_s:g} s") from None
    except (OAuthFlowError, ValidationError) as error:
        why = clean_line(str(error), MAX_WHY_CHARS)
        raise ToolError(
            f"the login to {settings.name} failed: {why}",
            hint="a server without OAuth needs a header instead, such as Authorization",
        ) from error
    except httpx2.HTTPError as error:
        raise ToolError(f"{settings.name}: {explain(error, settings.url)}") from error
    if memory.tokens is None:
        raise ToolError(f"{settings.name} at {redact_url(settings.url)} needs no login (status {status})")
    if status in (401, 403):
        raise ToolError(f"{settings.name} rejected the token that it issued (status {status})")
    made = _made(memory, provider)
    await asyncio.to_thread(LoginStore(home).put, settings, made)


def logout(settings: ServerSettings, home: Path) -> bool:
    """Delete a login; False if there was none. Blocking; raises ToolError."""
    return LoginStore(home).remove(settings)


def has_own_authorization(settings: ServerSettings) -> bool:
    """True if the user has set an Authorization header, which takes precedence over a login."""
    return any(name.lower() == "authorization" for name in settings.headers)


def _refuse_needless(settings: ServerSettings) -> None:
    if settings.transport == "stdio":
        raise ToolError(f"{settings.name} is a local program and needs no login")
    if has_own_authorization(settings):
        raise ToolError(
            f"{settings.name} already has an Authorization header, which overrides a login",
            hint="remove the header first",
        )


async def _knock(settings: ServerSettings, provider: OAuthClientProvider) -> int:
    """Send a request that needs a login; the provider does the rest. Return the last status."""
    client = await asyncio.to_thread(create_client, settings, provider)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"accept": "application/json, text/event-stream"}
    async with client:
        if settings.transport == "sse":
            request = client.build_request("GET", settings.url, headers={"accept": "text/event-stream"})
        else:
            request = client.build_request("POST", settings.url, json=ping, headers=accept)
        response = await client.send(request, stream=True, follow_redirects=False)
        await response.aclose()
        return response.status_code


def _metadata(settings: ServerSettings, port: int) -> OAuthClientMetadata:
    kind = _FixedScope if settings.oauth.scopes else OAuthClientMetadata
    return kind(
        client_name="Bridle",
        redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}{PATH}")],
        scope=" ".join(settings.oauth.scopes) or None,
    )


class _FixedScope(OAuthClientMetadata):
    """Keeps the scopes that the user has set: the SDK would replace them with those the server names."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "scope":
            super().__setattr__(name, value)


class _LoginStorage:
    """The SDK's storage during a login: starts empty, and only a complete login is saved."""

    def __init__(self, settings: ServerSettings) -> None:
        self.tokens: OAuthToken | None = None
        self.client = _configured(settings)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def _configured(settings: ServerSettings) -> OAuthClientInformationFull | None:
    """Return the client registration from the user's settings."""
    if not settings.oauth.client_id:
        return None
    return OAuthClientInformationFull(
        client_id=settings.oauth.client_id,
        client_secret=settings.oauth.client_secret or None,
        token_endpoint_auth_method="client_secret_post" if settings.oauth.client_secret else "none",
    )


def _made(memory: _LoginStorage, provider: OAuthClientProvider) -> Login:
    assert memory.tokens is not None
    context = provider.context
    return Login(
        tokens=_dump(memory.tokens),
        expires_at=context.token_expiry_time,
        client=_dump(memory.client),
        endpoints=_dump(context.oauth_metadata),
        resource=_dump(context.protected_resource_metadata),
    )


def _dump(model: Any) -> dict[str, Any]:
    return {} if model is None else dict(model.model_dump(mode="json", exclude_none=True))


class LoginAuth(OAuthClientProvider):
    """Adds a login's token to each request, and refreshes it; never asks the user.

    The SDK's own flow holds a lock until each answer begins, so that a slow call would block the others.
    """

    def __init__(self, settings: ServerSettings, home: Path) -> None:
        super().__init__(settings.url, _metadata(settings, 0), _LoginStorage(settings))
        self._settings = settings
        self._logins = LoginStore(home)
        self._known: Login | None = None
        self._has_looked = False

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        async with self.context.lock:
            if not self._has_looked:
                self._has_looked = True
                await self._load()
            if self.context.current_tokens is not None and not self._is_fresh() and not await self._load():
                refreshing = await self._refreshing()
                if refreshing is not None:
                    await self._refreshed((yield refreshing))
        used = self._add_token(request)
        response = yield request
        if response.status_code != 401:
            return
        async with self.context.lock:
            is_other = self._add_token(request) != used or await self._load()
            refreshing = None if is_other else await self._refreshing()
            if refreshing is not None:
                await self._refreshed((yield refreshing))
        if is_other or refreshing is not None:  # in any case: the last answer is the one that counts
            self._add_token(request)
            yield request

    def _is_fresh(self) -> bool:
        expiry = self.context.token_expiry_time
        return expiry is None or time.time() + EARLY_S < expiry

    def _add_token(self, request: httpx2.Request) -> str:
        """Add the token to a request and return it; empty if there is none."""
        tokens = self.context.current_tokens
        if tokens is None:
            return ""
        request.headers["Authorization"] = f"Bearer {tokens.access_token}"
        return tokens.access_token

    async def _load(self) -> bool:
        """Load the saved login; True if another process has saved a fresh token."""
        found = await asyncio.to_thread(self._logins.get, self._settings)
        if found is None or found == self._known:
            return False
        context = self.context
        try:
            tokens = OAuthToken.model_validate(found.tokens)
            client = OAuthClientInformationFull.model_validate(found.client)
            context.oauth_metadata = (
                OAuthMetadata.model_validate(found.endpoints) if found.endpoints else None
            )
            context.protected_resource_metadata = (
                ProtectedResourceMetadata.model_validate(found.resource) if found.resource else None
            )
        except ValidationError:
            return False
        self._known = found
        context.current_tokens, context.client_info = tokens, client
        context.token_expiry_time = found.expires_at
        return self._is_fresh()

    async def _refreshing(self) -> httpx2.Request | None:
        return await self._refresh_token() if self.context.can_refresh_token() else None

    async def _refreshed(self, response: httpx2.Response) -> bool:
        """Save a new token; True if there is one, possibly from another process."""
        if response.status_code in _BUSY:  # the login itself may still be valid
            return False
        if not await self._handle_refresh_response(response):
            return await self._load()
        context = self.context
        memory = _LoginStorage(self._settings)
        memory.tokens, memory.client = context.current_tokens, context.client_info
        self._known = _made(memory, self)
        await asyncio.to_thread(self._logins.put, self._settings, self._known)
        return True
