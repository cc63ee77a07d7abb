from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.context import (
    ContextUsage,
    Counted,
    Fitted,
    Window,
    answer_reserve,
    earlier_budget,
    estimate_message,
    estimate_tokens,
    fit,
)
from bridle.core.errors import ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, user_message

CALL = ToolCall(CallId("c"), "read_file", {"path": "a"})
RESULT = ToolResult(CallId("c"), "read_file", "content")

Exchange = list[Counted]


def user(text: str, tokens: int) -> Counted:
    return Counted(user_message(text), tokens)


def answer(text: str, tokens: int) -> Counted:
    return Counted(Message("assistant", (Text(text),)), tokens)


def calling(text: str, tokens: int) -> Counted:
    return Counted(Message("assistant", (Text(text), CALL)), tokens)


def result(text: str, tokens: int) -> Counted:
    return Counted(Message("tool", (replace(RESULT, output=text),)), tokens)


def messages(*items: Counted) -> tuple[Message, ...]:
    return tuple(item.message for item in items)


def size(exchanges: list[Exchange]) -> int:
    return sum(item.tokens for exchange in exchanges for item in exchange)


def flat(exchanges: list[Exchange]) -> Exchange:
    return [item for exchange in exchanges for item in exchange]


# ---------------------------------------------------------------------------- examples of conversations

shapes = st.lists(
    st.tuples(st.sampled_from(["user", "answer", "call"]), st.integers(0, 30), st.integers(0, 30)), max_size=6
)


def build(prefix: str, drawn: list[tuple[str, int, int]]) -> list[Exchange]:
    """Make exchanges whose messages all differ, so that one can be found again in a request."""
    exchanges = []
    for index, (shape, tokens, more) in enumerate(drawn):
        name = f"{prefix}{index}"
        match shape:
            case "user":
                exchanges.append([user(name, tokens)])
            case "answer":
                exchanges.append([answer(name, tokens)])
            case _:
                exchanges.append([calling(name, tokens), result(name, more)])
    return exchanges


earlier_exchanges = shapes.map(lambda drawn: build("earlier ", drawn))
run_exchanges = st.builds(
    lambda tokens, drawn: [[user("prompt", tokens)], *build("run ", drawn)], st.integers(0, 30), shapes
)
windows = st.builds(
    Window,
    tokens=st.integers(0, 250),
    system=st.integers(0, 20),
    tools=st.integers(0, 20),
    reserve=st.integers(0, 20),
)


def expected(earlier: list[Exchange], run: list[Exchange], window: Window) -> list[Exchange] | None:
    """Say it by searching: the longest end of the run that fits, then the longest end of what was earlier."""
    room = window.tokens - window.system - window.tools - window.reserve
    prompt, rest = run[:1], run[1:]
    ends = [rest[start:] for start in range(max(1, len(rest)))]
    kept_run = next((prompt + end for end in ends if size(prompt + end) <= room), None)
    if kept_run is None:
        return None
    starts = [start for start, exchange in enumerate(earlier) if exchange[0].message.role == "user"]
    kept_earlier = next(
        (earlier[start:] for start in starts if size(earlier[start:]) <= max(0, room - size(run))), []
    )
    return kept_earlier + kept_run


# ---------------------------------------------------------------------------- the budget


@pytest.mark.parametrize(
    ("window", "run_tokens", "budget"),
    [
        (Window(tokens=4096, system=1000, tools=500, reserve=0), 96, 2500),
        (Window(tokens=4096, system=1000, tools=500, reserve=1024), 96, 1476),
        (Window(tokens=4096, system=4000, tools=500, reserve=0), 0, 0),
        (Window(tokens=4096, system=0, tools=0, reserve=0), 4096, 0),
    ],
)
def test_earlier_messages_get_what_the_others_leave(window: Window, run_tokens: int, budget: int):
    """Kontekst: max(0, context_size - system - tool - prompt), here with a reserve for the answer."""
    assert earlier_budget(window, run_tokens) == budget


@pytest.mark.parametrize(
    ("window_tokens", "max_output_tokens", "reserve"),
    [(200_000, 8_192, 8_192), (4_096, 8_192, 1_024), (32_768, 8_192, 8_192), (0, 8_192, 0), (4_096, 0, 0)],
)
def test_the_reserve_is_the_longest_answer_but_at_most_a_quarter_of_the_window(
    window_tokens: int, max_output_tokens: int, reserve: int
):
    assert answer_reserve(window_tokens, max_output_tokens) == reserve


def test_usage_adds_up():
    usage = ContextUsage(window=100, system=1, tools=2, earlier=30, run=40, reserve=25)

    assert (usage.total, usage.remaining) == (73, 27)


