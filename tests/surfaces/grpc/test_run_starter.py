"""How runs start over the wire: sessions, agents, folders, skills, and refusals."""

import threading
from pathlib import Path
from typing import Any

import grpc
import pytest

from bridle.core.errors import ConfigError
from bridle.core.ids import SessionId
from bridle.core.protocol import RunStarted
from bridle.core.queries import ListSessions, Records
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import Cast, Play, Stage, says
from tests.surfaces.grpc.client import serving, with_agents
from tests.surfaces.grpc.words import (
    STARTED,
    completed,
    refused,
    turn,
)


class NoModels(Cast):
    """Models that are not there."""

    def __init__(self) -> None:
        super().__init__(window_tokens=0)

    async def resolve(self, ref: str) -> Any:
        raise ConfigError(f'no model "{ref}"')


def render(cwd: str, name: str, arguments: str) -> str:
    if name != "greet":
        raise ConfigError(f"skill not found: {name}")
    return f"Greet {arguments} in {cwd}."


BAD_STARTS = [
    ({"agent_name": "ghost"}, "agent not found: ghost; available: default, coder"),
    ({"skill": ("nothing", "")}, "skill not found: nothing"),
    (
        {"session_id": "../evil"},
        '"../evil" cannot name a session (hint: use letters, digits, dots and dashes)',
    ),
    ({"working_dir": "src"}, 'the working directory "src" is not an absolute path'),
    (
        {"working_dir": "/not/there"},
        'the working directory "/not/there" does not exist (hint: create it, or use another)',
    ),
]


@pytest.mark.parametrize(("start", "error"), BAD_STARTS)
async def test_a_start_that_fails_says_why_and_the_next_one_works(start: dict[str, Any], error: str):
    async with Stage(Play(says("Hello."))) as stage:
        service = with_agents(stage, "default", "coder")
        async with serving(service, render_skill=render) as served:
            run = served.run()
            await run.start("hello", **start)
            first = await run.next()
            before = await service.ask(ListSessions())
            await run.start("hello", agent_name="coder")
            told = await run.until("completed", "failed")
        await service.aclose()

    assert first == refused(error)
    assert [one.id for one in before] == ["play"]
    assert told[0][1]["agent_name"] == "coder"
    assert [kind for kind, _ in told] == [
        "started",
        "token",
        "turn_completed",
        "context_snapshot",
        "completed",
    ]


async def test_a_known_session_goes_on_with_another_agent_in_another_folder(tmp_path: Path):
    async with Stage(Play(says("Hello."))) as stage:
        service = with_agents(stage, "default", "coder")
        async with serving(service) as served:
            run = served.run()
            await run.start("hello", session_id="play", agent_name="coder", working_dir=str(tmp_path))
            told = await run.until("completed")
        records = await service.ask(Records(stage.session))
        await service.aclose()

    assert told[0][1]["agent_name"] == "coder"
    [options] = [record.event.options for record in records if isinstance(record.event, RunStarted)]
    assert (options.agent, options.cwd) == ("coder", str(tmp_path))


async def test_a_model_that_cannot_be_had_is_a_failed_start():
    async with Stage(Play(), models=NoModels()) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        told = [await run.next()]
        after, code = await run.end()

    assert told == [refused('no model "scripted/play"')]
    assert (after, code) == ([], grpc.StatusCode.OK)


async def test_without_skills_a_skill_is_refused():
    async with Stage(Play(says("Hello."))) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start(skill=("greet", "you"))
        told = await run.next()

    assert told == refused("skills not available")


@pytest.mark.parametrize(
    ("prompt", "words"),
    [("", "Greet 'you all' in /."), ("Be kind.", "Greet 'you all' in /.\n\n---\n\nBe kind.")],
)
async def test_a_skill_stands_before_the_prompt(prompt: str, words: str):
    play = Play(says("Hello."))
    async with Stage(play) as stage, serving(stage.service, render_skill=render) as served:
        run = served.run()
        await run.start(prompt, skill=("greet", "'you all'"))
        await run.until("completed")

    [request] = play.requests
    assert [(message.role, message.text) for message in request.messages] == [("user", words)]


async def test_an_empty_prompt_is_run():
    async with Stage(Play(says("Hello?"))) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start()
        told = await run.until("completed", "failed")

    assert told == [STARTED, *turn("Hello?"), completed("Hello?")]


async def test_a_session_is_made_under_its_name_and_gone_on_with(tmp_path: Any):
    play = Play(says("One."), says("Two."))
    async with Stage(play) as stage, serving(stage.service) as served:
        first = served.run()
        await first.start(
            "1", session_id="sess_20260102T030405.000000001_0123456789ab", working_dir=str(tmp_path)
        )
        told = await first.until("completed")
        second = served.run()
        await second.start(
            "2", session_id=told[0][1]["session_id"], agent_name="default", working_dir=str(tmp_path)
        )
        again = await second.until("completed")
        folded = await read_session(stage.service, SessionId(told[0][1]["session_id"]))

    assert (
        told[0][1]["session_id"] == again[0][1]["session_id"] == "sess_20260102T030405.000000001_0123456789ab"
    )
    assert [item.message.text for item in folded.messages] == ["1", "One.", "2", "Two."]
    assert folded.known.created.cwd == str(tmp_path)


async def test_two_streams_may_make_the_same_session_and_one_of_them_runs_it():
    both = threading.Barrier(2)

    def meet(cwd: str, name: str, arguments: str) -> str:
        both.wait(timeout=5)  # neither has made the session yet
        return "Hello."

    play = Play(says("Hello."), says("Never."), hold=True)
    async with Stage(play) as stage, serving(stage.service, render_skill=meet) as served:
        one, other = served.run(), served.run()
        await one.start(skill=("meet", ""), session_id="new")
        await other.start(skill=("meet", ""), session_id="new")
        told = [await one.next(), await other.next()]

    assert sorted(kind for kind, _ in told) == ["failed", "started"]
    [error] = [fields["error"] for kind, fields in told if kind == "failed"]
    assert error == "session new is running (hint: wait for it, or cancel it)"


async def test_who_names_no_agent_goes_on_with_that_of_the_session():
    play = Play(says("One."), says("Two."), says("Three."))
    async with Stage(play) as stage:
        service = with_agents(stage, "default", "coder")
        async with serving(service) as served:
            agents = []
            for name in ("coder", "", "default"):
                run = served.run()
                await run.start("hello", session_id="mine", agent_name=name)
                agents.append((await run.until("completed", "failed"))[0][1]["agent_name"])
        await service.aclose()

    assert agents == ["coder"] * 3
