"""The tool `memory_search`: returns past passages that match a query, as JSON."""

from datetime import UTC, datetime
from functools import cache
from pkgutil import get_data
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from bridle.core.errors import BridleError, ToolError
from bridle.core.ports import Memory, MemoryHit, ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.memory.passages import SEARCH_TOOL
from bridle.system.dates import calendar_s

DEFAULT_LIMIT = 5
MAX_LIMIT = 20
MAX_QUERY_CHARS = 2_000

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
}


class _Args(Struct, frozen=True):
    query: Annotated[str, Meta(max_length=MAX_QUERY_CHARS)]
    limit: Annotated[int, Meta(ge=0, le=MAX_LIMIT)] = DEFAULT_LIMIT


class Found(Struct, frozen=True):
    """A passage in the form the model gets."""

    content: str
    score: float
    session_id: str
    turn: int
    seq: int
    when: str

    @classmethod
    def of(cls, passage: MemoryHit) -> "Found":
        """Convert a passage, with its time as a date."""
        when = datetime.fromtimestamp(calendar_s(passage.at), UTC).isoformat(timespec="seconds")
        return cls(passage.text, passage.score, passage.session, passage.turn, passage.seq, when)


class MemorySearch:
    """The tool that searches memory."""

    parallel = True
    seldom = True

    def __init__(self, memory: Memory | None) -> None:
        """Create the tool; without a memory it is never offered."""
        self._memory = memory

    @property
    def spec(self) -> ToolSpec:
        """The tool's name, description and parameters."""
        return ToolSpec(SEARCH_TOOL, _description(), _PARAMETERS)

    def is_useful(self, cwd: str) -> bool:
        """Return whether memory is enabled."""
        return self._memory is not None

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return read access, without subjects: the tool reads only this project's memory."""
        return Access(SEARCH_TOOL, "read")

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return nothing: the tool changes nothing."""
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return a JSON array of passages, best first; raises ToolError."""
        try:
            wanted = msgspec.convert(args, _Args)
        except msgspec.ValidationError as error:
            raise ToolError(str(error).replace("`", '"')) from error
        if self._memory is None:
            raise ToolError("memory is off", hint="memory.enabled in config.toml turns it on")
        if not wanted.query.strip():
            raise ToolError("the query is empty", hint="say in a few words what to look for")
        try:
            found = await self._memory.search(
                wanted.query, cwd=context.cwd, limit=wanted.limit, session=context.session
            )
        except BridleError as error:
            raise ToolError(f"memory cannot be searched: {error.message}", hint=error.hint) from error
        return ToolOutput(msgspec.json.encode([Found.of(passage) for passage in found]).decode())


@cache
def _description() -> str:
    return (get_data(__package__, f"{SEARCH_TOOL}.md") or b"").decode().strip()