# ---------------------------------------------------------------------------- estimates


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("éé", 1), ("日本", 2), ("\udcff", 1)],
)
def test_a_token_is_four_bytes_begun(text: str, tokens: int):
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (Message("user", ()), 4),
        (user_message("12345678"), 6),
        (Message("assistant", (Reasoning("12345678"), Text("1234"))), 7),
        (Message("user", (Media("image/png", "x" * 10_000),)), 4 + 1600),
        (Message("assistant", (ToolCall(CallId("c"), "grep", {"a": 1}),)), 4 + 8 + 1 + 2),
        (Message("assistant", (ToolCall(CallId("c"), "grep", invalid="{" * 40),)), 4 + 8 + 1 + 10),
        (Message("tool", (ToolResult(CallId("c"), "grep", "1234"),)), 4 + 8 + 1),
        (
            Message("tool", (ToolResult(CallId("c"), "x", "", media=(Media("a", ""), Media("b", ""))),)),
            4 + 8 + 2 * 1600,
        ),
    ],
)
def test_every_part_is_counted(message: Message, tokens: int):
    assert estimate_message(message) == tokens


@given(st.text(), st.text())
def test_a_longer_text_is_never_smaller(text: str, more: str):
    assert estimate_tokens(text) <= estimate_tokens(text + more)


# ---------------------------------------------------------------------------- fitting, by example


EARLIER = [user("a", 10), calling("b", 10), result("c", 10), answer("d", 10), user("e", 10), answer("f", 10)]
RUN = [user("prompt", 10), calling("g", 10), result("h", 10), calling("i", 10), result("j", 10)]


def test_all_is_sent_while_it_fits():
    window = Window(tokens=140, system=10, tools=10, reserve=10)

    assert fit(EARLIER, RUN, window) == Fitted(
        messages(*EARLIER, *RUN),
        ContextUsage(
            window=140,
            system=10,
            tools=10,
            earlier=60,
            run=50,
            reserve=10,
            earlier_messages=6,
            run_messages=5,
            dropped_messages=0,
        ),
        (10,) * 11,
    )


def test_the_oldest_earlier_exchanges_go_first_and_the_rest_begins_with_the_user():
    """One token less: "a" goes, and with it its answers, because a user must speak first."""
    window = Window(tokens=139, system=10, tools=10, reserve=10)

    assert fit(EARLIER, RUN, window) == Fitted(
        messages(*EARLIER[4:], *RUN),
        ContextUsage(
            window=139,
            system=10,
            tools=10,
            earlier=20,
            run=50,
            reserve=10,
            earlier_messages=2,
            run_messages=5,
            dropped_messages=4,
        ),
        (10,) * 7,
    )


@pytest.mark.parametrize(
    ("room", "sent"),
    [
        (70, [*EARLIER[4:], *RUN]),
        (69, RUN),
        (50, RUN),
        (49, [RUN[0], *RUN[3:]]),
        (30, [RUN[0], *RUN[3:]]),
    ],
)
def test_then_the_oldest_exchanges_of_the_run_go_but_not_its_prompt(room: int, sent: list[Counted]):
    assert fit(EARLIER, RUN, Window(room, 0, 0, 0)).messages == messages(*sent)


def test_what_cannot_fit_is_an_error_that_says_how_much_is_missing():
    with pytest.raises(ProviderError) as caught:
        fit(EARLIER, RUN, Window(tokens=1029, system=500, tools=300, reserve=200))

    assert caught.value.kind == "context_length_exceeded"
    assert str(caught.value) == (
        "the request needs 830 tokens and 200 for the answer, but the model's window holds 1,029 "
        "(hint: shorten the prompt, or choose a model with a larger window)"
    )


def test_a_message_too_large_hides_everything_older():
    """Leaving out one in the middle would tell a story that did not happen."""
    earlier = [user("a", 1), user("huge", 100), user("b", 1)]

    assert fit(earlier, [user("prompt", 1)], Window(50, 0, 0, 0)).messages == messages(
        earlier[2], user("prompt", 1)
    )


def test_results_without_their_call_are_left_out():
    """A tail read from a long session may begin in the middle of a turn."""
    earlier = [result("orphan", 5), user("a", 5), result("stray", 5), answer("b", 5)]

    fitted = fit(earlier, [user("prompt", 5)], Window(100, 0, 0, 0))

    assert fitted.messages == messages(earlier[1], earlier[3], user("prompt", 5))
    assert fitted.usage.dropped_messages == 2


