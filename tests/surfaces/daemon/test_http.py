"""The HTTP service of a real daemon: where it listens, which clients it accepts, and how it ends."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.errors import ConfigError
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt
from bridle.core.queries import Records
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.http_service import HttpService
from bridle.surfaces.daemon.listen_address import parse_listen_address
from bridle.surfaces.daemon.process import RpcService
from tests.surfaces.daemon.process import DaemonProcess

DEADLINE_S = 10.0


class Web:
    """A daemon with a script, and a client of its HTTP service."""

    def __init__(self, daemon: DaemonProcess, project: Path, http: httpx.AsyncClient) -> None:
        self.daemon = daemon
        self.project = project
        self.http = http


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Web]:
    """Yield a daemon whose model answers by what it is asked."""
    project = tmp_path / "project"
    project.mkdir()
    script = tmp_path / "script.json"
    replies = [
        {"match": "^plain", "text": "Hello."},
        {"match": "^hang", "text": "Let me", "fault": {"kind": "hang"}},
    ]
    script.write_text(json.dumps({"replies": replies}))
    daemon = DaemonProcess(tmp_path / "home", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    daemon.place.make_folders()
    (daemon.place.home / "config.toml").write_text(
        f'model = "scripted/{script}"\n[http]\nbind = "127.0.0.1:0"\n[serve]\nshutdown_timeout = "1s"\n'
    )
    await daemon.start()
    try:
        async with daemon.reached() as client:
            [listening] = [one for one in (await client.status()).listening if one.startswith("http ")]
        token = daemon.place.token.read_text().strip()
        async with httpx.AsyncClient(
            base_url=f"http://{listening.removeprefix('http ')}",
            headers={"authorization": f"Bearer {token}"},
            timeout=DEADLINE_S,
            trust_env=False,
        ) as http:
            yield Web(daemon, project, http)
    finally:
        daemon.close()


async def test_a_session_of_one_client_is_seen_by_the_others_and_ends_with_the_daemon(web: Web):
    """One story, as a daemon takes a second to start: token, run, stream, shutdown."""
    strange = await web.http.get("/sessions", headers={"authorization": "Bearer wrong"})
    ran = await web.http.post("/sessions", json={"prompt": "plain", "cwd": str(web.project)})
    assert (strange.status_code, ran.status_code, ran.json()["text"]) == (401, 200, "Hello.")

    address = str(web.http.base_url.copy_with(scheme="ws", path="/rpc"))
    token = web.http.headers["authorization"].removeprefix("Bearer ")
    async with connect(address, subprotocols=[Subprotocol(f"bearer.{token}")], proxy=None) as socket:
        await socket.send('{"jsonrpc":"2.0","id":1,"method":"initialize"}')
        assert json.loads(await socket.recv())["id"] == 1

    seen = ""
    async with web.daemon.reached() as client:
        session = ran.json()["session_id"]
        records = await client.ask(Records(session))
        async with web.http.stream(
            "GET", f"/sessions/{session}/stream", params={"after": len(records)}
        ) as stream:
            await client.submit(session, Prompt(user_message("hang")))
            async with asyncio.timeout(DEADLINE_S):
                pieces = stream.aiter_text()
                while "event: text_delta" not in seen:
                    seen += await anext(pieces)
                await client.shutdown()
                async for piece in pieces:
                    seen += piece

    assert seen.endswith("event: done\ndata: {}\n\n")
    assert web.daemon.wait() == 0
    assert "Traceback" not in web.daemon.place.log.read_text()
    with pytest.raises(httpx.ConnectError):
        await web.http.get("/health")


async def test_an_address_that_is_taken_is_said(home: Path, env: dict[str, str]):
    other = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    taken = other.sockets[0].getsockname()[1]
    (home / "config.toml").write_text(f'[http]\nbind = "127.0.0.1:{taken}"\n')
    settings = load_settings(env, home)
    service = open_service(settings, env)
    desk = RpcService(service, env, DaemonFiles(home), str(home)).context()

    with pytest.raises(ConfigError) as refused:
        await HttpService(service, desk, settings.http, "token", live=service.live).listen(
            parse_listen_address(settings.http.bind, "http.bind")
        )

    assert str(refused.value) == (
        f'http.bind: cannot listen at "127.0.0.1:{taken}": Address already in use '
        "(hint: bridle config set http.bind 127.0.0.1:0 picks a free port)"
    )
    await service.aclose()
    other.close()


def test_an_address_that_others_can_reach_is_refused():
    with pytest.raises(ConfigError, match=r'http.bind: "0.0.0.0:80" can be reached from other machines'):
        parse_listen_address("0.0.0.0:80", "http.bind")
