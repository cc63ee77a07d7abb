"""Combined patches have the same effect as the single ones."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.ids import SessionId
from bridle.surfaces.rest.view_format import PatchBuffer
from bridle.surfaces.shared.view_model.view_types import (
    Answer,
    Call,
    Drop,
    Flash,
    Grow,
    Head,
    HeadChanged,
    Patch,
    Put,
    Reset,
    ViewSnapshot,
)
from tests.surfaces.shared.view_model.screen import DictScreen

HEAD = Head(session=SessionId("s"), seq=1, title="", cwd="/", agent="default")


def answer(key: str, text: str = "") -> Answer:
    return Answer(key=key, seq=1, at=0, text=text, is_live=True)


CALL = Call(key="c", seq=1, at=0, call_id="c", tool="bash", state="running")  # type: ignore[arg-type]
PATCHES = st.sampled_from(
    [
        Put(answer("a", "new")),
        Put(answer("b"), before="a"),
        Grow("a", "1"),
        Grow("a", "2"),
        Grow("c", "out", "output"),
        Grow("c", "in", "written"),
        Drop("b"),
        HeadChanged(HEAD),
        HeadChanged(Head(session=SessionId("s"), seq=2, title="t", cwd="/", agent="default")),
        Flash("look"),
    ]
)


@given(st.lists(PATCHES, max_size=30))
def test_the_effect_is_the_same(patches: list[Patch]):
    one_by_one = DictScreen(ViewSnapshot(HEAD, (answer("a"), CALL), None))
    at_once = DictScreen(ViewSnapshot(HEAD, (answer("a"), CALL), None))
    gathered = PatchBuffer()

    one_by_one.apply(patches)
    gathered.add(patches)
    taken = gathered.take()
    at_once.apply(taken)

    assert (at_once.items, at_once.head, at_once.flashes) == (
        one_by_one.items,
        one_by_one.head,
        one_by_one.flashes,
    )
    assert not gathered
    assert sum(isinstance(patch, HeadChanged) for patch in taken) <= 1


def test_pieces_for_one_place_become_one():
    gathered = PatchBuffer()

    gathered.add([Grow("a", "1"), Grow("c", "x", "output"), Grow("a", "2")])
    gathered.add([Grow("a", "3")])

    assert gathered
    assert gathered.take() == [Grow("a", "123"), Grow("c", "x", "output")]
    assert gathered.take() == []


def test_what_is_void_is_not_told():
    gathered = PatchBuffer()

    gathered.add([Grow("a", "1"), Put(answer("b")), Reset()])

    assert gathered.take() == [Reset()]
