"""One run of 20,000 fragments with 1, 10 or 100 clients that watch it over server-sent events.

The model writes 4,000 fragments a second, as many as dozens of real models. The clients share one other
process, which reads everything and checks that nothing was dropped. The bench measures the CPU of the server:
the engine, its store, and the streams. Encoding happens once, so more clients cost little more than their
writes.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from children import child_env
from measure import PYTHON, report, rounds
from rows import Line, Row, figure, ours

FRAGMENTS = 20_000
AT_ONCE = 20
PAUSE_S = 0.005
WATCHERS = (0, 1, 10, 100)
ROUNDS = rounds(2)
LAST = b"event: run_ended"
FRAGMENT = b"event: text_delta"


class Steady:
    """A provider that writes at a steady pace after a signal."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def stream(self, request: Any) -> AsyncGenerator[Any, None]:
        """Yield the fragments of one long answer."""
        from bridle.core.messages import Message, Text, Usage
        from bridle.core.model import ModelReply
        from bridle.core.protocol import TextDelta

        for first in range(0, FRAGMENTS, AT_ONCE):
            for number in range(first, first + AT_ONCE):
                yield TextDelta(f" w{number % 1000:03}")
            await asyncio.sleep(PAUSE_S)
        yield ModelReply(Message("assistant", (Text("Done."),)), "end_turn", Usage(input=1, output=1))

    async def aclose(self) -> None:
        """Hold nothing."""


async def serve() -> None:
    """Print the port; on a line of input, run the prompt and print the CPU seconds until all was sent."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from turns import OneModel

    from bridle.core.agent import Agent
    from bridle.core.ids import SessionId
    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.system_clock import SystemChance, SystemClock
    from bridle.stores.claims import FileClaims
    from bridle.stores.sqlite import SqliteStore
    from bridle.surfaces.rest.event_stream import Streams
    from bridle.surfaces.rest.guard import Guard
    from bridle.surfaces.rest.server import serve_http

    with tempfile.TemporaryDirectory() as home:
        service = SessionService(
            Engine(
                store=SqliteStore(Path(home) / "bridle.db", SystemClock()),
                claims=FileClaims(Path(home) / "claims"),
                models=OneModel(Steady()),
                load_agent=lambda name, cwd: Agent(name, "You are a bench.", "bench/bench"),
                tools=(),
                clock=SystemClock(),
                chance=SystemChance(),
            )
        )
        session = await service.create(cwd=home, session_id=SessionId("bench"))
        streams = Streams(service)

        async def watch(request: Request) -> Response:
            return await streams.open(session, 0)

        async with serve_http(Guard(Starlette(routes=[Route("/", watch)]))) as server:
            print(server.port, flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            began = time.process_time()
            receipt = await service.submit(session, Prompt(user_message("Tell me a long story.")))
            assert receipt.run_id is not None
            await service.wait(session, receipt.run_id, after=receipt.seq)
            await asyncio.to_thread(sys.stdin.readline)
            print(time.process_time() - began, flush=True)
        await service.aclose()


async def watch_all(port: str, count: str) -> None:
    """Watch with many clients; print when all are connected, and the least number of fragments seen."""
    ready = asyncio.Barrier(int(count) + 1)

    async def watch() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(port), limit=2**20)
        writer.write(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        await reader.readuntil(b"session_created")
        await ready.wait()
        seen, tail = 0, b""
        while LAST not in tail:
            data = await reader.read(2**18)
            assert data, "the stream has ended"
            tail = tail[-len(FRAGMENT) + 1 :] + data
            seen += tail.count(FRAGMENT)
        writer.close()
        return seen

    async with asyncio.TaskGroup() as group:
        watching = [group.create_task(watch()) for _ in range(int(count))]
        await ready.wait()
        print("ready", flush=True)
    print(min((task.result() for task in watching), default=FRAGMENTS), flush=True)


def measure(count: int) -> float:
    """Return the CPU seconds of a server with `count` watchers."""
    with subprocess.Popen(
        [PYTHON, __file__, "serve"],
        env=child_env(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            port = server.stdout.readline().strip()
            with subprocess.Popen(
                [PYTHON, __file__, "watch", port, str(count)],
                env=child_env(),
                stdout=subprocess.PIPE,
                text=True,
            ) as clients:
                assert clients.stdout is not None
                assert clients.stdout.readline() == "ready\n"
                server.stdin.write("go\n")
                server.stdin.flush()
                seen = int(clients.stdout.readline())
            server.stdin.write("end\n")
            server.stdin.flush()
            spent = float(server.stdout.readline())
        finally:
            server.kill()
    assert seen == FRAGMENTS, f"a watcher has seen {seen} of {FRAGMENTS} fragments"
    return spent


def main() -> list[Line]:
    """Compare CPU time; a hundred watchers may cost at most a tenth of a hundred times one watcher."""
    spent: dict[int, list[float]] = {count: [] for count in WATCHERS}
    for _ in range(ROUNDS):
        for count, found in spent.items():
            found.append(measure(count))
    for count, found in spent.items():
        print(f"{count} watchers: {statistics.median(found):.2f} s of the server's CPU")
    hundred_times = figure("a hundred times one watcher", spent[1], scale=100)
    what = f"{FRAGMENTS:,} fragments to 100 watchers"
    return report([Row("watchers.hundred", what, "s CPU", ours(spent[100]), (hundred_times,), 0.1)])


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        chosen, *rest = sys.argv[1:]
        asyncio.run(serve() if chosen == "serve" else watch_all(*rest))
