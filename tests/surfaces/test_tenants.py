"""Tenants on every surface that accepts tokens: other tenants' data is invisible."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx
import msgspec
import pytest
from websockets.asyncio.client import connect

from bridle.config.daemon_keys import HttpSettings, TlsSettings
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, Rename
from bridle.core.queries import ListSessions, Records
from bridle.core.tenancy import Tenant
from bridle.surfaces.daemon.http_service import HttpService
from bridle.surfaces.grpc import serve_grpc
from bridle.surfaces.meerkat.contract import DEFAULT_CONTRACT, parse_contract
from bridle.surfaces.remote.server import RemoteServer
from bridle.surfaces.rest.operations import OPERATIONS
from bridle.surfaces.rpc import RpcContext
from bridle.surfaces.shared.folder_info import Folders
from bridle.system.tls import client_context
from bridle.system.tls_files import TlsFiles
from tests.certificates import Authority
from tests.patience import PATIENCE_S
from tests.scale.estate import NODE_TOKEN, Estate, estate
from tests.surfaces.grpc.client import Daemon, Run, make

VICTIM = "acme.1"
NOWHERE = "acme.2"


class Site:
    """An HTTP service before an estate."""

    def __init__(self, made: Estate, side: HttpService) -> None:
        self.made = made
        self.side = side

    def client(self, token: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=f"http://{self.side.address}",
            headers={"authorization": f"Bearer {token}"},
            timeout=PATIENCE_S,
        )


@asynccontextmanager
async def site(tmp_path: Path, env: dict[str, str], tls: TlsSettings | None = None) -> AsyncIterator[Site]:
    async with estate(tmp_path) as made:
        await made.session("acme")
        await made.service.submit(SessionId(VICTIM), Prompt(user_message("the secret word"), key="k"))
        desk = RpcContext(
            api=made.service,
            folders=Folders(env, str(tmp_path)),
            contract=parse_contract(DEFAULT_CONTRACT),
            keeps_runs=True,
        )
        settings = HttpSettings(bind="127.0.0.1:0", tls=tls or TlsSettings())
        side = HttpService(made.service, desk, settings, NODE_TOKEN, live=made.service.live, gate=made.gate)
        await side.listen(("127.0.0.1", 0))
        try:
            yield Site(made, side)
        finally:
            await side.aclose()


COMMAND = {"type": "rename", "title": "mine"}
PROMPT = {"type": "prompt", "message": {"role": "user", "parts": [{"type": "text", "text": "hi"}]}}
ASKED: list[tuple[str, str, Any]] = [
    ("GET", "/sessions/{id}", None),
    ("GET", "/sessions/{id}/records", None),
    ("GET", "/sessions/{id}/events", None),
    ("GET", "/sessions/{id}/stream?live=false", None),
    ("GET", "/sessions/{id}/stream?speech=board&live=false", None),
    ("GET", "/sessions/{id}/board", None),
    ("GET", "/sessions/{id}/diff", None),
    ("GET", "/sessions/{id}/export", None),
    ("GET", "/sessions/{id}/usage", None),
    ("GET", "/sessions/{id}/context", None),
    ("POST", "/sessions/{id}/commands", COMMAND),
    ("POST", "/sessions/{id}/commands", PROMPT),
    ("POST", "/sessions/{id}/commands", {"type": "decide", "call_id": "c", "answer": "once"}),
    ("POST", "/sessions/{id}/commands", {"type": "rewind", "to_seq": 1}),
    ("POST", "/sessions/{id}/messages", {"session_id": "{id}", "prompt": "hi"}),
    ("POST", "/sessions/{id}/fork", {}),
    ("GET", "/sessions/{id}/rewind?to_seq=1", None),
    ("GET", "/sessions/{id}/history", None),
    ("GET", "/sessions/{id}/timeline", None),
    ("GET", "/sessions/{id}/board/items?before=9", None),
    ("POST", "/sessions/{id}/interrupt", None),
    ("DELETE", "/sessions/{id}", None),
]


async def asked(http: httpx.AsyncClient, method: str, path: str, body: Any, session: str) -> tuple[int, str]:
    sent = json.loads(json.dumps(body).replace("{id}", session)) if body is not None else None
    answer = await http.request(method, path.replace("{id}", session), json=sent)
    return answer.status_code, answer.text.replace(session, "SESSION")


async def test_by_rest_a_session_of_another_tenant_is_not_there(tmp_path: Path, env: dict[str, str]):
    async with site(tmp_path, env) as here, here.client(here.made.token("bolt")) as http:
        before = await here.made.service.ask(Records(SessionId(VICTIM)))
        for method, path, body in ASKED:
            there = await asked(http, method, path, body, VICTIM)
            assert there == await asked(http, method, path, body, NOWHERE), path
            assert (there[0], "SESSION_NOT_FOUND" in there[1]) == (404, True), (path, there)
            assert "secret" not in there[1]
        assert await here.made.service.ask(Records(SessionId(VICTIM))) == before


def test_every_operation_on_a_session_is_tried():
    tried = {(method, path.partition("?")[0]) for method, path, _ in ASKED}

    assert tried == {(one.method, one.path) for one in OPERATIONS if "{id}" in one.path}


async def test_by_rest_lists_and_folders_are_those_of_the_tenant(tmp_path: Path, env: dict[str, str]):
    async with site(tmp_path, env) as here, here.client(here.made.token("bolt")) as http:
        mine = await here.made.session("bolt")
        listed = (await http.get("/sessions?archived=true")).json()["sessions"]
        assert [one["id"] for one in listed] == [mine]
        for path in ("/live", "/stats", "/stats/plots", "/news?live=false", "/sessions?q=secret%20of%20acme"):
            assert "acme" not in (await http.get(path)).text, path
        for path in ("/files", "/agents", "/skills", "/models", "/rules", "/servers", "/commands"):
            for folder in (here.made.folder("acme"), "/", str(tmp_path), "/nowhere"):
                answer = await http.get(path, params={"cwd": folder})
                assert (answer.status_code, "not one of your folders" in answer.text) == (400, True), (
                    path,
                    folder,
                )
        for method, path in (("GET", "/config"), ("PUT", "/config"), ("PATCH", "/config")):
            answer = await http.request(method, path, json=None if method == "GET" else {})
            assert answer.status_code == 403, path
            assert answer.json()["code"] == "NOT_ALLOWED"
        assert (await http.get("/metrics")).status_code in (404, 501)
        assert (await http.get("/agents")).status_code == 200


async def test_by_rest_news_are_those_of_the_tenant(tmp_path: Path, env: dict[str, str]):
    async with site(tmp_path, env) as here, here.client(here.made.token("bolt")) as http:
        mine = await here.made.session("bolt")
        async with asyncio.timeout(PATIENCE_S), http.stream("GET", "/news?live=true") as stream:
            seen = ""
            async for piece in stream.aiter_text():
                if not seen:
                    for session in (SessionId(VICTIM), mine):
                        await here.made.service.submit(session, Rename("renamed"))
                seen += piece
                if "renamed" in seen:
                    break
    assert mine in seen
    assert "acme" not in seen


async def test_by_rest_a_tenant_has_sessions_of_its_own(tmp_path: Path, env: dict[str, str]):
    async with site(tmp_path, env) as here, here.client(here.made.token("bolt")) as http:
        begun = await http.post("/sessions", json={"prompt": "Hello"}, headers={"idempotency-key": "k"})
        again = await http.post("/sessions", json={"prompt": "Hello"}, headers={"idempotency-key": "k"})
        session = begun.json()["session_id"]
        state = (await http.get(f"/sessions/{session}")).json()
        outside = await http.post("/sessions", json={"prompt": "Hello", "cwd": here.made.folder("acme")})

        assert begun.json()["text"] == "Done."
        assert session.startswith("bolt.")
        assert again.json()["session_id"] == session
        assert state["cwd"] == here.made.folder("bolt")
        assert (outside.status_code, outside.json()["code"]) == (400, "INVALID_PARAMS")


async def test_by_rest_scopes_count_and_a_spent_token_does_not(tmp_path: Path, env: dict[str, str]):
    async with site(tmp_path, env) as here:
        made = here.made
        async with here.client(made.token("acme", "read")) as http:
            refused = await http.post(f"/sessions/{VICTIM}/commands", json=COMMAND)
            assert (refused.status_code, refused.json()["code"]) == (403, "NOT_ALLOWED")
            assert (await http.get(f"/sessions/{VICTIM}")).json()["title"] == "secret of acme"
        token = made.token("acme")
        async with here.client(token) as http:
            assert (await http.get("/sessions")).status_code == 200
            made.tenants.revoke(token.split("_")[1])
            made.now += 60
            assert (await http.get("/sessions")).status_code == 401
        for wrong in ("brdl_x", token, f"brdl_{'0' * 16}_{'0' * 64}", "0"):
            async with here.client(wrong) as http:
                assert (await http.get("/sessions")).status_code == 401
        async with here.client(NODE_TOKEN) as http:
            assert len((await http.get("/sessions")).json()["sessions"]) == 2


async def test_by_rest_who_may_not_read_looks_at_nothing(tmp_path: Path, env: dict[str, str]):
    everywhere = {"/health", "/ready", "/openapi.json"}
    paths = {one.path.replace("{id}", VICTIM) for one in OPERATIONS if one.method == "GET"} - everywhere
    async with site(tmp_path, env) as here, here.client(here.made.token("acme", "run")) as http:
        for path in sorted(paths):
            answer = await http.get(path)
            assert (answer.status_code, answer.json()["code"]) == (403, "NOT_ALLOWED"), path
        expanded = await http.post("/commands/expand", json={"text": "/name"})
        begun = await http.post(f"/sessions/{VICTIM}/commands", json={"type": "rename", "title": "mine"})
        assert (expanded.status_code, begun.status_code) == (403, 200), "what it may do, it can"


async def test_by_websocket_who_may_not_read_looks_at_nothing(tmp_path: Path, env: dict[str, str]):
    async with site(tmp_path, env) as here:
        headers = {"authorization": f"Bearer {here.made.token('acme', 'run')}"}
        async with connect(f"ws://{here.side.address}/rpc", additional_headers=headers) as socket:
            for method in ("agents/list", "models/list", "rules/list", "skills/list", "servers/list"):
                await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}))
                answer = json.loads(await socket.recv())
                assert "has no scope" in answer["error"]["message"], method


async def test_by_websocket_a_session_of_another_tenant_is_not_there(tmp_path: Path, env: dict[str, str]):
    async with site(tmp_path, env) as here:
        headers = {"authorization": f"Bearer {here.made.token('bolt')}"}
        async with connect(f"ws://{here.side.address}/rpc", additional_headers=headers) as socket:

            async def ask(method: str, session: str, **params: Any) -> str:
                request = {"jsonrpc": "2.0", "id": 1, "method": method}
                await socket.send(json.dumps({**request, "params": {"session_id": session, **params}}))
                return str(await socket.recv()).replace(session, "SESSION")

            async def plain(method: str) -> str:
                await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}))
                return str(await socket.recv())

            for method, params in (
                ("session/read", {}),
                ("session/history", {}),
                ("session/archive", {}),
                ("session/interrupt", {}),
                ("turn/start", {"prompt": "hi"}),
                ("session/stream_open", {}),
            ):
                there = await ask(method, VICTIM, **params)
                assert there == await ask(method, NOWHERE, **params), method
                assert "secret" not in there
            assert json.loads(await plain("session/list"))["result"]["sessions"] == []
            assert json.loads(await plain("config/get"))["error"]["code"] == -32014


async def test_over_tls_with_certificates_of_clients(tmp_path: Path, env: dict[str, str]):
    authority = Authority(tmp_path)
    files = authority.sign("server", mtls=True)
    tls = TlsSettings(files.cert, files.key, files.client_ca)
    async with site(tmp_path, env, tls) as here:
        assert here.side.page.startswith("https://127.0.0.1:")
        headers = {"authorization": f"Bearer {here.made.token('acme')}"}
        url = f"https://{here.side.address}/sessions"
        known = client_context(str(authority.path), authority.sign("client"))
        async with httpx.AsyncClient(verify=known, headers=headers) as http:
            assert [one["id"] for one in (await http.get(url)).json()["sessions"]] == [VICTIM]
        async with httpx.AsyncClient(verify=client_context(str(authority.path)), headers=headers) as http:
            with pytest.raises((httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError)):
                await http.get(url)


# ---------------------------------------------------------------------------- gRPC


@asynccontextmanager
async def grpc_site(tmp_path: Path, tls: TlsFiles | None = None) -> AsyncIterator[tuple[Estate, int]]:
    async with estate(tmp_path) as made:
        await made.session("acme")
        options: dict[str, Any] = {} if tls is None else {"tls": tls}
        server = await serve_grpc(
            made.service,
            Daemon(),
            address="127.0.0.1:0",
            cwd=str(tmp_path),
            approvals="rules",
            token=NODE_TOKEN,
            gate=made.gate,
            **options,
        )
        try:
            yield made, server.port
        finally:
            await server.aclose()


async def status_of(run: Run) -> grpc.StatusCode | None:
    """Return how the server refuses a call; None for one that it answers."""
    try:
        answer = await run.read()
    except grpc.aio.AioRpcError as error:
        return error.code()
    return None if answer is not None else await run.call.code()


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


async def test_by_grpc_a_tenant_runs_in_sessions_and_folders_of_its_own(tmp_path: Path):
    async with (
        grpc_site(tmp_path) as (made, port),
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        metadata = bearer(made.token("bolt"))
        run = Run(channel, metadata)
        await run.start("Hello", session_id=VICTIM)
        told = await run.until("completed", "failed")
        assert told[0] == ("started", {**told[0][1], "session_id": f"bolt.{VICTIM}"})
        assert told[-1][0] == "completed"
        await run.end()
        assert [one.cwd for one in await made.service.ask(ListSessions()) if one.id == f"bolt.{VICTIM}"] == [
            made.folder("bolt")
        ]

        for folder in (made.folder("acme"), "/nowhere"):
            run = Run(channel, metadata)
            await run.start("Hello", working_dir=folder, skill=("x", ""))
            kind, fields = await run.next()
            assert kind == "failed"
            assert "is not a folder of tenant bolt" in str(fields)
            await run.end()
        assert len(await made.service.ask(Records(SessionId(VICTIM)))) == 1


async def test_by_grpc_scopes_count_and_the_process_is_not_theirs(tmp_path: Path):
    async with (
        grpc_site(tmp_path) as (made, port),
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        run = Run(channel, bearer(made.token("acme", "read")))
        await run.start("Hello")
        assert await status_of(run) == grpc.StatusCode.PERMISSION_DENIED
        assert await status_of(Run(channel, bearer("brdl_wrong"))) == grpc.StatusCode.UNAUTHENTICATED
        for method in ("GetStatus", "Shutdown"):
            ask = channel.unary_unary(
                f"/kontekst.DaemonService/{method}",
                request_serializer=lambda message: message.SerializeToString(),
            )
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await ask(make(f"{method}Request"), metadata=bearer(made.token("acme")))
            assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
            await ask(make(f"{method}Request"), metadata=bearer(NODE_TOKEN))


async def test_by_grpc_over_tls_with_certificates_of_clients(tmp_path: Path):
    authority = Authority(tmp_path)
    mine = authority.sign("client")
    root = authority.path.read_bytes()
    known = grpc.ssl_channel_credentials(root, Path(mine.key).read_bytes(), Path(mine.cert).read_bytes())
    async with grpc_site(tmp_path, authority.sign("server", mtls=True)) as (made, port):
        for credentials, expected in (
            (known, None),
            (grpc.ssl_channel_credentials(root), grpc.StatusCode.UNAVAILABLE),
        ):
            async with grpc.aio.secure_channel(f"localhost:{port}", credentials) as channel:
                run = Run(channel, bearer(made.token("acme")))
                if expected is None:
                    await run.start("Hello")
                assert await status_of(run) == expected


# ---------------------------------------------------------------------------- the wire of Bridle itself


class Keeper:
    """A process that must not be asked."""

    def status(self) -> Any:
        raise AssertionError("asked by a tenant")

    def request_shutdown(self) -> None:
        raise AssertionError("asked by a tenant")

    async def open_web(self) -> Any:
        raise AssertionError("asked by a tenant")


async def test_by_our_own_wire_a_tenant_sees_its_own_and_not_the_process(tmp_path: Path):
    async with estate(tmp_path) as made:
        await made.session("acme")
        made.tenants.put(Tenant("bolt"))
        mine = await made.session("bolt")
        server = RemoteServer(
            made.service, Keeper(), version="1", token=NODE_TOKEN, gate=made.gate, keys={"KEY": "secret"}
        )
        listener = await asyncio.start_server(server.connected(needs_token=True), "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]

        async def talk(token: str, *asks: dict[str, Any]) -> list[dict[str, Any]]:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(msgspec.json.encode({"version": "1", "token": token}) + b"\n")
            answers = [msgspec.json.decode(await reader.readline())]
            for number, ask in enumerate(asks):
                writer.write(msgspec.json.encode({"id": number, "ask": ask}) + b"\n")
                answers.append(msgspec.json.decode(await reader.readline()))
            writer.close()
            return answers

        welcome, listed, records, *others = await talk(
            made.token("bolt"),
            {"type": "query", "query": {"type": "list"}},
            {"type": "query", "query": {"type": "records", "session": VICTIM}},
            {"type": "status"},
            {"type": "shutdown"},
            {"type": "open_web"},
        )
        assert (welcome.get("refusal", ""), welcome.get("keys", {})) == ("", {})
        assert [one["id"] for one in listed["result"]] == [mine]
        assert records["failure"]["kind"] == "SessionNotFound"
        assert [one["failure"]["kind"] for one in others] == ["NotAllowed"] * 3
        [wrong] = await talk("brdl_wrong")
        assert wrong["refusal"] == "the token is wrong"
        owner, every = await talk(NODE_TOKEN, {"type": "query", "query": {"type": "list"}})
        assert set(owner["keys"]) == {"KEY"}
        assert len(every["result"]) == 3
        listener.close()
        await server.aclose()


async def test_renaming_through_a_surface_is_in_the_audit(tmp_path: Path, env: dict[str, str]):
    async with site(tmp_path, env) as here:
        async with here.client(here.made.token("acme")) as http:
            assert (await http.post("/sessions/1/commands", json=COMMAND)).status_code == 200

        [noted] = await here.made.audited("acme")
        assert (noted.user, noted.action, noted.target, noted.outcome) == (
            "user-of-acme",
            Rename.__struct_config__.tag,
            VICTIM,
            "done",
        )
