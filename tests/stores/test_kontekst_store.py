"""A journal next to Kontekst's files: nothing is lost or duplicated, whoever wrote last."""

import json
import logging
import shutil
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.context import ContextUsage
from bridle.core.errors import SessionConflict, SessionNotFound
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Event,
    MessageAdded,
    ModelReplied,
    RunEnded,
    RunOptions,
    RunStarted,
    SessionCreated,
    ToolFinished,
    TurnEnded,
)
from bridle.stores.claims import FileClaims
from bridle.stores.jsonl import JsonlStore
from bridle.stores.kontekst_files import Difference, KontekstFiles, StoredMark, SyncMark, compare
from bridle.stores.kontekst_store import KontekstStore
from tests.stores.sample import RUN, CountingClock, S, said
from tests.stores.test_kontekst_reader import ID, READ, WRITTEN, line

CALL = ToolCall(CallId("call_1"), "write_file", {"path": "a&b"})
NEW = SessionCreated(S, "/project", "coder")
RUN_EVENTS: list[Event] = [
    RunStarted(RUN, "llama/default"),
    MessageAdded(user_message("do <it>"), tokens=4),
    ModelReplied(RUN, 1, Message("assistant", (Text("ok"), CALL)), "tool_use", Usage(), tokens=7),
    ToolFinished(ToolResult(CALL.id, CALL.name, "denied: user denied", is_error=True), 0, 3, denied=True),
    ToolFinished(ToolResult(CallId("inner"), "read_file", "of the code"), parent=CALL.id),
    TurnEnded(RUN, 1, Usage(), ContextUsage()),
    RunEnded(RUN, "completed"),
]
RUN_LINES = [
    rb'{"role":"user","content":"do \u003cit\u003e","agent_name":"coder","tokens":4}',
    (
        rb'{"role":"assistant","content":"ok","tool_calls":[{"id":"call_1","name":"write_file",'
        rb'"arguments":{"path":"a\u0026b"}}],"agent_name":"coder","tokens":7}'
    ),
    (
        rb'{"role":"tool","content":"denied: user denied","tool_result":{"call_id":"call_1",'
        rb'"name":"write_file","output":"denied: user denied","is_error":true},'
        rb'"agent_name":"coder","tokens":3}'
    ),
]


class Place:
    """A data directory and a home beside it; each `open` is another process."""

    def __init__(self, folder: Path) -> None:
        self.sessions = folder / "data" / "sessions"
        self.sessions.mkdir(parents=True)
        self.active = folder / "data" / "active_session"
        self.cwd = str(folder / "data")
        self.claims = folder / "claims"
        self.marks = folder / "marks"
        self.files = KontekstFiles(sessions=self.sessions, marks=self.marks, active=self.active)
        self._folder = folder
        self._clock = CountingClock()

    def open(self) -> KontekstStore:
        return KontekstStore(self.journal(), self.files, FileClaims(self.claims), cwd=self.cwd)

    def journal(self) -> JsonlStore:
        """Open what a process has that ended before it could write a line."""
        return JsonlStore(self._folder / "journal", self._clock)

    def file(self, session: SessionId = S) -> Path:
        return self.sessions / f"{session}.jsonl"

    def lines(self, session: SessionId = S) -> list[bytes]:
        return self.file(session).read_bytes().split(b"\n")[:-1]

    async def events(self, session: SessionId = S) -> list[Event]:
        """Read a session as a new process would."""
        store = self.open()
        records = await store.read(session)
        await store.aclose()
        return [record.event for record in records]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def begin(place: Place) -> KontekstStore:
    """Start a session and end a first run in it."""
    store = place.open()
    await store.append(S, 0, [NEW])
    await store.append(S, 1, RUN_EVENTS)
    return store


# ---------------------------------------------------------------------------- what Kontekst has written


async def test_a_session_of_kontekst_is_read(place: Place):
    place.file(ID).write_bytes(WRITTEN)

    events = await place.events(ID)

    assert events == [SessionCreated(ID, place.cwd, "coder", "what is in <a.txt> & b"), *READ]
    assert place.file(ID).read_bytes() == WRITTEN
    assert await place.events(ID) == events


async def test_a_session_of_kontekst_is_listed(place: Place):
    place.file(ID).write_bytes(WRITTEN)
    (place.sessions / "empty.jsonl").touch()
    (place.sessions / "..evil.jsonl").write_bytes(WRITTEN)
    (place.sessions / "other.jsonl").mkdir()

    listed = await place.open().list()

    assert [(one.id, one.agent, one.cwd) for one in listed] == [(ID, "coder", place.cwd)]


