"""Run results, session summaries and message history in Meerkat's fields."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from bridle.core.context import Counted
from bridle.core.messages import (
    Media,
    Message,
    Part,
    Reasoning,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    final_text,
)
from bridle.core.protocol import Compacted, Event, ModelReplied, Outcome, Record
from bridle.core.session import Session
from bridle.core.summary import SessionSummary
from bridle.core.transcript import Transcript, drop_rewound, is_visible_to_people, message_of
from bridle.surfaces.meerkat.events import TokenUsage, token_usage
from bridle.surfaces.shared.output_format import DeniedCall, Result
from bridle.system.dates import rfc3339

MAX_PAGE = 1_000


class SchemaWarning(Struct, frozen=True):
    """A part of an output schema that the provider could not enforce."""

    provider: str
    path: str
    message: str


class RunResult(Struct, frozen=True, omit_defaults=True):
    """The result of a run; the fields from `run_id` on are Bridle's own."""

    session_id: str
    text: str
    turns: int
    tool_calls: int
    usage: TokenUsage
    structured_output: Any | UnsetType = UNSET
    schema_warnings: list[SchemaWarning] | UnsetType = UNSET
    run_id: str = ""
    outcome: Outcome | UnsetType = UNSET
    """How the run ended."""
    reason: str = ""
    """Why, for every outcome but "completed"."""
    denied: list[DeniedCall] = []
    """Denied calls, with the rules that would allow them."""
    cost: float | None = None
    """Dollars, if the price is known."""


def run_result(result: Result) -> RunResult:
    """Convert the result of a run."""
    warnings = [_warning(text) for text in result.schema_warnings]
    return RunResult(
        session_id=result.session_id,
        text=result.text,
        turns=result.turns,
        tool_calls=result.tool_calls,
        usage=token_usage(Usage(**result.usage)),
        structured_output=UNSET if result.structured_output is None else result.structured_output,
        schema_warnings=warnings or UNSET,
        run_id=result.run_id,
        outcome=result.outcome,
        reason=result.reason,
        denied=result.denied,
        cost=result.cost,
    )


def _warning(text: str) -> SchemaWarning:
    path, separator, message = text.partition(": ")
    return SchemaWarning("", path, message) if separator else SchemaWarning("", "", text)


# ---------------------------------------------------------------------------- sessions


class SessionRow(Struct, frozen=True):
    """One session in a list; `state` is for the oldest clients, `title` and `cwd` are Bridle's own."""

    session_id: str
    created_at: int
    """Seconds since 1970."""
    updated_at: int
    message_count: int
    total_tokens: int
    is_active: bool
    state: Literal["idle", "running"]
    title: str = ""
    cwd: str = ""
    labels: dict[str, str] = {}


class SessionList(Struct, frozen=True):
    """Sessions, newest first."""

    sessions: list[SessionRow]
    has_more: bool = False


class SessionInfo(Struct, frozen=True, omit_defaults=True):
    """Details of one session."""

    session_id: str
    created_at: int
    updated_at: int
    message_count: int
    total_tokens: int
    is_active: bool
    state: Literal["idle", "running"]
    model: str
    provider: str
    last_assistant_text: str | UnsetType = UNSET
    title: str = ""
    cwd: str = ""
    agent: str = ""
    labels: dict[str, str] = {}


class SessionCounts(Struct, frozen=True):
    """Counts in a list entry that the session summary does not have."""

    message_count: int
    total_tokens: int


def count_session(session: Session) -> SessionCounts:
    """Count the messages and tokens of a session."""
    totals = session.known.totals
    return SessionCounts(totals.messages, totals.usage.context)


def session_row(summary: SessionSummary, counts: SessionCounts, *, is_active: bool) -> SessionRow:
    """Return the list entry of a session."""
    return SessionRow(
        session_id=summary.id,
        created_at=summary.created_at // 1000,
        updated_at=summary.updated_at // 1000,
        message_count=counts.message_count,
        total_tokens=counts.total_tokens,
        is_active=is_active,
        state="running" if is_active else "idle",
        title=summary.title,
        cwd=summary.cwd,
        labels=summary.labels,
    )


def session_info(session: Session, usual_model: str, *, is_active: bool) -> SessionInfo:
    """Describe a session; `usual_model` is the model for a session that has not used one yet."""
    facts = session.known
    provider, _, model = (facts.model or usual_model).partition("/")
    counts = count_session(session)
    last = final_text([item.message for item in session.messages])
    return SessionInfo(
        session_id=facts.created.session_id,
        created_at=facts.created_at // 1000,
        updated_at=session.updated_at // 1000,
        message_count=counts.message_count,
        total_tokens=counts.total_tokens,
        is_active=is_active,
        state="running" if is_active else "idle",
        model=model or provider,
        provider=provider,
        last_assistant_text=last or UNSET,
        title=facts.title,
        cwd=facts.created.cwd,
        agent=facts.created.agent,
        labels=facts.labels,
    )


