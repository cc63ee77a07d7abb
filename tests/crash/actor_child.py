"""A process to be killed: runs or resumes one scripted run and prints every record that a watcher sees.

usage: actor_child.py STORE_KIND DIRECTORY
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from bridle.core.agent import Agent
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, user_message
from bridle.core.model import Model
from bridle.core.ports import Provider, Store, ToolContext, ToolOutput
from bridle.core.protocol import Prompt, Record, Resume, RunEnded, RunOptions
from bridle.core.queries import ListSessions
from bridle.core.tool import Access, AccessClass, Subject, ToolSpec
from bridle.providers.scripted import ScriptedProvider
from bridle.sessions.engine import Engine
from bridle.sessions.service import SessionService
from bridle.sessions.system_clock import SystemChance, SystemClock
from bridle.stores.claims import FileClaims
from bridle.surfaces.shared.session_calls import read_session

SESSION = SessionId("victim")
TURNS = 25


class NoteTool:
    """Leaves one line in a file for every time it really ran."""

    def __init__(self, name: str, access: AccessClass, file: Path) -> None:
        self._access: AccessClass = access
        self._file = file
        self.spec = ToolSpec(
            name,
            "Leaves a note.",
            {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]},
        )

    @property
    def parallel(self) -> bool:
        return self._access == "read"

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        return Access(self.spec.name, self._access, (Subject("path", args["note"]),))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        with self._file.open("a") as notes:
            notes.write(f"{args['note']}\n")
        await asyncio.sleep(0.001)
        return ToolOutput(f"noted {args['note']}")


class OneModel:
    def __init__(self, provider: ScriptedProvider) -> None:
        self._provider = provider

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        return self._provider, self._provider.model("crash")

    async def aclose(self) -> None:
        await self._provider.aclose()


def open_store(kind: str, directory: Path) -> Store:
    if kind == "sqlite":
        from bridle.stores.sqlite import SqliteStore  # noqa: PLC0415

        return SqliteStore(directory / "bridle.db", SystemClock())
    from bridle.stores.jsonl import JsonlStore  # noqa: PLC0415

    return JsonlStore(directory / "sessions", SystemClock())


def script() -> ScriptedProvider:
    def turn(n: int) -> list[ToolCall]:
        return [
            ToolCall(CallId(f"{kind}{n}"), kind, {"note": f"{kind}{n}"}) for kind in ("look", "write", "scan")
        ]

    return ScriptedProvider.of(*(turn(n) for n in range(TURNS)), "all done")


def open_service(kind: str, directory: Path) -> SessionService:
    notes = directory / "notes.txt"
    return SessionService(
        Engine(
            store=open_store(kind, directory),
            claims=FileClaims(directory / "claims"),
            models=OneModel(script()),
            load_agent=lambda name, cwd: Agent(name, "Leave notes.", "scripted/crash", mode="yolo"),
            tools=[
                NoteTool("look", "read", notes),
                NoteTool("scan", "read", notes),
                NoteTool("write", "write", notes),
            ],
            clock=SystemClock(),
            chance=SystemChance(),
        )
    )


async def main(kind: str, directory: Path) -> None:
    service = open_service(kind, directory)
    if not await service.ask(ListSessions()):
        await service.create(cwd=str(directory), session_id=SESSION)
    session = await read_session(service, SESSION)
    if session.last is None:
        command = Resume() if session.run else Prompt(user_message("go"), RunOptions())
        await service.submit(SESSION, command)
    async for item in service.watch(SESSION):
        if isinstance(item, Record):
            os.write(1, f"{item.seq} {item.hash}\n".encode())
            if isinstance(item.event, RunEnded):
                break
    await service.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
