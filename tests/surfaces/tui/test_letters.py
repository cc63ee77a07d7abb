"""Prompts in transit: each enters the session it was written in, once, and none is lost."""

import asyncio
from pathlib import Path
from typing import Any

from textual import events

from bridle.core.errors import SessionError
from bridle.core.ids import SessionId
from bridle.core.messages import Media
from bridle.core.protocol import Command, MessageAdded, Prompt
from bridle.core.queries import ListSessions, Records
from bridle.core.session_api import Receipt
from bridle.sessions.service import SessionService
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.tui.stage import tui


class Gate:
    """A session API that can refuse prompts, or let them wait."""

    def __init__(self, service: SessionService) -> None:
        self._service = service
        self.refuses = self.is_closed = False
        self.is_open = asyncio.Event()
        self.is_open.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        if isinstance(command, Prompt):
            if self.refuses:
                raise SessionError("not now")
            await self.is_open.wait()
        return await self._service.submit(session, command)

    async def aclose(self) -> None:
        await asyncio.sleep(0)  # as what ends programs and writes records does
        self.is_closed = True


async def said_in(stage: Stage, session: SessionId) -> list[str]:
    records = await stage.service.ask(Records(session))
    return [record.event.message.text for record in records if isinstance(record.event, MessageAdded)]


async def test_an_image_that_is_dropped_or_named_is_sent(tmp_path: Path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    play = Play(says("one"), says("two"))
    async with (
        Stage(play, cwd=str(tmp_path), facts={"images": True}) as stage,
        tui(stage.service, tmp_path / "home", tmp_path, session="play") as shown,
    ):
        shown.app.editor.post_message(events.Paste(f"{picture}"))
        await shown.until(lambda: shown.typed == f"@{picture} ")
        await shown.press("enter")
        await shown.sees("one")
        await shown.send("and @a.png?")
        await shown.sees("two")

    sent = [request.messages[-1].parts[1] for request in play.requests]
    assert sent == [Media("image/png", "iVBORw0KGgo=", "a.png")] * 2


async def test_the_same_words_can_be_said_again_after_they_were_refused_once(tmp_path: Path):
    async with Stage(Play(says("one"), says("two")), cwd=str(tmp_path)) as stage:
        gate = Gate(stage.service)
        async with tui(gate, tmp_path / "home", tmp_path, session="play") as shown:
            gate.refuses = True
            await shown.send("go on")
            await shown.until(lambda: shown.typed == "go on")
            gate.refuses = False
            await shown.press("enter")
            await shown.sees("one")
            await shown.send("go on")
            await shown.sees("two")

        assert await said_in(stage, stage.session) == ["go on", "go on"]


async def test_a_prompt_goes_to_the_session_that_it_was_written_in(tmp_path: Path):
    async with Stage(Play(says("one"), says("two")), cwd=str(tmp_path)) as stage:
        other = await stage.service.create(cwd=str(tmp_path))
        gate = Gate(stage.service)
        async with tui(gate, tmp_path / "home", tmp_path, session="play") as shown:
            gate.is_open.clear()
            await shown.send("first")
            await shown.send("second")
            shown.app.open_session(other)
            gate.is_open.set()
            await shown.sent()

        assert await said_in(stage, other) == []


async def test_two_prompts_that_begin_a_session_are_in_one(tmp_path: Path):
    async with Stage(Play(says("one"), says("two")), cwd=str(tmp_path)) as stage:
        gate = Gate(stage.service)
        async with tui(gate, tmp_path / "home", tmp_path) as shown:
            gate.is_open.clear()
            await shown.send("first")
            await shown.send("second")
            gate.is_open.set()
            await shown.sees("two")

        sessions = [one.id for one in await stage.service.ask(ListSessions()) if one.id != stage.session]
        assert [await said_in(stage, one) for one in sessions] == [["first", "second"]]


async def test_a_draft_with_a_long_paste_is_kept_whole(tmp_path: Path):
    pasted = "\n".join(f"line {number}" for number in range(20))
    for is_first in (True, False):
        async with (
            Stage(Play(), cwd=str(tmp_path)) as stage,
            tui(stage.service, tmp_path / "home", tmp_path, session="play") as shown,
        ):
            if is_first:
                shown.app.editor.on_paste(events.Paste(pasted))
            await shown.pilot.pause()
            assert shown.app.editor.expand_pastes(shown.typed) == pasted


async def test_who_leaves_waits_until_the_runs_of_this_process_are_ended(tmp_path: Path):
    async with Stage(Play(), cwd=str(tmp_path)) as stage:
        gate = Gate(stage.service)
        async with tui(gate, tmp_path / "home", tmp_path, session="play") as shown:
            ended: list[bool] = []
            shown.app.exit = lambda *given, **options: ended.append(gate.is_closed)  # type: ignore[method-assign]
            await shown.press("ctrl+q")
            await shown.until(lambda: ended)

        assert ended == [True]
