"""A session that changed a file twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bridle.core.ids import CallId
from bridle.core.messages import ToolCall
from bridle.core.queries import Records
from bridle.revisions.file_revisions import FileRevisions
from bridle.stores.blobs import MemoryBlobs
from bridle.tools.file_tools import file_tools
from tests.sessions.stage import Play, Stage, says


def _writes(number: int, text: str) -> ToolCall:
    return ToolCall(CallId(f"c{number}"), "write_file", {"path": "a.txt", "content": text})


@asynccontextmanager
async def changed(place: Path) -> AsyncIterator[tuple[Stage, int]]:
    """Yield the stage, and the number of the last record before the second change."""
    root = place / "root"
    root.mkdir()
    blobs = MemoryBlobs()
    play = Play(says("", _writes(1, "one\n")), says("done"), says("", _writes(2, "two\n")), says("done"))
    revisions = FileRevisions(place / "revisions", blobs)
    async with Stage(play, tools=file_tools(), cwd=str(root), blobs=blobs, revisions=revisions) as stage:
        await stage.run("first", mode="yolo")
        between = (await stage.service.ask(Records(stage.session)))[-1].seq
        await stage.run("second", mode="yolo")
        yield stage, between
