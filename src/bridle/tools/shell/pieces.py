"""Read an output piece by piece, without splitting characters, escape sequences or secrets."""

import codecs

from bridle.tools.secrets import Masker
from bridle.tools.shell.output_buffer import OutputBuffer, OutputSlice
from bridle.tools.shell.terminal_text import MAX_OPEN_ESCAPE, clean_output, open_escape


def read_slice(ring: OutputBuffer, cursor: int, limit: int, *, is_over: bool) -> OutputSlice:
    """Read from a position; end at a line end if more follows, and never inside a character."""
    piece = ring.read(cursor, limit)
    data = piece.data
    if piece.end < ring.total:
        cut = data.rfind(b"\n") + 1
        if cut > len(data) // 2:
            return OutputSlice(data[:cut], piece.start)
    elif is_over:
        return piece
    return OutputSlice(data[: _whole_end(data)] or data, piece.start)


def mask_slice(ring: OutputBuffer, piece: OutputSlice, masker: Masker) -> str:
    """Return a piece as masked text, including secrets that extend across one of its ends."""
    first = _neighbour(ring, max(0, piece.start - masker.longest), piece.start)
    last = _neighbour(ring, piece.end, piece.end + masker.longest)
    data = first + piece.data + last
    begin, end = len(first), len(first) + len(piece.data)
    shown, position = [], begin
    for start, stop, label in masker.spans(data):
        if stop > begin and start < end:
            shown += [data[position : max(start, begin)], label]
            position = min(stop, end)
    return masker.mask(clean_output(b"".join([*shown, data[position:end]])))


def _neighbour(ring: OutputBuffer, start: int, end: int) -> bytes:
    """Return the bytes next to a piece that are still kept; they may end where the ring starts."""
    data = b""
    while start + len(data) < end:
        piece = ring.read(start + len(data), end - start - len(data))
        if piece.start != start + len(data) or not piece.data:
            break
        data += piece.data
    return data


def _whole_end(data: bytes) -> int:
    """Return where a character or escape sequence starts that the end of the data cuts off."""
    _, whole = codecs.utf_8_decode(data, "replace", False)
    start = max(0, whole - MAX_OPEN_ESCAPE)
    return start + open_escape(data[start:whole].decode("latin-1"))
