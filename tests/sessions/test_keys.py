"""Prompts with a key: sent twice, accepted once, also after a crash."""

import pytest

from bridle.core.errors import KeyTaken, UsageError
from bridle.core.facts import MAX_TAKEN
from bridle.core.messages import user_message
from bridle.core.protocol import (
    Cancel,
    DropQueued,
    Prompt,
    PromptQueued,
    QueueDropped,
    RunEnded,
    RunOptions,
    RunStarted,
    Steer,
    TakenPrompt,
)
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import FixedClock, Play, Stage, says


def prompt(text: str = "go", key: str = "k", **options: object) -> Prompt:
    return Prompt(user_message(text), RunOptions(**options), key=key)  # type: ignore[arg-type]


async def test_a_repeated_prompt_starts_nothing():
    async with Stage(Play(says("done"))) as stage:
        first = await stage.service.submit(stage.session, prompt())
        assert first.run_id is not None
        await stage.service.wait(stage.session, first.run_id)
        before = await stage.log()
        again = await stage.service.submit(stage.session, prompt())

        assert (again.run_id, again.repeated, first.repeated) == (first.run_id, True, False)
        assert await stage.log() == before


async def test_it_is_known_after_the_process_has_ended():
    store = EphemeralStore(FixedClock())
    async with Stage(Play(says("done")), store=store) as stage:
        first = await stage.service.submit(stage.session, prompt())
        assert first.run_id is not None
        await stage.service.wait(stage.session, first.run_id)

    async with Stage(Play(says("done")), store=store) as later:
        again = await later.service.submit(later.session, prompt())

    assert (again.run_id, again.repeated) == (first.run_id, True)


async def test_it_is_known_while_it_runs_and_while_it_waits():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        first = await stage.service.submit(stage.session, prompt(key="a"))
        queued = await stage.service.submit(stage.session, prompt(key="b"))
        assert await stage.service.submit(stage.session, prompt(key="a")) == first.__class__(
            queued.seq, first.run_id, repeated=True
        )
        assert (await stage.service.submit(stage.session, prompt(key="b"))).item_id == queued.item_id
        play.go.set()
        started = await stage.until(RunStarted, 2)
        assert (await stage.service.submit(stage.session, prompt(key="b"))).run_id == started.run_id


@pytest.mark.parametrize("other", [prompt("something else"), prompt(model="scripted/understudy")])
async def test_the_key_of_another_prompt_is_refused(other: Prompt):
    async with Stage(Play(says("done"))) as stage:
        first = await stage.service.submit(stage.session, prompt())
        assert first.run_id is not None
        await stage.service.wait(stage.session, first.run_id)
        with pytest.raises(KeyTaken, match='the key "k" belongs to another prompt'):
            await stage.service.submit(stage.session, other)
        assert await stage.run("the session goes on") is not None


async def test_what_programs_see_is_no_part_of_the_prompt():
    async with Stage(Play(says("done"))) as stage:
        first = await stage.service.submit(stage.session, prompt(env={"PATH": "/a"}))
        assert first.run_id is not None
        await stage.service.wait(stage.session, first.run_id)
        assert (await stage.service.submit(stage.session, prompt(env={"PATH": "/b"}))).repeated


async def test_a_steer_has_a_key_too():
    play = Play(says("one"), hold=True)
    async with Stage(play) as stage:
        await stage.prompt("go")
        steer = Steer(user_message("left"), key="s")
        first = await stage.service.submit(stage.session, steer)
        again = await stage.service.submit(stage.session, steer)
        queued = [event for event in await stage.log() if isinstance(event, PromptQueued)]

    assert (again.item_id, again.repeated, len(queued)) == (first.item_id, True, 1)


async def test_only_the_newest_keys_are_kept():
    async with Stage(Play(says("one"), hold=True)) as stage:
        await stage.prompt("go")

        for number in range(MAX_TAKEN + 2):
            receipt = await stage.service.submit(stage.session, prompt(key=f"k{number}"))
            assert receipt.item_id is not None
            await stage.service.submit(stage.session, DropQueued(receipt.item_id))
        taken = (await read_session(stage.service, stage.session)).known.taken
        dropped = [event for event in await stage.log() if isinstance(event, QueueDropped)]

    assert list(taken) == [f"k{number}" for number in range(2, MAX_TAKEN + 2)]
    assert taken[f"k{MAX_TAKEN + 1}"] == TakenPrompt(taken["k2"].digest, None, dropped[-1].item_id)


async def test_a_key_without_an_end_is_refused():
    async with Stage(Play()) as stage:
        with pytest.raises(UsageError, match="longer than 255"):
            await stage.service.submit(stage.session, prompt(key="k" * 256))


async def test_a_prompt_that_was_left_in_the_queue_begins_when_it_is_sent_again():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        before = await stage.prompt("first")
        queued = await stage.service.submit(stage.session, prompt())
        await stage.service.submit(stage.session, Cancel())
        await stage.service.wait(stage.session, before)
        play.go.set()
        again = await stage.service.submit(stage.session, prompt())
        assert again.run_id is not None
        end = await stage.service.wait(stage.session, again.run_id)

        assert (queued.run_id, again.repeated, end.outcome) == (None, True, "completed")


async def test_a_prompt_behind_others_in_a_queue_at_rest_has_its_turn():
    play = Play(says("one"), says("two"), says("three"), hold=True)
    async with Stage(play) as stage:
        before = await stage.prompt("first")
        await stage.service.submit(stage.session, prompt("other", key=""))
        queued = await stage.service.submit(stage.session, prompt())
        await stage.service.submit(stage.session, Cancel())
        await stage.service.wait(stage.session, before)
        play.go.set()
        again = await stage.service.submit(stage.session, prompt())
        await stage.until(RunEnded, 3)

        assert (again.run_id, again.item_id, again.repeated) == (None, queued.item_id, True)
        assert not (await read_session(stage.service, stage.session)).known.queue


async def test_a_steer_that_was_taken_is_known_after_its_run():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        run = await stage.prompt("go")
        steer = Steer(user_message("left"), key="s")
        first = await stage.service.submit(stage.session, steer)
        play.go.set()
        await stage.service.wait(stage.session, run)
        again = await stage.service.submit(stage.session, steer)

    assert (again.item_id, again.repeated) == (first.item_id, True)
