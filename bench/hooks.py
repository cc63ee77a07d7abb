"""What a hook costs: a function in this process, and a program beside one that is started by hand."""

import asyncio
import subprocess
import time

from measure import report

from bridle.core.hook import (
    CommandRuntime,
    HookEntry,
    HookInvocation,
    HookOverride,
    HookResponse,
    InProcessRuntime,
    ToolCallSeen,
)
from bridle.core.ids import CallId, SessionId
from bridle.hooks.opening import HookSite, open_hooks
from bridle.sessions.world import SystemClock

ASKS = 5_000
PROGRAMS = 40
ROUNDS = 5
PROMISED_US = 20.0
PROGRAM = ("/bin/sh", "-c", "cat > /dev/null; echo '{}'")
ENV = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
TOLD = HookInvocation(
    "pre_tool_execution",
    SessionId("s"),
    1,
    tool_call=ToolCallSeen(CallId("c"), "bash", {"command": "ls"}),
    cwd="/",
)


def _allow(invocation: HookInvocation) -> HookResponse | None:
    return None


async def in_process_us() -> float:
    """Return the CPU time of one ask with one function listening, the best of several rounds."""
    entry = HookEntry(InProcessRuntime("f"), "f", point="pre_tool_execution", capability="guardrail")
    site = HookSite("/", ENV, SystemClock(), {"f": _allow})
    hooks = open_hooks([entry], HookOverride(), site)
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(ASKS):
            await hooks.ask(TOLD, lambda _: None)
        best = min(best, (time.process_time() - began) / ASKS)
    return best * 1e6


async def command_ms() -> tuple[float, float]:
    """Return the time of a hook that is a program, and of the same program without hooks."""
    runtime = CommandRuntime(PROGRAM[0], PROGRAM[1:])
    entry = HookEntry(runtime, "c", point="pre_tool_execution", capability="guardrail")
    hooks = open_hooks([entry], HookOverride(), HookSite("/", ENV, SystemClock()))
    asked, bare = [], []
    for _ in range(PROGRAMS):
        began = time.perf_counter()
        assert (await hooks.ask(TOLD, lambda _: None)).outcome.deny is None
        asked.append(time.perf_counter() - began)
        began = time.perf_counter()
        subprocess.run(  # noqa: ASYNC221 - what a program in a session of its own costs by itself
            PROGRAM,
            input=b"{}",
            capture_output=True,
            env=ENV,
            cwd="/",
            check=True,
            start_new_session=True,
        )
        bare.append(time.perf_counter() - began)
    return sorted(asked)[PROGRAMS // 2] * 1000, sorted(bare)[PROGRAMS // 2] * 1000


def main() -> list[tuple[str, float, float]]:
    """Compare with the promises."""
    function_us = asyncio.run(in_process_us())
    asked_ms, bare_ms = asyncio.run(command_ms())
    print(f"in-process hook: {function_us:.1f} µs; command hook: {asked_ms:.2f} ms, bare: {bare_ms:.2f} ms")
    return report(
        [
            ("in-process hook / promised 20 µs", function_us / PROMISED_US, 1.0),
            ("command hook / the same program in a session of its own", asked_ms / bare_ms, 1.5),
        ]
    )


if __name__ == "__main__":
    main()
