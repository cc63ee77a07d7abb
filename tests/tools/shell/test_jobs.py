"""Background jobs: listed, read from any position, ended."""

import asyncio
import os
import re
import time
from pathlib import Path

import pytest

from bridle.core.errors import ToolError
from bridle.core.ports import ToolOutput
from bridle.core.tool import Access
from bridle.tools.secrets import Masker
from bridle.tools.shell.output_buffer import HEAD_BYTES, RING_BYTES
from tests.tools.shell.conftest import MakeStage, Stage, is_gone

QUICK = 0.05  # commands become jobs after this time


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    return make_stage(background_after_s=QUICK)


@pytest.fixture
def plain(make_plain: MakeStage) -> Stage:
    return make_plain(background_after_s=QUICK)


@pytest.fixture
def gate(cwd: Path) -> Path:
    """Return a pipe that holds a job up until something is written to it."""
    os.mkfifo(cwd / "gate")
    return cwd / "gate"


async def start(stage: Stage, command: str, *, session: str = "s") -> None:
    assert "in the background as job" in (await stage.call("bash", session=session, command=command)).text


async def read(stage: Stage, job: int = 1, **args: int) -> str:
    output = await stage.call("job_output", job=job, **args)
    assert not output.is_error
    return re.sub(r"\d+ s\b", "N s", output.text)


# ---------------------------------------------------------------------------- reading


async def test_a_job_is_read_as_it_goes_on(stage: Stage, gate: Path):
    os.mkfifo(gate.with_name("second"))  # one pipe for both might still be open when it is read again
    await start(stage, "echo one; read x < gate; echo two; read x < second; exit 3")

    assert await read(stage, cursor=0, wait=5) == "one\n[job 1: running for N s; next cursor 4]"
    assert await read(stage) == "[no new output]\n[job 1: running for N s; next cursor 4]"
    waiting = asyncio.create_task(read(stage, wait=5))
    gate.write_text("go\n")
    assert await waiting == "two\n[job 1: running for N s; next cursor 8]"
    waiting = asyncio.create_task(read(stage, wait=5))
    gate.with_name("second").write_text("go\n")
    assert await waiting == "[no new output]\n[job 1: exit status 3, after N s; next cursor 8]"
    assert await read(stage, cursor=4, wait=5) == "two\n[job 1: exit status 3, after N s; next cursor 8]"
    assert (
        await read(stage, cursor=10**9) == "[no new output]\n[job 1: exit status 3, after N s; next cursor 8]"
    )


async def test_waiting_for_a_quiet_job_has_an_end(plain: Stage):
    await start(plain, "sleep 31.4161")
    started = time.monotonic()

    assert await read(plain, wait=1) == "[no new output]\n[job 1: running for N s; next cursor 0]"
    assert 0.9 < time.monotonic() - started < 31


async def test_pieces_end_between_lines_and_between_characters(plain: Stage):
    await start(plain, "printf 'one\\ntwo\\nh\\303\\251h\\303\\251'; exec sleep 31.4162")

    assert await read(plain, cursor=0, wait=5, limit=6) == (
        "one\n[job 1: running for N s; next cursor 4, 10 bytes more to read]"
    )
    assert await read(plain, limit=4) == "two\n[job 1: running for N s; next cursor 8, 6 bytes more to read]"
    assert await read(plain, limit=2) == "h\n[job 1: running for N s; next cursor 9, 5 bytes more to read]"
    assert await read(plain, limit=5) == "éhé\n[job 1: running for N s; next cursor 14]"


async def test_what_is_no_longer_kept_is_said(plain: Stage):
    total = HEAD_BYTES + 2 * RING_BYTES
    await start(plain, f"yes 1234567 | head -c {total}; sleep 31.4163")
    while f"next cursor {total}]" not in await read(plain, cursor=total - 1, wait=5):
        pass

    text = await read(plain, cursor=HEAD_BYTES - 8, limit=100)
    assert (
        text
        == f"1234567\n[job 1: running for N s; next cursor {HEAD_BYTES}, {2 * RING_BYTES} bytes more to read]"
    )
    text = await read(plain, limit=16)
    oldest = HEAD_BYTES + RING_BYTES
    assert text == (
        f"[bytes {HEAD_BYTES} to {oldest} are no longer kept]\n1234567\n1234567\n"
        f"[job 1: running for N s; next cursor {oldest + 16}, {RING_BYTES - 16} bytes more to read]"
    )


async def test_no_cursor_shows_half_a_secret(make_plain: MakeStage):
    stage = make_plain(background_after_s=QUICK, masker=Masker({"KEY": "0123456789abcdef"}))
    await start(stage, "echo '<0123456789abcdef>'; sleep 31.4164")
    await read(stage, cursor=0, wait=5)

    for cursor in range(20):
        for limit in (1, 5, 19):
            text = await read(stage, cursor=cursor, limit=limit)
            assert not re.search("[0-9a-f]{2}", text.partition("[job 1")[0].replace("[secret KEY]", ""))


