"""One kernel from outside: messages of guests, valid or not, and the outcome of cells.

The guests here are others than ours: one written from the first protocol's document alone, and scripts that
break the rules on purpose.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ToolError
from bridle.kernel import host
from bridle.kernel.cell import CellResult
from bridle.kernel.channel import MAX_UNREAD_BYTES, open_pipes
from bridle.kernel.host import Kernel
from bridle.kernel.settings import Owner
from bridle.kernel.snapshot import TakenSnapshot
from bridle.kernel.start import KernelSettings
from tests.kernel.conftest import ECHO, Stage, StartKernel
from tests.patience import PATIENCE_S
from tests.tools.shell.plain import NoChanges

SEED = str(Path(__file__).with_name("seed_guest.py"))

GUEST = """
import json, os, sys, time
lines = iter(sys.stdin.readline, "")
def read(): return json.loads(next(lines))
def send(tag, **more): os.write(1, json.dumps({"type": tag, **more}).encode() + b"\\n")
read()
send("ready", protocol=1, capabilities=["interrupt", "reset", "stream"], python="0.0")
"""
"""How the scripts begin: `read` gives the next frame and `send` sends one."""


@pytest.fixture
async def seed(start_other: StartKernel) -> Stage:
    """Give a kernel whose guest knows only the first protocol's document."""
    return Stage(await start_other(SEED))


async def scripted(start_other: StartKernel, script: str, **more: Any) -> Stage:
    return Stage(await start_other("-c", GUEST + script, **more))


# ---------------------------------------------------------------------------- the first protocol


async def test_a_cell_of_the_first_protocol(seed: Stage):
    result = await seed.run("print('one')\n1 + 1")

    assert result == CellResult("one\n2\n")
    assert "".join(seed.emitted) == "one\n2\n"


async def test_state_and_errors_of_the_first_protocol(seed: Stage):
    await seed.run("x = 41")
    failed = await seed.run("x + 1\n1 / 0")
    after = await seed.run("x")

    assert failed.error.endswith("ZeroDivisionError: division by zero\n")
    assert after == CellResult("41\n")


async def test_messages_of_the_first_protocol(seed: Stage):
    result = await seed.run("message('soon', kind='progress')\nmessage('done', kind='final')")

    assert result == CellResult("", answer="done")
    assert seed.said == [("soon", "progress"), ("done", "final")]


async def test_concurrent_tools_of_the_first_protocol(seed: Stage):
    """All calls are made before the first result is there."""
    everyone = asyncio.Barrier(3)

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        await everyone.wait()
        return True, f"{name} {args['text']}"

    result = await seed.run("await asyncio.gather(echo('a'), echo('b'), echo(text='c'))", call=call)

    assert result == CellResult("['echo a', 'echo b', 'echo c']\n", calls=3)


async def test_a_failed_tool_of_the_first_protocol(seed: Stage):
    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        return False, "no such thing"

    result = await seed.run("await echo('a')", call=call)

    assert result.error.endswith("RuntimeError: no such thing\n")


async def test_snapshot_and_restore_of_the_first_protocol(seed: Stage):
    await seed.run("x = [1, 'a']")
    taken = await seed.kernel.snapshot()
    await seed.run("x = None")
    await seed.kernel.restore(taken.data)
    after = await seed.run("x")

    assert taken == TakenSnapshot(b'json:{"vars": {"x": [1, "a"]}, "files": {}}')
    assert after == CellResult("[1, 'a']\n")


async def test_a_guest_of_the_first_protocol_cannot_be_reset_or_get_other_tools(seed: Stage):
    assert await seed.kernel.reset() is False
    with pytest.raises(ToolError, match="keeps the tools that it was started with"):
        await seed.kernel.set_tools([])
    await seed.kernel.set_tools([ECHO])


async def test_a_guest_of_the_first_protocol_is_killed_when_its_time_is_up(seed: Stage):
    result = await seed.run("while True: pass", timeout_s=0.1)

    assert result == CellResult("", ended="timeout", why="it cannot be interrupted")
    assert not seed.kernel.is_alive


# ---------------------------------------------------------------------------- ids


