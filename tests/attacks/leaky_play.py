"""A broad play with planted secrets: it uses everything that could store or leak one.

```
planted   keys in the environment, of providers and of tool servers, headers, passwords in addresses, tokens
played    the command line, the daemon with REST, WebSocket, JSON-RPC, gRPC and TCP, a kernel, a tool server,
          a sub-agent, a vendor that repeats the key in its error, wrong tokens, kill -9, exports, telemetry
kept      the home, all that was printed and answered, what the collector got, the lists of processes
```
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import httpx
from aiohttp import web
from msgspec import Struct
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from bridle.core.errors import DaemonGone
from bridle.surfaces.remote.client import say_hello
from tests.surfaces.command import Bridle
from tests.surfaces.daemon.process import DaemonProcess, descendants

IN_THE_ENVIRONMENT = {
    "ECHO_API_KEY": "sk-canary-aQ3xV7mZ0pLr9TfK",
    "GITHUB_TOKEN": "ghp-canary-Bw5yN1cXsE8uHj2D",
    "PGPASSWORD": "pw-canary-Ck9dR4gYvA6iMo0F",
    "DATABASE_URL": "postgres://me:url-canary-Dz2fS8hUwB7jNq1G@db.invalid/x",
    "BRIDLE_DATABASE_URL": "postgresql://me:node-canary-Ae5cQ2fXtZ9hLn8E@127.0.0.1:1/x",
    "THING_SECRET": "thing-canary-Ep6gT3kIxC5lOr4H",
    "OTEL_EXPORTER_OTLP_HEADERS": "x-collector-key=otel-canary-Ft1hU9mJyD0nPs7I",
    "HTTPS_PROXY": "http://me:proxy-canary-Gv4jW2oKzE8pQt5L@proxy.invalid:3128",
}
IN_THE_CONFIG = {
    "header": "header-canary-Hx7kX5qLaF3rRu9M",
    "server": "server-canary-Iy0mY8sMbG6tSv2N",
}
SHOWN = {
    "wrong token": "token-canary-Jz3nZ1uNcH9vTw5P",
    "token in an address": "query-canary-Ka6pA4wPdI2xUx8Q",
    "wrong cookie": "cookie-canary-Lb9qB7yQeJ5zVy1R",
    "store password": "store-canary-Mc2rC0aReK8bWz4S",
}
HARMLESS = "plain-canary-Qf1uF9gUhN7hZc3V"
"""The value of a variable whose name says nothing of a secret: it goes everywhere, which is the control."""
TYPED = "typed-canary-Nd5sD3cSfL1dXa7T"
"""What the user types is kept as it is."""
IN_A_FILE = "file-canary-Pe8tE6eTgM4fYb0U"
"""What a model reads in a file is kept as it is: no one can know that it is a secret."""

ENV = "env; cat /proc/*/environ /proc/*/cmdline 2>&1; env | base64 -w0; cat key.txt; true"
CELL = "import os\nprint(dict(os.environ))\nprint(open('key.txt').read())\nkept = dict(os.environ)"
REPLIES: list[dict[str, Any]] = [
    {"match": "^env", "calls": [{"name": "bash", "args": {"command": ENV}}]},
    {"match": "^env", "text": "It says: {last_tool_result}"},
    {"match": "^file", "calls": [{"name": "read_file", "args": {"path": ".env"}}]},
    {"match": "^file", "text": "It says: {last_tool_result}"},
    {"match": "^cell", "calls": [{"name": "python", "args": {"code": CELL}}]},
    {"match": "^cell", "text": "It says: {last_tool_result}"},
    {"match": "^server", "calls": [{"name": "mcp__leaky__tell", "args": {}}]},
    {"match": "^server", "text": "It says: {last_tool_result}"},
    {"match": "^child", "calls": [{"name": "agent_spawn", "args": {"prompt": "env", "name": "one"}}]},
    {"match": "^child", "text": "It says: {last_tool_result}"},
    {"match": "^hang", "text": "Let me", "fault": {"kind": "hang"}},
    {"text": "Hello."},
]


def secrets() -> dict[str, str]:
    """Return all that must never be found, by a name for each."""
    inside = {name: _innermost(value) for name, value in IN_THE_ENVIRONMENT.items()}
    return inside | IN_THE_CONFIG | SHOWN


def _innermost(value: str) -> str:
    return value.rpartition("@")[0].rpartition(":")[2] if "@" in value else value.rpartition("=")[2]


class Kept(Struct):
    """Everything that is left after the play."""

    home: Path
    token: str
    """The daemon's own."""
    told: list[tuple[str, bytes]] = []
    """What was printed, answered and sent to a collector, and what lists of processes show."""


