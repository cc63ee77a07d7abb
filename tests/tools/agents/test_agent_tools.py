"""The tools of sub-agents: their arguments, and how they report results."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.budget import Limits, Share
from bridle.core.errors import ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, Usage
from bridle.core.permission import judge, parse_rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.sub_agent import ChildRequest, ChildStatus
from bridle.core.tool import Access, Subject
from bridle.tools.agents import agent_tools
from bridle.tools.agents.spawn import parse_budget_policy, parse_context, parse_order
from bridle.tools.toolbox import Toolbox

TOOLBOX = Toolbox(agent_tools())
DONE = ChildStatus(
    SessionId("one"), "agent-1", "completed", 1, text="three", turns=2, usage=Usage(input=1_234)
)
BUSY = ChildStatus(SessionId("two"), "agent-2", "running", 1, running_ms=5, model="m/x", inherited=7)
LOST = ChildStatus(
    SessionId("six"), "agent-3", "failed", 1, error="no key", text="half", worktree="/trees/six"
)


class Kids:
    """Fake sub-agents that only record their requests."""

    def __init__(self, *views: ChildStatus, end: ChildStatus = DONE) -> None:
        self._views = views
        self._end = end
        self.orders: list[ChildRequest] = []
        self.cancelled: list[SessionId] = []
        self.sent: list[tuple[str, str]] = []

    async def start(self, order: ChildRequest) -> ChildStatus:
        self.orders.append(order)
        return BUSY

    async def wait(self, child: SessionId) -> ChildStatus:
        assert child == BUSY.id
        return self._end

    def views(self) -> tuple[ChildStatus, ...]:
        return self._views

    async def cancel(self, child: SessionId, reason: str = "") -> ChildStatus:
        self.cancelled.append(child)
        return replace(BUSY, stage="cancelled")

    async def send(self, to: str, text: str) -> str:
        self.sent.append((to, text))
        return "agent-2"


def context_with(kids: Kids | None) -> ToolContext:
    return ToolContext(SessionId("s"), "/", lambda _: None, call_id=CallId("c"), children=kids)


async def use(name: str, kids: Kids | None, **args: Any) -> ToolOutput:
    """Make a call as a run does: checked against the schema first."""
    fitted = TOOLBOX.arguments(ToolCall(CallId("c"), name, args))
    return await TOOLBOX.get(name).run(fitted, context_with(kids))


# ---------------------------------------------------------------------------- starting


async def test_spawn_waits_for_the_answer():
    kids = Kids()

    output = await use("agent_spawn", kids, prompt="count")

    assert kids.orders == [ChildRequest("count", call_id=CallId("c"))]
    assert output == ToolOutput("three\n\n[agent-1 one: completed, 2 turns, 1,234 tokens]")


async def test_spawn_understands_everything():
    kids = Kids()

    await use(
        "agent_spawn",
        kids,
        prompt="count",
        agent=" coder ",
        model="m/y",
        system_prompt="Be short.",
        tool_access='{"policy": "allow_list", "tools": ["grep"]}',
        budget={"max_tokens": 10, "max_turns": 2, "max_tool_calls": 3, "max_cost": 0.5},
        background=True,
        isolation="worktree",
    )

    assert kids.orders == [
        ChildRequest(
            "count",
            agent="coder",
            model="m/y",
            system="Be short.",
            tools=("grep",),
            share=Share(limits=Limits(tokens=10, turns=2, tool_calls=3, cost=0.5)),
            background=True,
            worktree=True,
            call_id=CallId("c"),
        )
    ]


async def test_in_the_background_only_who_it_is_comes_back():
    spawned = await use("agent_spawn", Kids(), prompt="count", background=True)
    forked = await use("agent_fork", Kids(), prompt="count", background=True)

    told = {"agent_id": "two", "name": "agent-2", "state": "running", "model": "m/x"}
    assert json.loads(spawned.text) == told
    assert json.loads(forked.text) == told | {"messages_inherited": 7}


async def test_a_failure_is_an_error_that_keeps_what_was_said():
    output = await use("agent_spawn", Kids(end=LOST), prompt="count")

    assert output == ToolOutput("no key\n\nhalf\n\n[agent-3 six: failed, 0 turns, 0 tokens]", is_error=True)


async def test_fork_understands_everything():
    kids = Kids()

    await use(
        "agent_fork",
        kids,
        prompt="count",
        context="last_turns:3",
        model="m/y",
        tool_access={"policy": "deny_list", "tools": ["bash"]},
        budget_policy="proportional:1/3",
    )

    assert kids.orders == [
        ChildRequest(
            "count",
            "last_turns",
            3,
            model="m/y",
            without_tools=("bash",),
            share=Share("proportional", weight=1, weights=3),
            call_id=CallId("c"),
        )
    ]


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("agent_spawn", {}, '"prompt" is missing'),
        ("agent_spawn", {"prompt": " "}, "the prompt is empty"),
        ("agent_spawn", {"prompt": "x", "budget": {"max_tokens": 0}}, "more than 0"),
        ("agent_spawn", {"prompt": "x", "budget": {"max_cost": 1e300}}, "at most 1,000,000,000"),
        ("agent_spawn", {"prompt": "x", "isolation": "vm"}, "must be one of"),
        ("agent_spawn", {"prompt": "x", "tool_access": {"policy": "all"}}, "must be one of"),
        ("agent_spawn", {"prompt": "x", "context": "last_turns:3"}, 'agent_spawn takes no "context"'),
        ("agent_fork", {"prompt": "x", "context": "some"}, "context"),
        ("agent_fork", {"prompt": "x", "context": "last_turns:0"}, "context"),
        ("agent_fork", {"prompt": "x", "context": "custom"}, "go together"),
        ("agent_fork", {"prompt": "x", "messages": ["x"]}, "go together"),
        ("agent_fork", {"prompt": "x", "context": "custom", "messages": ["x", " "]}, "none of them empty"),
        ("agent_fork", {"prompt": "x", "context": "custom", "messages": ["x"] * 101}, "up to 100 texts"),
        ("agent_fork", {"prompt": "x", "context": "custom", "messages": [{}]}, "messages"),
        ("agent_fork", {"prompt": "x", "budget_policy": "half"}, "budget_policy"),
        ("agent_fork", {"prompt": "x", "budget_policy": "proportional:3/1"}, "budget_policy"),
        (
            "agent_status",
            {"agent_id": "agent-9"},
            "unknown sub-agent 'agent-9' (hint: there are agent-1)",
        ),
    ],
)
async def test_what_makes_no_sense_is_refused(name: str, args: dict[str, Any], message: str):
    with pytest.raises(ToolError) as error:
        await use(name, Kids(DONE), **args)

    assert message in str(error.value)


@given(
    st.text(max_size=30) | st.from_regex(r"\A(last_turns|summary|fixed|proportional|equal):[0-9./]{1,12}\Z")
)
def test_any_text_is_understood_or_refused(text: str):
    for read in (parse_context, parse_budget_policy):
        with suppress(ToolError):
            assert read(text)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", Share()),
        ("remaining", Share()),
        ("equal", Share("equal")),
        ("fixed:100", Share("fixed", limits=Limits(tokens=100))),
        ("proportional:0.5/2", Share("proportional", weight=0.5, weights=2)),
    ],
)
def test_policies(text: str, share: Share):
    assert parse_budget_policy(text) == share


async def test_starting_one_is_free_in_every_mode_and_goes_on_after_a_cut():
    tool = TOOLBOX.get("agent_spawn")
    access = tool.access({"prompt": "x", "agent": "coder"}, context_with(None))

    assert access == Access("agent_spawn", "read", (Subject("text", "coder"),))
    assert judge(access, (), "plan").action == "allow"
    assert judge(access, (parse_rule("deny", "agent_spawn(coder)"),), "yolo").action == "deny"
    assert await tool.preview({"prompt": "x"}, context_with(None)) == "x"


def test_the_order_of_a_recorded_call_is_known_again():
    args = {"prompt": "x", "background": True, "isolation": "worktree", "budget": {"max_turns": 2}}

    assert parse_order("agent_spawn", args, CallId("c")) == ChildRequest(
        "x", share=Share(limits=Limits(turns=2)), background=True, worktree=True, call_id=CallId("c")
    )
    assert parse_order("agent_fork", {"prompt": "x", "context": "last_turns:2"}, CallId("c")) == ChildRequest(
        "x", inherited="last_turns", amount=2, call_id=CallId("c")
    )


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("bash", {"prompt": "x"}),
        ("agent_spawn", {}),
        ("agent_spawn", {"prompt": "x", "budget": {"max_turns": "many"}}),
        ("agent_spawn", {"prompt": "x", "tool_access": "none"}),
        ("agent_fork", {"prompt": "x", "budget_policy": "half"}),
    ],
)
def test_a_call_that_was_no_order_gives_none(tool: str, args: dict[str, Any]):
    assert parse_order(tool, args, CallId("c")) is None


@pytest.mark.parametrize("name", ["agent_spawn", "agent_list"])
async def test_where_there_can_be_none_they_say_so(name: str):
    args = {"prompt": "x"} if name == "agent_spawn" else {}
    with pytest.raises(ToolError, match="sub-agents are not available here"):
        await use(name, None, **args)


# ---------------------------------------------------------------------------- tending


async def test_the_status_of_one():
    kids = Kids(DONE, BUSY, LOST)

    told = [json.loads((await use("agent_status", kids, agent_id=one)).text) for one in ("one", "agent-3")]

    assert told == [
        {
            "agent_id": "one", "name": "agent-1", "state": "completed", "is_final": True, "duration_ms": 0,
            "tokens_used": 1_234, "output": "three",
        },
        {
            "agent_id": "six", "name": "agent-3", "state": "failed", "is_final": True, "duration_ms": 0,
            "tokens_used": 0, "output": "half", "error": "no key", "worktree": "/trees/six",
        },
    ]  # fmt: skip


async def test_the_list_of_all():
    waiting = replace(BUSY, id=SessionId("four"), name="agent-4", stage="waiting")
    told = json.loads((await use("agent_list", Kids(DONE, BUSY, LOST, waiting))).text)

    assert told["agents"][1] == {
        "id": "two", "name": "agent-2", "state": "running", "depth": 1, "running_ms": 5,
    }  # fmt: skip
    assert {name: told[name] for name in told if name != "agents"} == {
        "running_count": 2, "completed_count": 1, "failed_count": 1, "total_count": 4,
    }  # fmt: skip


async def test_cancel_says_what_it_was():
    kids = Kids(DONE, BUSY)

    stopped = json.loads((await use("agent_cancel", kids, agent_id="agent-2")).text)
    ended = json.loads((await use("agent_cancel", kids, agent_id="one")).text)

    assert stopped == {
        "agent_id": "two", "success": True, "previous_state": "running", "message": "agent-2 was stopped",
    }  # fmt: skip
    assert (ended["success"], ended["previous_state"]) == (False, "completed")
    assert kids.cancelled == ["two"]


async def test_a_message_is_sent():
    kids = Kids()

    output = await use("send_message", kids, to=" agent-2 ", text="hello")

    assert kids.sent == [("agent-2", "hello")]
    assert output.text == "Sent to agent-2, which reads it before its next turn"