async def test_a_session_of_kontekst_goes_on(place: Place):
    place.file(ID).write_bytes(WRITTEN)
    store = place.open()
    last = (await store.read(ID))[-1].seq

    await store.append(ID, last, RUN_EVENTS)

    assert place.file(ID).read_bytes() == WRITTEN + b"".join(one + b"\n" for one in RUN_LINES)
    assert place.active.read_bytes() == ID.encode()
    assert [record.event for record in await store.read(ID, after=last)] == RUN_EVENTS


async def test_a_new_session_cannot_have_the_id_of_one_of_kontekst(place: Place):
    place.file(ID).write_bytes(WRITTEN)

    with pytest.raises(SessionConflict):
        await place.open().append(ID, 0, [SessionCreated(ID, "/")])


async def test_a_session_without_a_message_can_be_begun(place: Place):
    """Kontekst makes the file before anything is said."""
    place.file().touch()
    store = place.open()

    assert await store.read(S) == []
    await store.append(S, 0, [NEW])

    assert await place.events() == [NEW]


async def test_a_deleted_session_does_not_come_back(place: Place):
    place.file(ID).write_bytes(WRITTEN)
    (place.sessions / f"{ID}.meta.json").write_bytes(b"{}")
    store = place.open()

    await store.delete(ID)

    assert list(place.sessions.iterdir()) == []
    assert await store.list() == []
    with pytest.raises(SessionNotFound):
        await store.delete(ID)


async def test_a_crash_between_the_mark_and_the_journal_imports_once(place: Place):
    place.file(ID).write_bytes(WRITTEN)
    place.files.save_mark(ID, StoredMark(SyncMark(len(WRITTEN), 5)))

    assert (await place.events(ID))[1:] == READ
    assert (await place.events(ID))[1:] == READ


async def test_one_that_cannot_be_read_does_not_hide_the_others(
    place: Place, caplog: pytest.LogCaptureFixture
):
    place.file(ID).write_bytes(WRITTEN)
    place.file(SessionId("broken")).symlink_to(place.file(ID))
    place.file(SessionId("broken")).with_suffix(".meta.json").mkdir()
    place.file(SessionId("loop")).symlink_to("loop.jsonl")

    assert sorted(one.id for one in await place.open().list()) == ["broken", ID]


# ---------------------------------------------------------------------------- what happens is written


async def test_lines_are_written_as_it_happens(place: Place):
    store = place.open()
    seen = []

    records = await store.append(S, 0, [NEW])
    for event in RUN_EVENTS:
        records = await store.append(S, records[-1].seq, [event])
        seen.append(len(place.lines()))

    assert place.lines() == RUN_LINES
    assert seen == [0, 1, 2, 3, 3, 3, 3]
    assert place.active.read_bytes() == S.encode()
    assert (place.sessions / f"{S}.meta.json").read_bytes() == b'{"default_agent":"coder"}'


OTHER_RUN = [RunStarted(RUN, "m", options=RunOptions(agent="reviewer")), *RUN_EVENTS[1:]]
OTHER_LINES = [one.replace(b'"coder"', b'"reviewer"') for one in RUN_LINES]


async def test_lines_are_by_the_agent_of_the_run(place: Place):
    store = place.open()
    await store.append(S, 0, [NEW, *OTHER_RUN])
    await store.append(S, 1 + len(OTHER_RUN), RUN_EVENTS)

    assert place.lines() == [*OTHER_LINES, *RUN_LINES]


async def test_also_after_a_crash_in_the_middle_of_it(place: Place):
    await place.open().append(S, 0, [NEW, *OTHER_RUN[:2]])
    await place.events()
    await place.journal().append(S, 3, OTHER_RUN[2:3])

    store = place.open()
    await store.read(S)
    await store.append(S, 4, OTHER_RUN[3:])

    assert place.lines() == OTHER_LINES


async def test_the_usual_agent_needs_no_meta_file(place: Place):
    await place.open().append(S, 0, [SessionCreated(S, "/")])

    assert [path.name for path in place.sessions.iterdir()] == [f"{S}.jsonl"]


async def test_the_meta_file_of_kontekst_is_not_overwritten(place: Place):
    meta = place.sessions / f"{S}.meta.json"
    meta.write_bytes(b'{"default_agent":"mine"}')

    await place.open().append(S, 0, [NEW])

    assert meta.read_bytes() == b'{"default_agent":"mine"}'


async def test_a_folder_that_cannot_be_written_stops_no_run(place: Place, caplog: pytest.LogCaptureFixture):
    store = place.open()
    shutil.rmtree(place.sessions)
    place.sessions.write_bytes(b"a file where a folder should be")

    records = await store.append(S, 0, [NEW])
    await store.append(S, records[-1].seq, RUN_EVENTS)

    assert [record.event for record in await store.read(S)] == [NEW, *RUN_EVENTS]
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