async def test_results_that_nobody_asked_for_are_ignored(start_other: StartKernel):
    stage = await scripted(
        start_other,
        """
one = read()
send("exec_result", id="nobody", output="wrong")
send("snapshot_result", id=one["id"], data="{}")
send("reset_result", id=one["id"])
send("ready")
send("exec_result", id=one["id"], output="one")
two = read()
send("exec_result", id=one["id"], output="stale")
send("exec_result", id=two["id"], output="two")
send("exec_result", id=two["id"], output="again")
read()
""",
    )

    assert [await stage.run("1"), await stage.run("2")] == [CellResult("one"), CellResult("two")]


async def test_an_abandoned_cell_does_not_answer_the_next_one(start_other: StartKernel):
    """It is interrupted, answers late, and the next cell gets its own result."""
    stage = await scripted(
        start_other,
        """
one = read()
send("message", text="began")
assert read() == {"type": "interrupt", "id": one["id"]}
send("exec_result", id=one["id"], output="", error="KeyboardInterrupt")
two = read()
send("exec_result", id=one["id"], output="stale")
send("exec_result", id=two["id"], output="two")
read()
""",
    )
    began = asyncio.Event()
    task = asyncio.create_task(stage.run("1", say=lambda text, kind: began.set()))
    await began.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert stage.kernel.is_alive
    assert await stage.run("2") == CellResult("two")


async def test_ids_are_never_the_same(start_other: StartKernel):
    stage = await scripted(
        start_other,
        """
while True:
    one = read()
    send("exec_result", id=one["id"], output=one["id"])
""",
    )

    assert len({(await stage.run("")).output for _ in range(20)}) == 20


# ---------------------------------------------------------------------------- tool calls

CALLER = """
def call(number, **more):
    send("tool_call", **{"id": str(number), "name": "echo", "args": '{"text": "x"}', **more})
def results(count):
    found = [read() for _ in range(count)]
    return sorted(found, key=lambda one: int(one["id"]))
def end(cell, found):
    send("exec_result", id=cell["id"], output=json.dumps(found))
"""


def tool_result(number: int, text: str, *, success: bool = True) -> dict[str, Any]:
    result = f'"{text}"'
    return {"type": "tool_result", "id": str(number), "success": success, "result": result}


async def outcome(stage: Stage, **more: Any) -> Any:
    """Run a cell whose guest prints what it got; return that, and how many calls were made."""
    result = await stage.run("", **more)
    return json.loads(result.output), result.calls


async def test_so_many_calls_run_at_once_the_rest_waits_in_order(start_other: StartKernel):
    script = """
cell = read()
for number in range(6): call(number, args=json.dumps({"text": number}))
send("message", text="all are sent")
end(cell, results(6))
read()
"""
    stage = await scripted(start_other, CALLER + script, max_calls=2)
    are_sent = asyncio.Event()
    began: list[int] = []
    running, most = 0, 0

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        nonlocal running, most
        began.append(args["text"])
        running += 1
        await are_sent.wait()
        await asyncio.sleep(0)
        most = max(most, running)
        running -= 1
        return True, str(args["text"])

    found, calls = await outcome(stage, call=call, say=lambda text, kind: are_sent.set())

    assert found == [tool_result(number, str(number)) for number in range(6)]
    assert (began, most, calls) == (list(range(6)), 2, 6)


async def test_more_calls_than_may_wait_are_refused(start_other: StartKernel):
    script = """
cell = read()
for number in range(5): call(number)
found = results(2)
send("message", text="two are refused")
end(cell, found + results(3))
read()
"""
    stage = await scripted(start_other, CALLER + script, max_calls=1, max_waiting_calls=2)
    are_refused = asyncio.Event()
    refused = "echo: 1 calls run and 2 wait; await some of them first"

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        await are_refused.wait()
        return True, "x"

    found, calls = await outcome(stage, call=call, say=lambda text, kind: are_refused.set())

    assert found == [
        *(tool_result(number, refused, success=False) for number in (3, 4)),
        *(tool_result(number, "x") for number in range(3)),
    ]
    assert calls == 3


