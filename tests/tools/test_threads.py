"""Work in threads ends when nothing waits for it any more."""

import asyncio
import threading
import time

import pytest

from bridle.tools.threads import run_in_thread


async def test_the_result_comes_back():
    assert await run_in_thread(
        lambda stop: (stop.is_set(), threading.current_thread().name != "MainThread")
    ) == (
        False,
        True,
    )


async def test_an_error_comes_back():
    def fail(stop: threading.Event) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await run_in_thread(fail)


async def test_a_deadline_asks_for_what_there_is():
    assert await run_in_thread(lambda stop: stop.wait(10), deadline_s=0.01)


async def test_a_cancelled_caller_waits_until_the_work_has_stopped():
    started, ended = threading.Event(), threading.Event()

    def work(stop: threading.Event) -> None:
        started.set()
        stop.wait(10)
        ended.set()
        raise ValueError("nobody sees this")

    task = asyncio.create_task(run_in_thread(work))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ended.is_set()


async def test_a_cancelled_caller_does_not_wait_for_ever():
    started, release = threading.Event(), threading.Event()

    def deaf(stop: threading.Event) -> None:
        started.set()
        release.wait(10)

    task = asyncio.create_task(run_in_thread(deaf))
    await asyncio.to_thread(started.wait)
    begin = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    waited_s = time.monotonic() - begin
    release.set()

    assert waited_s < 2


async def test_work_that_waits_for_something_is_ended_through_it():
    released = threading.Event()

    assert await run_in_thread(lambda stop: released.wait(10), deadline_s=0.01, on_stop=released.set)


async def test_a_cancelled_caller_ends_what_the_work_waits_for():
    started, released, ended = threading.Event(), threading.Event(), threading.Event()

    def work(stop: threading.Event) -> None:
        started.set()
        released.wait(10)
        ended.set()

    task = asyncio.create_task(run_in_thread(work, on_stop=released.set))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ended.is_set()


async def test_work_that_is_done_is_not_stopped():
    stopped: list[bool] = []

    await run_in_thread(lambda stop: None, deadline_s=10, on_stop=lambda: stopped.append(True))

    assert stopped == []
