"""Output of cells: shown as it arrives, limited in size, and never cut inside a character."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from bridle.kernel.output import Output
from tests.patience import PATIENCE_S

WHOLE = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def collect(pieces: list[bytes], max_bytes: int, last: str = "") -> tuple[str, str]:
    """Return what is kept and what is shown."""

    async def run() -> tuple[str, str]:
        shown: list[str] = []
        output = Output(max_bytes)
        output.begin(shown.append)
        for piece in pieces:
            output.feed(piece)
        return output.end(last), "".join(shown)

    return asyncio.run(run())


@given(st.lists(st.binary(max_size=20), max_size=20))
def test_little_output_is_kept_and_shown_as_it_is(pieces: list[bytes]):
    text = b"".join(pieces).decode(errors="replace")

    assert collect(pieces, 10_000) == (text, text)


@given(st.lists(WHOLE, max_size=3), WHOLE, st.integers(2, 1000))
def test_what_comes_last_is_kept_and_shown_like_the_rest(texts: list[str], last: str, limit: int):
    pieces = [text.encode() for text in texts]

    assert collect(pieces, limit, last) == collect([*pieces, last.encode()], limit)


@given(WHOLE, st.integers(2, 40), st.integers(1, 9))
def test_of_much_output_head_and_tail_are_kept(text: str, limit: int, step: int):
    data = text.encode()
    kept, _ = collect([data[at : at + step] for at in range(0, len(data), step)], limit)

    if len(data) <= limit // 2 * 2:
        assert kept == text
    else:
        assert "\ufffd" not in kept or "\ufffd" in text
        head, _, rest = kept.partition("\n[")
        tail = kept.rpartition("here]\n")[2]
        assert text.startswith(head)
        assert text.endswith(tail)
        assert f"{len(data) - limit // 2 * 2} bytes are left out here" in rest


def test_only_the_start_of_much_output_is_shown_live():
    data = b"x" * 3000

    kept, shown = collect([data], 2000)

    assert kept == "x" * 1000 + "\n[1000 bytes are left out here]\n" + "x" * 1000
    assert shown == "x" * 2000 + "\n[there is more; it is not shown live]\n"


async def test_what_comes_between_two_cells_belongs_to_the_second_one():
    output = Output(1000)
    shown: list[str] = []
    output.begin(shown.append)
    output.feed(b"one")
    first = output.end()
    output.feed(b"between ")
    output.begin(shown.append)
    output.feed(b"two")

    assert (first, output.end(), "".join(shown)) == ("one", "between two", "onebetween two")


async def test_the_first_piece_is_shown_at_once_and_the_rest_soon():
    output = Output(1000)
    came: asyncio.Queue[str] = asyncio.Queue()
    output.begin(came.put_nowait)
    output.feed(b"a")
    first = came.get_nowait()
    output.feed("ä".encode()[:1])
    output.feed("ä".encode()[1:])
    is_early = not came.empty()
    async with asyncio.timeout(PATIENCE_S):
        second = await came.get()

    assert (first, is_early, second) == ("a", False, "ä")
    output.end()
