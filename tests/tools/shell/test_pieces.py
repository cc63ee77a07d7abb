"""Pieces of output, cut where nothing is torn apart."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bridle.tools.secrets import Masker
from bridle.tools.shell.jobs import mask_slice, read_slice
from bridle.tools.shell.output_buffer import OutputBuffer

SECRET = "0123456789"
MASKER = Masker({"KEY": SECRET})
parts = st.lists(st.sampled_from(["a", "é", "\n", "€", "\x1b[31m", SECRET, "xyz"]), max_size=15).map("".join)


def filled(data: bytes) -> OutputBuffer:
    ring = OutputBuffer(Path("/nonexistent"))
    ring.append(data)
    return ring


@given(text=parts, limit=st.integers(1, 20))
def test_reading_in_pieces_gives_the_whole_text(text: str, limit: int):
    ring = filled(text.encode())
    position, shown = 0, b""
    while position < ring.total:
        piece = read_slice(ring, position, limit, is_over=True)
        assert (piece.start, bool(piece.data), len(piece.data) <= limit) == (position, True, True)
        position, shown = piece.end, shown + piece.data

    assert shown.decode() == text


@given(text=parts, limit=st.integers(6, 20))
def test_no_piece_ends_within_a_character_or_an_escape(text: str, limit: int):
    ring = filled(text.encode())
    position = 0
    while position < ring.total:
        piece = read_slice(ring, position, limit, is_over=False)
        assert "\ufffd" not in piece.data.decode(errors="replace")
        assert "\x1b" not in mask_slice(ring, piece, MASKER)
        assert "[31m" not in mask_slice(ring, piece, MASKER)
        position = piece.end


@given(
    before=st.text("ab", max_size=5),
    after=st.text("ab", max_size=5),
    start=st.integers(0, 20),
    size=st.integers(1, 20),
)
def test_no_piece_shows_a_part_of_a_secret(tmp_path_factory, before: str, after: str, start: int, size: int):
    """Nor where the secret lies half in the head and half in the ring."""
    ring = OutputBuffer(tmp_path_factory.getbasetemp(), head_bytes=7, ring_bytes=30)
    ring.append(f"{before}{SECRET}{after}".encode())
    text = mask_slice(ring, ring.read(start, size), MASKER)
    ring.close()

    assert not set(text.replace("[secret KEY]", "")) & set(SECRET)
