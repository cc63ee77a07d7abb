"""The time limit of a call."""

import asyncio
from typing import Any

import pytest

from bridle.core.ids import SessionId
from bridle.core.ports import ToolContext
from bridle.core.protocol import Question
from bridle.mcp.call_timeout import MAX_EXTENSIONS, CallTimeout


async def forever() -> None:
    await asyncio.Event().wait()


def started(work: Any) -> "asyncio.Task[Any]":
    return asyncio.create_task(work)


async def test_what_is_done_in_time_is_done():
    task = started(asyncio.sleep(0, "result"))

    assert await CallTimeout(10, print).wait(task)
    assert task.result() == "result"


async def test_what_takes_too_long_is_cancelled():
    task = started(forever())

    assert not await CallTimeout(0.01, print).wait(task)
    assert task.cancelled()


async def test_progress_begins_the_time_anew_but_not_for_ever():
    shown: list[str] = []
    limit_s = 0.2
    patience = CallTimeout(limit_s, shown.append)

    async def busy() -> None:
        while True:
            await patience.progress(1, 2, "x")
            await asyncio.sleep(limit_s / 20)

    loop = asyncio.get_running_loop()
    began_s = loop.time()
    task = started(busy())

    assert not await patience.wait(task)
    assert loop.time() - began_s >= limit_s * MAX_EXTENSIONS * 0.9
    assert shown == ["50 % x\n"]


async def test_progress_is_shown_as_a_line_and_not_too_often(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bridle.mcp.call_timeout._SHOW_EVERY_S", 10.0)
    shown: list[str] = []
    patience = CallTimeout(10, shown.append)
    for step in range(50):
        await patience.progress(step, None, "\x1b[1mbold\n words")

    assert shown == ["0 bold words\n"]


async def test_waiting_for_the_user_takes_nothing_of_the_time():
    limit_s = 0.3
    patience = CallTimeout(limit_s, print)

    async def think(question: Question) -> tuple[str, ...]:
        await asyncio.sleep(limit_s * 4)
        return (question.text,)

    context = patience.pausing(ToolContext(SessionId("s"), "/", print, ask=think))
    assert context.ask is not None
    task = started(context.ask(Question("why?")))

    assert await patience.wait(task)
    assert task.result() == ("why?",)


async def test_who_is_cancelled_cancels_the_work_and_does_not_wait_for_it():
    stubborn = asyncio.Event()

    async def resist() -> None:
        try:
            await forever()
        finally:
            await stubborn.wait()

    work = started(resist())
    waiting = started(CallTimeout(10, print).wait(work))
    await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    waiting.cancel()
    await asyncio.wait([waiting])

    assert waiting.cancelled()
    assert loop.time() - began_s < 2
    stubborn.set()
    await asyncio.wait([work])
    assert work.cancelled()