async def test_a_call_while_no_cell_runs_is_refused(start_other: StartKernel):
    script = """
import json, sys
def send(tag, **more): print(json.dumps({"type": tag, **more}), flush=True)
input()
send("tool_call", id="1", name="echo", args="{}")
found = json.loads(input())
send("ready")
send("exec_result", id=json.loads(input())["id"], output=json.dumps(found))
input()
"""
    stage = Stage(await start_other("-c", script))

    found, calls = await outcome(stage)

    assert found == tool_result(1, "echo: no cell is running; call tools while one does", success=False)
    assert (calls, stage.called) == (0, [])


@pytest.mark.parametrize("args", ["", "[]", "{", "nonsense", "[" * 100_000, '"\\ud800"'])
async def test_arguments_that_are_no_object_are_refused(start_other: StartKernel, args: str):
    made = f"{args[:10]!r} * {max(1, len(args) // 10)}"  # a command line has its limits
    script = f"cell = read()\ncall(1, args={made})\nend(cell, results(1))\nread()"
    stage = await scripted(start_other, CALLER + script)

    ((found,), _) = await outcome(stage)

    assert (found["success"], stage.called) == (False, [])
    assert found["result"].startswith('"echo: its arguments are not a JSON object')


async def test_calls_that_a_cell_leaves_running_are_cancelled_and_awaited(start_other: StartKernel):
    stage = await scripted(
        start_other, CALLER + "cell = read()\ncall(1)\ncall(2)\nresults(1)\nend(cell, [])\nread()"
    )
    ended = []

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        stage.called.append((name, args))
        if len(stage.called) == 2:
            return True, "x"
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(name)
        return True, "never"

    result = await stage.run("", call=call)

    assert result == CellResult("[]", calls=2)
    assert ended == ["echo"]


async def test_a_cancelled_call_is_answered(start_other: StartKernel):
    """Or a task that waits for it in the guest would wait forever."""
    script = """
cell = read()
for number in range(2): call(number)
end(cell, [])
found = results(2)
end(read(), found)
read()
"""
    stage = await scripted(start_other, CALLER + script, max_calls=1)

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        await asyncio.Event().wait()
        return True, "never"

    await stage.run("", call=call)
    found, _ = await outcome(stage)

    assert found == [
        tool_result(0, "echo: the call was cancelled with its cell", success=False),
        tool_result(1, "echo: the cell ended before this call began", success=False),
    ]


async def test_without_tools_every_call_is_refused(start_other: StartKernel):
    stage = await scripted(start_other, CALLER + "cell = read()\ncall(1)\nend(cell, results(1))\nread()")

    found, _ = await outcome(stage, call=None)

    assert found == [tool_result(1, "echo: no tools are available", success=False)]


async def test_an_error_of_bridle_is_a_failed_result(start_other: StartKernel):
    stage = await scripted(start_other, CALLER + "cell = read()\ncall(1)\nend(cell, results(1))\nread()")

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        raise ToolError("no such file", hint="look again")

    found, _ = await outcome(stage, call=call)

    assert found == [tool_result(1, "no such file (hint: look again)", success=False)]


async def test_an_error_that_no_tool_may_raise_ends_the_cell_and_is_raised(start_other: StartKernel):
    script = """
cell = read()
call(1)
assert results(1)[0]["success"] is False
assert read()["type"] == "interrupt"
end(cell, [])
read()
"""
    stage = await scripted(start_other, CALLER + script)

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        raise LookupError("a mistake of ours")

    with pytest.raises(LookupError, match="a mistake of ours"):
        await stage.run("", call=call)
    assert stage.kernel.is_alive


async def test_a_cancelled_run_is_cancelled_whatever_its_tools_raise(start_other: StartKernel):
    script = "cell = read()\ncall(1)\nresults(1)\nread()\nend(cell, [])\nread()"
    stage = await scripted(start_other, CALLER + script)
    began = asyncio.Event()

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise LookupError("a mistake of ours")

    task = asyncio.create_task(stage.run("", call=call))
    await began.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_result_that_is_too_large_is_refused(start_other: StartKernel):
    stage = await scripted(start_other, CALLER + "cell = read()\ncall(1)\nend(cell, results(1))\nread()")

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        return True, "x" * (4 * 1024 * 1024 + 1)

    ((found,), _) = await outcome(stage, call=call)

    assert not found["success"]
    assert "its result has 4194305 characters" in found["result"]


