"""Cost of a hook: a function in this process, and a program compared with starting it directly."""

import asyncio
import subprocess
import time

from measure import report, rounds
from rows import Line, Row, figure, ours

from bridle.core.hook import (
    CommandRuntime,
    HookEntry,
    HookInvocation,
    HookOverride,
    HookResponse,
    InProcessRuntime,
    ToolCallView,
)
from bridle.core.ids import CallId, SessionId
from bridle.hooks.factory import HookEnvironment, create_hooks
from bridle.sessions.system_clock import SystemClock

ASKS = 5_000
PROGRAMS = rounds(40)
ROUNDS = rounds(5)
PROMISED_US = 20.0
PROGRAM = ("/bin/sh", "-c", "cat > /dev/null; echo '{}'")
ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
TOLD = HookInvocation(
    "pre_tool_execution",
    SessionId("s"),
    1,
    tool_call=ToolCallView(CallId("c"), "bash", {"command": "ls"}),
    cwd="/",
)


def _allow(invocation: HookInvocation) -> HookResponse | None:
    return None


async def in_process_us() -> list[float]:
    """Return the CPU time of one hook call with one function, by round."""
    entry = HookEntry(InProcessRuntime("f"), "f", point="pre_tool_execution", capability="guardrail")
    site = HookEnvironment("/", ENV, SystemClock(), {"f": _allow})
    hooks = create_hooks([entry], HookOverride(), site)
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(ASKS):
            await hooks.ask(TOLD, lambda _: None)
        times.append((time.process_time() - began) / ASKS * 1e6)
    return times


async def command_s() -> tuple[list[float], list[float]]:
    """Return the times of a hook program, and of the same program without hooks."""
    runtime = CommandRuntime(PROGRAM[0], PROGRAM[1:])
    entry = HookEntry(runtime, "c", point="pre_tool_execution", capability="guardrail")
    hooks = create_hooks([entry], HookOverride(), HookEnvironment("/", ENV, SystemClock()))
    asked, bare = [], []
    for _ in range(PROGRAMS):
        began = time.perf_counter()
        assert (await hooks.ask(TOLD, lambda _: None)).outcome.deny is None
        asked.append(time.perf_counter() - began)
        began = time.perf_counter()
        subprocess.run(  # noqa: ASYNC221 - the cost of the program alone, in a separate session
            PROGRAM,
            input=b"{}",
            capture_output=True,
            env=ENV,
            cwd="/",
            check=True,
            start_new_session=True,
        )
        bare.append(time.perf_counter() - began)
    return asked, bare


def main() -> list[Line]:
    """Compare with the limits."""
    function = ours(asyncio.run(in_process_us()))
    asked, bare = asyncio.run(command_s())
    alone = figure("the same program in a separate session", bare, scale=1e3)
    return report(
        [
            Row("hooks.function", "a hook that is a function", "µs CPU", function, bar=PROMISED_US),
            Row("hooks.command", "a hook that is a program", "ms", ours(asked, scale=1e3), (alone,), 1.5),
        ]
    )


if __name__ == "__main__":
    main()
