"""Derived files: the same bytes in any number of steps, across crashes, and after a rebuild."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.codec import decode_record
from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message
from bridle.core.protocol import Compacted, Event, MessageAdded, Pinned, RunEnded, TurnEnded, TurnStarted
from bridle.stores.ephemeral import EphemeralStore
from bridle.stores.projector import PAGE_RECORDS, SessionProjector
from tests.stores.sample import OTHER, RUN, SAMPLES, CountingClock, S, created, finished, replied, said
from tests.stores.strategies import events


def content(place: Path, session: SessionId = S) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((place / session).iterdir())}


TURN_ENDED = next(event for event in SAMPLES if isinstance(event, TurnEnded))


@pytest.fixture
def store() -> EphemeralStore:
    return EphemeralStore(CountingClock())


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "projected"


@pytest.fixture
def projector(store: EphemeralStore, place: Path) -> SessionProjector:
    return SessionProjector(store, place)


# ---------------------------------------------------------------------------- content


async def test_the_files_of_a_short_session(store: EphemeralStore, projector: SessionProjector, place: Path):
    await store.append(
        S,
        0,
        [
            created(agent="coder"),
            said("Look at <a> & b"),
            TurnStarted(RUN, 1),
            replied("I look.", "c1", "c2"),
            finished("c2", "second"),
            finished("c1", "first"),
            TURN_ENDED,
            replied("All is well."),
            RunEnded(RUN, "failed", reason="tired"),
        ],
    )
    await projector.project(S)
    files = content(place)

    assert sorted(files) == [
        f"{S}.jsonl",
        f"{S}.meta.json",
        "checkpoint.json",
        "events.jsonl",
        "summary.txt",
        "transcript.md",
    ]
    assert [decode_record(line) for line in files["events.jsonl"].splitlines()] == await store.read(S)
    assert files["events.jsonl"].splitlines() == [line async for line in store.lines(S)]
    assert files["summary.txt"] == b"All is well."
    assert files[f"{S}.meta.json"] == b'{"default_agent":"coder"}'
    assert b"Look at \\u003ca\\u003e \\u0026 b" in files[f"{S}.jsonl"]
    assert [json.loads(line) for line in files[f"{S}.jsonl"].splitlines()] == [
        {"role": "user", "content": "Look at <a> & b", "agent_name": "coder", "tokens": 3},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "name": "read_file", "arguments": {"n": 1, "path": "a.py"}},
                {"id": "c2", "name": "read_file", "arguments": {"n": 1, "path": "a.py"}},
            ],
            "agent_name": "coder",
            "tokens": 9,
        },
        {
            "role": "tool",
            "content": "first",
            "tool_result": {"call_id": "c1", "name": "read_file", "output": "first"},
            "agent_name": "coder",
            "tokens": 4,
        },
        {
            "role": "tool",
            "content": "second",
            "tool_result": {"call_id": "c2", "name": "read_file", "output": "second"},
            "agent_name": "coder",
            "tokens": 4,
        },
        {"role": "assistant", "content": "All is well.", "agent_name": "coder", "tokens": 9},
    ]
    assert files["transcript.md"].decode() == TRANSCRIPT


TRANSCRIPT = f"""\
# Session {S}

- agent: coder
- directory: /home/me/project
- started: 2025-11-15 07:00:00 UTC

## User

Look at <a> & b

## Assistant

> hm

I look.

**read_file** (c1)

```json
{{
  "path": "a.py",
  "n": 1
}}
```

**read_file** (c2)

```json
{{
  "path": "a.py",
  "n": 1
}}
```

## Results

**read_file** (c1)

```
first
```

**read_file** (c2)

```
second
```

## Assistant

> hm

All is well.

*Run ended: failed: tired*

