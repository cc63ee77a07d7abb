"""20,000 small events over JSON-RPC, compared with a program that only writes the same lines to a pipe.

```
bare      a loop that writes each line as it comes
bridle    the deltas of a run, from the watch of its session through a connection to stdout
```

Both write to a client that parses what it reads, as every client must. `deltas` measures the cost of the run
itself.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from typing import Any

from children import child_env
from measure import PYTHON, report, rounds
from rows import Line, Row, figure, ours

EVENTS = 20_000
ROUNDS = rounds(5)
SESSION = "0199f6d0-0000-7000-8000-000000000001"


def texts() -> list[str]:
    """Return the texts of the deltas."""
    return [f" w{number % 1000:03}" for number in range(EVENTS)]


def write_bare() -> None:
    """Write the lines one by one."""
    head = f'{{"jsonrpc":"2.0","method":"session/event","params":{{"session_id":"{SESSION}",'
    lines = [f'{head}"event":{{"type":"text_delta","delta":"{text}"}}}}}}\n'.encode() for text in texts()]
    os.write(1, b"\n")
    for line in lines:
        os.write(1, line)


class OneRun:
    """A session API with one session that has one long run."""

    is_remote = True

    def __init__(self) -> None:
        self.is_over = asyncio.Event()

    async def ask(self, query: Any) -> list[Any]:
        """Return the first record of the session."""
        from bridle.core.protocol import Record, SessionCreated

        return [Record(1, 0, SessionCreated(query.session, "/"), "")]

    async def submit(self, session: Any, command: Any) -> Any:
        """Take the prompt."""
        from bridle.core.ids import RunId
        from bridle.core.session_api import Receipt

        return Receipt(1, RunId("run"))

    async def watch(self, session: Any, after: int | None = 0) -> AsyncGenerator[Any, None]:
        """Yield the records and deltas of the run."""
        from bridle.core.ids import RunId
        from bridle.core.messages import user_message
        from bridle.core.protocol import MessageAdded, Record, RunEnded, RunStarted, TextDelta
        from bridle.core.queries import Records

        deltas = [TextDelta(text) for text in texts()]
        yield (await self.ask(Records(session)))[0]
        yield Record(2, 0, RunStarted(RunId("run"), "bench/bench"), "")
        yield Record(3, 0, MessageAdded(user_message("Tell me a long story.")), "")
        os.write(1, b"\n")
        for delta in deltas:
            yield delta
        self.is_over.set()
        yield Record(4, 0, RunEnded(RunId("run"), "completed", "Done."), "")


class Script:
    """A client that starts the run and disconnects at its end."""

    def __init__(self, api: OneRun) -> None:
        self._api = api
        self._lines = [
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "turn/start",
                "params": {"session_id": SESSION, "prompt": "Tell me a long story."},
            }
        ]

    async def next(self) -> bytes | None:
        """Return the next line."""
        if self._lines:
            return json.dumps(self._lines.pop()).encode()
        await self._api.is_over.wait()
        return None


async def write_bridle() -> None:
    """Send the run to a client."""
    from bridle.surfaces.meerkat.contract import parse_contract
    from bridle.surfaces.rpc import RpcConnection, RpcContext
    from bridle.surfaces.rpc.lines import StreamSink
    from bridle.surfaces.rpc.servers import open_writer
    from bridle.surfaces.shared.folder_info import Folders

    api: Any = OneRun()
    desk = RpcContext(api=api, folders=Folders({}, "/"), contract=parse_contract("0.5.2"), keeps_runs=False)
    await RpcConnection(desk, Script(api), StreamSink(await open_writer(1))).serve()


def measure(kind: str) -> tuple[float, float]:
    """Run one writer and read it; return the seconds until the last event, and the CPU of both."""
    with subprocess.Popen([PYTHON, __file__, kind], env=child_env(), stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        events, began, took_s, cpu_s = 0, 0.0, 0.0, 0.0
        for line in child.stdout:
            if line == b"\n":
                began, cpu_s = time.monotonic(), time.process_time() + _cpu_s(child.pid)
                continue
            message = json.loads(line)
            if "method" in message and message["params"]["event"]["type"] == "text_delta":
                events += 1
                if events == EVENTS:
                    took_s = time.monotonic() - began
                    cpu_s = time.process_time() + _cpu_s(child.pid) - cpu_s
    assert events == EVENTS, f"{events} of {EVENTS} events"
    return took_s, cpu_s


def _cpu_s(pid: int) -> float:
    """Return the CPU seconds of a running process."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def main() -> list[Line]:
    """Compare the time until the client has everything; the bar of 2 means half the rate of a bare pipe."""
    runs: dict[str, list[tuple[float, float]]] = {"bare": [], "bridle": []}
    for _ in range(ROUNDS):
        for kind, taken in runs.items():
            taken.append(measure(kind))
    rows = []
    for place, (name, unit) in enumerate({"time": "µs", "cpu": "µs CPU"}.items()):
        bare, told = ([one[place] for one in runs[kind]] for kind in ("bare", "bridle"))
        floor = figure("the same lines to a pipe", bare, scale=1e6 / EVENTS)
        what = f"a JSON-RPC event of {EVENTS:,} at its client"
        rows.append(Row(f"rpc.{name}", what, unit, ours(told, scale=1e6 / EVENTS), (floor,), 2.0))
    return report(rows)


if __name__ == "__main__":
    if sys.argv[1] == "bare":
        write_bare()
    else:
        asyncio.run(write_bridle())
