"""Asks the questions that `test_session_queries.py` adds to a copy of the code, on every surface.

`python -m tests.surfaces.ask_everywhere FOLDER` prints the answers and the refusals of each surface as JSON.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from acp import RequestError
from mcp import Client

from bridle.core import queries
from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.session_api import SessionApi
from bridle.surfaces.remote.asks import Hello
from tests.scale.estate import estate
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.acp.editor import editing
from tests.surfaces.mcp_server.connecting import connected, serving, text_of
from tests.surfaces.python.opened import opened
from tests.surfaces.remote.test_remote import VERSION, Hall
from tests.surfaces.rest.house import built
from tests.surfaces.rpc.client import RpcError, talking

COUNT = "count_records"
SIZE = "record_size"
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    (COUNT, {}),
    (COUNT, {"after": 1}),
    (SIZE, {"unit": "records"}),
    (SIZE, {"unit": "records", "first_seq": 2, "is_exact": True}),
]
NONSENSE: list[tuple[str, dict[str, Any]]] = [
    (COUNT, {"after": -1}),
    (SIZE, {}),
    (SIZE, {"unit": "miles"}),
    (SIZE, {"unit": "records", "first_seq": 2**60}),
    (SIZE, {"unit": "records", "name": "x"}),
]

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Takes the name and the parameters of a question; raises Refused."""


class Refused(Exception):
    """The surface refused the question."""


async def answers(ask: Ask) -> dict[str, Any]:
    """Ask all questions; return the answers, and the errors for invalid ones."""
    refusals = []
    for name, params in NONSENSE:
        try:
            refusals.append(f"answered: {await ask(name, params)}")
        except Refused as refused:
            refusals.append(str(refused))
    return {"answers": [await ask(name, params) for name, params in QUESTIONS], "refusals": refusals}


# ---------------------------------------------------------------------------- one function per surface


async def by_rest(folder: Path) -> dict[str, Any]:
    home = folder / "home"
    home.mkdir()
    env = {"BRIDLE_HOME": str(home), "HOME": str(folder), "PATH": "/usr/bin:/bin"}
    paths = {COUNT: "count", SIZE: "size"}
    async with built(home, folder, env, [{"text": "Hello."}]) as (house, _):
        session = await house.session()

        async def ask(name: str, params: dict[str, Any]) -> Any:
            query = {key: json.dumps(value).strip('"') for key, value in params.items()}
            response = await house.get(f"/sessions/{session}/{paths[name]}", params=query)
            if response.status_code != 200:
                raise Refused(f"{response.status_code} {response.json()['detail']}")
            return response.json()

        document = (await house.get("/openapi.json")).json()
        described = document["paths"]["/sessions/{id}/size"]["get"]
        return {**await answers(ask), "described": [described["summary"], parameter_names(described)]}


def parameter_names(described: Mapping[str, Any]) -> list[str]:
    return [parameter["name"] for parameter in described["parameters"] if parameter["in"] == "query"]


async def by_rpc(stage: Stage) -> dict[str, Any]:
    async with talking(stage.service) as talk:

        async def ask(name: str, params: dict[str, Any]) -> Any:
            try:
                return await talk.call(f"session/{name}", session_id="play", **params)
            except RpcError as error:
                raise Refused(f"{error.code} {error}") from None

        methods = (await talk.call("initialize"))["methods"]
        return {**await answers(ask), "described": [one for one in methods if one.endswith((COUNT, SIZE))]}


async def by_acp(stage: Stage, folder: Path) -> dict[str, Any]:
    env = {"BRIDLE_HOME": str(folder / "home"), "HOME": str(folder)}
    async with editing(stage.service, folder, env) as (agent, _):

        async def ask(name: str, params: dict[str, Any]) -> Any:
            camel = {CAMEL.get(key, key): value for key, value in params.items()}
            try:
                return await agent.ext_method(f"bridle/{name}", {"sessionId": "play", **camel})
            except RequestError as error:
                raise Refused(f"{error.code} {error}") from None

        return await answers(ask)


CAMEL = {"first_seq": "firstSeq", "is_exact": "isExact"}


async def by_mcp(stage: Stage, folder: Path) -> dict[str, Any]:
    async with serving(stage.service, folder / "home") as server, connected(server) as client:

        async def ask(name: str, params: dict[str, Any]) -> Any:
            arguments = {"action": name, "session_id": "play", **params}
            result = await client.call_tool("bridle_sessions", arguments)
            if result.is_error:
                raise Refused(text_of(result))
            assert result.structured_content is not None
            assert result.structured_content["action"] == name
            assert json.loads(text_of(result)) == result.structured_content[name]
            return result.structured_content[name]

        return {**await answers(ask), "described": await _described(client)}


async def _described(client: Client) -> list[Any]:
    [tool] = [tool for tool in (await client.list_tools()).tools if tool.name == "bridle_sessions"]
    assert tool.description is not None
    assert tool.output_schema is not None
    said = f"{SIZE}: measure the records of a session. " in tool.description
    return [said, tool.input_schema["properties"]["unit"], tool.output_schema["properties"][COUNT]]


async def by_api(api: SessionApi, session: str) -> dict[str, Any]:
    """Ask with values, as Python does; types are up to mypy, so there is no nonsense."""
    return {"answers": [msgspec.to_builtins(await api.ask(made(session, *one))) for one in QUESTIONS]}


def made(session: str, name: str, params: dict[str, Any]) -> queries.Query[Any]:
    kinds = {COUNT: "CountRecords", SIZE: "MeasureRecords"}
    query: queries.Query[Any] = getattr(queries, kinds[name])(SessionId(session), **params)
    return query


async def by_remote(folder: Path) -> dict[str, Any]:
    async with Hall(Stage(Play(says("Hello."))), folder).open() as hall:
        found = await by_api(await hall.client(), "play")
        reader, writer = await asyncio.open_unix_connection(hall.socket)
        writer.write(msgspec.json.encode(Hello(VERSION)) + b"\n")
        await reader.readline()
        query = {"type": "measure_records", "session": "play", "unit": "miles"}
        line = {"id": 1, "ask": {"type": "query", "query": query}}
        writer.write(json.dumps(line).encode() + b"\n")
        refusal = json.loads(await reader.readline())["failure"]["message"]
        writer.close()
    return {**found, "refusals": [refusal]}


async def by_python(folder: Path) -> dict[str, Any]:
    async with opened(Play(says("Hello.")), folder) as b:
        session = await b.session()
        return await by_api(b.api, session.id)


async def by_tenant(folder: Path) -> dict[str, Any]:
    """Ask as a tenant about its own session; another tenant, and a token that may not read, get nothing."""
    async with estate(folder) as tenants:
        session = await tenants.session("acme")
        refusals = []
        for api in (await tenants.api("bolt"), await tenants.api("acme", "run")):
            try:
                await by_api(api, session)
            except BridleError as error:
                refusals.append(type(error).__name__)
        return {**await by_api(await tenants.api("acme"), session), "refusals": refusals}


async def main(folder: Path) -> None:
    """Ask on every surface, and print the answers."""
    found = {"rest": await by_rest(folder)}
    async with Stage(Play(says("Hello."))) as stage:
        found["rpc"] = await by_rpc(stage)
        found["acp"] = await by_acp(stage, folder)
        found["mcp"] = await by_mcp(stage, folder)
    found["remote"] = await by_remote(folder)
    found["python"] = await by_python(folder)
    found["tenants"] = await by_tenant(folder)
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
