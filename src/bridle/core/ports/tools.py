"""The ports for tools: what a tool gets, does and returns."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, ToolCall, ToolResult
from bridle.core.permission import Mode, Rule
from bridle.core.protocol import FilesSeen, KernelSaved, Question, Todo, TodosChanged
from bridle.core.sampling_request import SampleReply, SampleRequest
from bridle.core.sub_agent import Children
from bridle.core.tool import Access, ToolSpec


def _keep_nothing(path: str) -> None:
    """Keep nothing; the default where changes cannot be undone."""


class ToolContext(Struct, frozen=True):
    """The context of a call: its session, folder, rules, and functions it may use."""

    session: SessionId
    cwd: str
    emit: Callable[[str], None]
    """Show live output while the tool runs."""
    call_id: CallId = CallId("")
    rules: tuple[Rule, ...] = ()
    mode: Mode = "ask"
    seen: Mapping[str, str] = {}
    """Digests of the files that the model has seen, by path: only those may be edited."""
    keep: Callable[[str], None] = _keep_nothing
    """Save the content of an absolute path before it is changed; blocking, safe in any thread."""
    ask: Callable[[Question], Awaitable[tuple[str, ...]]] | None = None
    """Ask the user a question; None if the tool may not ask."""
    todos: tuple[Todo, ...] = ()
    sees_images: bool = False
    """True if the model accepts images."""
    env: Mapping[str, str] = {}
    """Environment variables for programs, in addition to the default ones."""
    tools: tuple[ToolSpec, ...] = ()
    """The tools that `call` may use."""
    call: Callable[[str, dict[str, Any]], Awaitable[ToolResult]] | None = None
    """Make another call, judged and recorded like the model's calls; None if the tool may not."""
    snapshot: str = ""
    """Digest of the snapshot that the session's kernel should have loaded."""
    rewinds: int = 0
    """How often the session was rewound; a kernel from before the last rewind has outdated state."""
    children: Children | None = None
    """The run's sub-agents; None if it may not have any."""
    sample: Callable[[SampleRequest], Awaitable[SampleReply]] | None = None
    """Send a model a request within the run's limits; raises ToolError. None if the tool may not."""


class ToolOutput(Struct, frozen=True):
    """The output of a tool before it is capped and recorded."""

    text: str
    is_error: bool = False
    media: tuple[Media, ...] = ()
    notes: tuple[FilesSeen | TodosChanged | KernelSaved, ...] = ()
    """Facts to record with the result."""
    diff: str = ""
    """The changes made, for people."""
    answer: str = ""
    """The final answer of the run; if not empty, the run ends with it."""


class Tool(Protocol):
    """A tool that the model can call."""

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        ...

    @property
    def parallel(self) -> bool:
        """True if calls may run in parallel; a tool that changes things runs alone, in order."""
        ...

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return what a call with these arguments would touch; raises ToolError."""
        ...

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return what a call would change, as a diff or text; empty if there is nothing to show.

        Raises ToolError if the call is certain to fail: then no approval is requested.
        """
        ...

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Run the call; raises ToolError with the text that the model should see."""
        ...


@runtime_checkable
class SessionTool(Protocol):
    """Optional for a tool: it holds resources for a session, such as its background jobs."""

    def is_busy(self, session: SessionId) -> bool:
        """Return True if something of the session is running and may change files."""
        ...

    async def end_session(self, session: SessionId) -> None:
        """Release the session's resources; called when the session is closed in this process."""
        ...

    async def aclose(self) -> None:
        """Release resources that belong to no particular session."""
        ...


@runtime_checkable
class ConditionalTool(Protocol):
    """Optional for a tool: it is useful only in some folders."""

    def is_useful(self, cwd: str) -> bool:
        """Return True if requests of a session in this folder should include it; blocking."""
        ...


@runtime_checkable
class AccessResolvingTool(Protocol):
    """Optional for a tool: it must do I/O to find out what a call would touch."""

    async def foresee(self, args: dict[str, Any], context: ToolContext) -> None:
        """Find out what a call would touch, for a later `access` with its call id; raises ToolError."""
        ...


class ToolDispatcher(Protocol):
    """The tools of an embedding program, all behind one method."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """What the model sees of the tools."""
        ...

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        """Run a call; raises ToolError with the text that the model should see.

        After a crash, the call may be dispatched again with the same id.
        """
        ...


@runtime_checkable
class GuardedDispatcher(Protocol):
    """Optional for a dispatcher: rules judge its tools like Bridle's own."""

    def access_of(self, tool: str) -> Access:
        """Return what calls of a tool touch."""
        ...
