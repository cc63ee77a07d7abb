"""Runs the programs of a project's hooks in the command sandbox.

Trust covers only the files that an entry names. What `python3 -m lint` or `make lint` loads besides them is
unknown before it runs, and the agent can change it, so all of it runs in the sandbox.
"""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from itertools import count

from msgspec import Struct

from bridle.core.errors import HookError, ToolError
from bridle.core.ids import SessionId
from bridle.core.permission import Rule
from bridle.core.ports import Process, ProcessSpec, Sandbox
from bridle.hooks.program_process import PipeIO, ProgramResult, open_pipes
from bridle.hooks.response import one_line
from bridle.system.pipes import Pipes

TOOL = "hook"
"""The tool name of these programs in rules about hosts, as in `hook(domain:example.com)`."""

KILL_S = 3.0
_SIGNALLED = 128

_rooms = count(1)


class HookSandbox(Struct, frozen=True):
    """Which hooks run in a sandbox, and what they may access there."""

    sandbox: Sandbox
    hooks: frozenset[str]
    """Ids of the hooks that run in the sandbox."""
    writable: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    """Rules for denied paths and allowed hosts."""
    open_network: bool = False


class SandboxedPrograms:
    """Runs the programs of one run's hooks in a sandbox; `aclose` stops everything they left running."""

    def __init__(self, walls: HookSandbox) -> None:
        self._walls = walls
        self._room = SessionId(f"hooks-{next(_rooms)}")

    async def exchange(
        self, argv: Sequence[str], data: bytes, *, env: Mapping[str, str], cwd: str, limit_bytes: int
    ) -> ProgramResult:
        """Run a program like `program_process.exchange`, but in the sandbox; raises HookError."""
        pipes = open_pipes(argv[0])
        try:
            process = await self._start(argv, pipes, env, cwd)
        except BaseException:
            pipes.close()
            raise
        pipes.close_theirs()
        with PipeIO(pipes, data, limit_bytes) as talk:
            waiting = asyncio.create_task(process.wait(), name="end of a hook")
            waiting.add_done_callback(lambda _: talk.finish())
            try:
                await talk.over
            finally:
                process.kill()
                await asyncio.wait([waiting], timeout=KILL_S)
                waiting.cancel()
        return ProgramResult(_status(waiting), bytes(talk.output), bytes(talk.errors))

    async def aclose(self) -> None:
        """Stop the sandbox and all processes in it."""
        await self._walls.sandbox.end_session(self._room)

    async def _start(self, argv: Sequence[str], pipes: Pipes, env: Mapping[str, str], cwd: str) -> Process:
        walls = self._walls
        spec = ProcessSpec(
            argv=tuple(argv),
            cwd=cwd,
            env=env,
            input=pipes.input,
            output=pipes.output,
            errors=pipes.errors,
            writable=walls.writable,
            rules=walls.rules,
            tool=TOOL,
            open_network=walls.open_network,
            shows_program=True,
        )
        try:
            return await walls.sandbox.start(spec, self._room)
        except ToolError as error:
            raise HookError(f"{argv[0]} cannot be started: {one_line(error.message)}") from error


def _status(waiting: "asyncio.Task[int]") -> int:
    if not waiting.done() or waiting.cancelled():
        return -signal.SIGKILL  # killed, but did not exit in time
    status = waiting.result()
    return _SIGNALLED - status if status > _SIGNALLED else status