# ---------------------------------------------------------------------------- time


async def test_time_in_which_a_tool_runs_does_not_count(start_other: StartKernel):
    script = "cell = read()\ncall(1)\nend(cell, results(1))\nread()"
    stage = await scripted(start_other, CALLER + script)

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        await asyncio.sleep(2.2)
        return True, "x"

    found, _ = await outcome(stage, call=call, timeout_s=2)

    assert found == [tool_result(1, "x")]


async def test_time_counts_again_after_a_tool(start_other: StartKernel):
    script = "cell = read()\ncall(1)\nresults(1)\nread()\nend(cell, [])\nread()"
    stage = await scripted(start_other, CALLER + script)

    result = await stage.run("", timeout_s=2)

    assert result == CellResult("[]", ended="timeout", why="more than 2 s", calls=1)


async def test_time_between_tools_adds_up(start_other: StartKernel):
    script = """
cell = read()
for number in range(1000):
    time.sleep(0.1)
    call(number)
    if read()["type"] == "interrupt": break
end(cell, [])
read()
"""
    stage = await scripted(start_other, CALLER + script)

    result = await stage.run("", timeout_s=1)

    assert (result.ended, result.why) == ("timeout", "more than 1 s")
    assert 0 < result.calls < 20


async def test_a_result_that_is_not_read_does_not_stop_the_clock(start_other: StartKernel):
    """A cell that asks for a large result and never reads it must not run forever."""
    stage = await scripted(
        start_other, CALLER + "read()\ncall(1)\nwhile True: time.sleep(9)", interrupt_grace_s=0.05
    )

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        return True, "x" * 1_000_000

    result = await stage.run("", call=call, timeout_s=0.1)

    assert result == CellResult("", ended="timeout", why="no answer 0.05 s after it was interrupted", calls=1)


async def test_interrupt_ends_a_cell(start_other: StartKernel):
    script = "cell = read()\nsend('message', text='began')\nread()\nend(cell, [])\nend(read(), [1])\nread()"
    stage = await scripted(start_other, CALLER + script)

    result = await stage.run("", say=lambda text, kind: asyncio.create_task(stage.kernel.interrupt()))
    await stage.kernel.interrupt()

    assert result == CellResult("[]", ended="cancelled")
    assert await stage.run("") == CellResult("[1]")


@pytest.mark.parametrize("script", ["while True: time.sleep(9)", "os.close(1)\ntime.sleep(9)"])
async def test_a_cancelled_cell_has_settled_in_time(start_other: StartKernel, script: str):
    stage = await scripted(start_other, f"read()\nsend('message', text='began')\n{script}")
    began = asyncio.Event()
    task = asyncio.create_task(stage.run("", say=lambda text, kind: began.set()))
    await began.wait()
    start = time.monotonic()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - start < PATIENCE_S
    assert not stage.kernel.is_alive
    with pytest.raises(ToolError, match="the Python kernel is gone: it ignored that its cell was stopped"):
        await stage.run("")


async def test_a_cell_that_is_cancelled_twice_is_killed_at_once(start_other: StartKernel):
    stage = await scripted(start_other, "read()\nsend('message', text='began')\ntime.sleep(9)")
    began = asyncio.Event()
    task = asyncio.create_task(stage.run("", say=lambda text, kind: began.set()))
    await began.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not stage.kernel.is_alive


async def test_one_thing_at_a_time(start_other: StartKernel):
    stage = await scripted(
        start_other,
        "cell = read()\nsend('message', text='a')\nread()\nsend('exec_result', id=cell['id'])\nread()",
    )
    began = asyncio.Event()
    task = asyncio.create_task(stage.run("", say=lambda text, kind: began.set()))
    await began.wait()

    for use in (stage.run(""), stage.kernel.snapshot(), stage.kernel.reset(), stage.kernel.set_tools([])):
        with pytest.raises(ToolError, match="busy"):
            await use
    await stage.kernel.interrupt()
    assert (await task).ended == "cancelled"


