"""What a kernel costs: a cell, a call of a tool, a start, its memory; beside a bare echo, and ipykernel.

All kernels run in the sandbox; the child that only echoes lines does not. For round trips this process is
held on one CPU and the other one on a second: left to itself, the same pair takes 13 or 50 µs for an echo,
as the scheduler puts it on one CPU or on two. ipykernel lives in an environment of its own under
`.cache/bench/`, made on first use from the package index; without one it is left out.
"""

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import peers
from children import child_figures
from measure import report

from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec
from bridle.core.tool import ToolSpec
from bridle.kernel.host import Kernel
from bridle.kernel.interpreter import find_python
from bridle.kernel.pool import Pool
from bridle.kernel.settings import KernelSettings, Place
from bridle.kernel.start import start_kernel
from bridle.sandbox import LocalSandbox

PEER = "ipykernel"
PEER_FILE = str(Path(__file__).with_name("peer_kernel.py"))
PACKAGES = ("ipykernel", "jupyter-client")
ROUNDS = 40
CELLS = 50  # in a round
STARTS = 15
KERNELS = 100
BATCH = 10
MANY_CELLS = 1_000
SETTLE_S = 0.1  # the sandbox makes ready for the next program
BAR_CELL = 2.0
BAR_PEER = 0.1
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
Row = tuple[str, float, float]
Work = Callable[[], Awaitable[None]]


class Bench:
    """A sandbox, a folder, and kernels in it."""

    def __init__(self, home: Path) -> None:
        self.sandbox = LocalSandbox(home=str(home))
        self.settings = KernelSettings(environ=dict(os.environ))
        self.place = Place(str(home / "work"))
        self.rooms = 0
        (home / "work").mkdir()

    def room(self) -> SessionId:
        """Return the name of a room that nobody has used."""
        self.rooms += 1
        return SessionId(f"kernel-{self.rooms}")

    async def kernel(self, room: SessionId | None = None, *, warm: bool = False) -> Kernel:
        """Start a kernel."""
        return await start_kernel(
            self.sandbox, self.settings, self.place, room or self.room(), specs=[TOOL], warm=warm
        )

    async def run_python(self, room: SessionId) -> None:
        """Start `python3 -S -c pass` behind the walls of a kernel, and wait for its end."""
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


def main() -> list[Row]:
    """Compare with a bare echo, a bare start, and ipykernel where it can be had."""
    found = peers.environment(PEER, PACKAGES)
    peer = child_figures(PEER_FILE, python=found[1]) if found else None
    return report(asyncio.run(_measure(peer)))


async def _measure(peer: list[float] | None) -> list[Row]:
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(Path(home))
        return [
            *await _cells(bench, peer),
            *await _starts(bench, peer),
            await _warm(bench),
            await _growth(bench),
            *await _memory(bench),
        ]


# ---------------------------------------------------------------------------- a cell


async def _cells(bench: Bench, peer: list[float] | None) -> list[Row]:
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

        echo_s, cell_s, call_s = [one / CELLS for one in await _medians(echoes, cells, calls)]
    await kernel.close()
    print(f"bare echo {_us(echo_s)}, cell {_us(cell_s)}, call of a tool {_us(call_s)}")
    rows = [
        ("cell 1+1 / bare echo of a Python child", cell_s / echo_s, BAR_CELL),
        ("call of a tool from a cell / cell", call_s / cell_s, BAR_CALL),
    ]
    if peer:
        print(f"{PEER}: cell {_us(peer[1])}")
        rows.append((f"cell 1+1 / {PEER}'s", cell_s / peer[1], BAR_PEER))
    return rows


async def run(kernel: Kernel, code: str) -> None:
    """Run a cell that must end well."""

    async def call(name: str, args: dict[str, str]) -> tuple[bool, str]:
        return True, '"x"'

    result = await kernel.run(code, call=call, emit=lambda _: None, say=lambda _, __: None)
    assert (result.ended, result.error) == ("", ""), result


