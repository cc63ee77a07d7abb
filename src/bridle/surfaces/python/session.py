"""A session in the Python API."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, Self, TypeVar, Unpack, get_args, overload
from weakref import finalize

from msgspec.structs import asdict, replace

from bridle.core.budget import Limits
from bridle.core.errors import UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message
from bridle.core.ports import Tool
from bridle.core.protocol import (
    LIKE_AGENT,
    Answer,
    Archive,
    Cancel,
    Command,
    Compact,
    Configure,
    Decide,
    Delete,
    Delta,
    Label,
    Prompt,
    Push,
    Record,
    Rename,
    Reply,
    Resume,
    Rewind,
    RewindScope,
    RunEnded,
    RunOptions,
    SessionOptions,
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
from bridle.sessions.command_checks import merge_options as merge_run_options
from bridle.surfaces.python.callbacks import CallbackResponder
from bridle.surfaces.python.host import Host, SharedBudget, tighter
from bridle.surfaces.python.options import (
    RUN_ONLY,
    RunKeywords,
    check_keywords,
    check_tool_names,
    merge_options,
    named_tools,
    options_left,
    options_of_session,
    run_options,
)
from bridle.surfaces.python.prompts import PromptLike, to_message, to_messages
from bridle.surfaces.python.results import RunResult, read_value
from bridle.surfaces.python.stream import RunStream
from bridle.surfaces.shared.export import FORMATS, Format
from bridle.surfaces.shared.session_calls import fork_session, read_session
from bridle.surfaces.shared.usage import Stats, count_session_usage
from bridle.typed import schema_of

T = TypeVar("T")

Schema = dict[str, Any]


class Session:
    """A conversation; made by `Bridle.session`.

    ```python
    session = await b.session()
    result = await session.run("what does this project do")
    print(result.text, result.cost)
    ```

    It has the program's tools until it is closed or garbage-collected.
    """

    def __init__(
        self, host: Host, session_id: SessionId, cwd: str, tools: Sequence[Tool], options: RunKeywords
    ) -> None:
        self.id = session_id
        """The session id."""
        self.cwd = cwd
        """The directory that its tools work in."""
        self.budget: SharedBudget | None = None
        """The share that its parent gave it."""
        self._host = host
        self._tools = tools
        self._options = options
        self._provided = 0
        self._forgotten: finalize[Any, Any] | None = None
        self._shared: tuple[RunEnded | None, SharedBudget] | None = None

    @classmethod
    async def opened(
        cls, host: Host, session_id: SessionId, cwd: str, tools: Sequence[Tool], options: RunKeywords
    ) -> Self:
        """Open a stored session and give it its tools; raises SessionNotFound, UsageError."""
        session = cls(host, session_id, cwd, tools, options)
        if provided := await host.add_tools(session_id, cwd, tools):
            session._provided, session._forgotten = provided, host.remove_tools_after(session, provided)
        return session

    def __repr__(self) -> str:
        return f"<bridle.Session {self.id}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Remove the program's tools from it, and return what is unused of its budget; the session stays."""
        await self._host.remove_tools(self._provided)
        if self.budget is not None:
            await self.budget.aclose()

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
        """Run a prompt and return its result; while another run is active it waits.

        With `output`, a type or a JSON Schema, the run ends with a value of it. `key` identifies the prompt:
        sent again with the same key, even after a crash, it does not run a second time. Cancelling the call
        cancels the run. Raises RunError unless `check` is off, and SessionError if the prompt is rejected.
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
        """Run a prompt as `run` does, and yield everything that happens; see RunStream."""
        merged = merge_options(self._options, **options)
        run_options = self._run_options(merged, output)

        async def command() -> Prompt:  # keeps this object, and so its tools, alive until the run ends
            await self._check_tools(merged)
            return Prompt(await to_message(prompt), await self._within_budget(run_options), key=key)

        return self._follow(command, merged, output, check=check)

    async def resume(self, *, check: bool = True) -> RunResult[Any]:
        """Resume a run that was cut off, from its last record; raises SessionNotRunning if none was.

        It keeps its model, rules and limits; with an output schema, the value is plain JSON data.
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
        answering = CallbackResponder(options.get("approve"), options.get("answer"))
        return RunStream(
            self._host, self.id, command, answering, lambda result: read_value(output, result), check=check
        )

    def _run_options(self, options: RunKeywords, output: Any = None) -> RunOptions:
        schema = None if output is None else output if isinstance(output, dict) else schema_of(output)
        return run_options(options, schema, self.cwd, self._host.environ)

    async def _within_budget(self, options: RunOptions) -> RunOptions:
        if self.budget is None:
            return options
        return replace(options, limits=tighter(options.limits, await self.budget.limits()))

    async def _check_tools(self, options: RunKeywords) -> None:
        if named_tools(options):
            check_tool_names(options, await self._host.tool_names(self.id))

    # ------------------------------------------------------------------ during a run

    async def steer(self, prompt: PromptLike, *, key: str = "") -> Receipt:
        """Add a message to the active run at its next turn; raises SessionNotRunning."""
        return await self.submit(Steer(await to_message(prompt), key))

    async def queue(self, prompt: PromptLike, *, key: str = "", **options: Unpack[RunKeywords]) -> Receipt:
        """Queue a prompt after those before it, without waiting for it.

        It starts at once if no run is active. Its approvals and questions are answered only by clients that
        follow the session. The session keeps its tools until it is closed.
        """
        merged = merge_options(self._options, **options)
        run_options = self._run_options(merged)
        await self._check_tools(merged)
        if self._forgotten is not None:
            self._forgotten.detach()  # the run may start after this object is garbage-collected
        run_options = await self._within_budget(run_options)
        return await self.submit(Prompt(await to_message(prompt), run_options, key=key))

    async def cancel(self, reason: str = "") -> None:
        """Cancel the active run; raises SessionNotRunning."""
        await self.submit(Cancel(reason))

    async def decide(self, call_id: str, answer: Answer, reason: str = "") -> None:
        """Answer a pending approval; the first answer counts."""
        await self.submit(Decide(CallId(call_id), answer, reason))

    async def reply(self, call_id: str, *answers: str) -> None:
        """Answer a pending question from the model; the first answer counts."""
        await self.submit(Reply(CallId(call_id), answers))

    async def is_running(self) -> bool:
        """Return True if a run of the session is active, in any process."""
        return await self._host.api.ask(IsRunning(self.id))

    async def submit(self, command: Command) -> Receipt:
        """Submit any command; raises SessionError if it is rejected."""
        return await self._host.api.submit(self.id, command)

    # ------------------------------------------------------------------ child sessions

    async def fork(
        self,
        at: int | None = None,
        *,
        messages: int | None = None,
        budget: str | Limits | None = None,
        session_id: str | None = None,
        **options: Unpack[RunKeywords],
    ) -> "Session":
        """Start a child session with the messages up to record `at`, by default all.

        With `messages`, it has only so many of them, the oldest, counted as in `messages()`. It keeps the
        options of this session, with those given.

        `budget` gives it a share of the tokens, tool calls and cost that the last run has left of the limits
        of this session: "remaining" (all, together with other children), "equal:3" (a third, for each of
        three children), "proportional:1/3", "fixed:20000" (tokens) or `bridle.Limits`. All runs through the
        child together spend no more. Closing it returns the rest.
        """
        named = SessionId(session_id) if session_id is not None else None
        merged = merge_options(self._options, **options)
        shared = None if budget is None else await self._share_budget()
        share = None if shared is None or budget is None else shared.share(budget)
        try:
            child = await fork_session(self._host.api, self.id, at, messages=messages, session_id=named)
        except BaseException:
            if share is not None:
                share.close()
            raise
        session = await Session.opened(self._host, child, self.cwd, self._tools, options_left(merged))
        if shared is not None and share is not None:
            session.budget = shared.give(child, share)
            merged["limits"] = tighter(merged.get("limits", Limits()), await session.budget.limits())
        await _keep(session, options_of_session(merged, self.cwd, self._host.environ))
        return session

    async def _share_budget(self) -> SharedBudget:
        """Return what the children of this session may spend together, until it runs again."""
        if self.budget is not None:
            return self.budget
        state = await self.state()
        if self._shared is None or self._shared[0] != state.last:
            limits = self._options.get("limits", Limits()).over(state.known.settings.limits)
            self._shared = state.last, SharedBudget.of(self._host.api, limits, state.last)
        return self._shared[1]

    async def spawn(
        self,
        *,
        messages: Sequence[PromptLike] = (),
        budget: str | Limits | None = None,
        session_id: str | None = None,
        **options: Unpack[RunKeywords],
    ) -> "Session":
        """Start a child session with these messages only, by default none; `budget` is as for `fork`."""
        first = await to_messages(messages)
        # The first record has no messages.
        child = await self.fork(1, budget=budget, session_id=session_id, **options)
        if first:
            await child.push(*first)
        return child

    async def configure(self, *, reset: Sequence[str] = (), **options: Unpack[RunKeywords]) -> None:
        """Change the options that the session keeps, for runs that start afterwards, in any process.

        Each one given replaces the session's; `reset` names fields of `bridle.SessionOptions` that the agent
        decides again, such as `without_builtins` for the tools that are off.
        """
        check_keywords(options)
        if wrong := [name for name in options if name in RUN_ONLY]:
            raise UsageError(f"{wrong[0]} is not an option of a session", hint="give it to run")
        changed = options_of_session(options, self.cwd, self._host.environ)
        await self.submit(Configure(changed, tuple(reset)))

    # ------------------------------------------------------------------ rewind, compact, archive, delete

    async def rewind(self, to: int, *, scope: RewindScope = "all", force: bool = False) -> None:
        """Rewind to the state after record `to`: the messages, the files or both; can be undone."""
        await self.submit(Rewind(to, scope, force))

    async def plan_rewind(self, to: int) -> RewindPlan:
        """Return what a rewind would do to the files, without doing it."""
        return await self._host.api.ask(PlanRewind(self.id, to))

    async def compact(self, keep: str = "") -> None:
        """Replace old messages by a summary, now or before the next turn."""
        await self.submit(Compact(keep))

    async def push(self, *messages: PromptLike) -> None:
        """Add messages without starting a run; raises SessionBusy while one is active.

        A text, file or image is the user's message; a `bridle.Message` may also be the assistant's.
        """
        await self.submit(Push(await to_messages(messages)))

    async def rename(self, title: str) -> None:
        """Set the session's title."""
        await self.submit(Rename(title))

    async def label(self, labels: Mapping[str, str | None]) -> None:
        """Set labels of the session; None removes one."""
        await self.submit(Label({**labels}))

    async def archive(self, *, archived: bool = True) -> None:
        """Archive the session, or unarchive it."""
        await self.submit(Archive(archived))

    async def delete(self) -> None:
        """Delete the session permanently; raises SessionBusy while it runs."""
        await self._host.api.submit(self.id, Delete())
        await self.aclose()

    # ------------------------------------------------------------------ reading

    async def messages(self) -> list[Message]:
        """Return the messages as the model gets them: after a compaction, the summary comes first."""
        return [counted.message for counted in (await self.state()).messages]

    async def records(self, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return the stored records in order."""
        return await self._host.api.ask(Records(self.id, after, limit))

    def watch(self, after: int | None = 0) -> AsyncGenerator[Record | Delta, None]:
        """Yield every record after `after`, first from the store and then live, with deltas in between.

        Never ends on its own; with None it starts with the newest record.
        """
        return self._host.api.watch(self.id, after)

    async def state(self) -> SessionState:
        """Return the state that the records add up to: title, totals, queue, the active run."""
        return await read_session(self._host.api, self.id)

    async def diff(self, after: int = 0, upto: int | None = None) -> str:
        """Return a diff of what it changed on disk in records with after < seq <= upto."""
        return (await self._host.api.ask(ShowDiff(self.id, after, upto))).text

    async def context(self, at: int | None = None) -> NextContext:
        """Return what the next turn would send, or would have sent after record `at`; sends nothing."""
        return await self._host.api.ask(PreviewContext(self.id, at))

    async def export(self, format: Format = "md") -> str:  # noqa: A002  as everywhere
        """Return the session as a document: Markdown, JSON, or one self-contained HTML page."""
        if format not in get_args(Format):
            raise UsageError(f"there is no format {format!r}", hint=", ".join(get_args(Format)))
        return await asyncio.to_thread(FORMATS[format], await self.records())

    async def usage(self) -> Stats:
        """Return the usage of the session and its sub-agents."""
        return await count_session_usage(self._host.api, self.id)


async def _keep(session: Session, options: SessionOptions) -> None:
    """Add to the options that a session keeps."""
    if options == LIKE_AGENT:
        return
    kept = (await session.state()).known.settings
    both = merge_run_options(RunOptions(**asdict(kept)), RunOptions(**asdict(options)))
    await session.submit(Configure(both.of_session))