# ---------------------------------------------------------------------------- history


class AssistantBlock(Struct, frozen=True):
    """One part of an answer."""

    block_type: Literal["text", "reasoning", "tool_use"]
    data: dict[str, Any]


class WireResult(Struct, frozen=True):
    """The result of one tool call."""

    tool_use_id: str
    content: str | list[dict[str, Any]]
    is_error: bool


class HistoryMessage(Struct, frozen=True, omit_defaults=True):
    """One message; its role decides which fields are set."""

    role: Literal["system", "user", "block_assistant", "tool_results"]
    created_at: str
    content: str | list[dict[str, Any]] | UnsetType = UNSET
    blocks: list[AssistantBlock] | UnsetType = UNSET
    stop_reason: StopReason | UnsetType = UNSET
    results: list[WireResult] | UnsetType = UNSET
    transcript_role: Literal["compaction_summary"] | UnsetType = UNSET


class History(Struct, frozen=True):
    """A page of a session's messages, oldest first."""

    session_id: str
    message_count: int
    offset: int
    has_more: bool
    messages: list[HistoryMessage]
    limit: int | None = None


def history(session_id: str, records: Sequence[Record], offset: int, limit: int | None) -> History:
    """Return a page of the messages, without those that a rewind removed."""
    messages = list(_messages(drop_rewound(records)))
    end = offset + min(MAX_PAGE, MAX_PAGE if limit is None else limit)
    page = messages[offset:end]
    return History(session_id, len(messages), offset, end < len(messages), page, limit)


def _messages(records: Iterable[Record]) -> Iterator[HistoryMessage]:
    transcript, finished_at = Transcript(), 0
    for record in records:
        event = record.event
        if (added := message_of(event)) is not None and added.message.role == "tool":
            finished_at = record.at
        if is_visible_to_people(event) or isinstance(event, Compacted):
            for item in transcript.take(event):
                yield _said(item, event, finished_at if item.message.role == "tool" else record.at)
    transcript.close_turn()
    yield from (_results(item.message, finished_at) for item in transcript.messages)


def _said(item: Counted, event: Event, at: int) -> HistoryMessage:
    message = item.message
    if item.kind == "summary":
        return HistoryMessage("user", rfc3339(at), content=message.text, transcript_role="compaction_summary")
    if message.role == "assistant":
        blocks = [_block(part) for part in message.parts]
        stopped: StopReason = "tool_use" if message.calls else "end_turn"  # from a fork or an import
        if isinstance(event, ModelReplied):
            stopped = event.stop_reason
        return HistoryMessage("block_assistant", rfc3339(at), blocks=blocks, stop_reason=stopped)
    if message.role == "tool":
        return _results(message, at)
    role: Literal["system", "user"] = "system" if message.role == "system" else "user"
    if role == "system" or all(isinstance(part, Text) for part in message.parts):
        return HistoryMessage(role, rfc3339(at), content=message.text)
    return HistoryMessage(role, rfc3339(at), content=[content_block(part) for part in message.parts])


def _results(message: Message, at: int) -> HistoryMessage:
    results = [_result(part) for part in message.parts if isinstance(part, ToolResult)]
    return HistoryMessage("tool_results", rfc3339(at), results=results)


def _result(result: ToolResult) -> WireResult:
    content: str | list[dict[str, Any]] = result.output
    if result.media:
        content = [content_block(Text(result.output)), *map(content_block, result.media)]
    return WireResult(result.call_id, content, result.is_error)


def _block(part: Part) -> AssistantBlock:
    match part:
        case Text():
            return AssistantBlock("text", {"text": part.text})
        case Reasoning():
            return AssistantBlock("reasoning", {"text": part.text})
        case ToolCall():
            return AssistantBlock("tool_use", {"id": part.id, "name": part.name, "args": part.args})
        case Media():
            return AssistantBlock("text", {"text": f"[{part.mime}]"})
        case ToolResult():
            return AssistantBlock("text", {"text": part.output})


def content_block(part: Part) -> dict[str, Any]:
    """Return a part as a content block."""
    match part:
        case Media():
            kind = "video" if part.mime.startswith("video/") else "image"
            length = {"duration_ms": 0} if kind == "video" else {}
            return {"type": kind, "media_type": part.mime, "source": "inline", "data": part.data, **length}
        case ToolResult():
            return {"type": "text", "text": part.output}
        case ToolCall():
            return {"type": "text", "text": part.name}
        case Text() | Reasoning():
            return {"type": "text", "text": part.text}