async def play(bridle: Bridle, folder: Path) -> Kept:
    """Do everything once."""
    async with _server(_echo) as vendor, _server(_taken) as collector:
        told = [("vendor", b"")]
        _settle(bridle, folder, vendor.url, collector.url)
        await asyncio.to_thread(_by_hand, bridle, told)
        daemon = DaemonProcess(bridle.home, bridle.env)
        await daemon.start()
        try:
            token = daemon.place.load_token()
            await _by_wire(daemon, bridle, token, told)
            await asyncio.to_thread(_look_afterwards, bridle, told)
        finally:
            if daemon.lives:
                daemon.ask_to_end()
        told += [(f"collector {number}", body) for number, body in enumerate(collector.bodies)]
        assert vendor.bodies, "the vendor was never asked"
        return Kept(bridle.home, token, told)


def _settle(bridle: Bridle, folder: Path, vendor: str, collector: str) -> None:
    script = folder / "script.json"
    script.write_text(json.dumps({"replies": REPLIES, "repeat": True}))
    server = Path(__file__).with_name("leaky_server.py")
    bridle.home.joinpath("config.toml").write_text(
        f'model = "scripted/{script}"\n[rules]\nmode = "yolo"\n[lsp]\nenabled = false\n'
        '[http]\nbind = "127.0.0.1:0"\n[grpc]\nbind = "127.0.0.1:0"\n[serve]\ntcp = "127.0.0.1:0"\n'
        'shutdown_timeout = "1s"\n'
        f'[telemetry]\ntraces = true\nmetrics = true\nlogs = true\ncontent = true\nendpoint = "{collector}"\n'
        f'[providers.echo]\nkind = "openai"\nbase_url = "{vendor}/v1"\napi_key_env = "ECHO_API_KEY"\n'
        f'headers = {{ X-Team-Key = "{IN_THE_CONFIG["header"]}" }}\n'
        f'[mcp.servers.leaky]\ncommand = "{sys.executable}"\nargs = ["-I", "-S", "{server}"]\n'
        f'env = {{ A_TOKEN = "${{THING_SECRET}}", B_TOKEN = "{IN_THE_CONFIG["server"]}" }}\n'
    )
    (bridle.project / ".env").write_text(f"PASSWORD={IN_A_FILE}\n")
    (bridle.project / "key.txt").write_text(IN_THE_ENVIRONMENT["GITHUB_TOKEN"] + "\n")
    bridle.env.update(IN_THE_ENVIRONMENT, HARMLESS=HARMLESS, NO_PROXY="127.0.0.1")


# ---------------------------------------------------------------------------- the command line


def _by_hand(bridle: Bridle, told: list[tuple[str, bytes]]) -> None:
    _say(bridle, told, "run", "--yolo", "-v", f"env {TYPED}")
    _say(bridle, told, "run", "--yolo", "file")
    _say(bridle, told, "run", "--model", "echo/m", "hello")
    for command in ("config show", "mcp list --json", "doctor"):
        _say(bridle, told, *command.split())
    away = bridle.home.parent / "away"
    away.mkdir()
    for url in ("", f"postgresql://me:{SHOWN['store password']}@127.0.0.1:1/x"):
        (away / "config.toml").write_text(f'[store]\nbackend = "postgres"\nurl = "{url}"\n')
        _say(bridle, told, "session", "list", BRIDLE_HOME=str(away))


def _look_afterwards(bridle: Bridle, told: list[tuple[str, bytes]]) -> None:
    sessions = [session["id"] for session in bridle.sessions()]
    for session in sessions:
        _say(bridle, told, "session", "export", session, "--format", "json")
    for form in ("md", "html"):
        _say(bridle, told, "session", "export", sessions[-1], "--format", form)
    _say(bridle, told, "memory", "rebuild")  # what was killed may not have come to it


def _say(bridle: Bridle, told: list[tuple[str, bytes]], *args: str, **env: str) -> None:
    done = bridle(*args, **env)
    told.append((f"bridle {' '.join(args[:3])} [{done.code}]", f"{done.out}\n{done.err}".encode()))


# ---------------------------------------------------------------------------- the wires


