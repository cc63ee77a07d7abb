"""Derive files for people and other programs from a session's events.

```
<id>/events.jsonl       every record
<id>/transcript.md      the conversation
<id>/summary.txt        the assistant's last text
<id>/<id>.jsonl         the messages in Kontekst's format
<id>/<id>.meta.json     the agent, in Kontekst's format
<id>/checkpoint.json    how far these files have come
```

The first two and the fourth only grow. The checkpoint holds their sizes and is written last, so what a
crash left beyond it is cut off before the next write: nothing is written twice. The content depends only on
the records, never on when or in how many steps they were projected, so deleted or damaged files are rebuilt
to the same bytes. Only one process may project a session at a time.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from bridle.core.codec import GENESIS, encode
from bridle.core.context import Counted
from bridle.core.ids import SessionId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from bridle.core.ports import Store
from bridle.core.protocol import (
    Compacted,
    MessageAdded,
    ModelReplied,
    Pinned,
    Record,
    Rewound,
    RunEnded,
    SessionCreated,
    SessionTitled,
)
from bridle.core.transcript import Transcript, is_visible_to_people
from bridle.stores.batch_file import open_private, replace_file
from bridle.stores.kontekst_format import encode_message, encode_meta
from bridle.stores.record_lines import check_id, from_os_error, not_found_error
from bridle.system.dates import calendar_s

# ---------------------------------------------------------------------------- markdown
# Render a session as Markdown in pieces; each piece depends only on its message or event.


_HEADINGS = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Results"}
_FENCES = re.compile(r"`{3,}")


def event_markdown(record: Record) -> str:
    """Render what an event adds beyond its message; most events add nothing."""
    match record.event:
        case SessionCreated() as created:
            started = datetime.fromtimestamp(calendar_s(record.at), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            parent = f"- forked from: {created.parent}\n" if created.parent else ""
            return (
                f"# Session {created.session_id}\n\n- agent: {created.agent}\n"
                f"- directory: {created.cwd}\n- started: {started}\n{parent}\n"
            )
        case SessionTitled(title):
            return f"*Title: {title}*\n\n"
        case Rewound() as rewound:
            return f"*Rewound ({rewound.scope}) to event {rewound.to_seq}*\n\n"
        case Compacted() as done if done.model:
            return f"*Compacted for the model: {done.messages_before} messages to {done.messages_after}*\n\n"
        case Pinned() as pinned:
            return f"*{'Pinned' if pinned.pinned else 'No longer pinned'}:* {pinned.text}\n\n"
        case RunEnded() as ended if ended.outcome != "completed":
            return f"*Run ended: {ended.outcome}{': ' if ended.reason else ''}{ended.reason}*\n\n"
        case _:
            return ""


def message_markdown(message: Message) -> str:
    """Render a message with all of its parts, in order."""
    parts = "".join(_part(part) for part in message.parts)
    return f"## {_HEADINGS[message.role]}\n\n{parts}"


def _part(part: Text | Reasoning | Media | ToolCall | ToolResult) -> str:
    match part:
        case Text():
            return f"{part.text}\n\n" if part.text else ""
        case Reasoning():
            return _quoted(part.text) if part.text else ""
        case Media():
            return f"*{part.name or 'attachment'} ({part.mime})*\n\n"
        case ToolCall():
            args = part.invalid or msgspec.json.format(msgspec.json.encode(part.args), indent=2).decode()
            return f"**{part.name}** ({part.id})\n\n{_fenced(args, 'json')}"
        case ToolResult():
            state = ", failed" if part.is_error else ""
            return f"**{part.name}** ({part.call_id}{state})\n\n{_fenced(part.output)}"


def _quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines()) + "\n"


def _fenced(text: str, language: str = "") -> str:
    """Wrap a text in a fence longer than any run of backticks in it."""
    fence = "`" * max((len(found) + 1 for found in _FENCES.findall(text)), default=3)
    return f"{fence}{language}\n{text}\n{fence}\n\n"


# ---------------------------------------------------------------------------- projector


PAGE_RECORDS = 256


class _Checkpoint(Struct, frozen=True):
    """How far the files have come."""

    last_seq: int = 0
    last_hash: str = GENESIS
    message_seq: int = 0
    """The newest record with a message. Later ones may add results to its calls, so reading resumes here."""
    agent: str = ""
    events_bytes: int = 0
    transcript_bytes: int = 0
    messages_bytes: int = 0


class SessionProjector:
    """Maintains the derived files of sessions, one directory per session."""

    def __init__(self, store: Store, directory: Path) -> None:
        self._store = store
        self._directory = directory

    async def project(self, session: SessionId) -> None:
        """Bring a session's files up to date; raises SessionNotFound, StoreError."""
        check_id(session)
        try:
            await self._project(session)
        except OSError as error:
            raise from_os_error(self._directory / session, error) from error

    async def rebuild(self, session: SessionId) -> None:
        """Delete a session's files and write them again; raises SessionNotFound, StoreError."""
        check_id(session)
        try:
            _Files(self._directory, session).delete()
        except OSError as error:
            raise from_os_error(self._directory / session, error) from error
        await self.project(session)

    async def _project(self, session: SessionId) -> None:
        files = _Files(self._directory, session)
        checkpoint = files.checkpoint()
        if not await self._still_holds(session, checkpoint):
            files.delete()
            checkpoint = _Checkpoint()
        after = checkpoint.message_seq - 1 if checkpoint.message_seq else checkpoint.last_seq
        growth = _NewContent(checkpoint)
        while records := await self._store.read(session, after=after, limit=PAGE_RECORDS):
            for record in records:
                growth.take(record)
            checkpoint = files.write(checkpoint, growth)
            growth.clear()
            after = records[-1].seq
        if not checkpoint.last_seq:
            raise not_found_error(session)

    async def _still_holds(self, session: SessionId, checkpoint: _Checkpoint) -> bool:
        """Return True if the store still has the record that the files end with."""
        seq = checkpoint.last_seq
        last = await self._store.read(session, after=seq - 1, limit=1) if seq else []
        return not seq or [(record.seq, record.hash) for record in last] == [(seq, checkpoint.last_hash)]


