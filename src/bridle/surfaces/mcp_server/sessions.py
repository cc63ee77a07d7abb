"""The MCP tool `bridle_sessions`: reads and controls sessions; its argument `action` names the operation."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import msgspec
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated
from msgspec import Struct, defstruct

from bridle.core.errors import SessionNotRunning, UsageError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalRequested,
    Archive,
    Cancel,
    Command,
    Compact,
    Decide,
    Delete,
    DropQueued,
    Label,
    Outcome,
    Prompt,
    Push,
    QuestionAsked,
    Rename,
    Reply,
    Rewind,
    Steer,
    Totals,
)
from bridle.core.queries import (
    Describe,
    Diff,
    IsRunning,
    ListSessions,
    NextContext,
    Records,
    RewindPlan,
    Status,
    answer_type,
)
from bridle.core.revision import FileChange
from bridle.core.session import Session
from bridle.core.summary import SessionSummary, has_labels
from bridle.surfaces.mcp_server.arguments import (
    ALL_SESSIONS_ARGS,
    QUERY_ARGS,
    Action,
    SessionsArgs,
    argument_names,
    given_fields,
    needed_arguments,
    read_arguments,
)
from bridle.surfaces.mcp_server.run_tools import find_session
from bridle.surfaces.mcp_server.tool_context import Answered, ToolRequest, require_trust, tool_result
from bridle.surfaces.mcp_server.uris import LIST, session_uri
from bridle.surfaces.shared.session_calls import export_session, fork_session, read_session
from bridle.surfaces.shared.session_queries import SESSION_QUERIES, SessionQuery
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.truncation import truncate_to
from bridle.surfaces.shared.usage import Stats, count_session_usage

PAGE = 50
MAX_PAGE_BYTES = 1024 * 1024
MAX_TEXT_CHARS = 4 * 1024 * 1024
EMPTY: tuple[Any, ...] = (None, "", [], {})
"""Values that count as missing; 0 does not."""


class SessionView(Struct, frozen=True, omit_defaults=True):
    """The state of a session, and what it waits for."""

    session_id: SessionId
    title: str
    cwd: str
    agent: str
    model: str
    created_at: int
    """Milliseconds since 1970."""
    updated_at: int
    seq: int
    is_active: bool
    """True while a run is active, in any process."""
    archived: bool
    totals: Totals
    labels: dict[str, str] = {}
    run_id: RunId | None = None
    """The latest run, if its end is not recorded."""
    outcome: Outcome | None = None
    """How the last run ended."""
    text: str = ""
    """Its last text."""
    approvals: list[ApprovalRequested] = []
    """Approvals that wait for `decide`."""
    questions: list[QuestionAsked] = []
    """Questions that wait for `reply`."""
    queue: list[dict[str, str]] = []
    """Queued prompts, each with its `item_id`."""


class SessionsAnswer(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The result of an action; the action decides which fields are present."""

    action: Action
    session_id: SessionId | None = None
    sessions: list[SessionSummary] | None = None
    session: SessionView | None = None
    records: list[dict[str, Any]] | None = None
    next: int | None = None
    """The value of `after` for the next page; absent on the last one."""
    text: str | None = None
    changes: list[FileChange] | None = None
    context: dict[str, Any] | None = None
    """The request of the next turn: model, system text, tools, messages, and their numbers of tokens."""
    usage: Stats | None = None
    plan: RewindPlan | None = None
    seq: int | None = None
    run_id: RunId | None = None
    item_id: str | None = None


Work = Callable[[ToolRequest, SessionsArgs], Awaitable[SessionsAnswer]]


class SessionAction(Struct, frozen=True):
    """One action: its function, its required arguments and its optional ones."""

    work: Work
    needs: tuple[str, ...] = ("session_id",)
    takes: tuple[str, ...] = ()


async def sessions(call: ToolRequest) -> Answered:
    """Run the action that the arguments name."""
    args = read_arguments(call.params.arguments, ALL_SESSIONS_ARGS)
    action, sent = ACTIONS[args.action], call.params.arguments or {}
    if missing := [name for name in action.needs if sent.get(name) in EMPTY]:
        raise UsageError(f"{args.action}: {missing[0]} is missing")
    if extra := sorted(given_fields(args) - {"action", *action.needs, *action.takes}):
        raise UsageError(f"{args.action}: {extra[0]} has no meaning here")
    done = await action.work(call, args)
    return tool_result(_text(done), done)


# ---------------------------------------------------------------------------- actions that read


