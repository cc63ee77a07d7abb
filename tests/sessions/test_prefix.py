"""Every request begins with the bytes of the previous one, whatever is said, done, allowed or found.

The bodies are those that a real server gets from the real engine with its usual tools. What vendors cache is
the tools, the system text and the messages in this order; so they are compared in this order, byte by byte:

```
request n     tools  system  message … message
request n+1   tools  system  message … message  message …
              └──────────── the same ────────┘
```

Three things do change it, and have to: a compaction (which is the reason for it), another day (the date is
the end of the system text), and the last request of a run with an output schema (which offers no tools).
"""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from bridle.app import agent_in, open_service
from bridle.config.settings import load_settings
from bridle.core.errors import SessionNotRunning
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.permission import Mode
from bridle.core.protocol import (
    ApprovalRequested,
    Command,
    Compact,
    Compacted,
    Decide,
    Prompt,
    QuestionAsked,
    Record,
    Reply,
    Resume,
    RunEnded,
    RunOptions,
    Steer,
)
from bridle.providers.script import Script
from bridle.providers.scripted_server import ScriptedServer
from tests.sessions.stage import FixedClock

MAX_FIRST_BYTES = 6_000
DAY_MS = 86_400_000
SESSION = SessionId("prefix")
NO_MEMORY = "[memory]\nenabled = false\n"
QUIET = f'[sandbox]\nmode = "off"\n{NO_MEMORY}'
WIRES = ("openai", "openai-responses", "anthropic", "gemini")
MODES: tuple[Mode, ...] = ("ask", "plan", "accept-edits", "yolo")