class _NewContent:
    """The content that new records add to the files."""

    def __init__(self, checkpoint: _Checkpoint) -> None:
        self.last_seq = checkpoint.last_seq
        self.last_hash = checkpoint.last_hash
        self.message_seq = checkpoint.message_seq
        self.agent = checkpoint.agent
        self._transcript = Transcript()
        self.clear()

    def clear(self) -> None:
        """Discard the content that has been written."""
        self.events = bytearray()
        self.markdown = bytearray()
        self.messages = bytearray()
        self.summary: str | None = None

    def take(self, record: Record) -> None:
        """Add the next record, or replay an earlier one that the following records depend on."""
        event = record.event
        if isinstance(event, SessionCreated):
            self.agent = event.agent
        completed = self._transcript.take(event) if is_visible_to_people(event) else []
        if record.seq > self.last_seq:
            self.last_seq, self.last_hash = record.seq, record.hash
            for item in completed:
                self._add_message(item)
            self.events += encode(record) + b"\n"
            self.markdown += event_markdown(record).encode()
        if isinstance(event, MessageAdded | ModelReplied):
            self.message_seq = record.seq

    def _add_message(self, item: Counted) -> None:
        self.markdown += message_markdown(item.message).encode()
        self.messages += encode_message(item, self.agent)
        if item.message.role == "assistant" and item.message.text:
            self.summary = item.message.text


class _Files:
    """The derived files of one session."""

    def __init__(self, directory: Path, session: SessionId) -> None:
        self._directory = directory / session
        name = f"{session}.kontekst" if session == "events" else session  # events.jsonl is taken
        self._events = self._directory / "events.jsonl"
        self._transcript = self._directory / "transcript.md"
        self._summary = self._directory / "summary.txt"
        self._messages = self._directory / f"{name}.jsonl"
        self._meta = self._directory / f"{name}.meta.json"
        self._checkpoint = self._directory / "checkpoint.json"

    def checkpoint(self) -> _Checkpoint:
        """Return the checkpoint; an empty one, so that all is rewritten, if a file is missing or short."""
        try:
            checkpoint = msgspec.json.decode(self._checkpoint.read_bytes(), type=_Checkpoint)
            for path, size in self._sizes(checkpoint):
                if path.stat().st_size < size:
                    return _Checkpoint()
            self._summary.stat()
            self._meta.stat()
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            return _Checkpoint()
        return checkpoint

    def write(self, checkpoint: _Checkpoint, growth: _NewContent) -> _Checkpoint:
        """Append to the files after the checkpoint, then advance it."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        additions = (growth.events, growth.markdown, growth.messages)
        sizes = []
        for (path, size), addition in zip(self._sizes(checkpoint), additions, strict=True):
            with open(path, "ab", opener=open_private) as file:
                file.truncate(size)
                file.write(addition)
            sizes.append(size + len(addition))
        is_first = checkpoint.last_seq == 0
        if growth.summary is not None or is_first:
            replace_file(self._summary, (growth.summary or "").encode())
        if growth.agent != checkpoint.agent or is_first:
            replace_file(self._meta, encode_meta(growth.agent))
        moved = _Checkpoint(growth.last_seq, growth.last_hash, growth.message_seq, growth.agent, *sizes)
        replace_file(self._checkpoint, msgspec.json.encode(moved))
        return moved

    def delete(self) -> None:
        """Delete the files, the checkpoint first, so that a crash leaves nothing that looks complete."""
        self._checkpoint.unlink(missing_ok=True)
        for path in (self._events, self._transcript, self._summary, self._messages, self._meta):
            path.unlink(missing_ok=True)

    def _sizes(self, checkpoint: _Checkpoint) -> tuple[tuple[Path, int], ...]:
        return (
            (self._events, checkpoint.events_bytes),
            (self._transcript, checkpoint.transcript_bytes),
            (self._messages, checkpoint.messages_bytes),
        )
