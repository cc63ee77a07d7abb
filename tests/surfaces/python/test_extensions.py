"""What a program implements: objects of the wrong shape, and functions as hooks at the points of a run."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

import bridle
from bridle.core.hook import HookEntry, InProcessRuntime
from bridle.core.protocol import Compacted, CompactionFailed, HookCompleted, HookDenied, HookFailed
from bridle.providers import Call, ScriptedProvider
from bridle.surfaces.python.extensions import convert_hooks as opened_hooks
from tests.surfaces.python.opened import events, opened


@bridle.tool
def say(text: str) -> str:
    """Say."""
    return text


def scripted() -> ScriptedProvider:
    return ScriptedProvider.of(Call("say", {"text": "push it"}), "{last_tool_result}")


async def run_with(hook: bridle.Hook, tmp_path: Path) -> tuple[bridle.RunResult[None], list[bridle.Record]]:
    async with opened(scripted(), tmp_path, tools=[say], hooks=[hook]) as b:
        session = await b.session()
        return await session.run("go", check=False), await session.records()


class Small:
    """The smallest provider."""

    async def stream(self, request: bridle.ModelRequest) -> AsyncGenerator[bridle.ModelReply, None]:
        yield bridle.ModelReply(bridle.Message("assistant", (bridle.Text("hi"),)), "end_turn")


class Returning:
    async def stream(self, request: bridle.ModelRequest) -> bridle.ModelReply:
        raise AssertionError


class WholeSessions:
    """A store as Meerkat has them."""

    async def save(self, session: object) -> None: ...

    async def load(self, session: str) -> None: ...


class WithTools:
    """A dispatcher as Meerkat has them."""

    def tools(self) -> list[object]:
        return []

    async def dispatch(self, call: object) -> object: ...


class Searching:
    """A memory as Meerkat has them."""

    async def search(self, query: str, limit: int) -> list[object]:
        return []


class WithMore:
    async def stream(self, messages: object, tools: object) -> AsyncGenerator[object, None]:
        yield messages


class WithSpec:
    spec = bridle.ToolSpec("look", "Look.", {"type": "object"})


async def test_a_provider_need_not_be_closed(tmp_path: Path):
    async with opened(Small(), tmp_path) as b:  # type: ignore[arg-type]
        result = await (await b.session()).run("go")

    assert result.text == "hi"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"providers": {"x": object()}}, "provider 'x': object has no stream (hint: async def stream"),
        ({"providers": {"x": Small}}, "provider 'x': Small is a class (hint: make an object: Small())"),
        ({"providers": {"x": Returning()}}, "provider 'x': stream returns its reply, but must yield it"),
        ({"providers": [Small()]}, "providers are not named"),
        ({"store": WholeSessions()}, "store: WholeSessions has no append and no read and no list and no del"),
        ({"tools": [WithTools()]}, "tools: WithTools has no specs (hint: specs is a list of bridle.ToolSpec"),
        ({"tools": [WithSpec()]}, "tools: WithSpec has no parallel and no access and no preview and no run"),
        ({"hooks": {"look": 7}}, "hook 'look' is no function"),
        ({"compactor": object()}, "compactor: object has no summarise (hint: async def summarise"),
        (
            {"memory": Searching()},
            "memory: search cannot be called: got an unexpected keyword argument 'cwd'",
        ),
        ({"providers": {"x": WithMore()}}, "provider 'x': stream cannot be called: missing a required arg"),
        ({"memory": Small()}, "memory: Small has no search (hint: async def search"),
    ],
)
async def test_an_object_of_another_shape_is_refused_with_what_it_lacks(given: Any, message: str):
    with pytest.raises(bridle.UsageError) as refused:
        async with bridle.open(ephemeral=True, **given):
            raise AssertionError

    assert message in str(refused.value)


async def test_a_background_hook_at_the_end_of_a_run(tmp_path: Path):
    seen: list[str | None] = []

    @bridle.hook("run_completed", background=True)
    async def note(done: bridle.HookInvocation) -> None:
        seen.append(done.text)

    result, records = await run_with(note, tmp_path)

    assert (result.text, seen) == ("push it", ["push it"])
    assert [event.hook_id for event in events(records, HookCompleted)] == ["note"]


async def test_a_failure_policy_decides_what_a_broken_hook_does(tmp_path: Path):
    def broken(seen: bridle.HookInvocation) -> Any:
        raise ValueError("oh")

    opened_up, _ = await run_with(
        bridle.hook("pre_tool_execution", failure_policy="fail_open")(broken), tmp_path
    )
    closed, _ = await run_with(
        bridle.hook("pre_tool_execution", capability="observe", failure_policy="fail_closed")(broken),
        tmp_path,
    )

    assert opened_up.text == "push it"
    assert "push it" not in closed.text


async def test_a_hook_of_the_settings_calls_a_function_by_its_name(tmp_path: Path):
    entry = {
        "id": "audit",
        "point": "pre_tool_execution",
        "capability": "guardrail",
        "runtime": {"type": "in_process", "name": "no_push"},
    }

    def no_push(seen: bridle.HookInvocation) -> bridle.Deny:
        return bridle.Deny("not here")

    keywords: Any = {"tools": [say], "hooks": {"no_push": no_push}, "settings": {"hooks.entries": [entry]}}
    async with opened(scripted(), tmp_path, **keywords) as b:
        session = await b.session()
        result = await session.run("go", check=False)
        records = await session.records()

    assert "not here" in result.text
    assert [event.hook_id for event in events(records, HookDenied)] == ["audit"]


def test_hooks_have_the_names_of_their_functions_and_a_name_occurs_once():
    made = bridle.hook("run_started")(scripted)  # type: ignore[arg-type]
    named = bridle.hook("run_started", name="scripted")(scripted)  # type: ignore[arg-type]

    entries, _ = opened_hooks([made, made])

    assert [entry.id for entry in entries] == ["scripted", "scripted#2"]
    with pytest.raises(bridle.UsageError, match="two hooks are named 'scripted'"):
        opened_hooks([made, named])


def test_what_is_said_of_a_hook_is_what_the_engine_knows():
    @bridle.hook(
        "pre_tool_execution", capability="observe", tools=["say"], priority=3, background=True, timeout_s=1.5
    )
    def look(seen: bridle.HookInvocation) -> None: ...

    entries, handlers = opened_hooks([look])

    assert entries == (
        HookEntry(
            InProcessRuntime("look"),
            id="look",
            point="pre_tool_execution",
            mode="background",
            capability="observe",
            priority=3,
            failure_policy="fail_open",
            timeout_ms=1500,
            tools=("say",),
        ),
    )
    assert list(handlers) == ["look"]


async def test_a_hook_refuses(tmp_path: Path):
    @bridle.hook("pre_tool_execution", tools=["say"])
    def no_push(seen: bridle.HookInvocation) -> bridle.Deny | None:
        assert seen.tool_call is not None
        return bridle.Deny("not here") if "push" in seen.tool_call.args["text"] else None

    result, records = await run_with(no_push, tmp_path)

    assert "not here" in result.text
    assert [event.hook_id for event in events(records, HookDenied)] == ["no_push"]


async def test_an_async_hook_rewrites(tmp_path: Path):
    @bridle.hook("pre_tool_execution")
    async def softer(seen: bridle.HookInvocation) -> Any:
        return bridle.ToolArgsPatch({"text": "please"})

    result, _ = await run_with(softer, tmp_path)

    assert result.text == "please"


async def test_a_hook_that_raises_refuses_and_one_that_only_looks_does_not(tmp_path: Path):
    def broken(seen: bridle.HookInvocation) -> Any:
        raise ValueError("oh")

    refused, _ = await run_with(bridle.hook("pre_tool_execution")(broken), tmp_path)
    looked, records = await run_with(
        bridle.hook("pre_tool_execution", capability="observe")(broken), tmp_path
    )

    assert "push it" not in refused.text
    assert looked.text == "push it"
    assert [event.error for event in events(records, HookFailed)] == ["ValueError: oh"]


async def test_a_hook_that_makes_no_sense_is_refused_before_the_run(tmp_path: Path):
    @bridle.hook("pre_tool_execution", background=True)
    def late(seen: bridle.HookInvocation) -> None: ...

    with pytest.raises(bridle.ConfigError, match='hook "late": mode: a background hook'):
        await run_with(late, tmp_path)


def test_a_hook_that_would_never_be_asked_is_refused():
    """A guardrail with a misspelt point would guard nothing, and no one would notice."""
    with pytest.raises(bridle.UsageError, match="point 'pre_tool' does not exist"):
        bridle.hook("pre_tool")  # type: ignore[arg-type]
    with pytest.raises(bridle.UsageError, match="capability 'deny' does not exist"):
        bridle.hook("run_started", capability="deny")  # type: ignore[arg-type]
    with pytest.raises(bridle.UsageError, match="failure_policy 'open' does not exist"):
        bridle.hook("run_started", failure_policy="open")  # type: ignore[arg-type]
    with pytest.raises(bridle.UsageError, match="is not a hook"):
        opened_hooks([scripted])  # type: ignore[list-item]


# ---------------------------------------------------------------------------- compactor and memory


LONG = "word " * 400


class Brief:
    """A compactor that notes what it is asked."""

    def __init__(self, summary: Any = "SHORT") -> None:
        self.asked: list[bridle.SummaryRequest] = []
        self._summary = summary

    async def summarise(self, request: bridle.SummaryRequest) -> Any:
        self.asked.append(request)
        if isinstance(self._summary, Exception):
            raise self._summary
        return self._summary


class Eager(Brief):
    """A compactor that decides when."""

    def is_due(self, tokens: int, window: int) -> bool:
        return tokens > 3 * 500


async def test_a_program_writes_the_summary(tmp_path: Path):
    compactor = Brief()
    async with opened(ScriptedProvider.of(*[LONG] * 8), tmp_path, compactor=compactor) as b:
        session = await b.session()
        for n in range(8):
            await session.run(f"question {n}")
        await session.compact("question 1")
        [first, *_] = await session.messages()

    [asked] = compactor.asked
    assert "SHORT" in first.text
    assert asked.messages[0].text == "question 0"
    assert (asked.keep, asked.pins, asked.summary) == ("question 1", ("question 1",), "")
    assert asked.max_tokens > 0


async def test_a_compactor_may_decide_when(tmp_path: Path):
    compactor = Eager()
    async with opened(ScriptedProvider.of(*[LONG] * 12), tmp_path, compactor=compactor) as b:
        session = await b.session()
        for n in range(12):
            await session.run(f"question {n}")
        done = events(await session.records(), Compacted)

    assert done
    assert (done[0].model, done[0].cost) == ("program/compactor", 0.0)
    assert compactor.asked[1].summary == "SHORT"


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        (ValueError("oh"), "the compactor raised ValueError: oh"),
        (" ", "the compactor returned no text"),
        (7, "the compactor returned no text"),
    ],
)
async def test_a_compactor_that_fails_leaves_the_messages_as_they_are(
    tmp_path: Path, summary: Any, message: str
):
    async with opened(ScriptedProvider.of(*[LONG] * 8), tmp_path, compactor=Brief(summary)) as b:
        session = await b.session()
        for n in range(8):
            await session.run(f"question {n}")
        await session.compact()

        assert [event.error for event in events(await session.records(), CompactionFailed)] == [message]
        assert len(await session.messages()) == 16


class Notes:
    """A memory of the program; only `search` is required."""

    def __init__(self, found: Any) -> None:
        self.found = found

    async def search(self, query: str, *, cwd: str, limit: int, session: str | None) -> Any:
        return self.found


class Noting(Notes):
    def __init__(self, found: Any) -> None:
        super().__init__(found)
        self.noted: list[str] = []

    def note(self, session: str, cwd: str) -> None:
        self.noted.append(session)

    async def forget(self, session: str) -> None:
        self.noted.remove(session)


def remembering() -> ScriptedProvider:
    return ScriptedProvider.of(Call("memory_search", {"query": "port"}), "{last_tool_result}")


async def test_a_program_answers_the_memory_search(tmp_path: Path):
    memory = Noting([bridle.MemoryHit("the port is 8080", 0.9, bridle.SessionId("old"), 3)])
    async with opened(remembering(), tmp_path, memory=memory, builtins=["memory_search"]) as b:
        session = await b.session()
        result = await session.run("which port")
        noted = [*memory.noted]
        await session.delete()

    assert "the port is 8080" in result.text
    assert (noted, memory.noted) == ([session.id], [])


async def test_a_memory_that_answers_something_else_is_an_error_of_the_call(tmp_path: Path):
    keywords: Any = {"memory": Notes(["text"]), "builtins": ["memory_search"]}
    async with opened(remembering(), tmp_path, **keywords) as b:
        result = await (await b.session()).run("which port")

    assert "something else than bridle.MemoryHit" in result.text


async def test_a_memory_that_cannot_note_does_not_end_the_run(tmp_path: Path):
    class Broken(Notes):
        def note(self, session: str, cwd: str) -> None:
            raise ValueError("oh")

    with pytest.warns(RuntimeWarning, match=r"memory.note raised ValueError: oh"):
        async with opened(ScriptedProvider.of("hi"), tmp_path, memory=Broken([])) as b:
            result = await (await b.session()).run("go")

    assert result.text == "hi"
