"""Shared state of the sessions of one opened Bridle."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bridle.core.errors import SessionError, SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.ports import Tool
from bridle.surfaces.python.host import Host
from bridle.surfaces.python.session import Session
from bridle.surfaces.python.tools import to_tools


def stock(article: str) -> int:
    """Return how many there are."""
    return len(article)


def price(article: str) -> int:
    """Return what it costs."""
    return 3


class FarApi:
    """Borrows tools, which can be refused, and shows what it has."""

    def __init__(self, *, is_remote: bool = True, refusals: int = 0) -> None:
        self.is_remote = is_remote
        self.refusals = refusals
        self.lent: list[tuple[str, list[str]]] = []
        self.changed = asyncio.Event()
        self.is_closed = False
        self.fault: Exception | None = None

    @asynccontextmanager
    async def provide_tools(self, session: SessionId, dispatcher: Any) -> AsyncIterator[None]:
        if self.refusals:
            self.refusals -= 1
            raise SessionNotFound("not yet")
        loan = (session, [spec.name for spec in dispatcher.specs])
        self.lent.append(loan)
        try:
            yield
        finally:
            self.lent.remove(loan)
            self.changed.set()
            if self.fault is not None:
                raise self.fault

    async def aclose(self) -> None:
        self.is_closed = True


def host_of(api: FarApi, *tools: Any) -> Host:
    return Host(api, {}, to_tools(tools), lambda: ["grep"])  # type: ignore[arg-type]


async def opened(host: Host, session: str, *tools: Any) -> Session:
    own: list[Tool] = to_tools(tools)
    return await Session.opened(host, SessionId(session), "/", own, {})


async def test_a_session_that_could_not_be_lent_to_is_lent_to_the_next_time():
    api = FarApi(refusals=1)
    host = host_of(api, stock)
    with pytest.raises(SessionNotFound):
        await opened(host, "s")
    session = await opened(host, "s", price)

    assert api.lent == [(session.id, ["stock", "price"])]


async def test_an_engine_here_borrows_only_what_is_the_sessions_own():
    api = FarApi(is_remote=False)
    host = host_of(api, stock)
    plain, own = await opened(host, "plain"), await opened(host, "own", price)

    assert api.lent == [(own.id, ["price"])]
    assert await host.tool_names(plain.id) == ["stock", "grep"]
    assert await host.tool_names(own.id) == ["stock", "price", "grep"]


async def test_a_session_that_was_forgotten_gives_its_tools_back():
    api = FarApi()
    host = host_of(api, stock)
    for number in range(20):
        await opened(host, f"s{number}", price)
    kept = await opened(host, "kept", price)
    gc.collect()
    while len(api.lent) > 1:
        api.changed.clear()
        await api.changed.wait()

    assert api.lent == [(kept.id, ["stock", "price"])]


async def test_any_thread_may_collect_a_session():
    api = FarApi()
    held = [await opened(host_of(api), "s", price)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    await api.changed.wait()

    assert api.lent == []


async def test_a_session_is_closed_once_whatever_comes_after():
    api = FarApi()
    host = host_of(api)
    first = await opened(host, "s", price)
    await first.aclose()
    second = await opened(host, "s", price)
    await first.aclose()
    del first
    gc.collect()
    await asyncio.sleep(0)

    assert api.lent == [(second.id, ["price"])]


async def test_closing_takes_everything_back_and_waits_for_it():
    api = FarApi()
    host = host_of(api)
    kept = await opened(host, "a", price)
    await opened(host, "b", price)
    gc.collect()
    await asyncio.sleep(0)
    await host.aclose()

    assert (api.lent, api.is_closed) == ([], True)
    del kept
    gc.collect()


async def test_an_end_that_fails_unseen_is_no_error(caplog: pytest.LogCaptureFixture):
    api = FarApi()
    host = host_of(api)
    await opened(host, "s", price)
    api.fault = SessionError("gone")
    gc.collect()
    await api.changed.wait()
    await host.aclose()
    gc.collect()

    assert caplog.messages == []


def test_a_session_may_outlive_its_loop():
    async def made() -> Session:
        return await opened(host_of(FarApi()), "s", price)

    session = asyncio.run(made())
    del session
    gc.collect()