# ---------------------------------------------------------------------------- bad guests


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("os._exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), 11)", "killed by signal 11 (SIGSEGV)"),
    ],
)
async def test_the_end_of_a_guest_is_told_and_final(start_other: StartKernel, script: str, why: str):
    stage = await scripted(start_other, f"read()\nos.write(2, b'so far')\n{script}")

    result = await stage.run("")

    assert result == CellResult("so far", ended="died", why=why)
    assert (stage.kernel.is_alive, stage.kernel.why_dead) == (False, why)
    for use in (
        stage.run(""),
        stage.kernel.snapshot(),
        stage.kernel.restore(b"json:{}"),
        stage.kernel.set_tools([]),
    ):
        with pytest.raises(ToolError, match="the Python kernel is gone: "):
            await use


async def test_a_result_that_came_before_the_end_counts(start_other: StartKernel):
    stage = await scripted(
        start_other, "cell = read()\nsend('exec_result', id=cell['id'], output='x')\nos._exit(0)"
    )

    assert await stage.run("") == CellResult("x")


async def test_a_guest_that_ends_between_cells_is_noticed(start_other: StartKernel):
    stage = await scripted(start_other, "cell = read()\nsend('exec_result', id=cell['id'])\nos._exit(5)")
    await stage.run("")
    await asyncio.wait([stage.kernel._watch])

    assert (stage.kernel.is_alive, stage.kernel.why_dead) == (False, "exit status 5")


async def test_garbage_among_the_frames_is_survived(start_other: StartKernel):
    script = """
cell = read()
os.write(1, bytes(range(256)) * 100 + b"\\n")
os.write(1, b"\\n" * 500)
send("surprise")
send("exec_result", id=cell["id"], output="fine")
read()
"""
    stage = await scripted(start_other, script)

    assert await stage.run("") == CellResult("fine")


async def test_too_much_garbage_is_the_end(start_other: StartKernel):
    stage = await scripted(start_other, "read()\nwhile True: os.write(1, b'[]\\n' * 1000)")

    result = await stage.run("")

    assert result.ended == "died"
    assert result.why.startswith("it sent more than 1000 lines that are no frames")


async def test_garbage_of_earlier_cells_is_forgotten(start_other: StartKernel):
    script = (
        "while True:\n  cell = read()\n  os.write(1, b'[]\\n' * 900)\n  send('exec_result', id=cell['id'])"
    )
    stage = await scripted(start_other, script)

    assert [await stage.run("") for _ in range(3)] == [CellResult("")] * 3


async def test_a_line_without_end_is_not_kept(start_other: StartKernel):
    stage = await scripted(
        start_other,
        """
cell = read()
for _ in range(100): os.write(1, bytes(1_000_000))
os.write(1, b"\\n")
send("exec_result", id=cell["id"], output="fine")
read()
""",
    )

    assert await stage.run("") == CellResult("fine")


async def test_messages_without_end_are_not_passed_on(start_other: StartKernel):
    script = """
cell = read()
for number in range(3000): send("message", text=str(number), kind="final")
send("exec_result", id=cell["id"])
read()
"""
    stage = await scripted(start_other, script)

    result = await stage.run("")

    assert result == CellResult("", answer="2999")
    assert stage.said == [(str(number), "final") for number in range(1000)]


async def test_a_call_that_a_cell_gives_up_is_cancelled_and_its_time_runs_again(start: StartKernel):
    ended: list[str] = []

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(args["text"])
        return True, ""

    stage = Stage(await start())
    await stage.run("import asyncio")
    async with asyncio.timeout(PATIENCE_S):
        result = await stage.run(
            "try:\n    await asyncio.wait_for(echo('x'), 0.05)\nexcept asyncio.TimeoutError: print('late')\n"
            "while True: pass",
            call=call,
            timeout_s=0.8,
        )

    assert (result.output, result.ended, result.calls, ended) == ("late\n", "timeout", 1, ["x"])


