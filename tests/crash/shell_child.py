"""A process to be killed: runs a prompt or a rewind with the real engine, and kills itself at a point.

usage: shell_child.py POINT PROJECT MODEL
       shell_child.py rewind:N PROJECT SEQ
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridle.app import (
    agent_in,
    open_blobs,
    open_claims,
    open_models,
    open_sandbox,
    open_store,
    open_tools,
    revisions_dir,
)
from bridle.config.settings import load_settings
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.ports import Store
from bridle.core.protocol import Event, FilesChanged, Prompt, Record, Rewind, RunOptions
from bridle.revisions.file_revisions import FileRevisions
from bridle.sessions.engine import Engine
from bridle.sessions.service import SessionService
from bridle.sessions.system_clock import SystemChance, SystemClock

SESSION = SessionId("victim")
CHANGING = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.symlink", "os.truncate")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DyingStore:
    """Ends the process right before or right after it has recorded that files were changed."""

    def __init__(self, store: Store, point: str) -> None:
        self._store = store
        self._point = point
        self.read, self.list = store.read, store.list
        self.delete, self.aclose = store.delete, store.aclose

    async def append(self, session: SessionId, expected_seq: int, events: Sequence[Event]) -> list[Record]:
        changes = any(isinstance(event, FilesChanged) for event in events)
        if changes and self._point == "before the record":
            die()
        records = await self._store.append(session, expected_seq, events)
        if changes and self._point == "after the record":
            die()
        return records


class Countdown:
    """Ends the process right before the n-th step that changes something on the disk; counts without one."""

    def __init__(self, steps: int) -> None:
        self.steps = 0
        self._limit = steps

    def pass_message(self, event: str, args: tuple[Any, ...]) -> None:
        is_step = event in CHANGING or (event == "open" and isinstance(args[2], int) and args[2] & os.O_CREAT)
        if is_step:
            self.steps += 1
            if self.steps == self._limit:
                die()


def open_service(project: Path, point: str = "") -> SessionService:
    environ = dict(os.environ)
    settings = load_settings(environ, project)
    blobs, clock = open_blobs(settings), SystemClock()
    return SessionService(
        Engine(
            store=DyingStore(open_store(settings), point),
            claims=open_claims(settings),
            models=open_models(settings),
            load_agent=lambda name, cwd: agent_in(name, settings, clock),
            tools=open_tools(settings, environ, blobs, open_sandbox(settings)),
            clock=clock,
            chance=SystemChance(),
            blobs=blobs,
            revisions=FileRevisions(revisions_dir(settings), blobs),
        )
    )


async def prompt(project: Path, point: str, model: str) -> None:
    if point == "before the result is kept":
        sys.addaudithook(
            lambda event, args: event == "os.rename" and str(args[1]).endswith(".pending") and die()
        )
    service = open_service(project, point)
    await service.create(cwd=str(project), session_id=SESSION)
    options = RunOptions(model=model, mode="yolo")
    receipt = await service.submit(SESSION, Prompt(user_message("go"), options))
    assert receipt.run_id is not None
    await service.wait(SESSION, receipt.run_id)
    await service.aclose()


async def rewind(project: Path, steps: int, seq: int) -> None:
    service = open_service(project)
    countdown = Countdown(steps)
    sys.addaudithook(countdown.pass_message)
    await service.submit(SESSION, Rewind(seq))
    os.write(1, str(countdown.steps).encode())
    await service.aclose()


if __name__ == "__main__":
    where, what = Path(sys.argv[2]), sys.argv[3]
    if sys.argv[1].startswith("rewind:"):
        asyncio.run(rewind(where, int(sys.argv[1].partition(":")[2]), int(what)))
    else:
        asyncio.run(prompt(where, sys.argv[1], what))
