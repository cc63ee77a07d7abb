"""The owner of a live session: what it accepts, what it refuses, and how it stops."""

import asyncio

import pytest

from bridle.core.errors import SessionNotRunning, UsageError
from bridle.core.messages import Message, user_message
from bridle.core.protocol import (
    MAX_PROMPT_BYTES,
    Command,
    Decide,
    EditQueued,
    Prompt,
    PromptQueued,
    Rename,
    Resume,
    RunEnded,
    RunStarted,
    Steer,
)
from bridle.stores.claims import LocalClaims
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import Cast, FixedClock, Play, Stage, says

BAD_MESSAGES = {
    "the prompt is empty": Message("user", ()),
    "the prompt is longer than 4 MiB": user_message("x" * (MAX_PROMPT_BYTES + 1)),
    "half a character": user_message("caf\udce9"),
}


@pytest.mark.parametrize("problem", BAD_MESSAGES)
@pytest.mark.parametrize("kind", [Prompt, Steer, EditQueued])
async def test_a_bad_message_is_refused_by_every_api_and_the_run_goes_on(kind, problem):
    play = Play(says("hello"), hold=True)
    async with Stage(play) as stage:
        run_id = await stage.prompt("hi")
        queued = await stage.service.submit(stage.session, Prompt(user_message("next")))
        message = BAD_MESSAGES[problem]
        command: Command = EditQueued(queued.item_id or "", message) if kind is EditQueued else kind(message)

        with pytest.raises(UsageError, match=problem):
            await stage.service.submit(stage.session, command)
        play.go.set()
        ended = await stage.service.wait(stage.session, run_id)

    assert ended.outcome == "completed"


async def test_half_a_character_in_an_answer_does_not_end_the_run():
    play = Play(says("hello"), hold=True)
    async with Stage(play) as stage:
        run_id = await stage.prompt("hi")
        with pytest.raises(UsageError, match="half a character"):
            await stage.service.submit(stage.session, Decide("a", "deny", "\ud800"))
        play.go.set()
        ended = await stage.service.wait(stage.session, run_id)

    assert ended.outcome == "completed"


class NeverReady:
    """Models that take forever to load."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def resolve(self, ref):
        self.asked.set()
        await asyncio.Event().wait()

    async def aclose(self):
        pass


async def test_closing_answers_those_who_wait_and_gives_the_claim_back():
    claims, models = LocalClaims(), NeverReady()
    async with Stage(Play(says("hello")), claims=claims, models=models) as stage:
        first = asyncio.create_task(stage.prompt("hi"))
        await models.asked.wait()
        second = asyncio.create_task(stage.prompt("me too"))
        await asyncio.sleep(0)
        await stage.service.aclose()
        answers = await asyncio.gather(first, second, return_exceptions=True)

    assert [type(answer) for answer in answers] == [SessionNotRunning, SessionNotRunning]
    assert await claims.claim(stage.session)


class SlowEnd(EphemeralStore):
    """Takes its time to store the end of a run."""

    def __init__(self, clock: FixedClock) -> None:
        super().__init__(clock)
        self.ending, self.go = asyncio.Event(), asyncio.Event()

    async def append(self, session, expected_seq, events):
        if any(isinstance(event, RunEnded) for event in events):
            self.ending.set()
            await self.go.wait()
        return await super().append(session, expected_seq, events)


async def test_closing_starts_no_queued_prompt():
    store = SlowEnd(FixedClock())
    play = Play(says("hello"), says("again"), hold=True)
    async with Stage(play, store=store) as stage:
        await stage.prompt("hi")
        await stage.service.submit(stage.session, Prompt(user_message("next")))
        play.go.set()
        await store.ending.wait()
        closing = asyncio.create_task(stage.service.aclose())
        await asyncio.sleep(0)
        store.go.set()
        await closing
        log = [record.event for record in await store.read(stage.session)]

    assert sum(isinstance(event, PromptQueued) for event in log) == 1
    assert sum(isinstance(event, RunStarted) for event in log) == 1


class SlowSecond(Cast):
    """Takes its time to find the model of the second run."""

    def __init__(self, play: Play) -> None:
        super().__init__(play, window_tokens=10_000)
        self.asked, self.go = asyncio.Event(), asyncio.Event()
        self._first = True

    async def resolve(self, ref):
        if not self._first:
            self.asked.set()
            await self.go.wait()
        self._first = False
        return await super().resolve(ref)


async def test_a_change_between_two_runs_waits_its_turn():
    """The next queued prompt holds the claim already, but no run is active yet."""
    play = Play(says("one"), says("two"), hold=True)
    models = SlowSecond(play)
    async with Stage(play, models=models) as stage:
        await stage.prompt("a")
        await stage.service.submit(stage.session, Prompt(user_message("b")))
        play.go.set()
        await models.asked.wait()
        renaming = asyncio.create_task(stage.service.submit(stage.session, Rename("new")))
        await asyncio.sleep(0)
        models.go.set()
        await renaming
        await stage.until(RunEnded, 2)
        session = await read_session(stage.service, stage.session)

    assert (session.known.title, session.known.totals.runs) == ("new", 2)


async def test_a_queued_prompt_that_another_process_has_begun_is_not_begun_again():
    """Its fold is behind: the other process took the prompt out of the queue, and its run has ended."""
    store, claims = EphemeralStore(FixedClock()), LocalClaims()
    play = Play(says("first"), says("second"), hold=True)
    async with Stage(play, store=store, claims=claims) as here:
        await here.prompt("one")
        await play.streaming.wait()
        await here.service.submit(here.session, Prompt(user_message("two")))
        await here.service.set_aside(here.session)
        behind = await here.service._roster.open(here.session)
        play.go.set()
        async with Stage(Play(says("first"), says("second")), store=store, claims=claims) as there:
            await there.service.submit(there.session, Resume())
            await there.until(RunEnded, 2)
            await there.service.until_free(there.session)

            queue = behind.journal.session.known.queue
            await behind.runs._begin(queue[0].message, queue[0].options, queue[0].item_id)

            started = [event for event in await there.log() if isinstance(event, RunStarted)]
        assert (len(queue), len(started)) == (1, 2)
