"""One item on the screen."""

from bridle.surfaces.shared.view_model.view_types import Thought
from bridle.surfaces.tui.conversation.rows import Row
from tests.surfaces.tui.conversation.samples import answer, call, texts


def row_of(item, now_ms=0):
    return Row(item, None, now_ms)


def test_an_answer_grows_and_is_what_was_put_in_the_end():
    row = row_of(answer(1, "Hello", is_live=True))
    row.lines(20)
    row.grow("text", ", **wor")
    row.grow("text", "ld**")

    assert texts(row.lines(20)) == ["Hello, world"]
    assert row.item == answer(1, "Hello, **world**", is_live=True)

    row.put(answer(1, "Hello, **world**!"), 0)
    assert (texts(row.lines(20)), row.is_live) == (["Hello, world!"], False)


def test_an_answer_that_is_another_one_is_laid_out_anew():
    row = row_of(answer(1, "one", is_live=True))
    row.lines(20)

    row.put(answer(1, "two"), 0)

    assert texts(row.lines(20)) == ["two"]


def test_a_thought_counts_its_words_and_its_time_and_opens():
    row = row_of(Thought(key="t", seq=1, at=0, text="let me", is_live=True), now_ms=1000)
    row.grow("text", " thi")
    row.grow("text", "nk about")
    assert texts(row.lines(40)) == ["▸ thinking… · 4 words"]

    row.put(Thought(key="t", seq=1, at=1, text="let me think about *it*"), 4500)
    row.fold(is_open=True)

    assert texts(row.lines(40)) == ["▾ thought for 3 s · 5 words", "│ let me think about it"]


def test_output_of_a_running_call_grows():
    row = row_of(call(state="running", started_at=1, output="first\n"))
    row.grow("output", "second\n")

    assert texts(row.lines(40)) == ["… bash ls", "  │ first", "  │ second"]
    assert row.item == call(state="running", started_at=1, output="first\nsecond\n")


def test_text_for_a_field_that_an_item_lacks_changes_nothing():
    row = row_of(answer(1))
    row.grow("output", "x")

    assert row.item == answer(1)


def test_what_is_drawn_is_what_was_laid_out():
    row = row_of(answer(1, "one", is_live=True))
    row.lines(20)
    row.grow("text", " two")

    assert texts(row.shown(20)) == ["one"]
    assert texts(row.lines(20)) == ["one two"]


def test_lines_that_were_let_go_of_can_be_had_again():
    row = row_of(answer(1, "text"))
    row.lines(20)
    row.release()

    assert texts(row.shown(20)) == ["text"]


def test_only_what_runs_changes_with_time():
    assert [row_of(item).tick(2000) for item in (answer(1), call(), call(state="running", started_at=1))] == [
        False,
        False,
        True,
    ]
