"""Hostile cells in Bridle's own guest, in the usual sandbox.

Each ends within its limit and leaves a kernel that works, or one that is dead and says why.
"""

import asyncio
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from bridle.core.errors import ToolError
from bridle.core.tool import ToolSpec
from bridle.kernel.cell import CellResult
from bridle.kernel.snapshot import open_sealed, seal
from tests.kernel.conftest import ECHO, Stage, StartKernel
from tests.patience import PATIENCE_S

MIB = 1024 * 1024


async def works(stage: Stage) -> bool:
    """Return whether the kernel still runs cells, reaches tools and has its variables."""
    result = await stage.run("await echo('still ' + state)")
    return result.output.endswith("'still here'\n") and (result.error, result.ended, result.calls) == (
        "",
        "",
        1,
    )


@pytest.fixture
async def stage(start: StartKernel) -> Stage:
    """Return a kernel with something in it."""
    stage = Stage(await start(max_processes=30, memory_bytes=1024 * MIB))
    await stage.run("state = 'here'")
    await stage.run("await asyncio.sleep(0)\n1 / 0")  # loads what the first error needs, which takes its time
    return stage


# ---------------------------------------------------------------------------- without end


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time\ntime.sleep(60)",
        "await asyncio.sleep(60)",
        "while True: await asyncio.sleep(0)",
        "import threading\nthreading.Event().wait()",
        "import subprocess\nsubprocess.run(['sleep', '60'])",
        "import socket\na, b = socket.socketpair()\na.recv(1)",
        "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
    ],
)
async def test_a_cell_without_end_is_interrupted(stage: Stage, code: str):
    result = await stage.run(code, timeout_s=0.3)

    assert (result.ended, result.why) == ("timeout", "more than 0.3 s")
    assert result.error.splitlines()[-1] == "KeyboardInterrupt"
    assert await works(stage)


@pytest.mark.parametrize(
    "code",
    [
        "sum(range(10**15))",
        """
        import signal
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        while True: pass
        """,
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\nwhile True: pass",
    ],
)
async def test_a_cell_that_does_not_heed_is_killed(stage: Stage, code: str):
    start = time.monotonic()
    result = await stage.run(dedent(code), timeout_s=0.2)

    assert result == CellResult("", ended="timeout", why="no answer 0.5 s after it was interrupted")
    assert time.monotonic() - start < PATIENCE_S
    with pytest.raises(ToolError, match=r"the Python kernel is gone: no answer 0\.5 s after"):
        await stage.run("1")


@pytest.mark.parametrize(
    "code", ["while True: pass", "await asyncio.sleep(60)", "await echo('x')", "echo('x')"]
)
async def test_a_cell_that_is_cancelled_settles_at_once_and_the_kernel_lives(stage: Stage, code: str):
    began = asyncio.Event()

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        await asyncio.Event().wait()
        return True, ""

    task = asyncio.create_task(
        stage.run(f"message('began')\n{code}", call=call, say=lambda text, kind: began.set())
    )
    await began.wait()
    start = time.monotonic()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - start < PATIENCE_S
    assert await works(stage)


# ---------------------------------------------------------------------------- too much


async def test_a_recursion_without_end_is_an_error(stage: Stage):
    result = await stage.run("def f(): return f()\nf()")

    assert result.error.splitlines()[-1] == "RecursionError: maximum recursion depth exceeded"
    assert len(result.error) < 10_000
    assert await works(stage)


async def test_a_recursion_that_breaks_the_interpreter_is_told(stage: Stage):
    result = await stage.run(
        "import sys, threading\nsys.setrecursionlimit(10**9)\n"
        "class A:\n    def __getattr__(self, name): return getattr(self, name)\nrepr(A().x)",
        timeout_s=5,
    )

    assert result.ended in ("died", "")
    assert result.why == "killed by signal 11 (SIGSEGV)" or "Error" in result.error


async def test_memory_has_a_limit(stage: Stage):
    result = await stage.run(f"x = bytearray({2048 * MIB})")

    assert result.error.splitlines()[-1] == "MemoryError"
    assert await works(stage)


async def test_a_fork_bomb_ends_with_its_cell(stage: Stage):
    code = """
        import os, time
        while True:
            try:
                os.fork()
            except BlockingIOError:
                time.sleep(0.01)
    """
    result = await stage.run(dedent(code), timeout_s=0.3)

    assert result.ended in ("timeout", "died")
    await stage.kernel.close()


async def test_a_gigabyte_of_output_is_bounded(stage: Stage):
    start = time.monotonic()
    result = await stage.run("line = 'x' * (1 << 20)\nfor _ in range(1024): print(line)\nprint('end')")

    assert time.monotonic() - start < PATIENCE_S
    assert (result.error, result.ended) == ("", "")
    assert len(result.output) < 10 * MIB + 100
    assert result.output.endswith("x\nend\n")
    assert "bytes are left out here" in result.output
    assert sum(map(len, stage.emitted)) < 10 * MIB + 100
    assert await works(stage)


