"""100,000 small events over one gRPC stream, compared with a server that only writes the same messages.

```
bare      a handler that writes token events in a loop
bridle    fragments of a model through the loop, the driver, the bus and the Run stream
```

Both serve the same client, which is another process. Fragments come no faster than the stream accepts them;
otherwise the bench would measure how fast Bridle drops them for a slow reader.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from children import child_env, child_figures
from measure import PYTHON, report, rounds
from rows import Line, Row, figure, ours

EVENTS = 100_000
ROUNDS = rounds(3)
TEXTS = [f" w{number % 1000:03}" for number in range(EVENTS)]
AHEAD = 1_000  # how many fragments the model may be ahead of the stream


class Paced:
    """A session API that counts what its watchers read, and a provider that waits for them."""

    def __init__(self) -> None:
        self.api: Any = None
        self._made = self._seen = 0
        self._caught_up = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.api, name)

    async def watch(self, session: Any, after: int = 0) -> AsyncGenerator[Any, None]:
        """Count what a watcher reads."""
        async for item in self.api.watch(session, after):
            yield item
            self._seen += 1
            if self._made - self._seen < AHEAD:
                self._caught_up.set()

    async def stream(self, request: Any) -> AsyncGenerator[Any, None]:
        """Yield the fragments of one long answer."""
        from bridle.core.messages import Message, Text, Usage
        from bridle.core.model import ModelReply
        from bridle.core.protocol import TextDelta

        for text in TEXTS:
            yield TextDelta(text)
            self._made += 1
            if self._made - self._seen >= 2 * AHEAD:
                self._caught_up.clear()
                await self._caught_up.wait()
        said = Text("".join(TEXTS))  # text beyond the fragments would be one more event
        yield ModelReply(Message("assistant", (said,)), "end_turn", Usage(input=1, output=1))

    async def aclose(self) -> None:
        """Hold nothing."""

    async def status(self) -> Any:
        """Stand for the daemon, which is not used here."""
        raise AssertionError("the daemon is not used")

    def request_shutdown(self) -> None:
        """Stand for the daemon."""


async def serve_bridle(home: Path) -> tuple[int, Any]:
    """Serve the engine on its default store; return the port and the objects that must stay alive."""
    from turns import OneModel

    from bridle.core.agent import Agent
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.system_clock import SystemChance, SystemClock
    from bridle.stores.claims import FileClaims
    from bridle.stores.sqlite import SqliteStore
    from bridle.surfaces.grpc import serve_grpc

    paced = Paced()
    paced.api = SessionService(
        Engine(
            store=SqliteStore(home / "bridle.db", SystemClock()),
            claims=FileClaims(home / "claims"),
            models=OneModel(paced),
            load_agent=lambda name, cwd: Agent(name, "You are a bench.", "bench/bench"),
            tools=(),
            clock=SystemClock(),
            chance=SystemChance(),
        )
    )
    server = await serve_grpc(paced, paced, address="127.0.0.1:0", cwd=str(home))
    return server.port, server


async def serve_bare(home: Path) -> tuple[int, Any]:
    """Serve a handler that writes the same messages and does nothing else."""
    import grpc

    from bridle.surfaces.grpc.generated import kontekst_pb2 as pb
    from bridle.surfaces.grpc.generated.kontekst_pb2_grpc import add_AgentServiceServicer_to_server

    class Bare:
        async def Run(self, requests: Any, context: Any) -> None:  # noqa: N802  its name on the wire
            await context.read()
            for text in TEXTS:
                await context.write(pb.RunEvent(token=pb.TokenDeltaEvent(text=text)))
            await context.write(pb.RunEvent(completed=pb.RunCompletedEvent(content="Done.")))
            await context.read()

    server = grpc.aio.server()
    add_AgentServiceServicer_to_server(Bare(), server)  # type: ignore[arg-type]
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return port, server


async def serve(kind: str) -> None:
    """Print the port, serve until the input ends, print the CPU seconds."""
    with tempfile.TemporaryDirectory() as home:
        port, server = await (serve_bare if kind == "bare" else serve_bridle)(Path(home))
        began = time.process_time()
        print(port, flush=True)
        await asyncio.to_thread(sys.stdin.read)
        print(time.process_time() - began, flush=True)
        del server


async def read_all(port: str) -> None:
    """Read one run; print the seconds from its first token to its last."""
    import grpc

    from bridle.surfaces.grpc.generated import kontekst_pb2 as pb
    from bridle.surfaces.grpc.generated.kontekst_pb2_grpc import AgentServiceStub

    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = AgentServiceStub(channel).Run()
        await call.write(pb.RunCommand(start=pb.StartRunCommand(prompt="Tell me a long story.")))
        tokens, began = 0, time.monotonic()
        async for event in call:
            kind = event.WhichOneof("event")
            tokens += kind == "token"
            if kind in ("completed", "failed"):
                break
        took_s = time.monotonic() - began
        await call.done_writing()
    assert tokens == EVENTS, f"{tokens} of {EVENTS} tokens, then {event}"
    print(took_s)


@contextmanager
def server_of(kind: str) -> Iterator[tuple[str, "list[float]"]]:
    """Run a server; yield its port, and a list that gets its CPU seconds at the end."""
    spent: list[float] = []
    with subprocess.Popen(
        [PYTHON, __file__, kind],
        env=child_env(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            yield server.stdout.readline().strip(), spent
            server.stdin.close()
            spent.append(float(server.stdout.readline()))
        finally:
            server.kill()


def main() -> list[Line]:
    """Compare the server's CPU time; the bar of 1 / 0.6 means at least 60 % of the bare server's rate."""
    cpu: dict[str, list[float]] = {"bare": [], "bridle": []}
    wall: dict[str, list[float]] = {"bare": [], "bridle": []}
    for _ in range(ROUNDS):
        for kind in cpu:
            with server_of(kind) as (port, spent):
                wall[kind] += child_figures(__file__, "client", port)
            cpu[kind] += spent
    scale, what = 1e6 / EVENTS, f"a gRPC event of {EVENTS:,}"
    rows = []
    for name, unit, found in (("cpu", "µs CPU of the server", cpu), ("time", "µs", wall)):
        bare = figure("bare grpcio", found["bare"], scale=scale)
        rows.append(Row(f"grpc.{name}", what, unit, ours(found["bridle"], scale=scale), (bare,), 1 / 0.6))
    return report(rows)


if __name__ == "__main__":
    chosen, *rest = sys.argv[1:]
    asyncio.run(read_all(*rest) if chosen == "client" else serve(chosen))