async def test_and_the_lines_come_when_it_can(place: Place):
    store = place.open()
    await store.append(S, 0, [NEW])
    place.file().unlink()
    place.file().mkdir()
    await store.append(S, 1, RUN_EVENTS[:2])
    place.file().rmdir()

    await store.append(S, 3, RUN_EVENTS[2:])

    assert place.lines() == RUN_LINES
    assert await place.events() == [NEW, *RUN_EVENTS]


# ---------------------------------------------------------------------------- after a crash


async def test_lines_that_a_crash_kept_from_being_written_come_at_the_next_use(place: Place):
    await begin(place)
    journal = place.journal()
    last = 1 + len(RUN_EVENTS)
    await journal.append(S, last, RUN_EVENTS)

    await place.events()

    assert place.lines() == RUN_LINES * 2
    await place.events()
    assert place.lines() == RUN_LINES * 2


async def test_at_whichever_byte_a_write_stopped_the_lines_are_whole_again(place: Place):
    store = await begin(place)
    last = 1 + len(RUN_EVENTS)
    await store.append(S, last, RUN_EVENTS[:-1])  # no end of the run: the mark stays before it
    whole, mark = place.file().read_bytes(), place.files.mark(S)
    assert mark == StoredMark(SyncMark(len(whole) // 2, last))

    ends = [at for at in range(len(whole) // 2, len(whole)) if whole[at : at + 1] == b"\n"]
    for size in {*range(len(whole) // 2, len(whole), 7), *ends, *(end + 1 for end in ends)}:
        place.file().write_bytes(whole[:size])
        place.files.save_mark(S, mark)

        events = await place.events()

        assert [one for one in place.lines() if json_line(one)] == RUN_LINES * 2
        assert events == [NEW, *RUN_EVENTS, *RUN_EVENTS[:-1]]


def json_line(data: bytes) -> bool:
    """Return whether Kontekst can read a line; it skips those that it cannot."""
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


async def test_a_file_that_was_deleted_is_made_again(place: Place):
    place.file(ID).write_bytes(WRITTEN)
    await place.events(ID)
    place.file(ID).unlink()

    await place.events(ID)

    assert [json.loads(one)["role"] for one in place.lines(ID)] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]


async def test_a_file_that_was_shortened_stays_so(place: Place):
    await begin(place)
    place.file().write_bytes(RUN_LINES[0] + b"\n")

    assert await place.events() == [NEW, *RUN_EVENTS]
    assert place.lines() == RUN_LINES[:1]


async def test_a_mark_that_is_lost_doubles_nothing(place: Place):
    await begin(place)
    for kept in place.marks.iterdir():
        kept.write_bytes(b"garbage")

    assert await place.events() == [NEW, *RUN_EVENTS]
    assert place.lines() == RUN_LINES


# ---------------------------------------------------------------------------- Kontekst goes on in between

FOREIGN = line("user", "from kontekst", tokens=2) + line("assistant", "I see", tokens=3)
TAKEN = [
    MessageAdded(user_message("from kontekst"), "import", 2),
    MessageAdded(Message("assistant", (Text("I see"),)), "import", 3),
]


async def test_what_kontekst_added_is_taken_in(place: Place):
    await begin(place)
    with place.file().open("ab") as file:
        file.write(FOREIGN)

    assert await place.events() == [NEW, *RUN_EVENTS, *TAKEN]
    assert await place.events() == [NEW, *RUN_EVENTS, *TAKEN]
    assert place.file().read_bytes() == b"".join(one + b"\n" for one in RUN_LINES) + FOREIGN


async def test_what_both_added_is_in_both(place: Place):
    await begin(place)
    last = 1 + len(RUN_EVENTS)
    await place.journal().append(S, last, RUN_EVENTS)
    with place.file().open("ab") as file:
        file.write(FOREIGN)

    assert await place.events() == [NEW, *RUN_EVENTS, *RUN_EVENTS, *TAKEN]
    assert await place.events() == [NEW, *RUN_EVENTS, *RUN_EVENTS, *TAKEN]
    assert place.lines() == [*RUN_LINES, *FOREIGN.split(b"\n")[:-1], *RUN_LINES]


async def test_what_kontekst_added_during_a_run_is_taken_in_by_the_next_process(place: Place):
    store = await begin(place)
    last = 1 + len(RUN_EVENTS)
    await store.append(S, last, RUN_EVENTS[:2])
    with place.file().open("ab") as file:
        file.write(FOREIGN)
    await store.append(S, last + 2, RUN_EVENTS[2:])

    assert await place.events() == [NEW, *RUN_EVENTS, *RUN_EVENTS, *TAKEN]
    assert len(place.lines()) == 8


async def test_a_run_that_was_cut_off_is_not_disturbed(place: Place):
    store = place.open()
    await store.append(S, 0, [NEW, *RUN_EVENTS[:3]])
    with place.file().open("ab") as file:
        file.write(FOREIGN)

    assert await place.events() == [NEW, *RUN_EVENTS[:3]]

    await store.append(S, 4, RUN_EVENTS[3:])
    assert await place.events() == [NEW, *RUN_EVENTS, *TAKEN]


async def test_a_session_that_another_process_runs_is_only_read(place: Place):
    await begin(place)
    with place.file().open("ab") as file:
        file.write(FOREIGN)
    running = FileClaims(place.claims)
    assert await running.claim(S)

    assert await place.events() == [NEW, *RUN_EVENTS]

    await running.release(S)
    assert await place.events() == [NEW, *RUN_EVENTS, *TAKEN]


async def test_a_crash_between_the_plan_and_the_journal_takes_it_in_once(place: Place):
    await begin(place)
    mark = place.files.mark(S)
    assert mark is not None
    with place.file().open("ab") as file:
        file.write(FOREIGN)
    planned = SyncMark(mark.mark.size_bytes + len(FOREIGN), mark.mark.seq + 2)
    place.files.save_mark(S, StoredMark(mark.mark, planned))

    assert await place.events() == [NEW, *RUN_EVENTS, *TAKEN]


async def test_a_crash_after_the_journal_takes_it_in_once(place: Place):
    await begin(place)
    mark = place.files.mark(S)
    assert mark is not None
    with place.file().open("ab") as file:
        file.write(FOREIGN)
    planned = SyncMark(mark.mark.size_bytes + len(FOREIGN), mark.mark.seq + 2)
    place.files.save_mark(S, StoredMark(mark.mark, planned))
    await place.journal().append(S, mark.mark.seq, TAKEN)

    assert await place.events() == [NEW, *RUN_EVENTS, *TAKEN]
    assert len(place.lines()) == 5


async def test_a_line_that_kontekst_did_not_finish_does_not_swallow_ours(place: Place):
    store = await begin(place)
    with place.file().open("ab") as file:
        file.write(b'{"role":"user","cont')

    await store.append(S, 1 + len(RUN_EVENTS), RUN_EVENTS)

    assert place.lines() == [*RUN_LINES, b'{"role":"user","cont', *RUN_LINES]
    assert await place.events() == [NEW, *RUN_EVENTS, *RUN_EVENTS]


# ---------------------------------------------------------------------------- comparing

_lines = st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=6)


@given(_lines, st.data())
def test_of_ours_nothing_counts_as_theirs(ours: list[bytes], data: st.DataObject):
    """Any prefix of Bridle's lines was written; the rest is missing."""
    written = data.draw(st.integers(0, len(ours)))

    assert compare(ours[:written], ours) == Difference((), tuple(ours[written:]))


@given(_lines, st.lists(st.sampled_from([b"x", b"y"]), max_size=4), st.randoms())
def test_theirs_are_found_wherever_they_stand(ours: list[bytes], theirs: list[bytes], random: Random):
    mixed, left, right = [], list(ours), list(theirs)
    while left or right:
        mixed.append((left if not right or (left and random.random() < 0.5) else right).pop(0))

    assert compare(mixed, ours) == Difference(tuple(theirs), ())


@given(st.lists(st.sampled_from(["ours", "theirs", "crash", "restart"]), max_size=12))
@settings(max_examples=40)
async def test_whatever_the_order_both_hold_everything_once(steps: list[str]):
    with tempfile.TemporaryDirectory() as folder:
        await _walk(Place(Path(folder)), steps)


async def _walk(place: Place, steps: list[str]) -> None:
    store = place.open()
    await store.append(S, 0, [NEW])
    expected: list[str] = []
    for number, step in enumerate(steps):
        words = f"{step} {number}"
        run = [RunStarted(RUN, "m"), said(words), RunEnded(RUN, "failed")]
        match step:
            case "ours" | "crash":
                last = (await store.read(S, limit=1, newest=True))[0].seq
                writer = store if step == "ours" else place.journal()
                await writer.append(S, last, run)
            case "theirs":
                with place.file().open("ab") as file:
                    file.write(line("user", words))
        if step in ("crash", "theirs", "restart"):
            await store.aclose()
            store = place.open()
        if step != "restart":
            expected.append(words)
    await store.aclose()
    events = await place.events()

    assert sorted(event.message.text for event in events if isinstance(event, MessageAdded)) == sorted(
        expected
    )
    assert sorted(json.loads(one)["content"] for one in place.lines()) == sorted(expected)
