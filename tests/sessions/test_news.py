"""The status of sessions: of a single one, and news of all."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Decide,
    Delete,
    Prompt,
    Record,
    Rename,
)
from bridle.core.queries import Status
from bridle.core.session_api import LiveSession, SessionApi, SessionNews
from bridle.core.session_status import SessionStatus, make_session_status
from bridle.sessions.journal import open_without_messages
from bridle.surfaces.shared.session_calls import read_session, wait_for_run
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.sessions.troupe import Troupe, spawn
from tests.surfaces.remote.test_remote import Hall


def change() -> SmallTool:
    return SmallTool("change", lambda on: f"changed {on}", access="write")


async def until_asked(api: SessionApi, session: SessionId) -> None:
    async for item in api.watch(session):
        if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
            return


async def heard(news: AsyncGenerator[SessionNews, None], state: str) -> SessionNews:
    async for told in news:
        if told.live is not None and told.live.state == state:
            return told
    raise AssertionError("news never end")


async def test_a_glance_says_what_the_whole_fold_says():
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[change()]) as stage:
        await stage.prompt("hi")
        await until_asked(stage.service, stage.session)
        waiting = await stage.service.ask(Status(stage.session))
        whole = make_session_status(await read_session(stage.service, stage.session), is_running=True)
        await stage.decide("a", "once")

        assert waiting == whole
        assert waiting.run is not None
        assert [asked.call_id for asked in waiting.run.approvals] == ["a"]


async def test_a_glance_at_a_long_session_reads_only_its_end():
    class Counting:
        def __init__(self, store) -> None:
            self.store, self.records = store, 0

        async def read(self, *args, **options):
            found = await self.store.read(*args, **options)
            self.records += len(found)
            return found

    async with Stage(Play(*(says(f"answer {n}") for n in range(60)))) as stage:
        for n in range(60):
            await stage.run(f"prompt {n}")
        counting = Counting(stage.store)
        brief = make_session_status(await open_without_messages(counting, stage.session))
        whole = await read_session(stage.service, stage.session)

    assert brief == make_session_status(whole)
    assert counting.records < whole.seq / 4


async def test_a_glance_at_nothing_says_so():
    async with Stage(Play()) as stage:
        with pytest.raises(SessionNotFound):
            await stage.service.ask(Status(SessionId("nowhere")))


async def test_news_tell_how_a_run_begins_waits_and_ends():
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[change()]) as stage:
        news = stage.service.watch(None)
        run_id = await stage.prompt("hi")
        began = await anext(news)
        waits = await heard(news, "waiting")
        await stage.decide("a", "once")
        await stage.service.wait(stage.session, run_id)
        rests = await heard(news, "idle")
        await stage.service.submit(stage.session, Rename("named"))
        named = await anext(news)
        await stage.service.submit(stage.session, Delete())
        told = [await anext(news)]
        while not told[-1].deleted:
            told.append(await anext(news))
        await news.aclose()

    states = [one.live.state for one in (began, waits, rests, named) if one.live is not None]
    assert states in (["running", "waiting", "idle", "idle"], ["waiting", "waiting", "idle", "idle"])
    assert named.live is not None
    assert named.live.title == "named"
    assert told[-1] == SessionNews(stage.session, None, deleted=True)


async def test_news_and_glances_of_the_daemon_are_those_of_its_sessions(tmp_path: Path):
    play = Play(says("", call("a", "change")), says("done"))
    async with Hall(Stage(play, tools=[change()]), tmp_path).open() as hall:
        client = await hall.client()
        news = client.watch(None)
        session = hall.stage.session
        receipt = await client.submit(session, Prompt(user_message("hi")))
        waits = await heard(news, "waiting")
        there = await client.ask(Status(session))
        here = await hall.stage.service.ask(Status(session))
        await client.submit(session, Decide(CallId("a"), "once"))
        assert receipt.run_id is not None
        await wait_for_run(client, session, receipt.run_id)
        await heard(news, "idle")
        created = await client.create(cwd="/")
        async for told in news:
            if told.session == created:
                break
        await news.aclose()

    assert waits.session == session
    assert isinstance(there, SessionStatus)
    assert there == here


async def test_the_users_own_rules_take_the_place_of_those_suggested():
    kept: list[tuple[str, ...]] = []
    play = Play(says("", call("a", "change")), says("", call("b", "change")), says("done"))
    async with Stage(play, tools=[change()], remember=lambda rules: kept.append(tuple(rules))) as stage:
        run_id = await stage.prompt("hi")
        await until_asked(stage.service, stage.session)
        await stage.service.submit(
            stage.session, Decide(CallId("a"), "always", rules=("change", "read_file(src/**)"))
        )
        await stage.service.wait(stage.session, run_id)
        decided = [event for event in await stage.log() if isinstance(event, ApprovalDecided)]

    assert decided == [ApprovalDecided(CallId("a"), "always", "", ("change", "read_file(src/**)"))]
    assert kept == [("change", "read_file(src/**)")]


@pytest.mark.parametrize(
    ("answer", "rules", "message"),
    [
        ("once", ("change",), 'the answer "once" cannot add rules'),
        ("always", ("change(",), 'malformed rule "change("'),
        ("session", ("change",) * 33, "more than 32 rules with one answer"),
    ],
)
async def test_rules_that_make_no_sense_are_refused_and_the_question_stays(answer, rules, message):
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[change()]) as stage:
        await stage.prompt("hi")
        await until_asked(stage.service, stage.session)
        with pytest.raises(UsageError) as refused:
            await stage.service.submit(stage.session, Decide(CallId("a"), answer, rules=rules))
        glance = await stage.service.ask(Status(stage.session))

    assert refused.value.message == message
    assert glance.run is not None
    assert len(glance.run.approvals) == 1


async def test_a_sub_agent_that_was_put_away_is_not_said_to_be_there():
    parts = {"go": [says("", spawn("s", "count")), says("done")], "count": [says("three")]}
    told: dict[SessionId, LiveSession | None] = {}
    at_rest = asyncio.Event()

    async def hear(news: AsyncGenerator[SessionNews, None]) -> None:
        async for one in news:
            told[one.session] = one.live
            if one.session == "main" and one.live is not None and one.live.state == "idle":
                at_rest.set()

    async with Troupe(parts) as troupe, aclosing(troupe.service.watch(None)) as news:
        hearing = asyncio.create_task(hear(news))
        await troupe.run("go")
        await at_rest.wait()
        hearing.cancel()
        await asyncio.wait([hearing])
        there = {one.id for one in troupe.service.live()}

    assert len(told) == 2
    assert {session for session, live in told.items() if live is not None} == there