"""


async def test_a_session_without_words_has_empty_files(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    await store.append(S, 0, [TurnStarted(RUN, 1)])
    await projector.project(S)

    files = content(place)
    assert (files["summary.txt"], files["transcript.md"], files[f"{S}.jsonl"]) == (b"", b"", b"")
    assert files[f"{S}.meta.json"] == b"{}"


async def test_copied_results_share_their_tokens(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    """A fork copies whole messages: how the tokens were spread over the results is not known."""
    results = (ToolResult("c1", "t", "one"), ToolResult("c2", "t", "two", is_error=True))
    calls = Message("assistant", (Text(""), ToolCall("c1", "t"), ToolCall("c2", "t")))
    await store.append(
        S,
        0,
        [created(), MessageAdded(calls, "fork", 5), MessageAdded(Message("tool", results), "fork", 8)],
    )
    await projector.project(S)

    assistant, one, two = [json.loads(line) for line in content(place)[f"{S}.jsonl"].splitlines()]
    assert assistant["tool_calls"] == [{"id": "c1", "name": "t"}, {"id": "c2", "name": "t"}]
    assert (one["content"], one["tokens"]) == ("one", 8)
    assert (two["tool_result"]["is_error"], "tokens" in two) == (True, False)


async def test_only_the_owner_can_read_the_files(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    await store.append(S, 0, SAMPLES)
    await projector.project(S)

    assert (place / S).stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (place / S).iterdir()} == {0o600}


# ---------------------------------------------------------------------------- steps, crashes, rebuilds


@settings(max_examples=60)
@given(log=st.lists(events, min_size=1, max_size=25), data=st.data())
async def test_any_steps_and_crashes_give_the_same_bytes(
    log: list[Event], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
):
    """Events arrive in any portions; after some, the process dies before it has moved the checkpoint."""
    place = tmp_path_factory.mktemp("projector")
    clock = CountingClock(0)
    store = EphemeralStore(clock)
    projector = SessionProjector(store, place / "steps")
    some = st.lists(st.integers(0, len(log)), max_size=5)
    cuts = sorted({0, len(log), *data.draw(st.just(range(len(log))) | some)})
    for start, stop in pairwise(cuts):
        for event in log[start:stop]:
            await store.append(S, start, [event])
            start += 1
        crash = data.draw(st.sampled_from(["no", "before the checkpoint", "while appending"]))
        kept = content(place / "steps") if crash != "no" and (place / "steps" / S).exists() else {}
        await projector.project(S)
        if kept:
            (place / "steps" / S / "checkpoint.json").write_bytes(kept["checkpoint.json"])
        if kept and crash == "while appending":
            name = data.draw(st.sampled_from(["events.jsonl", "transcript.md", f"{S}.jsonl"]))
            grown = (place / "steps" / S / name).read_bytes()
            cut = data.draw(st.integers(len(kept[name]), len(grown)))
            (place / "steps" / S / name).write_bytes(grown[:cut])
    await projector.project(S)
    stepwise = content(place / "steps")

    await SessionProjector(store, place / "once").project(S)
    assert stepwise == content(place / "once")
    await projector.rebuild(S)
    assert stepwise == content(place / "steps")


async def test_a_turn_cut_off_before_its_results_is_shown_and_completed_later(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    log = [created(), said("go"), replied("I look.", "c1", "c2"), finished("c1", "found")]
    await store.append(S, 0, log)
    await projector.project(S)
    half = content(place)["transcript.md"]
    await store.append(S, 4, [RunEnded(RUN, "completed")])
    await projector.project(S)

    assert half.endswith(b"}\n```\n\n")
    added = content(place)["transcript.md"].removeprefix(half)
    assert added == b"## Results\n\n**read_file** (c1)\n\n```\nfound\n```\n\n"


async def test_results_are_written_once_however_the_steps_fall(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    log = [created(), said("go"), replied("I look.", "c1"), finished("c1", "found"), TURN_ENDED]
    for seq, event in enumerate(log):
        await store.append(S, seq, [event])
        await projector.project(S)
        await projector.project(S)

    assert content(place)["transcript.md"].count(b"found") == 1
    assert content(place)[f"{S}.jsonl"].count(b"found") == 2  # content and output of one line


async def test_a_long_session_is_projected_page_by_page(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    """Results may come more than a page after their calls."""
    log = [created(), replied("wait", "c1"), *[TurnStarted(RUN, 1)] * (2 * PAGE_RECORDS)]
    await store.append(S, 0, [*log, finished("c1", "at last"), replied("done")])
    await projector.project(S)

    lines = content(place)[f"{S}.jsonl"].splitlines()
    assert [json.loads(line)["content"] for line in lines] == ["wait", "at last", "done"]
    assert content(place)["events.jsonl"].count(b"\n") == len(log) + 2


@pytest.mark.parametrize(
    "name", ["events.jsonl", "transcript.md", "summary.txt", f"{S}.jsonl", f"{S}.meta.json"]
)
async def test_a_file_that_was_removed_is_made_again(
    store: EphemeralStore, projector: SessionProjector, place: Path, name: str
):
    await store.append(S, 0, SAMPLES)
    await projector.project(S)
    before = content(place)
    (place / S / name).unlink()

    await projector.project(S)

    assert content(place) == before


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b'{"last_seq":9999,"last_hash":"?"}'])
async def test_a_broken_checkpoint_begins_anew(
    store: EphemeralStore, projector: SessionProjector, place: Path, damage: bytes
):
    await store.append(S, 0, SAMPLES)
    await projector.project(S)
    before = content(place)
    (place / S / "checkpoint.json").write_bytes(damage)

    await projector.project(S)

    assert content(place) == before


async def test_a_session_that_was_replaced_begins_anew(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    await store.append(S, 0, SAMPLES)
    await projector.project(S)
    await store.delete(S)
    await store.append(S, 0, [created(), said("other")])
    await projector.project(S)
    replaced = content(place)
    shutil.rmtree(place)
    await projector.project(S)

    assert replaced == content(place)
    assert b"other" in replaced["transcript.md"]


async def test_a_session_named_like_a_file_gets_all_of_its_files(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    name = SessionId("events")
    await store.append(name, 0, [created(name), said("hello")])
    await projector.project(name)

    assert sorted(content(place, name)) == [
        "checkpoint.json",
        "events.jsonl",
        "events.kontekst.jsonl",
        "events.kontekst.meta.json",
        "summary.txt",
        "transcript.md",
    ]


async def test_an_unknown_session_makes_no_files(projector: SessionProjector, place: Path):
    with pytest.raises(SessionNotFound):
        await projector.project(S)
    with pytest.raises(SessionNotFound):
        await projector.rebuild(S)
    with pytest.raises(UsageError):
        await projector.project(SessionId("../evil"))

    assert not place.exists()


async def test_what_is_done_for_the_model_is_not_said_in_the_conversation(
    store: EphemeralStore, projector: SessionProjector, place: Path
):
    """Kontekst reads the messages: a summary among them would be a prompt."""
    plain = [created(), said("look"), replied("I look.", "c1"), finished("c1", "much"), said("more")]
    compacted = Compacted(user_message("sum"), 0, 5, 3, 1, 900, 80, "m/x")
    await store.append(S, 0, plain)
    await projector.project(S)
    expected = content(place)[f"{S}.jsonl"]
    await store.append(OTHER, 0, [plain[0], Pinned("be brief"), *plain[1:4], compacted, plain[4]])
    await projector.project(OTHER)

    assert content(place, OTHER)[f"{OTHER}.jsonl"] == expected
    assert b"Compacted for the model" in content(place, OTHER)["transcript.md"]
