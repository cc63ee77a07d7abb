"""Cost of a kernel: a cell, a tool call, a start, its memory; compared with a bare echo and other kernels.

All kernels run in the sandbox; the child that only echoes lines does not. For round trips, this process is
pinned to one CPU and the other process to a second one: without pinning, an echo takes 13 or 50 µs, depending
on whether the scheduler uses one CPU or two. ipykernel and smolagents' executor have separate environments
(`peers_setup.py`) and are measured before and after Bridle; what cannot be installed is skipped.
"""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from measure import report, rounds
from peers_kernel import EXECUTOR, IPYKERNEL, PEERS, Beside
from rows import Line, Row, figure, ours

from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec
from bridle.core.tool import ToolSpec
from bridle.kernel.host import Kernel
from bridle.kernel.interpreter import find_python
from bridle.kernel.pool import Pool
from bridle.kernel.settings import KernelEnvironment, KernelSettings
from bridle.kernel.start import start_kernel
from bridle.sandbox import LocalSandbox

ROUNDS = 40
CELLS = 50  # per round
STARTS = 15
KERNELS = 100
BATCH = 10
MANY_CELLS = 1_000
SETTLE_S = 0.1  # the sandbox prepares for the next program
BAR_CELL = 2.0
BAR_PEER = 0.1
BAR_FIRST = 1.0
BAR_CALL = 2.0
BAR_START = 2.5
BAR_WARM_MS = 5.0
BAR_GROWTH_MB = 1.0
ECHO = "import os\nwhile data := os.read(0, 65536): os.write(1, data)"
LINE = b'{"type":"exec","id":"0123456789abcdef","code":"1+1"}\n'
TOOL = ToolSpec(
    "echo",
    "Say it again.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)

T = TypeVar("T")
Work = Callable[[], Awaitable[None]]


class Bench:
    """A sandbox, a folder, and kernels in it."""

    def __init__(self, home: Path) -> None:
        self.sandbox = LocalSandbox(home=str(home))
        self.settings = KernelSettings(environ=dict(os.environ))
        self.place = KernelEnvironment(str(home / "work"))
        self.rooms = 0
        (home / "work").mkdir()

    def room(self) -> SessionId:
        """Return an unused room name."""
        self.rooms += 1
        return SessionId(f"kernel-{self.rooms}")

    async def kernel(self, room: SessionId | None = None, *, warm: bool = False) -> Kernel:
        """Start a kernel."""
        return await start_kernel(
            self.sandbox, self.settings, self.place, room or self.room(), specs=[TOOL], warm=warm
        )

    async def run_python(self, room: SessionId) -> None:
        """Run `python3 -S -c pass` in the sandbox of a kernel."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            cwd = self.place.cwd
            spec = ProcessSpec(
                (find_python(self.settings, cwd), "-S", "-c", "pass"),
                cwd,
                self.settings.environ,
                nowhere,
                writable=(cwd,),
                keep=lambda _: None,
                tool="python",
            )
            assert await (await self.sandbox.start(spec, room)).wait() == 0
        finally:
            os.close(nowhere)


def main() -> list[Line]:
    """Compare with a bare echo, a bare start, and the other kernels that can be installed."""
    beside = {name: found for name in PEERS if (found := Beside.installed(name))}
    for one in beside.values():
        one.measure()
    rows = asyncio.run(_measure(beside))
    return report(rows)


async def _measure(beside: dict[str, Beside]) -> list[Line]:
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(Path(home))
        cells, calls, echoes = await _cells(bench)
        kernels, pythons = await _starts(bench)
        for one in beside.values():
            await asyncio.to_thread(one.measure)
        return [
            *_cell_rows(cells, calls, echoes, beside),
            *_start_rows(kernels, pythons, beside),
            await _warm(bench),
            await _growth(bench),
            await _memory(bench),
        ]


# ---------------------------------------------------------------------------- a cell


async def _cells(bench: Bench) -> list[list[float]]:
    """Return the seconds of a cell, of a tool call, and of a bare echo, by round."""
    kernel = await bench.kernel()
    with _echoing() as (echo, child), _apart(_guest(kernel), child):

        async def cells() -> None:
            for _ in range(CELLS):
                await run(kernel, "1+1")

        async def calls() -> None:
            await run(kernel, f"for _ in range({CELLS}): await echo('x')")

        async def echoes() -> None:
            for _ in range(CELLS):
                await echo(LINE)

        times = await _in_turns(cells, calls, echoes)
    await kernel.close()
    return [[seconds / CELLS for seconds in one] for one in times]


def _cell_rows(
    cells: list[float], calls: list[float], echoes: list[float], beside: dict[str, Beside]
) -> list[Line]:
    cell = ours(cells, scale=1e6, how="in the sandbox")
    echo = figure("bare echo by a Python child", echoes, scale=1e6)
    rows = [
        Row("kernel.cell", "a cell 1+1", "µs", cell, (echo,), BAR_CELL),
        Row(
            "kernel.call",
            "a tool call from a cell",
            "µs",
            ours(calls, scale=1e6),
            (figure("a cell 1+1", cells, scale=1e6),),
            BAR_CALL,
        ),
    ]
    for name, bar in ((IPYKERNEL, BAR_PEER), (EXECUTOR, BAR_FIRST)):
        if name in beside:
            place = PEERS[name][0]
            rows.append(
                Row(f"kernel.cell.{place}", f"a cell 1+1, {name}", "µs", cell, (beside[name].cell(),), bar)
            )
    return rows


async def run(kernel: Kernel, code: str) -> None:
    """Run a cell that must succeed."""

    async def call(name: str, args: dict[str, str]) -> tuple[bool, str]:
        return True, '"x"'

    result = await kernel.run(code, call=call, emit=lambda _: None, say=lambda _, __: None)
    assert (result.ended, result.error) == ("", ""), result


@contextmanager
def _echoing() -> Iterator[tuple[Callable[[bytes], Awaitable[None]], int]]:
    """Yield a round trip to a child that only echoes, by the same calls on the same loop, and its pid."""
    loop = asyncio.get_running_loop()
    python = find_python(KernelSettings(environ=dict(os.environ)), os.getcwd())
    with subprocess.Popen(
        [python, "-S", "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        writes, reads = child.stdin.fileno(), child.stdout.fileno()
        answered: asyncio.Future[None] = loop.create_future()

        def read() -> None:
            if os.read(reads, 65536).endswith(b"\n"):
                answered.set_result(None)

        async def echo(line: bytes) -> None:
            nonlocal answered
            answered = loop.create_future()
            os.write(writes, line)
            await answered

        loop.add_reader(reads, read)
        yield echo, child.pid
        loop.remove_reader(reads)
        child.stdin.close()


@contextmanager
def _apart(*others: int) -> Iterator[None]:
    """Pin this process to one CPU and others to a second one, if there are two."""
    usual = os.sched_getaffinity(0)
    for pid, cpu in [(0, min(usual)), *((other, max(usual)) for other in others)]:
        os.sched_setaffinity(pid, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


def _guest(kernel: Kernel) -> int:
    """Return the process in which cells run, below the processes that start the sandbox."""
    return next(_descendants(kernel.pid))


# ---------------------------------------------------------------------------- a start


async def _starts(bench: Bench) -> tuple[list[float], list[float]]:
    """Return the seconds until kernels and bare interpreters have started, in a running sandbox."""
    kernels: list[float] = []
    pythons: list[float] = []
    for number in range(rounds(STARTS)):
        room = bench.room()
        await bench.run_python(room)  # starts the sandbox
        if number % 2:
            await _timed(pythons, bench.run_python(room), settle_s=SETTLE_S)
        kernel = await _timed(kernels, bench.kernel(room), settle_s=SETTLE_S)
        if number % 2 == 0:
            await _timed(pythons, bench.run_python(room), settle_s=SETTLE_S)
        await kernel.close()
    return kernels, pythons


def _start_rows(kernels: list[float], pythons: list[float], beside: dict[str, Beside]) -> list[Line]:
    kernel = ours(kernels, scale=1e3, how="in a running sandbox")
    python = figure("python3 -S -c pass, the same sandbox", pythons, scale=1e3)
    rows: list[Line] = [Row("kernel.start", "start of a kernel", "ms", kernel, (python,), BAR_START)]
    if beside:
        others = tuple(one.start() for one in beside.values())
        rows.append(Row("kernel.start.peers", "start until the first cell", "ms", kernel, others, BAR_FIRST))
    return rows


async def _timed(times: list[float], work: Awaitable[T], *, settle_s: float = 0.0) -> T:
    await asyncio.sleep(settle_s)
    started = time.perf_counter()
    result = await work
    times.append(time.perf_counter() - started)
    return result


async def _warm(bench: Bench) -> Line:
    """Take a spare kernel and wait for its first answer."""
    spares: asyncio.Queue[None] = asyncio.Queue()

    async def start(place: KernelEnvironment, *, warm: bool) -> Kernel:
        assert place == bench.place
        kernel = await bench.kernel(warm=warm)
        if warm:
            spares.put_nowait(None)
        return kernel

    pool = Pool(start, spares=1)
    await pool.take("first", bench.place)
    times: list[float] = []
    for number in range(rounds(STARTS)):
        await spares.get()

        async def answer(owner: str) -> None:
            kernel, _ = await pool.take(owner, bench.place)
            await run(kernel, "1+1")

        await _timed(times, answer(str(number)), settle_s=SETTLE_S)
        await pool.destroy(str(number))
    await pool.aclose()
    answered = ours(times, scale=1e3)
    return Row("kernel.warm", "first answer of a kernel from the warm pool", "ms", answered, bar=BAR_WARM_MS)


# ---------------------------------------------------------------------------- memory


async def _growth(bench: Bench) -> Line:
    kernel = await bench.kernel()
    for number in range(MANY_CELLS // 10):
        await run(kernel, f"x = {number}\nprint(x)\nx + 1")
    before = _rss_bytes(_guest(kernel))
    for number in range(MANY_CELLS):
        await run(kernel, f"x = {number}\nprint(x)\nx + 1")
    grown = _rss_bytes(_guest(kernel)) - before
    await kernel.close()
    grows = ours([grown], scale=1e-6)
    return Row(
        "kernel.growth", f"memory that {MANY_CELLS:,} cells add to a kernel", "MB", grows, bar=BAR_GROWTH_MB
    )


async def _memory(bench: Bench) -> Line:
    """Return the memory of one of many kernels; shared pages are divided among their processes."""
    kernels: list[Kernel] = []
    try:
        while len(kernels) < KERNELS:
            kernels += await asyncio.gather(*(bench.kernel() for _ in range(BATCH)))
        guests = sum(_pss_bytes(_guest(kernel)) for kernel in kernels)
        everything = sum(map(_pss_bytes, _descendants(os.getpid())))
    finally:
        for start in range(0, len(kernels), BATCH):
            await asyncio.gather(*(kernel.close() for kernel in kernels[start : start + BATCH]))
    each, with_walls = (size / KERNELS / 1e6 for size in (guests, everything))
    note = f"PSS; {with_walls:.1f} MB with the processes of its sandbox"
    return Row("kernel.memory", f"memory of a kernel, {KERNELS} of them", "MB", ours([each]), note=note)


def _rss_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _pss_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _descendants(pid: int) -> Iterator[int]:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            yield child
            yield from _descendants(child)


async def _in_turns(*works: Work) -> list[list[float]]:
    """Time several actions in turn, so that noise affects all equally."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds(ROUNDS)):
        for slot, work in zip(times, works, strict=True):
            await _timed(slot, work())
    return times


if __name__ == "__main__":
    main()