def call(name: str, /, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def through(name: str, /, **arguments: Any) -> dict[str, Any]:
    return call("tool_call", name=name, arguments=arguments)


TURNS: dict[str, list[dict[str, Any]]] = {
    "talk": [],
    "think": [{"reasoning": "Hm, hm.", "text": "I look.", "calls": [call("read_file", path="a.txt")]}],
    "read": [{"calls": [call("read_file", path="a.txt"), call("glob", pattern="*"), call("bash")]}],
    "write": [{"text": "Now.", "calls": [call("write_file", path="b.py", content="x = 1\n")]}],
    "find": [
        {"calls": [call("tool_call", name="list_files")]},
        {"calls": [through("list_files", pattern="*")]},
    ],
    "miss": [{"calls": [through("lists files"), through("read_file", path="a.txt")]}],
    "guess": [{"calls": [call("datetime"), call("list_files", pattern="*")]}, {"calls": [through("jobs")]}],
    "spawn": [{"calls": [through("agent_spawn", prompt="talk"), through("agent_spawn", prompt="read")]}],
    "code": [{"text": "```python\nx = await read_file(path='a.txt')\nx\n```"}],
    "ask": [{"calls": [call("ask_user", question="Which?", choices=["a", "b"])]}],
    "plan": [
        {"calls": [call("todos", todos=[{"text": "Look"}, {"text": "Say"}])]},
        {"calls": [call("nothing")]},
    ],
}
"""What the model does when it is told so, turn by turn; then it says that it has done it."""
SCRIPT = {
    "window_tokens": 100_000,
    "replies": [
        {"match": f"^{word}$", **turn}
        for word, turns in TURNS.items()
        for turn in (*turns, {"text": f"{word} is done"})
    ]
    + [{"text": "A summary, or a title."}] * 100,
}


class House:
    """A home and a folder, and engines that come and go in them; their models are at one server."""

    def __init__(self, place: Path, server: ScriptedServer, wire: str, extra: str) -> None:
        self.home, self.project = place / "home", place / "project"
        self.home.mkdir()
        self.project.mkdir()
        (self.project / "a.txt").write_text("one\ntwo\n")
        url = f"{server.url}/v1" if wire.startswith("openai") else server.url
        (self.home / "config.toml").write_text(
            f'model = "here/large"\nsmall_model = "here/small"\n[providers.here]\n'
            f'kind = "{wire}"\nbase_url = "{url}"\nwindow_tokens = 100000\n{extra}'
        )
        self.server = server
        self.env = {"HOME": str(place), "BRIDLE_HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        self.service = self._open()

    def _open(self) -> Any:
        return open_service(load_settings(self.env, self.project), self.env)

    async def restart(self) -> None:
        """End the engine and open another one."""
        await self.service.aclose()
        self.service = self._open()

    async def crash(self) -> None:
        """Abandon the running engine with its record, and open another one."""
        await self.service.park(0)
        await self.restart()

    async def submit(self, command: Command) -> None:
        await self.service.submit(SESSION, command)

    async def run(self, *words: str, **options: Any) -> None:
        """Let prompts run, one after the other."""
        for word in words:
            receipt = await self.service.submit(SESSION, Prompt(user_message(word), RunOptions(**options)))
            await self.service.wait(SESSION, receipt.run_id, after=receipt.seq)

    async def answer(self, runs: int) -> None:
        """Answer what is asked until so many runs have ended: once is allowed, then denied, and again."""
        async with aclosing(self.service.watch(SESSION)) as stream:
            asked = ended = 0
            async for item in stream:
                match item.event if isinstance(item, Record) else None:
                    case ApprovalRequested(call_id=call_id):
                        asked += 1
                        answer: Literal["once", "deny"] = "once" if asked % 2 else "deny"
                        await self.service.submit(SESSION, Decide(call_id, answer))
                    case QuestionAsked(call_id=call_id):
                        await self.service.submit(SESSION, Reply(call_id, ("a",)))
                    case RunEnded():
                        ended += 1
                        if ended == runs:
                            return

    def bodies(self, model: str = "large") -> list[Any]:
        """Return the requests to a model so far."""
        return [
            one.body for one in self.server.requests if model in one.path or one.body.get("model") == model
        ]


@asynccontextmanager
async def opened(wire: str, extra: str = QUIET) -> AsyncIterator[House]:
    with tempfile.TemporaryDirectory() as place:
        async with ScriptedServer(msgspec.convert(SCRIPT, Script)) as server:
            house = House(Path(place), server, wire, extra)
            try:
                await house.service.create(cwd=str(house.project), session_id=SESSION)
                yield house
            finally:
                await house.service.aclose()


def pieces(body: dict[str, Any]) -> list[bytes]:
    """Return the parts of a request that a vendor caches, in order: tools, system text, messages."""
    messages = body.get("messages") or body.get("input") or body["contents"]
    system = body.get("system") or body.get("instructions") or body.get("systemInstruction")
    if system is None:
        system, messages = messages[0], messages[1:]
    said = [(one.get("role"), part) for one in messages for part in _parts(one)]
    return [msgspec.json.encode(_unmarked(piece)) for piece in (body.get("tools"), system, *said)]


def _parts(message: dict[str, Any]) -> list[Any]:
    """Return the parts of a message that may grow: these wires join consecutive texts of one side."""
    parts = message.get("parts") or message.get("content")
    return parts if isinstance(parts, list) and "type" not in message else [message]


def _unmarked(value: Any) -> Any:
    """Remove Anthropic's cache marks: they move, and are not part of the prompt."""
    if isinstance(value, dict):
        return {key: _unmarked(part) for key, part in value.items() if key != "cache_control"}
    return [_unmarked(part) for part in value] if isinstance(value, list | tuple) else value


def assert_stable(bodies: Sequence[dict[str, Any]], at_least: int = 2) -> None:
    """Check that each request begins with all of the one before."""
    assert len(bodies) >= at_least
    for before, after in pairwise(map(pieces, bodies)):
        assert after[: len(before)] == before


# ---------------------------------------------------------------------------- whatever is done

WORDS = st.sampled_from(sorted(set(TURNS) - {"spawn", "code"}))
ACTIONS = st.one_of(
    st.tuples(st.sampled_from(("prompt", "queue", "steer")), WORDS, st.sampled_from(MODES)),
    st.tuples(st.just("restart"), st.just(""), st.just("ask")),
    st.tuples(st.just("crash"), WORDS, st.just("yolo")),
)


async def act(house: House, action: str, word: str, mode: Mode, runs: int) -> int:
    """Do one thing; return how many runs have ended by then."""
    prompt = Prompt(user_message(word), RunOptions(mode=mode))
    match action:
        case "restart":
            await house.restart()
            return runs
        case "crash":
            await house.submit(prompt)
            await house.crash()
            with suppress(SessionNotRunning):  # it had ended
                await house.submit(Resume())
            runs += 1
        case "queue":
            await house.submit(Prompt(user_message("read"), RunOptions(mode="yolo")))
            await house.submit(prompt)
            runs += 2
        case "steer":
            await house.submit(Prompt(user_message("find"), RunOptions(mode="yolo")))
            with suppress(SessionNotRunning):
                await house.submit(Steer(user_message(word)))
            runs += 1
        case _:
            await house.submit(prompt)
            runs += 1
    await house.answer(runs)
    return runs


@pytest.mark.parametrize("wire", WIRES)
@given(play=st.lists(ACTIONS, min_size=2, max_size=6))
@settings(max_examples=6, phases=[Phase.generate])  # to look for a shorter play takes minutes
async def test_each_request_begins_with_the_one_before(wire: str, play: list[tuple[str, str, Mode]]):
    async with opened(wire) as house:
        runs = 0
        for action, word, mode in [("prompt", "talk", "ask"), *play, ("prompt", "talk", "plan")]:
            runs = await act(house, action, word, mode, runs)

        assert_stable(house.bodies())


# ---------------------------------------------------------------------------- one by one


@pytest.mark.parametrize("wire", WIRES)
async def test_the_first_request_is_short(wire: str):
    async with opened(wire, "") as house:
        await house.run("talk")

        assert int(house.server.requests[0].headers["content-length"]) < MAX_FIRST_BYTES


async def test_code_mode_begins_alike_too():
    async with opened("openai", NO_MEMORY) as house:
        await house.run("code", "talk", code=True, mode="yolo")
        await house.restart()
        await house.run("code", code=True, mode="plan")

        bodies = house.bodies()
        assert_stable(bodies, 5)
        assert pieces(bodies[0])[0] == b"null"
        assert bodies[1]["messages"][-1]["content"].startswith("[Output]\n'1: one")
        assert bodies[0]["messages"][0]["content"].splitlines()[-1].startswith("Date: ")


async def test_a_compaction_leaves_tools_and_system_and_what_follows_it_is_stable():
    async with opened("anthropic") as house:
        await house.run("find", "read", "think", mode="plan")
        before = house.bodies()
        await house.submit(Compact())
        async with aclosing(house.service.watch(SESSION)) as stream:
            async for item in stream:
                if isinstance(item, Record) and isinstance(item.event, Compacted):
                    break
        await house.restart()
        await house.run("guess", "talk", mode="yolo")
        after = house.bodies()[len(before) :]

        assert_stable(before, 7)
        assert_stable(after, 4)
        assert pieces(after[0])[:2] == pieces(before[0])[:2]
        assert pieces(after[0])[2] != pieces(before[0])[2]


async def test_sub_agents_of_one_kind_begin_alike():
    async with opened("gemini") as house:
        await house.run("spawn", mode="plan")

        begun = {tuple(pieces(body)) for body in house.bodies() if len(pieces(body)) == 3}
        assert {piece[2] for piece in begun} == {
            msgspec.json.encode(["user", {"text": word}]) for word in ("spawn", "talk", "read")
        }
        assert len({piece[:2] for piece in begun if b"spawn" not in piece[2]}) == 1


def test_on_another_day_only_the_last_bytes_of_the_system_text_differ(tmp_path: Path):
    environ = {"HOME": str(tmp_path), "BRIDLE_HOME": str(tmp_path / ".bridle"), "PATH": "/usr/bin:/bin"}
    found = load_settings(environ, tmp_path)

    days = [agent_in("default", found, FixedClock(day * DAY_MS)).prompt for day in (20_000, 20_001)]

    assert [prompt[-len("2024-10-04") :] for prompt in days] == ["2024-10-04", "2024-10-05"]
    assert len({prompt[: -len("2024-10-04")] for prompt in days}) == 1
