"""Events of a newer Bridle are stored, forwarded and ignored while machines are upgraded."""

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.codec import GENESIS, KINDS, decode_record, encode, encode_records, verify_line
from bridle.core.errors import StoreCorrupt
from bridle.core.messages import user_message
from bridle.core.protocol import Event, MessageAdded, Record, SessionCreated
from bridle.core.protocol.unknown import MAX_FIELDS, Unknown, unknown_event
from bridle.core.session import Session, fold
from bridle.core.summary import summarise
from tests.core.logs import Log, logs

kinds = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True).filter(lambda kind: kind not in KINDS)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True) | st.sampled_from(
    ["from", "class", "tag"]
)
fields = st.dictionaries(names.filter(lambda key: key != "type"), values, max_size=5)


def line_of(kind: str, content: dict[str, Any], prev_hash: str = GENESIS) -> bytes:
    """Write a record as a newer version would."""
    (pair,) = encode_records(prev_hash, 7, 1000, [{"type": kind, **content}])
    return pair[1]


@given(kinds, fields)
def test_an_event_of_an_unknown_kind_is_read_and_encoded_again_as_it_was(kind: str, content: dict[str, Any]):
    line = line_of(kind, content)

    record = decode_record(line)

    assert encode(record) == line
    assert record == decode_record(line)
    assert isinstance(record.event, Unknown)
    assert type(record.event).__struct_config__.tag == kind
    assert verify_line(GENESIS, line) == record.hash


@given(kinds, fields)
def test_it_goes_on_into_another_session_unchanged(kind: str, content: dict[str, Any]):
    """A fork takes over records that it does not understand."""
    event = decode_record(line_of(kind, content)).event
    ((_, line),) = encode_records(GENESIS, 7, 1000, [event])

    assert line == line_of(kind, content)


@given(logs(), st.data())
def test_a_fold_passes_over_it_wherever_it_stands(log: Log, data: st.DataObject):
    places = data.draw(st.sets(st.integers(1, len(log.records)), max_size=4))
    mixed: list[Record] = []
    for record in log.records:
        mixed.append(record)
        if record.seq in places:
            unknown = decode_record(line_of("moon_risen", {"phase": record.seq})).event
            mixed.append(Record(record.seq, record.at, unknown, ""))

    def told(session: Session) -> dict[str, Any]:
        return {**vars(session), "transcript": session.transcript.messages}

    summary = plain = None
    for record in mixed:
        summary = summarise(summary, log.records[0].event.session_id, record)
    for record in log.records:
        plain = summarise(plain, log.records[0].event.session_id, record)
    assert told(fold(mixed)) == told(fold(log.records))
    assert summary == plain


@pytest.mark.parametrize("kind", ["", "Upper", "a b", "1st", "a" * 65, "é", "run-ended"])
def test_what_can_be_no_kind_is_still_corrupt(kind: str):
    with pytest.raises(StoreCorrupt, match="stored event is not readable"):
        decode_record(line_of(kind, {}))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_known_kind_with_nonsense_in_it_is_corrupt(kind: str):
    with pytest.raises(StoreCorrupt, match="stored event is not readable"):
        decode_record(line_of(kind, {name: [["no sense"]] for name in _names(kind)}))


@pytest.mark.parametrize("damage", [b"\xff", b"\xf4x", b'"', b"\x00"])
def test_a_damaged_line_of_an_unknown_kind_is_corrupt(damage: bytes):
    line = line_of("moon_risen", {"phase": "full", "seen": {"by": "somebody"}})
    damaged = [line.replace(word, damage + word) for word in (b"full", b"somebody", b"phase", b"by")]

    for each in damaged:
        with pytest.raises(StoreCorrupt, match="stored event is not readable"):
            decode_record(each)


@given(st.integers(0, 200), st.integers(0, 255))
def test_any_other_byte_is_corrupt_or_does_not_verify(place: int, byte: int):
    line = line_of("moon_risen", {"phase": "full", "seen": {"by": "somebody"}})
    place %= len(line)
    changed = line[:place] + bytes([byte]) + line[place + 1 :]
    try:
        decode_record(changed)
    except StoreCorrupt:
        return

    assert changed == line or verify_line(GENESIS, changed) is None


def test_what_has_too_many_fields_or_odd_ones_is_no_event():
    assert unknown_event("wide", {f"f{n}": n for n in range(MAX_FIELDS + 1)}) is None
    assert unknown_event("odd", {"a key": 1}) is None


def test_all_known_kinds_are_known():
    assert {"session_created", "run_ended"} < KINDS
    assert len(KINDS) == len(get_args(Event))


def test_known_events_are_decoded_as_before():
    events = [SessionCreated("s", "/work"), MessageAdded(user_message("hello"))]

    assert [decode_record(line).event for _, line in encode_records(GENESIS, 1, 5, events)] == events


def _names(kind: str) -> list[str]:
    (found,) = [each for each in get_args(Event) if each.__struct_config__.tag == kind]
    return [field.encode_name for field in msgspec.structs.fields(found)]