async def test_a_call_that_is_given_up_while_it_waits_does_not_begin(start_other: StartKernel):
    script = """
cell = read()
for number in "12": send("tool_call", id=number, name="echo", args=json.dumps({"text": number}))
for number in "23": send("tool_cancel", id=number)
send("message", text="given up")
found = [read() for _ in range(2)]
send("exec_result", id=cell["id"], output=json.dumps(sorted([one["id"], one["success"]] for one in found)))
read()
"""
    given_up = asyncio.Event()
    called: list[dict[str, Any]] = []

    async def call(name: str, args: dict[str, Any]) -> tuple[bool, str]:
        called.append(args)
        await given_up.wait()
        return True, ""

    stage = await scripted(start_other, script, max_calls=1)
    result = await stage.run("", call=call, say=lambda text, kind: given_up.set())

    assert (result.output, called) == ('[["1", true], ["2", false]]', [{"text": "1"}])


async def test_long_messages_are_passed_on_as_far_as_output_is(start: StartKernel):
    stage = Stage(await start(max_output_bytes=1000))

    await stage.run("for one in 'abc': message(one * 400)\nmessage('d')")

    assert stage.said == [(one, "progress") for one in ("a" * 400, "b" * 400, "c" * 200)]


async def test_a_guest_that_calls_without_reading_is_ended(
    start_other: StartKernel, monkeypatch: pytest.MonkeyPatch
):
    """Refusals that it does not read would fill our memory."""
    stage = await scripted(
        start_other,
        "read()\nwhile True: send('tool_call', id='1' * 100_000, name='x')",
        max_calls=1,
        max_waiting_calls=1,
    )

    result = await stage.run("", call=lambda name, args: asyncio.Event().wait())  # type: ignore[arg-type, return-value]

    assert result == CellResult("", ended="died", why="it does not read its input", calls=1)
    assert stage.kernel._channel.unread_bytes <= MAX_UNREAD_BYTES + 200_000


async def test_a_large_frame_does_not_hold_up_the_event_loop(start_other: StartKernel):
    """The guest reads only after something else has happened here."""
    script = """
time.sleep(0.05)
cell = read()
send("exec_result", id=cell["id"], output=str(len(cell["code"])))
read()
"""
    stage = await scripted(start_other, script)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    result = await stage.run("x" * 4_000_000)
    ticking.cancel()

    assert result == CellResult("4000000")
    assert ticks > 3


async def test_code_that_is_too_long_is_refused(start_other: StartKernel):
    stage = await scripted(start_other, "read()")

    with pytest.raises(ToolError, match="longer than"):
        await stage.run("x" * (host.MAX_CODE_CHARS + 1))
    assert stage.kernel.is_alive


async def test_a_guest_that_never_answers_a_question_is_ended(
    start_other: StartKernel, monkeypatch: pytest.MonkeyPatch
):
    stage = await scripted(start_other, "read()\ntime.sleep(9)")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await stage.kernel.restore(b"json:{}")
    assert stage.kernel.why_dead == "it was interrupted"


async def test_a_snapshot_that_nobody_waits_for_costs_nothing(start_other: StartKernel):
    script = """
asked = read()
cell = read()
send("snapshot_result", id=asked["id"], data="{}")
send("exec_result", id=cell["id"], output="fine")
read()
"""
    stage = await scripted(start_other, script)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await stage.kernel.snapshot()
    assert await stage.run("") == CellResult("fine")


async def test_a_snapshot_that_is_too_large_is_refused(start_other: StartKernel):
    script = (
        "asked = read()\nsend('snapshot_result', id=asked['id'], data='x' * (asked['max_bytes'] + 1))\nread()"
    )
    stage = await scripted(start_other, script, max_snapshot_bytes=9_000_000)

    with pytest.raises(ToolError, match="exceed 9000000 bytes"):
        await stage.kernel.snapshot()
    assert stage.kernel.is_alive


async def test_a_snapshot_may_be_larger_than_other_frames(start_other: StartKernel):
    script = "asked = read()\nsend('snapshot_result', id=asked['id'], data='\"' * asked['max_bytes'])\nread()"
    stage = await scripted(start_other, script, max_snapshot_bytes=9_000_000)

    taken = await stage.kernel.snapshot()

    assert len(taken.data) == len("json:") + 9_000_000


