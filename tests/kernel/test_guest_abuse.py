"""Cells that break things: each ends with a clear error, and the next cell works."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.kernel.guest_host import GUEST, PEAK_KB, Cell, Gone, Host, interpreters, last_line
from tests.patience import PATIENCE_S

every_python = pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.rpartition("/")[2])

ENDLESS = [
    "message('on')\nwhile True: pass",
    "message('on')\nimport time\ntime.sleep(60)",
    "message('on')\nimport threading\nthreading.Event().wait()",
    "import asyncio\nmessage('on')\nawait asyncio.sleep(60)",
    "import asyncio\nawait asyncio.sleep(0)\nmessage('on')\nwhile True: pass",
    "import asyncio\nasync def spin():\n    while True: await asyncio.sleep(0)\nmessage('on')\nawait spin()",
    (
        "import asyncio\nasync def own():\n    message('on')\n"
        "    await asyncio.sleep(60)\ndef start(): asyncio.run(own())\nstart()"
    ),
    "message('on')\nfor _ in iter(int, 1): print(end='')",
    "class R:\n    def __repr__(self):\n        message('on')\n        while True: pass\nR()",
    "import subprocess\nmessage('on')\nsubprocess.run(['sleep', '60'])",
]


@pytest.mark.parametrize("code", ENDLESS)
def test_an_interrupt_ends_a_cell_that_would_not_end(code):
    with Host() as host:
        host.run("kept = 1")
        cell = host.run(code, on_message=host.interrupt)

        assert last_line(cell.error) == "KeyboardInterrupt"
        assert "guest.py" not in cell.error
        assert host.run("kept\n") == Cell("1\n")
        assert host.run("import asyncio\nawait asyncio.sleep(0, 'fine')") == Cell("'fine'\n")


@every_python
def test_interrupts_on_every_version(python):
    with Host(python=python) as host:
        for code in ENDLESS[:7]:
            assert last_line(host.run(code, on_message=host.interrupt).error) == "KeyboardInterrupt"
        assert host.run("1") == Cell("1\n")


@pytest.mark.parametrize(
    "code",
    [
        "echo(1)",
        "await echo(1)",
        "import asyncio\nawait asyncio.gather(echo(1), echo(2))",
        "def f(): echo(1)\nf()",
    ],
)
def test_an_interrupt_ends_a_call_that_is_not_answered(code):
    with Host() as host:
        key = host.start(code)
        call = host.receive()
        host.interrupt()

        frames = [host.receive()]
        while frames[-1]["type"] != "exec_result":
            frames.append(host.receive())
        assert (frames[-1]["id"], last_line(frames[-1]["error"])) == (key, "KeyboardInterrupt")
        host.send(type="tool_result", id=call["id"], success=True, result="1")
        assert host.run("await echo(2)").output == "2\n"


def test_an_interrupt_for_another_cell_is_ignored():
    with Host() as host:
        host.run("1")
        host.send(type="interrupt", id="c1")
        host.send(type="interrupt", id="c99")
        host.send(type="interrupt")

        assert host.run("sum(range(1000))").output == "499500\n"


def test_an_interrupt_right_behind_its_cell_counts():
    with Host() as host:
        for _ in range(20):
            host._last += 1
            key = f"c{host._last}"
            lines = [
                {"type": "exec", "id": key, "code": "while True: pass"},
                {"type": "interrupt", "id": key},
            ]
            host.send_bytes("".join(json.dumps(one) + "\n" for one in lines).encode())

            assert last_line(host.run("", key=key).error) == "KeyboardInterrupt"


def test_a_cell_may_catch_an_interrupt():
    with Host() as host:
        code = "try:\n    message('on')\n    while True: pass\nexcept KeyboardInterrupt:\n    print('caught')"

        assert host.run(code, on_message=host.interrupt).output == "caught\n"


def test_an_interrupt_does_not_cut_a_line():
    """The pipe is full in the middle of a line when the interrupt comes."""
    with Host() as host:
        key = host.start("message('x' * 1_000_000)\nwhile True: pass")
        host.wait_for_full_pipe()
        host.interrupt()

        assert len(host.receive()["text"]) == 1_000_000
        frame = host.receive()
        assert (frame["id"], last_line(frame["error"])) == (key, "KeyboardInterrupt")


def test_interrupts_hit_the_event_loop_at_any_point():
    code = "async def spin():\n    while True: await asyncio.sleep(0)\nmessage('on')\nawait spin()"
    with Host() as host:
        for _ in range(100):
            assert last_line(host.run(code, on_message=host.interrupt).error) == "KeyboardInterrupt"


def test_many_interrupts_lose_nothing():
    """Each may arrive at any point: while the cell starts, runs, sends, ends, or long after."""
    with Host() as host:
        for number in range(200):
            key = host.start(f"for i in range({number % 40}): message('x' * 50)\n{number}")
            host.interrupt()
            frame = host.receive()
            while frame["type"] == "message":
                frame = host.receive()
            assert frame["id"] == key
            assert (frame["output"], frame["error"]) == (f"{number}\n", None) or "KeyboardInterrupt" in frame[
                "error"
            ]
        assert host.run("1") == Cell("1\n")


@pytest.mark.parametrize("python", sorted({interpreters()[0], sys.executable, interpreters()[-1]}))
@pytest.mark.parametrize(
    "code",
    [
        "def f(): f()\nf()",
        "import os\nos.closerange(3, 100_000)",
        "import os\nfor fd in (0, 1, 2): os.close(fd)",
        "import os\nos.dup2(os.open('/dev/null', os.O_WRONLY), 1)",
        "import sys\nsys.stdout.close()\nsys.stderr.close()",
        "import sys, io\nsys.stdout = sys.stderr = io.StringIO()",
        "import sys\nsys.stdout = None\ndel sys.stderr",
        "import sys\nsys.setrecursionlimit(60)",
        "import sys\nsys.settrace(lambda *a: 1 / 0)",
        "import sys\nsys.setprofile(lambda *a: None)",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.path.clear()\nsys.meta_path.clear()",
        "import sys\nsys.modules['traceback'] = sys.modules['linecache'] = 5",
        "import sys\nsys.tracebacklimit = 0",
        (
            "import signal\nfor s in (signal.SIGIO, signal.SIGURG, "
            "signal.SIGINT): signal.signal(s, signal.SIG_IGN)"
        ),
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))",
        "import builtins\nbuiltins.len = builtins.isinstance = builtins.str = builtins.print = None",
        "import builtins\nbuiltins.__import__ = None",
        "__builtins__ = {}",
        "globals().clear()",
        "del message, list_tools, ToolError, exit, echo",
        "import json\njson.loads = json.dumps = None\ndel json",
        "import posix\nposix.read = posix.write = None",
        "import asyncio\nasyncio.get_running_loop().stop()\nawait asyncio.sleep(0)",
        "import asyncio\nasyncio.set_event_loop(None)",
        (
            "import threading\nthreading.Thread(target=lambda: [None for _ in iter(int, "
            "1)], daemon=True).start()"
        ),
        (
            "import asyncio\nasync def bad(): raise SystemExit(3)\n"
            "t = asyncio.create_task(bad())\nawait asyncio.sleep(1)"
        ),
        "import os\nif os.fork() == 0:\n    os.write(0, b'x')",
        "import gc\ngc.disable()",
        "import sys\nsys.excepthook = sys.unraisablehook = sys.displayhook = None",
        "import os\nos.chdir('/')\nos.environ.clear()",
        (
            "class M(type):\n    def __repr__(self): raise SystemExit\n"
            "class A(metaclass=M): pass\nraise TypeError(A)"
        ),
        "raise type('X', (BaseException,), {})()",
        "import warnings\nwarnings.simplefilter('error')",
        "_ = 5\ndel _",
    ],
)
def test_the_next_cell_finds_everything_in_order(python, code):
    with Host(python=python, output="stream") as host:
        host.run(code)

        assert host.run("6 * 7") == Cell("42\n")
        assert host.run("x = 1\nx") == Cell("1\n")
        assert last_line(host.run("1 / 0").error).startswith("ZeroDivisionError")
        key = host.start("print('on')\nwhile True: 1")
        host.wait_for_output(b"on\n")
        host.interrupt()
        assert last_line(host.run("", key=key).error) == "KeyboardInterrupt"


@every_python
def test_a_forked_child_never_answers(python):
    code = (
        "import os, sys\n"
        "print('once', end='')\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try: echo(1)\n"
        "    except ToolError as e: print(' child:', e)\n"
        "else:\n"
        "    print(' status', os.waitpid(pid, 0)[1])\n"
        "    echo(2)\n"
    )
    with Host(python=python) as host:
        cell = host.run(code)

        assert cell.calls == (("echo", {"value": 2}),)
        assert cell.output == (
            "once child: only the process that the host started can speak to it, not a forked child\n"
            " status 0\n"
        )
        assert host.run("1") == Cell("1\n")


def test_a_forked_child_that_fails_says_so_and_ends():
    with Host() as host:
        cell = host.run("import os\npid = os.fork()\nif pid == 0: 1 / 0\nprint(os.waitpid(pid, 0)[1] >> 8)")

        assert cell.output.splitlines()[-2:] == ["ZeroDivisionError: division by zero", "1"]


def test_processes_of_a_cell_do_not_hold_the_wire():
    """A child that lives on must not keep the pipes of the frames open."""
    with Host() as host:
        host.run("import subprocess\nchild = subprocess.Popen(['sleep', '60'], close_fds=False)")
        pid = int(host.run("child.pid").output)
        try:
            open_ones = {os.readlink(f"/proc/{pid}/fd/{one}") for one in os.listdir(f"/proc/{pid}/fd")}
            assert not any(one.startswith("pipe:") for one in open_ones)
        finally:
            os.kill(pid, 9)


def test_multiprocessing_works():
    code = (
        "import multiprocessing\n"
        "def double(x): return 2 * x\n"
        "with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(double, [1, 2]))"
    )
    with Host() as host:
        assert host.run(code).output == "[2, 4]\n"


@pytest.mark.parametrize(
    "garbage", [bytes(range(256)) * 50, b"\n" * 1000, b"{" * 10_000 + b"\n", b'"\\ud800"\n', b"null\n"]
)
def test_garbage_is_ignored(garbage):
    with Host(output="stream") as host:
        host.send_bytes(garbage + b"\n")

        assert host.run("1").output.endswith("1\n")


def test_ignored_lines_are_told_where_the_host_can_read_it():
    with Host(output="stream") as host:
        host.send_bytes(b"nonsense\n[]\n")

        assert host.run("1").output == (
            "guest: ignored a line that is no frame (number 1)\n"
            "guest: ignored a line that is no frame (number 2)\n1\n"
        )


def test_a_line_that_is_too_long_is_dropped_as_it_comes():
    with Host(output="stream") as host:
        line = b"x" * (1 << 20)
        for _ in range(65):
            host._process.stdin.write(line)
        host._process.stdin.write(b"\n")
        host._process.stdin.flush()

        assert host.run("1").output == f"guest: ignored a line of {65 << 20} bytes (number 1)\n1\n"
        peak = int(host.run(PEAK_KB).output)
        assert peak < 300_000


def test_large_frames_both_ways():
    with Host() as host:
        text = "é" * 2_000_000
        host._last += 1
        host._process.stdin.write(
            json.dumps({"type": "exec", "id": f"c{host._last}", "code": f"t = {text!r}"}).encode() + b"\n"
        )
        host._process.stdin.flush()

        assert host.run("", key=f"c{host._last}") == Cell()
        assert host.run("print(t)").output == text + "\n"


def test_unknown_fields_and_wrong_types_do_not_end_it():
    with Host() as host:
        for frame in (
            {"type": "exec"},
            {"type": "exec", "id": None, "code": 5},
            {"type": "restore", "id": "r"},
            {"type": "restore", "id": "r", "data": 5},
            {"type": "snapshot", "id": {"a": 1}, "max_bytes": "x", "codec": 7},
            {"type": ["exec"]},
            {"type": 5},
            {"type": "serve"},
            {"type": "tool_result", "id": [], "result": 3},
        ):
            host.send(**frame)
        host.send(type="exec", id="last", code="'alive'")

        frame = host.receive()
        while frame.get("id") != "last":
            frame = host.receive()
        assert frame["output"] == "'alive'\n"


def test_a_segfault_ends_the_process_and_keeps_what_was_printed():
    with Host(output="stream") as host:
        host.start("print('before')\nimport ctypes\nctypes.string_at(0)")

        with pytest.raises(Gone, match="before"):
            host.receive()
        assert host.wait() == -11


def test_threads_left_behind_do_not_hold_the_end_up():
    with Host() as host:
        host.run("import threading\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()")
        began = time.monotonic()
        host.send(type="shutdown")

        assert host.wait() == 0
        assert time.monotonic() - began < PATIENCE_S


def test_functions_for_the_end_are_called(tmp_path):
    with Host() as host:
        host.run(f"import atexit\natexit.register(lambda: open({str(tmp_path / 'done')!r}, 'w').close())")
        host.send(type="shutdown")
        host.wait()

    assert (tmp_path / "done").exists()


def test_ctrl_c_ends_a_cell_and_never_the_guest():
    with Host() as host:
        host.run("1")
        os.kill(host.pid, 2)
        cell = host.run("message('on')\nwhile True: pass", on_message=lambda _: os.kill(host.pid, 2))

        assert last_line(cell.error) == "KeyboardInterrupt"
        assert host.run("1") == Cell("1\n")


def test_a_thousand_cells_do_not_make_it_grow():
    def size() -> int:
        return int(host.run("int(open('/proc/self/statm').read().split()[1])").output) * 4096

    with Host() as host:
        for _ in range(1100):
            host.run("x = [1]\nx")
        before = size()
        for _ in range(1000):
            host.run("x = [1]\nx")
        assert size() - before < 1_000_000


def test_the_file_runs_without_anything_of_ours(tmp_path):
    """A host may copy it anywhere."""
    alone = tmp_path / "repl.py"
    alone.write_bytes(Path(GUEST).read_bytes())
    lines = (
        b'{"type":"init","tools":"[]"}\n'
        b'{"type":"exec","id":"1","code":"import sys\\nprint(\'bridle\' in sys.modules)"}\n'
    )
    done = subprocess.run(
        [sys.executable, "-I", str(alone)], input=lines, capture_output=True, timeout=10, check=True
    )

    assert json.loads(done.stdout.splitlines()[1])["output"] == "False\n"