async def _list(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    listed = await call.api.ask(ListSessions(archived=bool(args.archived)))
    found = [one for one in listed if has_labels(one, args.labels)]
    end = args.after + (args.limit or PAGE)
    page = list(found[args.after : end])
    return SessionsAnswer(action="list", sessions=page, next=end if end < len(found) else None)


async def _read(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    session, _ = await find_session(call.api, args.session_id)
    stored = await read_session(call.api, session)
    view = _view(session, stored, is_active=await call.api.ask(IsRunning(session)))
    return SessionsAnswer(action="read", session=view)


def _view(session_id: SessionId, session: Session, *, is_active: bool) -> SessionView:
    facts, run = session.known, session.run
    return SessionView(
        session_id=session_id,
        title=facts.title,
        cwd=facts.created.cwd,
        agent=facts.created.agent,
        model=facts.model,
        created_at=facts.created_at,
        updated_at=session.updated_at,
        seq=session.seq,
        is_active=is_active,
        archived=facts.archived,
        totals=facts.totals,
        labels=facts.labels,
        run_id=run.run_id if run is not None else None,
        outcome=session.last.outcome if session.last is not None and run is None else None,
        text=session.last.text if session.last is not None and run is None else "",
        approvals=run.pending if run is not None else [],
        questions=list(run.questions.values()) if run is not None else [],
        queue=[{"item_id": item.item_id, "text": item.message.text} for item in facts.queue],
    )


async def _history(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    session, _ = await find_session(call.api, args.session_id)
    limit = args.limit or PAGE
    found = await call.api.ask(Records(session, args.after, limit + 1))
    page: list[dict[str, Any]] = []
    size, last = 0, args.after
    for record in found[:limit]:
        size += len(msgspec.json.encode(record))
        if page and size > MAX_PAGE_BYTES:
            break
        page.append(msgspec.to_builtins(record, str_keys=True))
        last = record.seq
    return SessionsAnswer(action="history", records=page, next=last if len(found) > len(page) else None)


async def _export(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    session, _ = await find_session(call.api, args.session_id)
    text = await export_session(call.api, session, args.format or "md")
    return SessionsAnswer(action=args.action, text=bounded(text))


async def _usage(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    session, _ = await find_session(call.api, args.session_id)
    return SessionsAnswer(action="usage", usage=await count_session_usage(call.api, session))


# ---------------------------------------------------------------------------- the table of session queries


def _query(row: SessionQuery) -> SessionAction:
    """Return the action that asks a query."""
    names = argument_names(row)

    async def work(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
        session, _ = await find_session(call.api, args.session_id)
        sent = call.params.arguments or {}
        values = {name: getattr(args, argument) for name, argument in names.items() if argument in sent}
        # An argument that several actions share may have looser bounds than the query.
        read_arguments(values, QUERY_ARGS[row.action])
        return await _show(call, row, await call.api.ask(row.query(session, values)))

    return SessionAction(work, ("session_id", *needed_arguments(row)), tuple(names.values()))


async def _show(call: ToolRequest, row: SessionQuery, answer: Any) -> SessionsAnswer:
    """Return the answer to a query, with a text for those that people read."""
    match answer:
        case Diff():
            return SessionsAnswer(action=row.action, text=bounded(answer.text), changes=answer.changes)
        case RewindPlan():
            text = await _plan_text(call, answer)
            return SessionsAnswer(action=row.action, plan=answer, text=bounded(text))
        case NextContext():
            return SessionsAnswer(action=row.action, context=await _truncated(answer))
        case _:
            return ANY_ANSWER(action=row.action, **{row.name: await _truncated(answer)})


async def _truncated(answer: Any) -> Any:
    return await asyncio.to_thread(truncate_to, answer, MAX_TEXT_CHARS)


async def _plan_text(call: ToolRequest, plan: RewindPlan) -> str:
    lines = [f"{path}: changed outside the session" for path in plan.conflicts]
    lines += [f"{path}: its earlier content was too large to keep" for path in plan.lost]
    return "\n".join([*lines, await call.api.ask(Describe(plan.changes))])


MORE_ANSWERS = {
    row.name: answer_type(row.kind)
    for row in SESSION_QUERIES
    if answer_type(row.kind) not in (Diff, RewindPlan, NextContext)
}
"""The types of answers that have no field in `SessionsAnswer`, by the name of the field that they get."""
ANY_ANSWER = cast(
    type[SessionsAnswer],
    defstruct(
        SessionsAnswer.__name__,
        [(name, kind | None, None) for name, kind in MORE_ANSWERS.items()],
        bases=(SessionsAnswer,),
        namespace={"__doc__": SessionsAnswer.__doc__},
        frozen=True,
        omit_defaults=True,
        kw_only=True,
    ),
)
"""`SessionsAnswer`, with a field for each of `MORE_ANSWERS`."""


def bounded(text: str) -> str:
    """Truncate a text that is too long for one answer."""
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return f"{text[:MAX_TEXT_CHARS]}\n\n… {len(text) - MAX_TEXT_CHARS} more characters\n"


# ---------------------------------------------------------------------------- actions that change


def _command(make: Callable[[SessionsArgs], Command]) -> Work:
    """Return an action that submits a command to the session."""

    async def work(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
        session, _ = await find_session(call.api, args.session_id)
        receipt = await call.api.submit(session, make(args))
        await call.context.bus.publish(ResourceUpdated(uri=session_uri(session)))
        return SessionsAnswer(
            action=args.action, seq=receipt.seq, run_id=receipt.run_id, item_id=receipt.item_id
        )

    return work


async def _queue(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    """Queue a prompt behind the active run; no client answers the questions of its run."""
    session, _ = await find_session(call.api, args.session_id)
    if not await call.api.ask(IsRunning(session)):
        raise SessionNotRunning(f"session {session} is not running", hint="bridle_run begins a run")
    client_run = await call.context.runs.begin(session, Prompt(user_message(args.text)), is_attended=False)
    return SessionsAnswer(action="queue", run_id=client_run.run_id, item_id=client_run.item_id)


async def _decide(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    session, _ = await find_session(call.api, args.session_id)
    run = (await call.api.ask(Status(session))).run
    if run is None or args.call_id not in [asked.call_id for asked in run.approvals]:
        raise UsageError(f"no approval of the call {args.call_id!r} is open", hint="action read shows them")
    assert args.answer is not None
    if args.answer not in ("deny", "stop"):
        require_trust(call.context, "approving a call")
    receipt = await call.api.submit(session, Decide(CallId(args.call_id), args.answer, args.reason))
    return SessionsAnswer(action="decide", seq=receipt.seq)


async def _reply(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    session, _ = await find_session(call.api, args.session_id)
    run = (await call.api.ask(Status(session))).run
    if run is None or args.call_id not in [asked.call_id for asked in run.questions]:
        raise UsageError(f"no question of the call {args.call_id!r} is open", hint="action read shows them")
    receipt = await call.api.submit(session, Reply(CallId(args.call_id), tuple(args.answers)))
    return SessionsAnswer(action="reply", seq=receipt.seq)


async def _fork(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    session, _ = await find_session(call.api, args.session_id)
    child = await fork_session(call.api, session, args.seq, messages=args.messages)
    await _tell_list(call)
    return SessionsAnswer(action="fork", session_id=child)


async def _delete(call: ToolRequest, args: SessionsArgs) -> SessionsAnswer:
    session, _ = await find_session(call.api, args.session_id)
    await call.api.submit(session, Delete())
    await _tell_list(call)
    return SessionsAnswer(action="delete", session_id=session)


async def _tell_list(call: ToolRequest) -> None:
    await call.context.bus.publish(ResourcesListChanged())
    await call.context.bus.publish(ResourceUpdated(uri=LIST))


ACTIONS: Mapping[Action, SessionAction] = {
    "list": SessionAction(_list, (), ("archived", "labels", "after", "limit")),
    "read": SessionAction(_read),
    "history": SessionAction(_history, takes=("after", "limit")),
    "transcript": SessionAction(_export),
    "export": SessionAction(_export, takes=("format",)),
    "usage": SessionAction(_usage),
    **{row.action: _query(row) for row in SESSION_QUERIES},
    "cancel": SessionAction(_command(lambda args: Cancel(args.reason)), takes=("reason",)),
    "steer": SessionAction(_command(lambda args: Steer(user_message(args.text))), ("session_id", "text")),
    "queue": SessionAction(_queue, ("session_id", "text")),
    "push": SessionAction(_command(lambda args: Push((user_message(args.text),))), ("session_id", "text")),
    "drop": SessionAction(_command(lambda args: DropQueued(args.item_id)), ("session_id", "item_id")),
    "decide": SessionAction(_decide, ("session_id", "call_id", "answer"), ("reason",)),
    "reply": SessionAction(_reply, ("session_id", "call_id"), ("answers",)),
    "fork": SessionAction(_fork, takes=("seq", "messages")),
    "rewind": SessionAction(
        _command(lambda args: Rewind(args.seq or 0, args.scope or "all")), ("session_id", "seq"), ("scope",)
    ),
    "compact": SessionAction(_command(lambda args: Compact(args.keep)), takes=("keep",)),
    "rename": SessionAction(_command(lambda args: Rename(args.text)), ("session_id", "text")),
    "label": SessionAction(_command(lambda args: Label(args.labels)), ("session_id", "labels")),
    "archive": SessionAction(_command(lambda args: Archive())),
    "restore": SessionAction(_command(lambda args: Archive(archived=False))),
    "delete": SessionAction(_delete),
}


def _text(done: SessionsAnswer) -> str:
    if done.sessions is not None:
        return "\n".join(map(_line, done.sessions)) or "no sessions yet"
    if done.text is not None:
        return done.text or "nothing"
    more = (getattr(done, name, None) for name in MORE_ANSWERS)
    for value in (done.session, done.context, done.usage, *more):
        if value is not None:
            return msgspec.json.format(msgspec.json.encode(value)).decode()
    if done.records is not None:
        return "\n".join(msgspec.json.encode(record).decode() for record in done.records)
    if done.session_id is not None:
        return f"{done.action}: {done.session_id}"
    return f"{done.action}: done"


def _line(session: SessionSummary) -> str:
    state = "unfinished" if session.unfinished else session.outcome or "new"
    return f"{session.id}  {state}  {one_line(session.title)}".rstrip()
