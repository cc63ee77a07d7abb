"""Logging in to a real authorization server of the SDK on loopback, with a scripted browser."""

import asyncio
import json
import secrets
import stat
import threading
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from mcp import Client, MCPError
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from msgspec.structs import replace
from pydantic import AnyHttpUrl, AnyUrl
from starlette.applications import Starlette

from bridle.core.errors import ToolError
from bridle.mcp.login import Login, LoginStore, login, logout
from bridle.mcp.remote import LoginNeeded, open_transport
from bridle.mcp.settings import OAuth, ServerSettings
from tests.mcp.loopback import address, answering, bound, response, serving
from tests.mcp.players import kept


class Authority:
    """An authorization server that gives tokens to everyone, and new refresh tokens each time."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.lifetime_s = 3600
        self.refreshed = 0
        self.asked: list[AuthorizationParams] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.asked.append(params)
        code = AuthorizationCode(
            code=secrets.token_hex(20),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client: Any, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._give(client.client_id, authorization_code.scopes)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        self.refreshed += 1
        return self._give(client.client_id, scopes)

    def _give(self, client_id: str, scopes: list[str]) -> OAuthToken:
        access, again = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self.access[access] = AccessToken(token=access, client_id=client_id, scopes=scopes)
        self.refresh[again] = RefreshToken(token=again, client_id=client_id, scopes=scopes)
        return OAuthToken(
            access_token=access, refresh_token=again, expires_in=self.lifetime_s, scope=" ".join(scopes)
        )

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: Any) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)


@asynccontextmanager
async def guarded(authority: Authority, *, sse: bool = False) -> AsyncIterator[ServerSettings]:
    """Serve a tool that needs a login, given by an authorization server at another address."""
    at, authority_at = bound(), bound()
    url, issuer = f"{address(at)}/{'sse' if sse else 'mcp'}", address(authority_at)
    options = ClientRegistrationOptions(enabled=True, valid_scopes=["use", "more"], default_scopes=["use"])
    server = MCPServer(
        "guarded",
        token_verifier=authority,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(issuer),
            resource_server_url=AnyHttpUrl(url),
            required_scopes=["use"],
            validate_token_resource=False,
        ),
    )

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    app = server.sse_app() if sse else server.streamable_http_app()
    keys = Starlette(
        routes=create_auth_routes(authority, AnyHttpUrl(issuer), client_registration_options=options)
    )
    async with serving(app, at), serving(keys, authority_at):
        yield ServerSettings("far", "sse" if sse else "http", url=url)


class Browser:
    """Opens pages and follows where they lead, as the user would."""

    def __init__(self, change: Callable[[str], list[str]] = lambda url: [url], *, works: bool = True) -> None:
        self.change = change
        self.works = works
        self.visited: list[tuple[str, int]] = []

    def __call__(self, url: str) -> bool:
        threading.Thread(target=self._visit, args=(url,), daemon=True).start()
        return self.works

    def _visit(self, url: str) -> None:
        for one in self.change(url):
            try:
                with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                    one, timeout=10
                ) as page:
                    self.visited.append((page.url, page.status))
                    page.read()
            except urllib.error.HTTPError as error:
                self.visited.append((one, error.code))


async def use(settings: ServerSettings, home: Path) -> Any:
    """Call the tool of the server."""
    async with Client(open_transport(settings, home)) as client:
        return (await client.call_tool("add", {"a": 1, "b": 2})).structured_content


def told() -> tuple[list[str], Callable[[str], None]]:
    lines: list[str] = []
    return lines, lines.append


def logins_file(home: Path) -> Path:
    return home / "mcp" / "logins.json"


def age(settings: ServerSettings, home: Path) -> None:
    """Let the token expire."""
    logins = LoginStore(home)
    found = logins.get(settings)
    assert found is not None
    logins.put(settings, replace(found, expires_at=1.0))


@pytest.mark.parametrize("sse", [False, True])
async def test_after_a_login_the_server_can_be_used(sse: bool, home: Path) -> None:
    authority = Authority()
    lines, tell = told()
    async with guarded(authority, sse=sse) as settings:
        with pytest.raises(LoginNeeded):
            await use(settings, home)
        await login(settings, home, Browser(), tell)
        summed = await use(settings, home)

    (asked,) = authority.asked
    assert summed == {"result": 3}
    assert (asked.scopes, asked.resource) == (["use"], settings.url)
    assert len(asked.code_challenge) == 43
    assert [line.partition(": ")[0] for line in lines] == ["log in to far with your browser"]


async def test_what_is_kept_only_its_owner_can_read(home: Path) -> None:
    authority = Authority()
    async with guarded(authority) as settings:
        await login(settings, home, Browser(), print)

    path = logins_file(home)
    ((key, found),) = json.loads(path.read_text())["logins"].items()
    assert key == settings.url
    assert found["tokens"]["access_token"] in authority.access
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent)] == [0o600, 0o700]
    assert sorted(one.name for one in path.parent.iterdir()) == [".logins.json.lock", "logins.json"]


async def test_nothing_secret_is_told_or_logged(
    home: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    authority = Authority()
    lines, tell = told()
    async with guarded(authority) as settings:
        await login(settings, home, Browser(), tell)
        age(settings, home)
        await use(settings, home)

    captured = capfd.readouterr()
    everything = "\n".join([caplog.text, captured.out, captured.err, *lines])
    tokens = [*authority.access, *authority.refresh]
    assert len(tokens) == 3
    assert not [token for token in tokens if token in everything]


async def test_without_a_browser_the_address_is_shown(home: Path) -> None:
    lines, tell = told()
    async with guarded(Authority()) as settings:
        await login(settings, home, Browser(works=False), tell)

    assert len(lines) == 2
    assert lines[1] == "no browser could be opened here: copy the address into one on this machine"


async def test_scopes_of_the_user_win(home: Path) -> None:
    authority = Authority()
    async with guarded(authority) as settings:
        await login(replace(settings, oauth=OAuth(scopes=("use", "more"))), home, Browser(), print)

    assert [asked.scopes for asked in authority.asked] == [["use", "more"]]


async def test_a_client_that_the_user_has_registered_is_used(home: Path) -> None:
    authority = Authority()
    with bound() as free:
        port = free.getsockname()[1]
    await authority.register_client(
        OAuthClientInformationFull(
            client_id="mine",
            client_secret="hush",
            redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}/callback")],
            token_endpoint_auth_method="client_secret_post",
            scope="use",
        )
    )
    async with guarded(authority) as settings:
        own = replace(settings, oauth=OAuth("mine", "hush", callback_port=port))
        await login(own, home, Browser(), print)
        age(own, home)
        summed = await use(own, home)
        with pytest.raises(LoginNeeded):
            await use(settings, home)

    assert (summed, list(authority.clients), authority.refreshed) == ({"result": 3}, ["mine"], 1)


async def test_a_token_that_is_over_is_refreshed_and_kept(home: Path) -> None:
    authority = Authority()
    async with guarded(authority) as settings:
        await login(settings, home, Browser(), print)
        age(settings, home)
        first = await use(settings, home)
        second = await use(settings, home)

    found = LoginStore(home).get(settings)
    assert found is not None
    assert (first, second, authority.refreshed) == ({"result": 3}, {"result": 3}, 1)
    assert found.tokens["refresh_token"] in authority.refresh
    assert found.expires_at is not None
    assert found.expires_at > time.time()


async def test_a_token_that_is_refused_is_refreshed(home: Path) -> None:
    """The server may end a token early."""
    authority = Authority()
    async with guarded(authority) as settings:
        await login(settings, home, Browser(), print)
        async with Client(open_transport(settings, home)) as client:
            authority.access.clear()
            calls = [client.call_tool("add", {"a": 1, "b": one}) for one in range(5)]
            results = await asyncio.gather(*calls)

    assert [result.structured_content for result in results] == [{"result": 1 + one} for one in range(5)]
    assert authority.refreshed == 1


async def test_a_login_that_another_process_has_renewed_is_taken_over(home: Path) -> None:
    authority = Authority()
    async with guarded(authority) as settings:
        await login(settings, home, Browser(), print)
        async with Client(open_transport(settings, home)) as client:
            age(settings, home)
            await use(settings, home)  # the other one, whose refresh makes the first token worthless
            found = LoginStore(home).get(settings)
            assert found is not None
            authority.access = {
                token: known
                for token, known in authority.access.items()
                if token == found.tokens["access_token"]
            }
            summed = (await client.call_tool("add", {"a": 1, "b": 2})).structured_content

    assert (summed, authority.refreshed) == ({"result": 3}, 1)


async def test_a_revoked_login_is_a_matter_of_a_new_one(home: Path) -> None:
    authority = Authority()
    async with guarded(authority) as settings:
        await login(settings, home, Browser(), print)
        transport = open_transport(settings, home)
        async with Client(transport) as client:
            authority.access.clear()
            authority.refresh.clear()
            with pytest.raises(MCPError, match="needs a login"):
                await client.call_tool("add", {"a": 1, "b": 2})
            lost = await transport.lost()
        await login(settings, home, Browser(), print)
        summed = await use(settings, home)

    assert isinstance(lost, LoginNeeded)
    assert summed == {"result": 3}


async def test_a_server_of_tokens_that_is_down_does_not_cost_the_login(home: Path) -> None:
    """The token is good for some seconds yet, which is when a new one is asked for."""
    async with guarded(Authority()) as settings, answering(lambda *_: response("503 Busy")) as down:
        await login(settings, home, Browser(), print)
        found = LoginStore(home).get(settings)
        assert found is not None
        endpoints = found.endpoints | {"token_endpoint": f"{down}/token"}
        soon_over = replace(found, expires_at=time.time() + 10, endpoints=endpoints)
        LoginStore(home).put(settings, soon_over)
        summed = await use(settings, home)

    assert summed == {"result": 3}
    assert LoginStore(home).get(settings) == soon_over


async def test_a_header_of_the_users_own_wins(home: Path) -> None:
    authority = Authority()
    async with guarded(authority) as settings:
        await login(settings, home, Browser(), print)
        with pytest.raises(ToolError, match="does not accept the Authorization header"):
            await use(replace(settings, headers={"authorization": "Bearer wrong"}), home)
        (token,) = authority.access
        logout(settings, home)
        own = replace(settings, headers={"Authorization": f"Bearer {token}"})
        summed = await use(own, home)
        with pytest.raises(ToolError, match="far already has an Authorization header"):
            await login(own, home, Browser(), print)

    assert summed == {"result": 3}


async def test_a_run_never_opens_a_browser_but_names_the_way(tmp_path: Path) -> None:
    async with guarded(Authority()) as settings, kept(tmp_path, settings) as keep:
        offer = await keep.offer()
        (view,) = await keep.servers.views(keep.cwd)
        await login(settings, tmp_path, Browser(), print)
        summed = await keep.call("mcp__far__add", {"a": 1, "b": 2})

    assert (offer.tools, view.state) == ((), "login")
    assert len(offer.notes) == 1
    assert "bridle mcp login far" in offer.notes[0]
    assert summed.text == "3"


# ---------------------------------------------------------------------- logins that fail


async def test_a_visit_with_a_wrong_state_is_refused_and_does_not_end_the_login(home: Path) -> None:
    def attack_first(url: str) -> list[str]:
        back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        wrong = [f"{back}?code=evil&state=guessed", f"{back}?code=evil", back.replace("/callback", "/")]
        return [*wrong, url]

    browser = Browser(attack_first)
    async with guarded(Authority()) as settings:
        await login(settings, home, browser, print)
        summed = await use(settings, home)

    assert [status for _, status in browser.visited[:3]] == [400, 400, 404]
    assert summed == {"result": 3}


async def test_a_user_who_refuses_is_heard(home: Path) -> None:
    def refuse(url: str) -> list[str]:
        query = parse_qs(urlsplit(url).query)
        words = "error=access_denied&error_description=not%20today%1b"
        return [f"{query['redirect_uri'][0]}?{words}&state={query['state'][0]}"]

    async with guarded(Authority()) as settings:
        with pytest.raises(ToolError, match=r"^the login was refused: not today$"):
            await login(settings, home, Browser(refuse), print)

    assert not logins_file(home).exists()


async def test_nobody_is_waited_for_without_end(home: Path) -> None:
    async with guarded(Authority()) as settings:
        with pytest.raises(ToolError, match=r"^no login to far within 0\.5 s$"):
            await login(settings, home, lambda _: True, print, timeout_s=0.5)

    assert not logins_file(home).exists()


async def test_a_login_that_is_broken_off_leaves_nothing(home: Path) -> None:
    ports: list[int] = []
    is_open = asyncio.Event()
    loop = asyncio.get_running_loop()

    def open_browser(url: str) -> bool:
        ports.append(urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0]).port or 0)
        loop.call_soon_threadsafe(is_open.set)
        return True

    async with guarded(Authority()) as settings:
        task = asyncio.create_task(login(settings, home, open_browser, print))
        await is_open.wait()
        task.cancel()
        await asyncio.wait([task])

    assert task.cancelled()
    assert not logins_file(home).exists()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", ports[0])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (response("200 OK", b"{}"), "far at {url}/mcp needs no login (status 200)"),
        (response("401 Unauthorized"), "the login to far failed: Registration failed: 401"),
    ],
)
async def test_a_server_without_a_login_says_so(answer: bytes, said: str, home: Path) -> None:
    async with answering(lambda *_: answer) as url:
        with pytest.raises(ToolError) as caught:
            await login(ServerSettings("far", "http", url=f"{url}/mcp"), home, Browser(), print)

        assert caught.value.message == said.format(url=url)


async def test_a_program_has_no_login(home: Path) -> None:
    with pytest.raises(ToolError, match=r"^far is a local program and needs no login$"):
        await login(ServerSettings("far", "stdio"), home, Browser(), print)


async def test_a_server_that_cannot_be_reached_is_said(home: Path) -> None:
    with bound() as free:
        url = f"{address(free)}/mcp"

    with pytest.raises(ToolError, match=f"^far: cannot reach {url}: connection refused$"):
        await login(ServerSettings("far", "http", url=url), home, Browser(), print)


async def test_a_port_that_is_taken_is_said(home: Path) -> None:
    with bound() as taken:
        taken.listen()
        port = taken.getsockname()[1]
        settings = ServerSettings(
            "far", "http", url="http://127.0.0.1:1/mcp", oauth=OAuth(callback_port=port)
        )

        with pytest.raises(ToolError, match=f"^cannot listen at 127.0.0.1:{port} for the browser: "):
            await login(settings, home, Browser(), print)


# ---------------------------------------------------------------------- what is kept


async def test_a_logout_forgets_one_login_alone(home: Path) -> None:
    authority = Authority()
    async with guarded(authority) as settings:
        await login(settings, home, Browser(), print)
        other = replace(settings, url=f"{settings.url}?other")
        LoginStore(home).put(other, LoginStore(home).get(settings))  # type: ignore[arg-type]

        assert [logout(settings, home), logout(settings, home)] == [True, False]
        with pytest.raises(LoginNeeded):
            await use(settings, home)
        assert LoginStore(home).get(other) is not None


async def test_a_damaged_file_is_said_without_showing_it(home: Path) -> None:
    path = logins_file(home)
    path.parent.mkdir()
    path.write_text('{"logins": {"x": {"tokens": "hidden-token"}}}')
    async with guarded(Authority()) as settings:
        with pytest.raises(ToolError) as caught:
            await use(settings, home)

    assert str(caught.value) == (
        f"MCP server far: {path} is damaged (hint: remove it and log in again with bridle mcp login)"
    )


def test_processes_that_change_it_at_once_lose_nothing(home: Path) -> None:
    found = [replace(ServerSettings("far", "http"), url=f"http://127.0.0.1/{one}") for one in range(20)]
    login_kept = Login({"access_token": "t"})
    threads = [threading.Thread(target=LoginStore(home).put, args=(one, login_kept)) for one in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [LoginStore(home).get(one) for one in found] == [login_kept] * 20
