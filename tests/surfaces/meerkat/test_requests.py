"""The meaning of requests: every supported field, and a refusal for every other one."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

import bridle
from bridle.core.budget import Limits
from bridle.core.errors import UsageError
from bridle.core.hook import CommandRuntime, HookEntry, HookOverride, HttpRuntime
from bridle.core.messages import Media, Message, Text, user_message
from bridle.core.protocol import RunOptions
from bridle.core.tool import ToolSpec
from bridle.surfaces.meerkat.requests import (
    CHILD_TOOLS,
    MEMORY_TOOLS,
    SHELL_TOOLS,
    UNOFFERED,
    WEB_TOOLS,
    CreateParams,
    RunRequest,
    TurnParams,
    to_model_ref,
    to_run_request,
)
from bridle.surfaces.shared.error_codes import CAPABILITY_UNAVAILABLE, Refused


def order(**fields: Any) -> RunRequest:
    """Read a request as it comes over the wire."""
    data = msgspec.json.encode({"prompt": "hi", **fields})
    return to_run_request(msgspec.json.decode(data, type=CreateParams))


def test_a_prompt_alone_leaves_everything_as_the_agent_has_it():
    assert order() == RunRequest(user_message("hi"), RunOptions())


def test_every_option_has_its_meaning():
    made = order(
        model="gpt-5",
        provider="open_a_i",
        max_tokens=100,
        system_prompt="Be brief.",
        output_schema={"type": "object"},
        structured_output_retries=4,
        provider_params={"effort": "low"},
        budget_limits={"max_tokens": 10, "max_duration": "90s", "max_tool_calls": 0, "max_cost": 0.5},
        shell_env={"LANG": "C"},
        turn_tool_overlay={"allowed_tools": ["glob", "grep"], "blocked_tools": ["bash"]},
        idempotency_key="k",
        session_events=False,
        mode="plan",
        allow=["bash(ls)"],
        deny=["write_file"],
        code=True,
    )

    assert made == RunRequest(
        user_message("hi"),
        RunOptions(
            model="openai/gpt-5",
            mode="plan",
            allow=("bash(ls)",),
            deny=("write_file",),
            limits=Limits(tokens=10, duration_s=90.0, tool_calls=0, cost=0.5),
            params={"effort": "low", "max_tokens": 100},
            code=True,
            env={"LANG": "C"},
            system="Be brief.",
            tools=("glob", "grep"),
            without_tools=("bash",),
            output_schema={"type": "object"},
            output_retries=4,
        ),
        key="k",
        wants_events=False,
    )


@pytest.mark.parametrize("given", ["1m30s", 90, 90.0, {"secs": 90, "nanos": 0}])
def test_a_duration_is_written_in_several_ways(given: Any):
    assert order(budget_limits={"max_duration": given}).options.limits == Limits(duration_s=90.0)


def test_a_duration_that_is_none_is_refused():
    with pytest.raises(UsageError, match="max_duration"):
        order(budget_limits={"max_duration": "soon"})


@pytest.mark.parametrize(
    ("model", "provider", "ref"),
    [
        (None, None, None),
        ("claude-opus-4-6", None, "anthropic/claude-opus-4-6"),
        ("o3-mini", None, "openai/o3-mini"),
        ("gemini-3-pro", None, "gemini/gemini-3-pro"),
        ("anthropic/claude-opus-4-6", "anthropic", "anthropic/claude-opus-4-6"),
        ("meta/llama-4", "openrouter", "openrouter/meta/llama-4"),
        ("/tmp/script.json", "scripted", "scripted//tmp/script.json"),
        ("local/mine", "other", "local/mine"),
        ("mine", None, "mine"),
    ],
)
def test_models_are_named_as_bridle_names_them(model: str | None, provider: str | None, ref: str | None):
    assert to_model_ref(model, provider) == ref


def test_a_provider_without_a_model_is_refused():
    with pytest.raises(UsageError, match="needs a model"):
        order(provider="openai")


def test_a_prompt_may_be_blocks():
    blocks = [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "media_type": "image/png", "source": "inline", "data": "iVBORw=="},
        {"type": "video", "media_type": "video/mp4", "data": "AAAA", "duration_ms": 5},
    ]

    assert order(
        prompt=blocks, additional_instructions=["Be kind."], injected_context=["Know this."]
    ) == RunRequest(
        Message(
            "user",
            (
                Text("Be kind."),
                Text("Know this."),
                Text("What is this?"),
                Media("image/png", "iVBORw=="),
                Media("video/mp4", "AAAA"),
            ),
        ),
        RunOptions(),
    )


def test_what_is_no_base64_is_refused():
    with pytest.raises(UsageError, match="not base64"):
        order(prompt=[{"type": "image", "media_type": "image/png", "data": "not base64!"}])


def test_media_that_lie_elsewhere_are_refused():
    with pytest.raises(Refused, match="remote content") as refusal:
        order(prompt=[{"type": "image", "media_type": "image/png", "source": "blob", "blob_id": "x"}])

    assert refusal.value.problem is CAPABILITY_UNAVAILABLE


def test_switching_tools_off_leaves_them_out_and_on_changes_nothing():
    assert (
        order(enable_builtins=True, enable_shell=True, enable_memory=True, enable_subagents=True) == order()
    )
    assert order(enable_shell=False).options.without_builtins == SHELL_TOOLS
    assert order(enable_web_search=False).options.without_builtins == WEB_TOOLS
    assert order(enable_subagents=False, enable_memory=False).options.without_builtins == (
        *CHILD_TOOLS,
        *MEMORY_TOOLS,
    )
    without = set(order(enable_builtins=False).options.without_builtins)
    assert {"read_file", "python", *SHELL_TOOLS, *WEB_TOOLS} < without
    assert not without & {*CHILD_TOOLS, *MEMORY_TOOLS}


def test_no_instructions_at_all_can_be_asked_for():
    assert order(system_prompt={"action": "disable"}).options.system == ""


def test_hooks_are_read_in_both_forms():
    command = {"type": "command", "config": {"command": "check", "args": ["-q"]}}
    entries = [
        {"id": "a", "point": "run_started", "runtime": command},
        {"id": "b", "runtime": {"type": "http", "url": "http://127.0.0.1:1"}},
    ]

    made = order(hooks_override={"entries": entries, "disable": ["c"]})

    assert made.options.hooks == HookOverride(
        (
            HookEntry(CommandRuntime("check", ("-q",)), id="a", point="run_started"),
            HookEntry(HttpRuntime("http://127.0.0.1:1"), id="b"),
        ),
        ("c",),
    )


@pytest.mark.parametrize("given", [{"entries": 3}, {"entries": [{"runtime": {"type": "x"}}]}, {"more": 1}])
def test_hooks_that_make_no_sense_are_refused(given: dict[str, Any]):
    with pytest.raises(UsageError, match="hooks_override"):
        order(hooks_override=given)


def test_skills_are_named_in_several_ways():
    refs = {"skill_refs": [{"source_uuid": "u", "skill_name": "a"}], "preload_skills": ["b"]}

    assert order(**refs, skill_references=["/c", "u/d", "a"]).skills == ("b", "a", "c", "d")


def test_tools_of_the_client_come_with_their_schema():
    tools = [{"name": "add", "input_schema": {"type": "object"}, "handler": "callback"}]

    assert order(external_tools=tools).tools == (ToolSpec("add", "Tool: add", {"type": "object"}),)


@pytest.mark.parametrize("name", UNOFFERED)
def test_what_would_change_nothing_is_refused(name: str):
    value: Any = {"a": "b"} if name in ("peer_meta", "app_context", "auth_binding") else True
    value = "x" if name in ("comms_name", "self_hosted_server_id", "transient_turn_context") else value

    with pytest.raises(Refused, match=f"{name} is not offered here"):
        order(**{name: value})


def test_labels_are_for_new_sessions_only():
    with pytest.raises(UsageError, match="labels: a turn has none"):
        to_run_request(TurnParams(prompt="x", session_id="s", labels={"a": "b"}))

    assert to_run_request(CreateParams(prompt="x", labels={"a": "b"})).options == RunOptions()


@pytest.mark.parametrize("name", ["host_mode", "keep_alive", "enable_mob"])
def test_asking_for_none_of_it_is_fine(name: str):
    assert order(**{name: False}) == order()


@pytest.mark.parametrize("kind", [CreateParams, TurnParams])
def test_unknown_fields_are_refused(kind: type):
    with pytest.raises(msgspec.ValidationError, match="unknown field `colour`"):
        msgspec.convert({"prompt": "hi", "colour": 1}, kind)


async def test_every_built_in_tool_can_be_turned_off(tmp_path: Path):
    async with bridle.open(home=tmp_path, settings={"memory": {"enabled": True}}) as b:
        session = await b.session()
        names = {*await b._opened().tool_names(session.id)} - {"tool_call", "tool_search"}

    off = order(enable_builtins=False, enable_subagents=False, enable_memory=False).options.without_builtins
    assert names == {*off} - {"web_search"}  # which is there only if the settings name a server