async def test_escapes_are_not_cut(plain: Stage):
    await start(plain, "printf 'a\\033[3'; read x < <(sleep 0.3); printf '1mred'; sleep 31.4165")

    assert (
        await read(plain, cursor=0, wait=5)
        == "a\n[job 1: running for N s; next cursor 1, 3 bytes more to read]"
    )
    await read(plain, cursor=4, wait=5)
    assert await read(plain, cursor=1, wait=5) == "red\n[job 1: running for N s; next cursor 9]"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"job": 7}, "no job 7 (hint: jobs: 1)"),
        ({}, "missing job (hint: jobs: 1)"),
        ({"job": 1, "wait": 61}, "wait must be from 0 to 60"),
        ({"job": 1, "limit": 0}, "limit must be from 1 to 30000"),
        ({"job": 1, "cursor": -1}, "cursor must be 0 or more"),
    ],
)
async def test_what_cannot_be_read_is_said(plain: Stage, args: dict, message: str):
    await start(plain, "sleep 31.4166")

    with pytest.raises(ToolError) as caught:
        await plain.call("job_output", **args)
    assert str(caught.value) == message


# ---------------------------------------------------------------------------- listing


async def test_jobs_are_listed_with_their_states(stage: Stage, gate: Path):
    assert await stage.call("jobs") == ToolOutput("[no jobs]")
    await start(stage, "echo one; read x < gate\nexit 3")
    await start(stage, "sleep 31.4167 # " + "x" * 100)
    gate.write_text("go\n")
    await read(stage, cursor=4, wait=5)

    listed = (await stage.call("jobs")).text
    assert re.sub(r"\d+ s\b", "N s", listed) == (
        "1: exit status 3, after N s, 4 bytes: echo one; read x < gate ↵ exit 3\n"
        f"2: running for N s, 0 bytes: sleep 31.4167 # {'x' * 83}…"
    )


async def test_sessions_do_not_see_the_jobs_of_others(plain: Stage):
    await start(plain, "sleep 31.4168", session="one")

    assert await plain.call("jobs") == ToolOutput("[no jobs]")
    with pytest.raises(ToolError) as caught:
        await plain.call("job_kill", job=1)
    assert str(caught.value) == "no job 1 (hint: no jobs)"
    await plain.tool.aclose()
    assert is_gone("31.4168")


async def test_only_so_many_jobs_run_and_are_remembered(make_plain: MakeStage):
    stage = make_plain(background_after_s=QUICK, max_running_jobs=1, max_jobs=2, timeout_s=0.1)
    for _ in range(3):
        await start(stage, "sleep 31.4169")
        with pytest.raises(ToolError, match="1 background jobs are running already"):
            await stage.bash("true", background=True)
        assert (await stage.call("bash", command="sleep 31.4169")).is_error
        number = int((await stage.call("jobs")).text.splitlines()[-1].partition(":")[0])
        await stage.call("job_kill", job=number)

    assert [line.partition(":")[0] for line in (await stage.call("jobs")).text.splitlines()] == ["2", "3"]


async def test_a_forgotten_job_leaves_no_file_open(make_plain: MakeStage):
    stage = make_plain(background_after_s=QUICK, max_jobs=1)
    for number in (1, 2):
        await start(stage, "head -c 100000 /dev/zero; exec sleep 31.4173")
        while "next cursor 100000]" not in await read(stage, number, cursor=99_999, wait=5):
            pass
        assert open_outputs() == 1
        await stage.call("job_kill", job=number)
    await stage.tool.aclose()

    assert open_outputs() == 0


def open_outputs() -> int:
    links = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    return sum("/output-" in link for link in links)


async def test_a_background_call_returns_while_the_command_runs(plain: Stage):
    started = time.monotonic()
    text = await plain.bash("echo hello; sleep 31.4171", background=True)

    assert text == (
        "hello\n"
        "[it continues in the background as job 1: job_output shows what else it prints, job_kill ends it]"
    )
    assert time.monotonic() - started < 31
    assert await read(plain) == "[no new output]\n[job 1: running for N s; next cursor 6]"


# ---------------------------------------------------------------------------- ending


async def test_a_job_is_ended_with_all_its_processes(stage: Stage):
    await start(stage, "sleep 31.4172 | sleep 31.4172")

    ended = await stage.call("job_kill", job=1)
    again = await stage.call("job_kill", job=1)

    assert re.sub(r"\d+ s\b", "N s", ended.text) == "job 1: ended on request, after N s"
    assert re.sub(r"\d+ s\b", "N s", again.text) == "job 1 had ended already: ended on request, after N s"
    assert is_gone("31.4172")


async def test_a_job_may_tidy_up_before_it_ends(stage: Stage, cwd: Path):
    await start(stage, "trap 'echo tidy > mark; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
    await read(stage, cursor=0, wait=5)

    await stage.call("job_kill", job=1)

    assert (cwd / "mark").read_text() == "tidy\n"


@pytest.mark.parametrize("name", ["jobs", "job_output", "job_kill"])
async def test_no_job_tool_asks(plain: Stage, name: str):
    assert plain.tools[name].access({"job": 1}, plain.context) == Access(name, "read")
    assert await plain.tools[name].preview({"job": 1}, plain.context) == ""
