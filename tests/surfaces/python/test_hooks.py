"""Functions as hooks at the points of a run: they observe, deny and rewrite."""

from pathlib import Path
from typing import Any

import pytest

import bridle
from bridle.core.hook import HookEntry, InProcessRuntime
from bridle.core.protocol import HookDenied, HookFailed
from bridle.providers import Call, ScriptedProvider
from bridle.surfaces.python.hooks import convert_hooks as opened_hooks
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


def test_what_is_said_of_a_hook_is_what_the_engine_knows():
    @bridle.hook(
        "pre_tool_execution", capability="observe", tools=["say"], priority=3, background=True, timeout_s=1.5
    )
    def look(seen: bridle.HookInvocation) -> None: ...

    entries, handlers = opened_hooks([look])

    assert entries == (
        HookEntry(
            InProcessRuntime("look#1"),
            id="look#1",
            point="pre_tool_execution",
            mode="background",
            capability="observe",
            priority=3,
            timeout_ms=1500,
            tools=("say",),
        ),
    )
    assert list(handlers) == ["look#1"]


async def test_a_hook_refuses(tmp_path: Path):
    @bridle.hook("pre_tool_execution", tools=["say"])
    def no_push(seen: bridle.HookInvocation) -> bridle.Deny | None:
        assert seen.tool_call is not None
        return bridle.Deny("not here") if "push" in seen.tool_call.args["text"] else None

    result, records = await run_with(no_push, tmp_path)

    assert "not here" in result.text
    assert [event.hook_id for event in events(records, HookDenied)] == ["no_push#1"]


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

    with pytest.raises(bridle.ConfigError, match='hook "late#1": mode: a background hook'):
        await run_with(late, tmp_path)


def test_a_hook_that_would_never_be_asked_is_refused():
    """A guardrail with a misspelt point would guard nothing, and no one would notice."""
    with pytest.raises(bridle.UsageError, match="point 'pre_tool' does not exist"):
        bridle.hook("pre_tool")  # type: ignore[arg-type]
    with pytest.raises(bridle.UsageError, match="capability 'deny' does not exist"):
        bridle.hook("run_started", capability="deny")  # type: ignore[arg-type]
    with pytest.raises(bridle.UsageError, match="is not a hook"):
        opened_hooks([scripted])  # type: ignore[list-item]
