"""A sandbox that confines nothing: a real process in a new process session."""

import asyncio
import os
import signal
from contextlib import suppress

from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec, SandboxStatus


class NoChanges:
    """Nothing is refused, nothing is put away."""

    kept_error = ""
    put_away = ()

    async def settle(self, *, is_done: bool = True) -> None:
        """Check nothing."""

    async def accept(self) -> None:
        """Check nothing."""


class PlainProcess:
    """One process group."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.changes = NoChanges()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait(self) -> int:
        status = await self._process.wait()
        return status if status >= 0 else 128 - status

    def interrupt(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


class PlainSandbox:
    """Starts programs directly, and records its requests."""

    def __init__(self, status: SandboxStatus | None = None) -> None:
        self.status = status or SandboxStatus("bubblewrap")
        self.specs: list[ProcessSpec] = []
        self.processes: list[PlainProcess] = []

    async def start(self, spec: ProcessSpec, session: SessionId) -> PlainProcess:
        extra = spec.extra
        assert extra is not None
        process = await asyncio.create_subprocess_exec(
            "/bin/bash",
            "-c",
            f'exec "$@" 3>&{extra} {extra}>&-' if extra != 3 else 'exec "$@"',
            "bash",
            *spec.argv,
            cwd=spec.cwd,
            env=spec.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=spec.output,
            stderr=spec.output,
            pass_fds=(extra,),
            start_new_session=True,
        )
        self.specs.append(spec)
        self.processes.append(PlainProcess(process))
        return self.processes[-1]

    async def end_session(self, session: SessionId) -> None:
        for process in self.processes:
            process.kill()
