import asyncio
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from bridle.core.errors import HookError
from bridle.hooks.program_process import ProgramResult, run_program
from tests.hooks.stage import Pipe, gone, script
from tests.patience import PATIENCE_S

ENV = {"PATH": os.defpath, "LANG": "C.UTF-8"}
LIMIT = 100_000


async def run(
    path: Path, data: bytes = b"", *args: str, limit_bytes: int = LIMIT, cwd: str = "/"
) -> ProgramResult:
    async with asyncio.timeout(PATIENCE_S):
        return await run_program((str(path), *args), data, env=ENV, cwd=cwd, limit_bytes=limit_bytes)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_a_program_reads_and_answers(tmp_path: Path):
    path = script(
        tmp_path, "print(sys.stdin.read() + '!', end=''); print('note', file=sys.stderr); sys.exit(3)"
    )

    assert await run(path, b"hello") == ProgramResult(3, b"hello!", b"note\n")


async def test_it_gets_its_arguments_its_folder_and_no_more_environment_than_was_given(tmp_path: Path):
    path = script(tmp_path, "print(sys.argv[1:], os.getcwd(), sorted(os.environ))")

    ended = await run(path, b"", "a b", "*", cwd=str(tmp_path))

    assert ended.output.decode() == f"['a b', '*'] {tmp_path} ['LANG', 'PATH']\n"


async def test_it_leads_a_session_of_its_own(tmp_path: Path):
    path = script(tmp_path, "print(os.getsid(0) == os.getpid() == os.getpgid(0))")

    assert (await run(path)).output == b"True\n"


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 3_000_000])
async def test_all_of_the_data_arrives_and_then_its_end(tmp_path: Path, size: int):
    path = script(tmp_path, "print(len(sys.stdin.buffer.read()))")

    assert await run(path, b"x" * size) == ProgramResult(0, f"{size}\n".encode(), b"")


@pytest.mark.parametrize("body", ["pass", "os.close(0); time.sleep(0.05)"])
async def test_a_program_need_not_read(tmp_path: Path, body: str):
    path = script(tmp_path, f"{body}\nprint('done')")

    assert await run(path, b"x" * 3_000_000) == ProgramResult(0, b"done\n", b"")


async def test_all_that_was_printed_before_the_end_is_there(tmp_path: Path):
    path = script(tmp_path, "sys.stdout.write('x' * 99_999); sys.stdout.flush(); os._exit(0)")

    for _ in range(5):
        assert await run(path) == ProgramResult(0, b"x" * 99_999, b"")


async def test_a_large_pipe_is_read_to_its_end(tmp_path: Path):
    """The program has ended before the event loop comes to look at what it printed."""
    os.mkfifo(tmp_path / "over")
    size = "import fcntl; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)"
    path = script(
        tmp_path,
        f"{size}; os.write(1, b'x' * 900_000); f = os.open('{tmp_path}/over', os.O_WRONLY); os._exit(0)",
    )
    task = asyncio.create_task(run(path, limit_bytes=1_000_000))
    await asyncio.sleep(0)  # it is started, and the loop looks away until it has closed the pipe
    with open(tmp_path / "over", "rb") as over:
        assert over.read() == b""

    assert len((await task).output) == 900_000


@pytest.mark.parametrize(("stream", "name"), [("stdout", "output"), ("stderr", "error stream")])
async def test_too_much_output_ends_it(tmp_path: Path, stream: str, name: str):
    path = script(tmp_path, f"while True: sys.{stream}.write('x' * 65536)")

    with pytest.raises(HookError) as caught:
        await run(path)

    assert caught.value.message == f"its {name} is longer than 100,000 bytes"


async def test_the_limit_itself_is_not_too_much(tmp_path: Path):
    path = script(tmp_path, "sys.stdout.write('x' * 1000)")

    assert len((await run(path, limit_bytes=1000)).output) == 1000
    with pytest.raises(HookError):
        await run(path, limit_bytes=999)


async def test_what_it_leaves_in_the_background_is_ended_and_does_not_hold_up_the_answer(tmp_path: Path):
    path = script(tmp_path, "pid = os.fork()\nif pid == 0: time.sleep(1000)\nprint(pid)")

    ended = await run(path)

    await gone(int(ended.output))


@pytest.mark.parametrize("body", ["time.sleep(1000)", "sys.stdin.read(); time.sleep(1000)"])
async def test_a_cancelled_caller_leaves_nothing_behind(tmp_path: Path, body: str):
    pipe = Pipe(tmp_path / "pids")
    path = script(
        tmp_path,
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        f"if child: open('{pipe.path}', 'w').write(f'{{os.getpid()}} {{child}}')\n"
        f"{body}",
    )
    before = descriptors()
    task = asyncio.create_task(run(path, b"x" * 1_000_000))
    leader, child = map(int, (await pipe.read()).split())
    began = time.monotonic()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert time.monotonic() - began < PATIENCE_S
    with pytest.raises(ProcessLookupError):
        os.kill(leader, 0)  # reaped, not only dead
    await gone(child)
    assert descriptors() == before
    pipe.close()


async def test_nothing_is_left_open(tmp_path: Path):
    path = script(tmp_path, "print('x')")
    await run(path)
    before = descriptors()
    for _ in range(3):
        await run(path, b"y")
        with suppress(HookError):
            await run(path, limit_bytes=0)

    assert descriptors() == before


@pytest.mark.parametrize(
    ("argv", "cwd", "reason"),
    [
        (["/no/such/program"], "/", "/no/such/program cannot be started: No such file or directory"),
        (
            [sys.executable],
            "/no/such/folder",
            f"{sys.executable} cannot be started: No such file or directory",
        ),
        (["/"], "/", "/ cannot be started: Permission denied"),
        (["/bin/ls\0"], "/", "/bin/ls\0 cannot be started: embedded null byte"),
    ],
)
async def test_what_cannot_be_started_is_an_error(argv: list[str], cwd: str, reason: str):
    with pytest.raises(HookError) as caught:
        await run_program(argv, b"", env=ENV, cwd=cwd, limit_bytes=LIMIT)

    assert caught.value.message == reason


async def test_a_text_without_a_first_line_that_says_what_runs_it_is_no_program(tmp_path: Path):
    path = tmp_path / "x"
    path.write_text("echo hi")
    path.chmod(0o755)

    with pytest.raises(HookError, match="Exec format error"):
        await run(path)


async def test_a_death_by_signal_is_told(tmp_path: Path):
    path = script(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)")

    assert (await run(path)).status == -11


async def test_many_at_once_do_not_mix(tmp_path: Path):
    path = script(tmp_path, "print(sys.stdin.read() * 1000, end='')")

    ended = await asyncio.gather(*(run(path, f"{index:02}".encode()) for index in range(10)))

    assert [one.output for one in ended] == [f"{index:02}".encode() * 1000 for index in range(10)]
