"""Messages from peers at the end of a turn: which runs take them in, and how many."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bridle.core.budget import Limits
from bridle.core.errors import ConfigError
from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested, MessageAdded, RunEnded
from bridle.sessions.run.boundary import MAX_PEER_MESSAGES
from tests.sessions.stage import Play, SmallTool, Stage, call, says

PEER_SEND = SmallTool("peer_send", lambda text: "sent", access="network")
LOOK = SmallTool("look", lambda text: "seen")


class Chatter:
    """Has something to say whenever a run asks."""

    def __init__(self, *texts: str, fault: str = "") -> None:
        self._texts = list(texts)
        self._fault = fault
        self.taking_now: list[SessionId] = []
        self.is_closed = False

    async def open(self) -> str:
        if self._fault:
            raise ConfigError(self._fault)
        return "inproc://here"

    @contextmanager
    def taking(self, session: SessionId) -> Iterator[None]:
        self.taking_now.append(session)
        try:
            yield
        finally:
            self.taking_now.remove(session)

    async def arrival(self, session: SessionId) -> None:
        raise AssertionError("no run here waits for sub-agents")

    def take(self, session: SessionId) -> str:
        assert session in self.taking_now
        return self._texts.pop(0) if self._texts else ""

    async def aclose(self) -> None:
        self.is_closed = True


async def heard(stage: Stage) -> list[str]:
    added = [event for event in await stage.log() if isinstance(event, MessageAdded)]
    return [event.message.text for event in added if event.source == "peer"]


async def test_a_run_reads_what_has_arrived_before_its_next_turn():
    peers = Chatter("one", "two")
    play = Play(says("I look.", call("c1", "look")), says("first"), says("second"))
    async with Stage(play, tools=[PEER_SEND, LOOK], peers=peers, mask=lambda text: text.upper()) as stage:
        ended = await stage.run("go")

        assert (ended.outcome, ended.text) == ("completed", "second")
        assert await heard(stage) == ["ONE", "TWO"]  # secrets would be masked
        assert play.requests[1].messages[-1].text == "ONE"
    assert (peers.taking_now, peers.is_closed) == ([], True)


async def test_a_run_that_cannot_write_to_peers_reads_nothing():
    async with Stage(Play(says("done")), tools=[LOOK], peers=Chatter("one")) as stage:
        await stage.run("go")

        assert await heard(stage) == []


async def test_a_run_goes_on_when_its_process_cannot_listen():
    peers = Chatter("one", fault="another process is listening")
    async with Stage(Play(says("first"), says("second")), tools=[PEER_SEND], peers=peers) as stage:
        assert (await stage.run("go")).outcome == "completed"
        assert await heard(stage) == ["one"]


@pytest.mark.parametrize("more", [0, 5])
async def test_peers_cannot_keep_a_run_going_for_ever(more: int):
    peers = Chatter(*["thanks"] * (MAX_PEER_MESSAGES + more))
    play = Play(*[says("you are welcome")] * (MAX_PEER_MESSAGES + 10))
    async with Stage(play, tools=[PEER_SEND], peers=peers, window_tokens=100_000) as stage:
        ended = await stage.run("go", limits=Limits(turns=1_000))

        assert isinstance(ended, RunEnded)
        assert (ended.outcome, ended.turns) == ("completed", MAX_PEER_MESSAGES + 1)
        assert len(await heard(stage)) == MAX_PEER_MESSAGES


async def test_a_peer_does_not_keep_a_run_going_that_a_denial_ends():
    change = SmallTool("change", lambda text: "changed", access="write")
    play = Play(says("", call("a", "change")), says("never said"))
    async with Stage(play, tools=[PEER_SEND, change], peers=Chatter("go on")) as stage:
        run_id = await stage.prompt("hi", approve_each=True)
        await stage.until(ApprovalRequested)
        await stage.decide("a", "deny")
        ended = await stage.service.wait(stage.session, run_id)

        assert (ended.outcome, ended.text, ended.turns) == ("completed", "", 1)
        assert await heard(stage) == []
