"""A session, as a program drives it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any, Literal, Self, TypeVar, Unpack, get_args, overload
from weakref import finalize

from bridle.core.errors import UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message
from bridle.core.ports import Tool
from bridle.core.protocol import (
    Answer,
    Archive,
    Cancel,
    Command,
    Compact,
    Decide,
    Delete,
    Delta,
    Prompt,
    Record,
    Rename,
    Reply,
    Resume,
    Rewind,
    RewindScope,
    RunOptions,
    Steer,
)
from bridle.core.queries import (
    IsRunning,
    NextContext,
    PlanRewind,
    PreviewContext,
    Records,
    RewindPlan,
    ShowDiff,
)
from bridle.core.session import Session as SessionState
from bridle.core.session_api import Receipt
from bridle.surfaces.export import FORMATS, Format
from bridle.surfaces.python.answering import Answering
from bridle.surfaces.python.host import Host
from bridle.surfaces.python.options import RunKeywords, check_tool_names, joined, named_tools, run_options
from bridle.surfaces.python.prompts import PromptLike, message_of
from bridle.surfaces.python.results import RunResult
from bridle.surfaces.python.stream import RunStream
from bridle.surfaces.session_calls import fork_session, read_session
from bridle.surfaces.usage import Stats, use_of
from bridle.surfaces.wire import Result
from bridle.typed import schema_of, value_as

T = TypeVar("T")

Schema = dict[str, Any]


class Session:
    """A conversation; made by `Bridle.session`.

    ```python
    session = await b.session()
    result = await session.run("what does this project do")
    print(result.text, result.cost)
    ```

    Tools of the program are lent to it until it is closed, or until the program has forgotten it.
    """

    def __init__(
        self, host: Host, session_id: SessionId, cwd: str, tools: Sequence[Tool], options: RunKeywords
    ) -> None:
        self.id = session_id
        """What it is called."""
        self.cwd = cwd
        """Where its tools work."""
        self._host = host
        self._tools = tools
        self._options = options
        self._loan = 0
        self._forgotten: finalize[Any, Any] | None = None

    @classmethod
    async def opened(
        cls, host: Host, session_id: SessionId, cwd: str, tools: Sequence[Tool], options: RunKeywords
    ) -> Self:
        """Take up a session that is stored, and lend it its tools; raises SessionNotFound, UsageError."""
        session = cls(host, session_id, cwd, tools, options)
        if loan := await host.lend(session_id, cwd, tools):
            session._loan, session._forgotten = loan, host.give_back_after(session, loan)
        return session

    def __repr__(self) -> str:
        return f"<bridle.Session {self.id}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Take its tools back; the session itself stays, and so does a run of it."""
        await self._host.give_back(self._loan)

    # ------------------------------------------------------------------ runs

    @overload
    async def run(
        self, prompt: PromptLike, *, key: str = "", **options: Unpack[RunKeywords]
    ) -> RunResult[None]: ...
    @overload
    async def run(
        self, prompt: PromptLike, *, output: type[T], key: str = "", **options: Unpack[RunKeywords]
    ) -> RunResult[T]: ...
    @overload
    async def run(
        self, prompt: PromptLike, *, output: Schema, key: str = "", **options: Unpack[RunKeywords]
    ) -> RunResult[Any]: ...
    @overload
    async def run(
        self, prompt: PromptLike, *, check: bool, key: str = "", **options: Unpack[RunKeywords]
    ) -> RunResult[None]: ...
    @overload
    async def run(
        self,
        prompt: PromptLike,
        *,
        output: type[T],
        check: bool,
        key: str = "",
        **options: Unpack[RunKeywords],
    ) -> RunResult[T | None]: ...

    async def run(
        self,
        prompt: PromptLike,
        *,
        output: Any = None,
        check: bool = True,
        key: str = "",
        **options: Unpack[RunKeywords],
    ) -> RunResult[Any]:
        """Take a prompt to its answer; while another run is active it waits for its turn.

        With `output`, a type or a JSON Schema, the run ends with a value of it. `key` names the prompt: sent
        again under it, also after a crash, it is not run a second time. Who is cancelled cancels the run.
        Raises RunError unless `check` is off, and SessionError when the prompt is not taken.
        """
        return await self.stream(prompt, output=output, check=check, key=key, **options).wait()

    @overload
    def stream(
        self, prompt: PromptLike, *, check: bool = True, key: str = "", **options: Unpack[RunKeywords]
    ) -> RunStream[None]: ...
    @overload
    def stream(
        self,
        prompt: PromptLike,
        *,
        output: type[T],
        check: Literal[True] = True,
        key: str = "",
        **options: Unpack[RunKeywords],
    ) -> RunStream[T]: ...
    @overload
    def stream(
        self,
        prompt: PromptLike,
        *,
        output: Any,
        check: bool = True,
        key: str = "",
        **options: Unpack[RunKeywords],
    ) -> RunStream[Any]: ...

    def stream(
        self,
        prompt: PromptLike,
        *,
        output: Any = None,
        check: bool = True,
        key: str = "",
        **options: Unpack[RunKeywords],
    ) -> RunStream[Any]:
        """Do the same, and yield all that happens on the way; see RunStream."""
        merged = joined(self._options, **options)
        told = self._run_options(merged, output)

        async def command() -> Prompt:  # which keeps this object, and so its tools, until the run is over
            await self._check_tools(merged)
            return Prompt(await message_of(prompt), told, key=key)

        return self._follow(command, merged, output, check=check)

    async def resume(self, *, check: bool = True) -> RunResult[Any]:
        """Go on with a run that was cut off, from its last record; raises SessionNotRunning if none was.

        It keeps its model, rules and limits; the value of one with an output schema is as JSON has it.
        """

        async def command() -> Resume:
            return Resume()

        return await self._follow(command, self._options, {}, check=check).wait()

    def _follow(
        self,
        command: Callable[[], Coroutine[Any, Any, Prompt | Resume]],
        options: RunKeywords,
        output: Any,
        *,
        check: bool,
    ) -> RunStream[Any]:
        answering = Answering(options.get("approve"), options.get("answer"))
        return RunStream(
            self._host, self.id, command, answering, lambda result: _value(output, result), check=check
        )

    def _run_options(self, options: RunKeywords, output: Any = None) -> RunOptions:
        own = [tool.spec.name for tool in (*self._host.tools, *self._tools)]
        schema = None if output is None else output if isinstance(output, dict) else schema_of(output)
        return run_options(options, own, schema, self.cwd, self._host.environ)

    async def _check_tools(self, options: RunKeywords) -> None:
        if named_tools(options):
            check_tool_names(options, await self._host.tool_names(self.id))

    # ------------------------------------------------------------------ while one is active

    async def steer(self, prompt: PromptLike, *, key: str = "") -> Receipt:
        """Add a message to the active run at its next turn; raises SessionNotRunning."""
        return await self.submit(Steer(await message_of(prompt), key))

    async def queue(self, prompt: PromptLike, *, key: str = "", **options: Unpack[RunKeywords]) -> Receipt:
        """Let a prompt run after those before it, without waiting for it.

        It begins at once where none is active. Nobody answers for it but whoever follows the session. Its
        tools stay lent until it is closed.
        """
        merged = joined(self._options, **options)
        told = self._run_options(merged)
        await self._check_tools(merged)
        if self._forgotten is not None:
            self._forgotten.detach()  # the run may begin when nobody holds this object any more
        return await self.submit(Prompt(await message_of(prompt), told, key=key))

    async def cancel(self, reason: str = "") -> None:
        """Stop the active run; raises SessionNotRunning."""
        await self.submit(Cancel(reason))

    async def decide(self, call_id: str, answer: Answer, reason: str = "") -> None:
        """Answer a pending approval; the first answer counts."""
        await self.submit(Decide(CallId(call_id), answer, reason))

    async def reply(self, call_id: str, *answers: str) -> None:
        """Answer a pending question of the model; the first answer counts."""
        await self.submit(Reply(CallId(call_id), answers))

    async def is_running(self) -> bool:
        """Tell whether somebody drives a run of it, in whichever process."""
        return await self._host.api.ask(IsRunning(self.id))

    async def submit(self, command: Command) -> Receipt:
        """Hand in any command; raises SessionError when it cannot be taken."""
        return await self._host.api.submit(self.id, command)

    # ------------------------------------------------------------------ child sessions

    async def fork(
        self, at: int | None = None, *, session_id: str | None = None, **options: Unpack[RunKeywords]
    ) -> "Session":
        """Begin a child session with its messages up to record `at`, by default all."""
        named = SessionId(session_id) if session_id is not None else None
        child = await fork_session(self._host.api, self.id, at, session_id=named)
        return await Session.opened(
            self._host, child, self.cwd, self._tools, joined(self._options, **options)
        )

    async def spawn(self, *, session_id: str | None = None, **options: Unpack[RunKeywords]) -> "Session":
        """Begin a child session without its messages."""
        return await self.fork(1, session_id=session_id, **options)  # of which the first record has none

    # ------------------------------------------------------------------ going back, putting away

    async def rewind(self, to: int, *, scope: RewindScope = "all", force: bool = False) -> None:
        """Go back to how things were after record `to`: its messages, its files or both; can be undone."""
        await self.submit(Rewind(to, scope, force))

    async def plan_rewind(self, to: int) -> RewindPlan:
        """Say what going back would do to the files, without doing it."""
        return await self._host.api.ask(PlanRewind(self.id, to))

    async def compact(self, keep: str = "") -> None:
        """Put a summary in the place of what was said, now or before the next turn."""
        await self.submit(Compact(keep))

    async def rename(self, title: str) -> None:
        """Give it a title."""
        await self.submit(Rename(title))

    async def archive(self, *, archived: bool = True) -> None:
        """Put it away, or bring it back."""
        await self.submit(Archive(archived))

    async def delete(self) -> None:
        """Remove it for good; raises SessionBusy while it runs."""
        await self._host.api.submit(self.id, Delete())
        await self.aclose()

    # ------------------------------------------------------------------ looking

    async def messages(self) -> list[Message]:
        """Return what was said, as the model gets it: after a compaction the summary comes first."""
        return [counted.message for counted in (await self.state()).messages]

    async def records(self, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return what is stored of it, in order."""
        return await self._host.api.ask(Records(self.id, after, limit))

    def watch(self, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, first from the store and then live, with deltas between.

        Never ends by itself; with None the newest record comes first.
        """
        return self._host.api.watch(self.id, after)

    async def state(self) -> SessionState:
        """Return all that its records come to: title, totals, queue, the active run."""
        return await read_session(self._host.api, self.id)

    async def diff(self, after: int = 0, upto: int | None = None) -> str:
        """Show what it has changed on disk, with after < seq <= upto."""
        return (await self._host.api.ask(ShowDiff(self.id, after, upto))).text

    async def context(self, at: int | None = None) -> NextContext:
        """Return what the next turn would send, without sending it, or would have sent after record `at`."""
        return await self._host.api.ask(PreviewContext(self.id, at))

    async def export(self, format: Format = "md") -> str:  # noqa: A002  as everywhere
        """Write all of it as a document: Markdown, JSON, or one HTML page that needs nothing else."""
        if format not in get_args(Format):
            raise UsageError(f"there is no format {format!r}", hint=", ".join(get_args(Format)))
        return await asyncio.to_thread(FORMATS[format], await self.records())

    async def usage(self) -> Stats:
        """Say what it and its sub-agents have used."""
        return await use_of(self._host.api, self.id)


def _value(output: Any, result: Result) -> Any:
    if output is None or result.structured_output is None:
        return None
    return (
        result.structured_output if isinstance(output, dict) else value_as(output, result.structured_output)
    )