@contextmanager
def _echoing() -> Iterator[tuple[Callable[[bytes], Awaitable[None]], int]]:
    """Give a round trip to a child that only echoes, by the same calls on the same loop, and its pid."""
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
    """Hold this process on one CPU and others on a second one, where there are two."""
    usual = os.sched_getaffinity(0)
    for pid, cpu in [(0, min(usual)), *((other, max(usual)) for other in others)]:
        os.sched_setaffinity(pid, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


def _guest(kernel: Kernel) -> int:
    """Return the process in which cells run: what starts it in the sandbox stays above it."""
    return next(_descendants(kernel.pid))


# ---------------------------------------------------------------------------- a start


async def _starts(bench: Bench, peer: list[float] | None) -> list[Row]:
    """Start kernels and bare interpreters, in a cell of the sandbox that is open and in a new one."""
    times: dict[str, list[float]] = {"open python": [], "open kernel": [], "new python": [], "new kernel": []}
    for number in range(STARTS):
        room = bench.room()
        await _timed(times["new python"], bench.run_python(room), settle_s=SETTLE_S)
        if number % 2:
            await _timed(times["open python"], bench.run_python(room), settle_s=SETTLE_S)
        kernel = await _timed(times["open kernel"], bench.kernel(room), settle_s=SETTLE_S)
        if number % 2 == 0:
            await _timed(times["open python"], bench.run_python(room), settle_s=SETTLE_S)
        await kernel.close()
        await (await _timed(times["new kernel"], bench.kernel(), settle_s=SETTLE_S)).close()
    python_s, kernel_s, new_python_s, new_kernel_s = map(statistics.median, times.values())
    beside = f"; {PEER} {_ms(peer[0])}" if peer else ""
    print(f"start, sandbox open: kernel {_ms(kernel_s)}, python3 -S -c pass {_ms(python_s)}{beside}")
    print(f"start with its sandbox: kernel {_ms(new_kernel_s)}, python3 -S -c pass {_ms(new_python_s)}")
    return [("sandboxed kernel until it is ready / python3 -S -c pass", kernel_s / python_s, BAR_START)]


async def _timed(times: list[float], work: Awaitable[T], *, settle_s: float = 0.0) -> T:
    await asyncio.sleep(settle_s)
    started = time.perf_counter()
    result = await work
    times.append(time.perf_counter() - started)
    return result


async def _warm(bench: Bench) -> Row:
    """Take a spare and have it answer."""
    spares: asyncio.Queue[None] = asyncio.Queue()

    async def start(place: Place, *, warm: bool) -> Kernel:
        assert place == bench.place
        kernel = await bench.kernel(warm=warm)
        if warm:
            spares.put_nowait(None)
        return kernel

    pool = Pool(start, spares=1)
    await pool.take("first", bench.place)
    times: list[float] = []
    for number in range(STARTS):
        await spares.get()

        async def answer(owner: str) -> None:
            kernel, _ = await pool.take(owner, bench.place)
            await run(kernel, "1+1")

        await _timed(times, answer(str(number)), settle_s=SETTLE_S)
        await pool.destroy(str(number))
    await pool.aclose()
    return "ms until a kernel of the warm pool has answered 1+1", statistics.median(times) * 1e3, BAR_WARM_MS


# ---------------------------------------------------------------------------- memory


async def _growth(bench: Bench) -> Row:
    kernel = await bench.kernel()
    for number in range(MANY_CELLS // 10):
        await run(kernel, f"x = {number}\nprint(x)\nx + 1")
    before = _rss_bytes(_guest(kernel))
    for number in range(MANY_CELLS):
        await run(kernel, f"x = {number}\nprint(x)\nx + 1")
    grown = _rss_bytes(_guest(kernel)) - before
    await kernel.close()
    return f"MB that {MANY_CELLS:,} cells add to a kernel", grown / 1e6, BAR_GROWTH_MB


async def _memory(bench: Bench) -> list[Row]:
    """Print what a kernel takes when there are many, each page divided by those who share it."""
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
    print(
        f"{KERNELS} kernels: {each:.1f} MB each, {with_walls:.1f} MB with the processes of its sandbox (PSS)"
    )
    return []


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


async def _medians(*works: Work) -> list[float]:
    """Time several things in turn, so that noise meets them alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for slot, work in zip(times, works, strict=True):
            await _timed(slot, work())
    return [statistics.median(slot) for slot in times]


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"


if __name__ == "__main__":
    main()
