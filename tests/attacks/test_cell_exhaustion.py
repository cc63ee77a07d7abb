"""Attacks 7 and 9 from a kernel: use up the machine, outlive the session, win a race."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import dedent

import pytest

from bridle.core.ports import SessionTool
from tests.attacks.stage import CONFIG, ENDED, OUTSIDE, SESSION, Stage, in_a_cell
from tests.attacks.test_exhaustion import FILE_BYTES, MAX_PROCESSES, RUNAWAYS, STUBBORN, marked
from tests.patience import PATIENCE_S


@pytest.fixture
async def stage(world: Path) -> AsyncIterator[Stage]:
    """Yield a stage with narrow limits."""
    made = Stage(world, config=f"{CONFIG}max_file_bytes = {FILE_BYTES}\n")
    yield made
    await made.close()


@pytest.fixture
def word(world: Path) -> str:
    """Return the word that marks the processes of this test."""
    return f"marked-{world.name}"


async def left(word: str) -> list[int]:
    """Return the remaining processes of a test, after giving killed ones time to end."""
    for _ in range(200):
        if not marked(word):
            break
        await asyncio.sleep(0.01)
    return marked(word)


FORKED = "import os, time\nif not os.fork():\n    os.setsid()\n    "
NATIVE_RUNAWAYS = [
    FORKED + "os.execvp('sleep', ['{word}', '60'])",
    FORKED + "if not os.fork(): os.execvp('sleep', ['{word}', '60'])\n    os._exit(0)",
    "import subprocess; subprocess.Popen(['{word}', '60'], executable='/bin/sleep', start_new_session=True)",
    "import os; os.posix_spawn('/bin/sleep', ['{word}', '60'], os.environ)",
    "import asyncio; await asyncio.create_subprocess_exec('bash', '-c', 'exec -a {word} sleep 60')",
    "import signal; signal.signal(15, 1); import os; os.spawnv(os.P_NOWAIT, '/bin/sleep', ['{word}', '60'])",
]


@pytest.mark.parametrize("command", RUNAWAYS)
async def test_no_command_of_a_cell_outlives_the_session(stage: Stage, word: str, command: str):
    async with asyncio.timeout(PATIENCE_S):
        seen = await stage.cell(in_a_cell(f"({command.replace('{word}', word)}) > /dev/null 2>&1"))
        await stage.close()

    assert (ENDED in seen.text or "Timeout" in seen.text, await left(word)) == (True, [])


@pytest.mark.parametrize("code", NATIVE_RUNAWAYS)
async def test_nothing_that_a_cell_leaves_outlives_the_session(stage: Stage, word: str, code: str):
    await stage.cell(code.replace("{word}", word))
    [python] = [tool for tool in stage.tools if tool.spec.name == "python"]
    assert isinstance(python, SessionTool)
    is_noticed = python.is_busy(SESSION)
    await stage.close()

    assert (is_noticed, await left(word)) == (True, [])


STUBBORN_CODE = [
    "while True: pass",
    "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "import signal\nfor s in {*signal.valid_signals()} - {9, 19}: signal.signal(s, 1)\nwhile True: pass",
    "import time\nwhile True:\n    try: time.sleep(9)\n    except KeyboardInterrupt: pass",
    "import os\nos.kill(os.getpid(), 19)",
    "import threading\nfor _ in range(9): threading.Thread(target=lambda: [1 for _ in iter(int, 1)]).start()",
    "sum(range(10**15))",
    "'a' * 10**8 in 'b' * 10**8 or re.match('(a+)+$', 'a' * 40 + 'b')".replace("re.", "__import__('re')."),
    "while True: print('x' * 9999)",
    "class A:\n    def __del__(self): A()\nA()\nwhile True: pass",
    "await asyncio.sleep(99)",
    "await asyncio.gather(*(asyncio.shield(asyncio.sleep(99)) for _ in range(99)))",
    "def f(): yield from f()\nwhile True:\n    try: list(f())\n    except RecursionError: pass",
]


async def cancelled(stage: Stage, code: str) -> float:
    """Run code until it reports that it is ready, then stop it; return how long that took."""
    task = asyncio.create_task(stage.cell(f"print('ready', flush=True)\n{code}"))
    async with asyncio.timeout(PATIENCE_S):
        await stage.heard.wait()
    await asyncio.sleep(0.1)  # let it do its worst
    started = time.monotonic()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return time.monotonic() - started


@pytest.mark.parametrize("code", STUBBORN_CODE)
async def test_a_cell_that_never_ends_is_gone_when_it_is_cancelled(stage: Stage, code: str):
    took = await cancelled(stage, code)
    after = await stage.cell("1 + 1")

    assert (took < PATIENCE_S, after.text.splitlines()[-1]) == (True, "2")


@pytest.mark.parametrize("command", STUBBORN)
async def test_a_command_of_a_cell_that_never_ends_is_gone_with_the_session(
    stage: Stage, word: str, command: str
):
    took = await cancelled(stage, f"import os; os.system({command.replace('{word}', word)!r})")
    await stage.close()

    assert (took < PATIENCE_S, await left(word)) == (True, [])


async def test_a_fork_bomb_of_a_cell_is_bounded(stage: Stage, word: str):
    code = """
    import os, subprocess
    made = []
    try:
        for _ in range(500):
            made.append(subprocess.Popen(['{word}', '60'], executable='/bin/sleep'))
    except OSError: pass
    print(len(made))
    """
    seen = await stage.cell(dedent(code).replace("{word}", word))
    count = len(marked(word))
    await stage.close()

    assert int(seen.text) <= MAX_PROCESSES
    assert (count <= MAX_PROCESSES + 3, await left(word)) == (True, [])


async def test_memory_of_a_cell_is_bounded(stage: Stage):
    """The smaller one is the control."""
    small = await stage.cell("print(len(bytes(50_000_000)))")
    large = await stage.cell("print(len(bytes(900_000_000)))")

    assert (small.text, large.text.splitlines()[-1]) == ("50000000", "MemoryError")


async def test_a_file_of_a_cell_grows_no_larger_than_allowed(stage: Stage):
    """The smaller one is the control."""
    await stage.cell("open('small', 'wb').write(bytes(1000))")
    await stage.cell("open('large', 'wb').write(bytes(9_000_000))")
    await stage.cell("open('larger', 'wb').truncate(9 << 30)")

    sizes = [(stage.project / name).stat().st_size for name in ("small", "large", "larger")]
    assert (sizes[0], max(sizes) <= FILE_BYTES) == (1000, True)


async def test_a_flood_from_a_cell_is_cut(stage: Stage):
    seen = await stage.cell("for _ in range(600): print('a' * 100_000)\nprint('the end')")

    assert (len(seen.text) < 64 * 1024 + 500, "the end" in seen.text[-500:]) == (True, True)
    assert all(len(channel) < 61_000_000 for channel in seen.channels)


@pytest.mark.parametrize(
    "code",
    [
        "x = 'a' * 40_000_000",
        "x = [[]]\nfor _ in range(100_000): x = [x]",
        "for i in range(50_000): globals()[f'x{i}'] = i",
        "import os\nfor i in range(3000): open(os.environ['SCRATCH_DIR'] + f'/{i}', 'w')",
        "class A(dict):\n    def __iter__(self): return iter(int, 1)\nx = A(a=1)",
        "class A:\n    def __reduce__(self): raise SystemExit\nx = A()",
        "x = {}; x['x'] = x",
        "x = float('nan'); y = 10**5000",
        "x = '\\ud800'",
    ],
)
async def test_no_variable_breaks_what_is_kept(stage: Stage, code: str):
    """A snapshot is taken after each cell: it must end, and leave a kernel that works."""
    async with asyncio.timeout(PATIENCE_S):
        await stage.cell(code)
        after = await stage.cell("1 + 1")

    assert after.text.splitlines()[-1] == "2"


RACES = [
    """
    import os, threading, time
    os.mkdir('d'); os.symlink('../outside', 'l')
    def swap():
        for _ in range(300):
            os.rename('d', 'a'); os.rename('l', 'd'); os.rename('d', 'l'); os.rename('a', 'd')
    t = threading.Thread(target=swap); t.start()
    while t.is_alive():
        try: open('d/plain.txt', 'w').write('evil')
        except OSError: pass
    """,
    """
    import ctypes, threading
    libc, stop = ctypes.CDLL(None), []
    path = ctypes.create_string_buffer(b'xx/ours/plain.txt', 40)
    open('ours', 'w')
    def flip():
        while not stop: path[0:3] = b'../'; path[0:3] = b'xx/'
    threading.Thread(target=flip).start()
    import os; os.makedirs('xx/ours', exist_ok=True)
    path.raw = b'xx/outside/plain.txt'.ljust(40, b'\\0'); os.makedirs('xx/outside', exist_ok=True)
    for _ in range(3000):
        at = libc.open(path, 1 | 512)
        if at >= 0: libc.write(at, b'evil', 4), libc.close(at)
    stop.append(1)
    """,
]


@pytest.mark.parametrize("code", RACES)
async def test_a_cell_that_races_itself_stays_inside(stage: Stage, code: str):
    seen = await stage.cell(dedent(code).strip())

    assert (stage.world / "outside/plain.txt").read_text() == OUTSIDE
    assert not seen.is_error
