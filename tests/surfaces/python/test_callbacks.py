"""Callbacks decide and answer; one that fails stops the run instead of letting it wait."""

import asyncio
from typing import Any

import pytest

from bridle.core.ids import CallId
from bridle.core.protocol import ApprovalRequested, Decide, Question, QuestionAsked, Reply
from bridle.surfaces.python.callbacks import CallbackResponder
from bridle.surfaces.shared.run_driver import NOBODY

ASKED = ApprovalRequested(CallId("c"), "pay", {"n": 1}, "mode ask")
QUESTION = QuestionAsked(CallId("c"), Question("which one"))


def giving(value: Any) -> Any:
    return lambda asked: value


def giving_later(value: Any) -> Any:
    async def callback(asked: Any) -> Any:
        return value

    return callback


@pytest.mark.parametrize("way", [giving, giving_later])
@pytest.mark.parametrize(
    ("said", "decision"),
    [
        (True, Decide(CallId("c"), "once")),
        (False, Decide(CallId("c"), "deny")),
        ("always", Decide(CallId("c"), "always")),
        (("deny", "use the other one"), Decide(CallId("c"), "deny", "use the other one")),
        (None, None),
    ],
)
async def test_what_a_callback_says_about_an_approval(way: Any, said: Any, decision: Decide | None):
    assert await CallbackResponder(way(said), None)(ASKED) == decision


@pytest.mark.parametrize("way", [giving, giving_later])
@pytest.mark.parametrize(
    ("said", "answers"), [("this", ("this",)), (["a", "b"], ("a", "b")), (None, ()), ((), ())]
)
async def test_what_a_callback_says_to_a_question(way: Any, said: Any, answers: tuple[str, ...]):
    assert await CallbackResponder(None, way(said))(QUESTION) == Reply(CallId("c"), answers)


async def test_without_a_callback_there_is_nobody():
    assert await CallbackResponder(None, None)(ASKED) == Decide(CallId("c"), "stop", NOBODY)
    assert await CallbackResponder(None, None)(QUESTION) == Reply(CallId("c"))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("maybe", "UsageError: approve returned 'maybe', not one of once, session, always, deny, stop"),
        (7, "UsageError: approve returned 7, not one of once, session, always, deny, stop"),
    ],
)
async def test_an_answer_that_makes_no_sense_stops_the_run(said: Any, why: str):
    answering = CallbackResponder(giving(said), None)

    assert await answering(ASKED) == Decide(CallId("c"), "stop", f"the callback failed: {why}")


async def test_a_callback_that_raises_stops_the_run_and_is_remembered():
    broken = ZeroDivisionError("by zero")

    def approve(asked: ApprovalRequested) -> bool:
        raise broken

    answering = CallbackResponder(approve, lambda asked: [1])  # type: ignore[list-item,return-value]

    assert await answering(ASKED) == Decide(
        CallId("c"), "stop", "the callback failed: ZeroDivisionError: by zero"
    )
    assert answering.failure is broken
    assert await answering(QUESTION) == Reply(CallId("c"))


async def test_a_callback_that_says_it_was_cancelled_has_failed():
    async def callback(asked: Any) -> Any:
        raise asyncio.CancelledError

    answering = CallbackResponder(callback, None)

    assert await answering(ASKED) == Decide(CallId("c"), "stop", "the callback failed: CancelledError: ")
    assert isinstance(answering.failure, asyncio.CancelledError)
