"""The loaded part of a conversation: pages that come and go, and rows that patches change."""

from bridle.core.ids import CallId
from bridle.surfaces.shared.view_model.view_types import ViewPage
from bridle.surfaces.tui.conversation.loaded_rows import KEPT_ROWS, MAX_ROWS, LinePosition, LoadedRows
from tests.surfaces.tui.conversation.samples import answer, call, page, said, texts, view


def window_of(*items, before=None) -> LoadedRows:
    window = LoadedRows()
    window.resize(20)
    window.show(view(items, before), 0)
    return window


def keys(window: LoadedRows) -> list[str]:
    return [row.key for row in window.rows]


def lines(window: LoadedRows) -> list[str]:
    window.lay_out(0, 1 << 30)
    return texts(found[1] for y in range(window.total) if (found := window.line(y)) is not None)


def test_calls_stand_close_and_words_apart():
    window = window_of(said(1), call(2), call(3), answer(4))

    assert lines(window) == ["▌ said 1", "", "✓ bash ls", "✓ bash ls", "", "answer 4"]
    assert [window.place(y) for y in (0, 1, 3, 4, 6)] == [
        LinePosition(0, 0),
        LinePosition(1, -1),
        LinePosition(2, 0),
        LinePosition(3, -1),
        None,
    ]


def test_patches_put_grow_and_drop():
    window = window_of(said(1), answer(2, "a"))

    assert [window.put(answer(2, "b"), "", 0), window.put(call(9), "k2", 0), window.put(said(4), "", 0)] == [
        False,
        True,
        True,
    ]
    window.grow("k2", "text", "c")
    window.grow("gone", "text", "c")
    window.drop("k1")
    window.drop("gone")

    assert lines(window) == ["✓ bash ls", "", "bc", "", "▌ said 4"]


def test_nested_calls_know_their_depth():
    window = window_of(call(1), call(2, parent=CallId("k1")), call(3, parent=CallId("k2")))

    assert lines(window) == ["✓ bash ls", "  ✓ bash ls", "    ✓ bash ls"]


def test_older_pages_come_before_and_are_asked_for_by_what_the_last_said():
    window = window_of(said(30), before=29)

    window.prepend(page(10, 29), 0)
    window.prepend(page(1, 9), 0)
    window.prepend(page(1, 9), 0)

    assert (keys(window), window.before) == ([f"k{seq}" for seq in range(1, 31)], None)


def test_too_many_rows_are_let_go_of_above_where_a_turn_begins():
    items = []
    for seq in range(1, MAX_ROWS, 3):
        items += [answer(seq), call(seq, f"c{seq}"), call(seq + 1, f"n{seq}", parent=CallId(f"c{seq}"))]
    window = window_of(*items, before=None)
    assert window.trim_top(MAX_ROWS) == ()

    window.put(said(9000), "", 0)
    gone = window.trim_top(len(window.rows))

    first = window.rows[0].item
    assert len(gone) == len(items) + 1 - len(window.rows)
    assert (first, window.before) == (answer(first.seq), first.seq - 1)
    assert KEPT_ROWS <= len(window.rows) < KEPT_ROWS + 3


def test_what_is_in_view_is_never_let_go_of():
    window = window_of(*(said(seq) for seq in range(1, MAX_ROWS + 100)))

    assert window.trim_top(50) == ()
    window.trim_bottom(len(window.rows) - 50)
    assert len(window.rows) == MAX_ROWS + 99


def test_newer_pages_are_let_go_of_and_come_back_page_by_page():
    window = window_of(*(said(seq) for seq in range(901, 1001)), before=900)
    live = view([said(seq) for seq in range(901, 1001)], 900)
    window.prepend(page(601, 900), 0)
    window.prepend(page(301, 600), 0)

    window.trim_bottom(10)
    assert (len(window.rows), window.newer, window.has_end) == (KEPT_ROWS, [None, 900], False)
    assert window.put(said(1001), "", 0)
    assert window.append(page(601, 900), 0)
    assert window.append(live, 0)

    assert (keys(window), window.has_end) == ([f"k{seq}" for seq in range(301, 1001)], True)


def test_an_end_that_does_not_follow_what_is_held_is_not_put_there():
    window = window_of(*(said(seq) for seq in range(901, 1001)), before=900)
    window.prepend(page(301, 900), 0)
    window.trim_bottom(10)
    window.append(page(301, 900), 0)

    assert not window.append(view([said(2000)], 1999), 0)
    assert not window.append(ViewPage((said(2000),), 1999), 0)
    assert window.newer == [None]


def test_a_row_that_is_drawn_before_it_was_laid_out_moves_those_below_it():
    window = window_of(said(1), answer(2, "- a\n\n\n\n\n- b"), answer(3, "after"))
    guessed = window.total

    drawn = [window.line(y) for y in range(guessed)]

    assert drawn
    assert window.total < guessed
    assert lines(window)[-2:] == ["", "after"]
