"""JSON-RPC over a WebSocket: frames are lines."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bridle.core.protocol import RunEnded
from bridle.surfaces.meerkat.contract import parse_contract
from bridle.surfaces.rest.server import serve_http
from bridle.surfaces.rpc import RpcContext
from bridle.surfaces.rpc.websocket import rpc_route
from bridle.surfaces.shared.folder_info import Folders
from tests.sessions.stage import Play, Stage, says


@asynccontextmanager
async def served(stage: Stage) -> AsyncIterator[str]:
    """Serve a stage; yields the address."""
    desk = RpcContext(
        api=stage.service,
        folders=Folders({}, "/"),
        contract=parse_contract("0.5.2"),
        keeps_runs=True,
    )
    async with serve_http(Starlette(routes=[rpc_route(desk)])) as server:
        yield f"ws://127.0.0.1:{server.port}/rpc"


async def ask(socket: ClientConnection, method: str, **params: Any) -> list[Any]:
    """Send a request and return all messages up to its answer."""
    await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    heard: list[Any] = []
    while not heard or heard[-1].get("id") != 1:
        heard.append(json.loads(await socket.recv()))
    return heard


async def test_a_run_is_told_frame_by_frame():
    async with Stage(Play(says("Hello."))) as stage, served(stage) as url, connect(url) as socket:
        heard = await ask(socket, "turn/start", session_id="play", prompt="hi")

        assert [one["params"]["event"]["type"] for one in heard[:-1]] == [
            "run_started",
            "turn_started",
            "text_delta",
            "text_complete",
            "turn_completed",
            "run_completed",
        ]
        assert heard[-1]["result"]["text"] == "Hello."


async def test_the_contract_is_part_of_the_address():
    async with Stage(Play(says("Hello."))) as stage, served(stage) as url:
        async with connect(f"{url}?contract=0.9.6") as socket:
            [greeted] = await ask(socket, "initialize")
            heard = await ask(socket, "turn/start", session_id="play", prompt="hi")
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            async with connect(f"{url}?contract=new") as refused:
                await refused.recv()

        assert greeted["result"]["contract_version"] == "0.9.6"
        assert heard[0]["params"]["event"]["payload"]["type"] == "run_started"


async def test_frames_that_make_no_sense_are_answered():
    async with Stage(Play()) as stage, served(stage) as url, connect(url) as socket:
        await socket.send("{")
        await socket.send(b"\xff\xfe")
        await socket.send("")
        codes = [json.loads(await socket.recv())["error"]["code"] for _ in range(2)]

        assert codes == [-32700, -32700]
        assert (await ask(socket, "session/list"))[-1]["result"]["has_more"] is False


async def test_a_run_goes_on_when_its_client_closes():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, served(stage) as url:
        async with connect(url) as socket:
            params = {"session_id": "play", "prompt": "hi"}
            await socket.send(
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": "turn/start", "params": params})
            )
            await play.streaming.wait()
        play.go.set()

        assert (await stage.until(RunEnded)).outcome == "completed"
