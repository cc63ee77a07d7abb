"""Targets: files of a store, of Kontekst, of a model."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from bridle.core.codec import GENESIS, decode_record, encode, encode_records, verify_line
from bridle.core.errors import BridleError, ConfigError, StoreCorrupt
from bridle.core.ids import SessionId
from bridle.core.protocol import (
    Record,
)
from bridle.core.protocol.unknown import Unknown
from bridle.core.session import fold
from bridle.core.transcript import drop_rewound
from bridle.providers.llama.gguf import read_header
from bridle.stores.batch_lines import complete_end, last_number, lines_before, lines_between, offset_of
from bridle.stores.integrity import HashChain
from bridle.stores.kontekst_format import encode_event
from bridle.stores.kontekst_reader import KontekstFile, read_conversation
from bridle.stores.record_lines import decode_lines, fold_summary
from bridle.surfaces.shared.export import FORMATS
from tests.fuzz.target import Target
from tests.surfaces.shared.export.reader import Reader

_SESSION = SessionId("fuzz")
MAX_FILE_BYTES = 2_000  # read in pieces of a few bytes


@contextmanager
def _file_of(data: bytes) -> Iterator[int]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield file.fileno()


def _decoded(data: bytes) -> list[Record]:
    """Return the lines that are records, numbered without a gap, as a store gives them."""
    records: list[Record] = []
    for line in data.split(b"\n"):
        try:
            records.append(replace(decode_record(line), seq=len(records) + 1))
        except StoreCorrupt:
            continue
    return records


# ---------------------------------------------------------------------------- the store


def run_records(data: bytes) -> None:
    """Read stored lines: StoreCorrupt, or a record that is written back unchanged; the fold accepts all."""
    for record in (records := _decoded(data)):
        again = decode_record(encode(record))
        if not isinstance(record.event, Unknown):
            assert again == record
    chain = HashChain(_SESSION)
    for line in data.split(b"\n"):
        chain.follow(line)
        verify_line(GENESIS, line)
    try:
        fold(records)
        drop_rewound(records)
        fold_summary(_SESSION, data.split(b"\n"))
        asyncio.run(decode_lines(_SESSION, data.split(b"\n"), range(1, 4)))
    except StoreCorrupt:
        pass


def run_linefile(data: bytes) -> None:
    """Find lines in a file: forwards and backwards are the same, and the torn tail is never among them."""
    data = data[:MAX_FILE_BYTES]
    with _file_of(data) as fd:
        end = complete_end(fd, len(data))
        assert end == complete_end(fd, len(data), chunk_bytes=7)
        assert end == 0 or data[end - 1 : end] == b"\n"
        forwards = list(lines_between(fd, 0, end))
        assert forwards == list(lines_between(fd, 0, end, chunk_bytes=5))
        assert forwards == list(lines_before(fd, end))[::-1]
        assert forwards == list(lines_before(fd, end, chunk_bytes=3))[::-1]
        last = last_number(fd, end)
        assert last >= 0
        for seq in (1, 2, last):
            found = offset_of(fd, end, seq)
            assert 0 <= found <= end
            assert found in (0, end) or data[found - 1 : found] == b"\n"


def run_export(data: bytes) -> None:
    """Write a session whose records anybody may have made: the page can do nothing, whatever they say."""
    records = _decoded(data)
    for name, write in FORMATS.items():
        try:
            text = write(records)
        except BridleError:
            continue
        text.encode()
        if name == "html":
            Reader(text)


# ---------------------------------------------------------------------------- other programs


def run_kontekst(data: bytes) -> None:
    """Import a conversation: what comes of it can be stored, and is the same when imported again."""
    for is_cut in (False, True):
        told = read_conversation(data, is_cut=is_cut)
        events = KontekstFile(told, "default", len(data), 0).events(_SESSION, "/")
        lines = [line for _, line in encode_records(GENESIS, 1, 1, events)]
        session = fold([decode_record(line) for line in lines])
        assert [counted.message for counted in session.messages] == [one.message for one in told.messages]
        again = read_conversation(b"".join(encode_event(event, "default") for event in events))
        assert [one.message for one in again.messages] == [one.message for one in told.messages]


def run_gguf(data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        with suppress(ConfigError):
            read_header(Path(file.name))


_TOKENS = (
    b'"type":"',
    b'"seq":1',
    b'"run_ended"',
    b'"tool_finished"',
    b'"rewound"',
    b'"compacted"',
    b'"checkpoint"',
    b'"session_created"',
    b'"message":',
    b'"parts":[',
    b',"hash":"',
    b" \n",
)
TARGETS = (
    Target(
        name="records",
        run=run_records,
        modules=(
            "bridle.core.codec",
            "bridle.core.session",
            "bridle.core.transcript",
            "bridle.stores.integrity",
        ),
        tokens=_TOKENS,
        is_json=True,
    ),
    Target(
        name="linefile",
        run=run_linefile,
        modules=("bridle.stores.batch_lines",),
        tokens=(b'{"seq":1,', b'{"seq":99,', b" \n", b"\n"),
    ),
    Target(
        name="export",
        run=run_export,
        modules=(
            "bridle.surfaces.shared.export.html_page",
            "bridle.surfaces.shared.export.html_items",
            "bridle.surfaces.shared.timeline",
        ),
        tokens=(*_TOKENS, b"<script>", b"](javascript:x)", b"```html"),
        is_json=True,
    ),
    Target(
        name="kontekst",
        run=run_kontekst,
        modules=("bridle.stores.kontekst_reader", "bridle.stores.kontekst_format"),
        tokens=(b'"role":"tool"', b'"role":"assistant"', b'"tool_calls":[{"id":"c"}]', b'"tool_result":{'),
        is_json=True,
    ),
    Target(
        name="gguf",
        run=run_gguf,
        modules=("bridle.providers.llama.gguf",),
        tokens=(b"GGUF", b"\x08\x00\x00\x00", b"\x09\x00\x00\x00", b"\xff\xff\xff\xff\xff\xff\xff\xff"),
    ),
)