def test_several_result_messages_stay_with_their_call():
    earlier = [user("a", 5), calling("b", 5), result("c", 5), result("d", 5)]

    assert fit(earlier, [user("prompt", 5)], Window(25, 0, 0, 0)).messages == messages(
        *earlier, user("prompt", 5)
    )
    assert fit(earlier, [user("prompt", 5)], Window(24, 0, 0, 0)).messages == messages(user("prompt", 5))


def test_a_session_without_messages_sends_none():
    assert fit([], [], Window(10, 3, 2, 5)) == Fitted((), ContextUsage(10, system=3, tools=2, reserve=5))


# ---------------------------------------------------------------------------- fitting, by property


@given(earlier_exchanges, run_exchanges, windows)
def test_fitting_keeps_the_longest_ends_that_fit(
    earlier: list[Exchange], run: list[Exchange], window: Window
):
    kept = expected(earlier, run, window)

    if kept is None:
        with pytest.raises(ProviderError):
            fit(flat(earlier), flat(run), window)
    else:
        assert fit(flat(earlier), flat(run), window).messages == messages(*flat(kept))


def fitted_or_skip(earlier: list[Exchange], run: list[Exchange], window: Window) -> Fitted:
    assume(expected(earlier, run, window) is not None)
    return fit(flat(earlier), flat(run), window)


@given(earlier_exchanges, run_exchanges, windows)
def test_what_is_sent_and_the_reserve_fit_the_window_and_are_counted(
    earlier: list[Exchange], run: list[Exchange], window: Window
):
    fitted = fitted_or_skip(earlier, run, window)
    kept_earlier = [item for item in flat(earlier) if item.message in fitted.messages]
    kept_run = [item for item in flat(run) if item.message in fitted.messages]

    assert fitted.usage.total + window.reserve <= window.tokens
    assert fitted.usage == ContextUsage(
        window=window.tokens,
        system=window.system,
        tools=window.tools,
        earlier=size([kept_earlier]),
        run=size([kept_run]),
        reserve=window.reserve,
        earlier_messages=len(kept_earlier),
        run_messages=len(kept_run),
        dropped_messages=len(flat(earlier + run)) - len(kept_earlier) - len(kept_run),
    )


@given(earlier_exchanges, run_exchanges, windows)
def test_what_is_sent_is_whole_exchanges_in_order_from_a_user_to_the_newest(
    earlier: list[Exchange], run: list[Exchange], window: Window
):
    sent = fitted_or_skip(earlier, run, window).messages
    kept = [exchange for exchange in earlier + run if exchange[0].message in sent]

    assert sent == messages(*flat(kept))
    assert sent[0].role == "user"
    assert run[0] in kept
    assert run[-1] in kept


@given(earlier_exchanges, run_exchanges, windows, st.integers(0, 100))
def test_a_larger_window_drops_nothing_that_a_smaller_one_keeps(
    earlier: list[Exchange], run: list[Exchange], window: Window, more: int
):
    smaller = fitted_or_skip(earlier, run, window)

    larger = fit(flat(earlier), flat(run), replace(window, tokens=window.tokens + more))

    assert set(messages_by_text(smaller)) <= set(messages_by_text(larger))


def messages_by_text(fitted: Fitted) -> list[str]:
    return [str(message) for message in fitted.messages]


@given(st.lists(st.sampled_from([user, answer, calling, result]), max_size=8), windows)
def test_a_damaged_history_never_sends_a_result_without_its_call(kinds: list, window: Window):
    earlier = [make(str(index), 3) for index, make in enumerate(kinds)]
    run = [[user("prompt", 1)]]

    assume(expected([], run, window) is not None)
    sent = fit(earlier, flat(run), window).messages

    assert sent[0].role == "user"
    assert all(
        before.calls or before.role == "tool" for before, message in pairwise(sent) if message.role == "tool"
    )


# ---------------------------------------------------------------------------- after a compaction


def test_what_a_compaction_left_is_sent_whatever_else_goes():
    summary = Counted(user_message("summary"), 40, "summary")
    earlier = [summary, answer("old", 30), user("newer", 30), answer("newest", 20)]

    fitted = fit(earlier, [user("go", 10)], Window(140, 10, 10, 30))

    assert fitted.messages == messages(summary, earlier[3], user("go", 10))
    assert (fitted.usage.earlier, fitted.usage.dropped_messages) == (60, 2)


def test_the_run_gives_way_to_what_a_compaction_left_but_not_its_newest_exchange():
    summary = Counted(user_message("summary"), 40, "summary")
    run = [user("go", 10), calling("a", 20), result("a", 20), calling("b", 20), result("b", 20)]

    fitted = fit([summary], run, Window(120, 10, 10, 0))

    assert fitted.messages == messages(summary, run[0], *run[3:])
    with pytest.raises(ProviderError):
        fit([summary], run, Window(109, 10, 10, 0))
