"""The view keeps its position, whatever is added, removed or resized."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.surfaces.tui.conversation.loaded_rows import LinePosition, LoadedRows
from bridle.surfaces.tui.conversation.scroll import Scroll
from tests.surfaces.tui.conversation.samples import answer, page, said, view

HEIGHT = 10


def scroll_of(items, before=None) -> tuple[LoadedRows, Scroll]:
    window = LoadedRows()
    window.resize(20)
    window.show(view(items, before), 0)
    scroll = Scroll(window)
    scroll.height = HEIGHT
    scroll.place()
    return window, scroll


def top_line(window: LoadedRows, scroll: Scroll) -> str:
    found = window.line(scroll.y)
    return found[1].text if found is not None else ""


def messages(first: int, last: int):
    return [answer(seq, f"answer {seq}\n\n" + "eleven_char " * seq) for seq in range(first, last + 1)]


def test_it_follows_the_end():
    window, scroll = scroll_of(messages(1, 20))
    assert scroll.y == window.total - HEIGHT

    window.put(said(99), "", 0)

    assert (scroll.place(), scroll.is_following) == (window.total - HEIGHT, True)


def test_it_stays_when_something_comes_before_after_or_inside():
    window, scroll = scroll_of(messages(31, 60), before=30)
    scroll.moved(40)
    scroll.place()
    seen = top_line(window, scroll)

    window.prepend(page(1, 30), 0)
    window.put(said(99), "", 0)
    window.fold_all()
    scroll.place()

    assert (top_line(window, scroll), scroll.is_following) == (seen, False)


def test_scrolling_up_into_what_was_never_laid_out_goes_line_by_line():
    window, scroll = scroll_of(messages(1, 40))
    for _ in range(2_000):
        below = window.line(scroll.y)
        if scroll.y == 0:
            break
        scroll.moved(scroll.y - 1)
        scroll.place()
        assert window.line(scroll.y + 1) == below

    assert scroll.y == 0


def test_coming_to_the_end_it_follows_again():
    window, scroll = scroll_of(messages(1, 20))
    scroll.moved(5)
    scroll.place()
    scroll.moved(window.total - HEIGHT)
    scroll.place()

    assert (scroll.is_following, scroll.y) == (True, window.total - HEIGHT)


def test_what_shrinks_to_the_end_is_followed_again():
    window, scroll = scroll_of(messages(1, 20))
    scroll.moved(scroll.y - 2)
    scroll.place()
    window.drop("k20")

    assert (scroll.place(), scroll.is_following) == (window.total - HEIGHT, True)


def test_a_row_is_brought_into_view():
    window, scroll = scroll_of(messages(1, 40))

    scroll.reveal(LinePosition(0, 0))
    assert (scroll.place(), scroll.is_following) == (0, False)
    scroll.reveal(LinePosition(39, 2))
    assert scroll.place() <= window.top(39) + 3 < scroll.y + HEIGHT


def test_a_selection_keeps_its_text():
    window, scroll = scroll_of(messages(31, 60), before=30)
    scroll.moved(20)
    scroll.place()
    name, text = scroll.y + scroll.shift, top_line(window, scroll)

    window.prepend(page(1, 30), 0)
    scroll.moved(scroll.place() - 3)
    scroll.place()

    found = window.line(name - scroll.shift)
    assert found is not None
    assert found[1].text == text


def test_what_is_needed_soon_is_asked_for():
    window, scroll = scroll_of(messages(1, 20), before=5)
    assert scroll.wanted() == ""

    scroll.moved(HEIGHT - 1)
    scroll.place()
    assert scroll.wanted() == "older"
    window.newer = [None]
    scroll.moved(window.total - 2 * HEIGHT)
    scroll.place()
    assert scroll.wanted() == "newer"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("scroll resize put fold drop height".split()), st.integers(0, 60)),
        max_size=12,
    )
)
def test_it_is_always_inside_what_there_is(steps):
    window, scroll = scroll_of(messages(1, 15))
    for what, number in steps:
        match what:
            case "scroll":
                scroll.moved(number)
            case "resize":
                window.resize(number % 25 + 1)
            case "put":
                window.put(answer(number, "new " * number), "", 0)
            case "fold":
                window.fold_all()
            case "drop":
                window.drop(f"k{number}")
            case _:
                scroll.height = number % 12
        y = scroll.place()
        assert 0 <= y <= max(0, window.total - scroll.height)
        assert not window.lay_out(y, y + scroll.height)