async def test_output_is_shown_while_the_cell_runs(stage: Stage):
    shown = asyncio.Event()

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        await shown.wait()
        return True, ""

    result = await stage.run(
        "print('now')\nawait echo('x')\nprint('then')", call=call, emit=lambda text: shown.set()
    )

    assert result == CellResult("now\nthen\n", calls=1)


async def test_a_program_that_prints_for_ever_is_ended_with_its_cell(stage: Stage):
    result = await stage.run("import subprocess\nsubprocess.run(['yes'])", timeout_s=0.3)

    assert result.ended == "timeout"
    assert result.output.startswith("y\ny\n")
    assert len(result.output) < 10 * MIB + 100
    assert await works(stage)


async def test_a_thread_that_prints_for_ever_does_not_hold_up_cells(stage: Stage):
    code = """
        import threading
        def talk():
            while True: print("blah")
        threading.Thread(target=talk, daemon=True).start()
    """
    results = [await stage.run(dedent(code), timeout_s=2), await stage.run("'done'", timeout_s=2)]

    assert [result.ended for result in results] == ["", ""]
    assert "'done'" in results[1].output
    assert stage.kernel.has_leftovers
    assert await stage.kernel.reset() is False


async def test_huge_frames_to_the_guest(stage: Stage):
    text = "ä" * (2 * MIB)

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        return True, text

    result = await stage.run(f"code = {'x' * MIB!r}\nlen(await echo('a')), len(code)", call=call)

    assert result == CellResult(f"({len(text)}, {MIB})\n", calls=1)


async def test_huge_frames_from_the_guest(stage: Stage):
    small = await stage.run(f"len(await echo('x' * {2 * MIB}))")
    large = await stage.run(f"await echo('x' * {20 * MIB})")

    assert small == CellResult(f"{2 * MIB}\n", calls=1)
    assert (large.calls, large.error.splitlines()[-1].partition(":")[0]) == (0, "ValueError")
    assert await works(stage)


# ---------------------------------------------------------------------------- the end of the kernel


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os\nos._exit(3)", "exit status 3"),
        ("import ctypes\nctypes.string_at(0)", "killed by signal 11 (SIGSEGV)"),
        ("import os\nos.abort()", "killed by signal 6 (SIGABRT)"),
        ("import os\nos.kill(os.getpid(), 9)", "killed by signal 9 (SIGKILL)"),
        ("import os\nos.execvp('true', ['true'])", "exit status 0"),
    ],
)
async def test_the_end_of_a_kernel_is_told_with_what_it_printed(stage: Stage, code: str, why: str):
    result = await stage.run(f"print('before')\n{code}")

    assert result == CellResult("before\n", ended="died", why=why)
    assert not stage.kernel.is_alive


@pytest.mark.parametrize("code", ["os.closerange(0, 4096)", "os.closerange(3, 4096)"])
async def test_closed_descriptors_cost_no_more_than_the_kernel(stage: Stage, code: str):
    result = await stage.run(f"import os\n{code}", timeout_s=1)
    if stage.kernel.is_alive:
        result = await stage.run("1 + 1", timeout_s=1)

    assert result == CellResult("2\n") or (result.ended, stage.kernel.is_alive) == ("died", False)


async def test_the_usual_descriptors_may_be_closed(stage: Stage):
    result = await stage.run("import os\nos.close(0); os.close(1); os.close(2)\nprint('lost')")

    assert result.ended == ""
    assert await works(stage)


@pytest.mark.parametrize(
    "number", ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGPIPE", "SIGCHLD", "SIGALRM"]
)
async def test_signals_a_cell_sends_itself(stage: Stage, number: str):
    result = await stage.run(
        f"import os, signal, time\nos.kill(os.getpid(), signal.{number})\ntime.sleep(0.01)"
    )

    if stage.kernel.is_alive:
        assert await works(stage)
    else:
        assert (result.ended, result.why) == ("died", result.why)
        assert result.why.endswith(f"({number})")


async def test_garbage_on_the_wire_from_inside(stage: Stage):
    """A cell can find the private descriptors; it hurts itself at most."""
    code = """
        import os
        for number in map(int, os.listdir("/proc/self/fd")):
            if number > 2:
                try:
                    os.write(number, bytes(range(256)) * 10 + b"\\n")
                except OSError:
                    pass
        1 + 1
    """
    result = await stage.run(dedent(code))

    assert result.output.endswith("2\n")
    assert await works(stage)


async def test_forged_results_do_not_answer_the_next_cell(stage: Stage):
    code = """
        import os, threading, time
        def forge():
            for number in map(int, os.listdir("/proc/self/fd")):
                if number > 2:
                    for name in (b"", b"0", b"1", b"2", b"None"):
                        line = b'{"type":"exec_result","id":"%s","output":"forged"}' % name
                        try:
                            os.write(number, b"\\n" + line + b"\\n")
                        except OSError:
                            pass
        forge()
    """
    await stage.run(dedent(code))

    assert await stage.run("1 + 1") == CellResult("2\n")


async def test_forked_children_do_not_answer(stage: Stage):
    code = (
        "import os\npid = os.fork()\nif pid == 0:\n    print('child')\nelse:\n    os.waitpid(pid, 0)\npid > 0"
    )
    result = await stage.run(code, timeout_s=3)

    assert result.output.splitlines()[-1] == "True"
    assert await works(stage)


