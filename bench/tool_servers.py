"""Cost of MCP servers against the bare SDK: a call, the start of a session with ten, and `--help` with ten.

The bare SDK is imported, connects and lists the tools of the same ten servers; any cost beyond that is
Bridle's.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from measure import PYTHON, child_cpu_s, report, rounds
from rows import Line, Row, figure, ours

if TYPE_CHECKING:
    from bridle.core.ports import Tool, ToolContext

SERVER = str(Path(__file__).with_name("echo_server.py"))
CALLS = 300
ROUNDS = rounds(5)
STARTS = rounds(5)
HELPS = rounds(9)
SERVERS = 10
PROMISED_MS = 50.0


async def calls_s() -> tuple[list[float], list[float]]:
    """Return the CPU times of calls through Bridle, and of the same calls by the bare SDK."""
    from mcp import Client, StdioServerParameters

    through_us, bare = [], []
    parameters = StdioServerParameters(command=sys.executable, args=[SERVER])
    async with Client(parameters) as client, opened(1) as (tools, context):
        for _ in range(ROUNDS):
            began = time.process_time()
            for _ in range(CALLS):
                assert (await tools[0].run({"text": "x"}, context)).text == "x"
            through_us.append(time.process_time() - began)
            began = time.process_time()
            for _ in range(CALLS):
                await client.call_tool("echo", {"text": "x"})
            bare.append(time.process_time() - began)
    return through_us, bare


@asynccontextmanager
async def opened(count: int) -> "AsyncIterator[tuple[tuple[Tool, ...], ToolContext]]":
    """Yield the tools of some echo servers, and a context to call them in."""
    from bridle.core.ids import SessionId
    from bridle.core.ports import ToolContext
    from bridle.mcp.servers import McpServers
    from bridle.mcp.settings import FolderServers, ServerSettings
    from bridle.sandbox import LocalSandbox
    from bridle.sessions.system_clock import SystemClock

    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": "/usr/bin:/bin", "HOME": home}
        settings = tuple(
            ServerSettings(f"echo{n}", "stdio", (sys.executable, SERVER), env, reads=("*",))
            for n in range(count)
        )
        sandbox, folder = LocalSandbox(home=home), FolderServers(settings)
        servers = McpServers(
            lambda cwd: folder, sandbox, wait_s=60.0, idle_s=900.0, home=Path(home), clock=SystemClock()
        )
        offer = await servers.offer(SessionId("bench"), home)
        assert len(offer.tools) >= count, offer.notes
        yield offer.tools, ToolContext(SessionId("bench"), home, emit=lambda text: None)
        await servers.aclose()


async def start_ours() -> None:
    """Print the CPU time that ten servers add to a session's start in this process, including the SDK."""
    began = time.process_time()
    async with opened(SERVERS):
        print(time.process_time() - began)


async def start_bare() -> None:
    """Print the CPU time of the bare SDK for the same work."""
    began = time.process_time()
    from mcp import Client, StdioServerParameters

    async with AsyncExitStack() as stack:
        for _ in range(SERVERS):
            parameters = StdioServerParameters(command=sys.executable, args=[SERVER])
            client = await stack.enter_async_context(Client(parameters))
            for ask in (
                client.list_tools,
                client.list_prompts,
                client.list_resources,
                client.list_resource_templates,
            ):
                await ask()
        print(time.process_time() - began)


def starts_s() -> tuple[list[float], list[float]]:
    """Return both CPU times, from several processes each."""
    times: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(STARTS):
        for which, found in times.items():
            made = subprocess.run([PYTHON, __file__, which], capture_output=True, check=True, text=True)
            found.append(float(made.stdout.split()[-1]))
    return times["ours"], times["bare"]


def helps_s() -> tuple[list[float], list[float]]:
    """Return the CPU times of `--help` with ten servers in the settings, and with none."""
    with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as full:
        servers = "".join(f'[mcp.servers.echo{n}]\ncommand = "echo"\n' for n in range(SERVERS))
        Path(full, "config.toml").write_text(servers)
        command = [PYTHON, "-m", "bridle", "--help"]
        with_ten, without = [], []
        for _ in range(HELPS):
            without.append(child_cpu_s(command, {"BRIDLE_HOME": plain}))
            with_ten.append(child_cpu_s(command, {"BRIDLE_HOME": full}))
    return with_ten, without


def main() -> list[Line]:
    """Compare with the bars."""
    called, bare_called = asyncio.run(calls_s())
    started, bare_started = starts_s()
    with_ten, without = helps_s()
    beyond = statistics.median(started) - statistics.median(bare_started)
    sdk = figure("the bare SDK", bare_called, scale=1e3 / CALLS)
    none = figure("with none", without, scale=1e3)
    helped = ours(with_ten, scale=1e3)
    return report(
        [
            Row(
                "mcp.call",
                "a tool call to a server",
                "ms CPU",
                ours(called, scale=1e3 / CALLS),
                (sdk,),
                1.5,
            ),
            Row(
                "mcp.start",
                f"{SERVERS} servers at a session's start, beyond the bare SDK",
                "ms CPU",
                ours([beyond], scale=1e3),
                bar=PROMISED_MS,
                note=f"the bare SDK needs {statistics.median(bare_started) * 1e3:.0f} ms",
            ),
            Row("mcp.help", f"bridle --help with {SERVERS} servers", "ms CPU", helped, (none,), 1.1),
        ]
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["ours"]:
        asyncio.run(start_ours())
    elif sys.argv[1:] == ["bare"]:
        asyncio.run(start_bare())
    else:
        main()