async def test_what_cannot_be_restored_is_said(start_other: StartKernel):
    stage = await scripted(
        start_other, "asked = read()\nsend('exec_result', id=asked['id'], error='no room')\nread()"
    )

    with pytest.raises(ToolError, match="the snapshot cannot be restored: no room"):
        await stage.kernel.restore(b"json:{}")
    assert stage.kernel.is_alive


@pytest.mark.parametrize(("threads", "wanted"), [(0, True), (2, False)])
async def test_a_kernel_with_threads_left_is_not_to_be_reused(
    start_other: StartKernel, threads: int, wanted: bool
):
    script = f"asked = read()\nos.write(2, b'old')\nsend('reset_result', id=asked['id'], threads={threads})\n"
    stage = await scripted(
        start_other, script + "cell = read()\nsend('exec_result', id=cell['id'], output='new')\nread()"
    )

    assert await stage.kernel.reset() is wanted
    assert await stage.run("") == CellResult("new")


# ---------------------------------------------------------------------------- the end


async def test_closing_lets_a_guest_end_by_itself(start_other: StartKernel, project: Path):
    script = "assert read() == {'type': 'shutdown'}\nopen('ended', 'w').close()"
    stage = await scripted(start_other, script)

    await stage.kernel.close()
    await stage.kernel.close()

    assert (project / "ended").exists()
    assert not stage.kernel.is_alive


async def test_closing_ends_a_guest_that_resists(start_other: StartKernel):
    script = "import signal\nsignal.signal(15, signal.SIG_IGN)\nwhile True: time.sleep(9)"
    stage = await scripted(start_other, script)
    pid = stage.kernel.pid
    before = len(os.listdir("/proc/self/fd"))

    await stage.kernel.close()

    async with asyncio.timeout(PATIENCE_S):
        while os.path.exists(f"/proc/{pid}"):  # noqa: ASYNC110  its exit cannot be awaited here
            await asyncio.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) < before


async def test_a_cell_whose_kernel_is_closed_ends(start_other: StartKernel):
    stage = await scripted(start_other, "read()\nsend('message', text='began')\ntime.sleep(9)")
    began = asyncio.Event()
    task = asyncio.create_task(stage.run("", say=lambda text, kind: began.set()))
    await began.wait()
    await stage.kernel.close()

    assert await task == CellResult("", ended="died", why="it was closed")


async def test_company_is_noticed(start_other: StartKernel):
    script = """
import subprocess, threading
def done(cell): send("exec_result", id=cell["id"])
done(read())
cell = read()
child = subprocess.Popen(["sleep", "9"])
done(cell)
cell = read()
child.kill(); child.wait()
done(cell)
cell = read()
gate = threading.Event()
thread = threading.Thread(target=gate.wait)
thread.start()
done(cell)
cell = read()
gate.set(); thread.join()
while len(os.listdir("/proc/self/task")) > 1: time.sleep(0.001)  # it ends a moment after it was joined
done(cell)
read()
"""
    stage = await scripted(start_other, script)
    found = []
    for _ in range(5):
        await stage.run("")
        found.append(stage.kernel.has_leftovers)

    assert found == [False, True, False, True, False]


class Ghost:
    """A process that is only imagined."""

    pid = 0

    def __init__(self) -> None:
        self.killed = asyncio.Event()
        self.changes = NoChanges()

    async def wait(self) -> int:
        await self.killed.wait()
        return 128 + 9

    def interrupt(self) -> None:
        raise AssertionError

    def kill(self) -> None:
        self.killed.set()


async def test_a_guest_that_closes_its_pipes_is_ended(settings: KernelSettings):
    """If no other process holds them open, the host sees it."""
    pipes = open_pipes()

    async def let_go() -> None:
        pass

    kernel = Kernel(Ghost(), pipes, settings, owner=Owner(), let_go=let_go)
    task = asyncio.create_task(kernel.run("", emit=lambda text: None, say=lambda text, kind: None))
    await asyncio.sleep(0)
    pipes.close_theirs()

    assert await task == CellResult("", ended="died", why="it closed its pipes")
    await kernel.close()