# ---------------------------------------------------------------------------- what is left behind


async def test_tasks_and_threads_left_behind_are_known(stage: Stage):
    await stage.run("async def later(): await asyncio.sleep(60)\ntask = asyncio.create_task(later())")
    await stage.run("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()")

    assert await works(stage)
    assert stage.kernel.has_leftovers
    assert await stage.kernel.reset() is False


async def test_a_kernel_with_a_program_left_behind_is_not_to_be_reused(stage: Stage):
    await stage.run("import subprocess\nchild = subprocess.Popen(['sleep', '60'], start_new_session=True)")

    assert stage.kernel.has_leftovers
    assert await stage.kernel.reset() is False


async def test_a_reset_kernel_knows_nothing_of_its_last_owner(stage: Stage):
    await stage.run("async def later(): await asyncio.sleep(60)\ntask = asyncio.create_task(later())")

    assert await stage.kernel.reset() is True
    assert (await stage.run("state")).error.endswith("NameError: name 'state' is not defined")
    assert await stage.run("await echo('x')") == CellResult("'x'\n", calls=1)


async def test_tools_can_be_changed(stage: Stage):
    await stage.kernel.set_tools(
        [ToolSpec("other", "Do something else.", {"type": "object", "properties": {}})]
    )
    result = await stage.run("await other()\nstate")
    gone = await stage.run("await echo('x')")

    assert result == CellResult("'here'\n", calls=1)
    assert gone.error.endswith("NameError: name 'echo' is not defined")
    await stage.kernel.set_tools([ECHO])
    assert await works(stage)


# ---------------------------------------------------------------------------- snapshots


@pytest.mark.parametrize("codec", ["json", "rich"])
async def test_a_snapshot_brings_a_new_kernel_to_the_state_of_the_old(start: StartKernel, codec: str):
    old, new = Stage(await start(snapshot_codec=codec)), Stage(await start())
    await old.run(
        "import os\nx = {'a': [1, 2.5, None]}\n"
        "open(os.path.join(os.environ['SCRATCH_DIR'], 'note.txt'), 'w').write('kept')"
    )
    taken = await old.kernel.snapshot()
    key = bytes(32)
    await new.kernel.restore(open_sealed(seal(taken.data, key, "s1"), key, "s1"))
    result = await new.run("import os\nx, open(os.path.join(os.environ['SCRATCH_DIR'], 'note.txt')).read()")

    assert result == CellResult("({'a': [1, 2.5, None]}, 'kept')\n")


async def test_functions_and_classes_are_in_a_rich_snapshot(start: StartKernel):
    old, new = Stage(await start(snapshot_codec="rich")), Stage(await start())
    await old.run(
        "class Point:\n    def __init__(self, x): self.x = x\ndef double(p): return p.x * 2\np = Point(21)"
    )
    taken = await old.kernel.snapshot()
    await new.kernel.restore(taken.data)

    assert taken.dropped == ()
    assert await new.run("double(p), {1, 2}") == CellResult("(42, {1, 2})\n")


async def test_what_cannot_be_kept_is_named_and_the_rest_is_kept(stage: Stage):
    await stage.run("import socket\ngood = 1\nbad = socket.socket()\nloop = []\nloop.append(loop)")
    taken = await stage.kernel.snapshot()
    await stage.kernel.reset()
    await stage.kernel.restore(taken.data)

    assert {"bad", "loop"} <= {name for name, _ in taken.dropped}
    assert all(why for _, why in taken.dropped)
    assert await stage.run("good, state") == CellResult("(1, 'here')\n")


async def test_state_that_is_too_large_is_named(start: StartKernel):
    stage = Stage(await start(max_snapshot_bytes=100_000))
    await stage.run("small = 'x'\nlarge = 'y' * 1_000_000")
    taken = await stage.kernel.snapshot()

    assert len(taken.data) < 101_000
    assert [name for name, _ in taken.dropped] == ["large"]


async def test_a_tampered_snapshot_changes_nothing(stage: Stage):
    key = bytes(32)
    taken = await stage.kernel.snapshot()
    sealed = bytearray(seal(taken.data, key, "s1"))
    sealed[-1] ^= 1

    with pytest.raises(ToolError, match="nothing was restored"):
        await stage.kernel.restore(open_sealed(bytes(sealed), key, "s1"))
    with pytest.raises(ToolError, match="nothing was restored"):
        await stage.kernel.restore(b'json:{"vars": {"state": "gone"}, "files": {"../../x": ""}}')
    assert await works(stage)


async def test_hostile_state_does_not_hang_a_snapshot_for_ever(stage: Stage, project: Path):
    """It may cost the value, not the kernel."""
    code = """
        class Evil(dict):
            def items(self): raise SystemExit
            def __iter__(self): raise KeyboardInterrupt
            def __len__(self): raise MemoryError
        evil = Evil(a=1)
    """
    await stage.run(dedent(code))
    await stage.kernel.snapshot()

    assert await works(stage)