async def _by_wire(daemon: DaemonProcess, bridle: Bridle, token: str, told: list[tuple[str, bytes]]) -> None:
    async with daemon.reached() as client:
        status = await client.status()
    addresses = dict(one.split(" ", 1) for one in status.listening)
    async with httpx.AsyncClient(
        base_url=f"http://{addresses['http']}", timeout=15.0, trust_env=False
    ) as http:
        await _knock(http, addresses, status.version, told)
        http.headers["authorization"] = f"Bearer {token}"
        for prompt in ("env", "cell", "server", "child"):
            done = await http.post("/sessions", json={"prompt": prompt, "cwd": str(bridle.project)})
            told.append((f"REST {prompt}", done.content))
            assert done.status_code == 200, done.text
        failed = await http.post("/sessions", json={"prompt": "x", "model": "echo/m"})
        told += [("REST echo", failed.content), *_processes(daemon)]
        told.append(("REST config", (await http.get("/config")).content))
        told.append(("REST servers", (await http.get("/servers")).content))
        hanging = asyncio.create_task(http.post("/sessions", json={"prompt": "hang"}))
        while not (await http.get("/live")).json():  # noqa: ASYNC110  another process gives no event
            await asyncio.sleep(0.05)
        daemon.kill()
        with suppress(httpx.HTTPError):
            await hanging
    await daemon.start()


async def _knock(
    http: httpx.AsyncClient, addresses: dict[str, str], version: str, told: list[tuple[str, bytes]]
) -> None:
    """Come with wrong secrets, at every door."""
    wrong, query, cookie = SHOWN["wrong token"], SHOWN["token in an address"], SHOWN["wrong cookie"]
    answers = [
        await http.get("/sessions", headers={"authorization": f"Bearer {wrong}"}),
        await http.get(f"/sessions?token={query}"),
        await http.get(f"/{query}"),
        await http.get(f"/login?code={query}"),
        await http.get("/sessions", headers={"cookie": f"bridle-0={cookie}"}),
        await http.post("/sessions", content=f'{{"prompt": "{query}"'),
    ]
    told += [(f"refusal {number}", one.content) for number, one in enumerate(answers)]
    with suppress(InvalidStatus):
        await connect(
            f"ws://{addresses['http']}/rpc?token={query}",
            subprotocols=[Subprotocol(f"bearer.{wrong}")],
            proxy=None,
        )
    host, _, port = addresses["tcp"].rpartition(":")
    with suppress(DaemonGone):
        await say_hello(*await asyncio.open_connection(host, int(port)), version, wrong)
    async with grpc.aio.insecure_channel(addresses["grpc"]) as channel:
        with suppress(grpc.aio.AioRpcError):
            await channel.unary_unary("/kontekst.DaemonService/GetStatus")(
                b"", metadata=(("authorization", f"Bearer {wrong}"),)
            )


def _processes(daemon: DaemonProcess) -> list[tuple[str, bytes]]:
    """Return what everyone on the machine sees of our processes."""
    shown = []
    for pid in (daemon.pid, *descendants(daemon.pid)):
        with suppress(OSError):
            shown.append((f"process {pid}", Path(f"/proc/{pid}/cmdline").read_bytes()))
    assert len(shown) > 1, "no tool server or kernel was running"
    return shown


# ---------------------------------------------------------------------------- who listens


class Listener(Struct):
    """A server of the play, and the requests it got."""

    url: str = ""
    bodies: list[bytes] = []


async def _echo(request: web.Request) -> web.Response:
    """Answer as a careless vendor does: with the key and the headers in the error."""
    said = f"Incorrect API key provided: {request.headers.get('authorization')}. {dict(request.headers)}"
    return web.json_response({"error": {"message": said, "code": "invalid_api_key"}}, status=401)


async def _taken(request: web.Request) -> web.Response:
    return web.Response(body=b"", content_type="application/x-protobuf")


@asynccontextmanager
async def _server(handler: Any) -> AsyncIterator[Listener]:
    made = Listener()

    async def keep(request: web.Request) -> web.StreamResponse:
        made.bodies.append(await request.read())
        answered: web.StreamResponse = await handler(request)
        return answered

    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", keep)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        made.url = f"http://{host}:{port}"
        yield made
    finally:
        await runner.cleanup()


def environment(home: Path) -> dict[str, str]:
    """Return the environment of the play, before anything is planted."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "HOME": str(home.parent),
        "BRIDLE_HOME": str(home),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
    }
