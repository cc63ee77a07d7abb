"""What a sub-agent starts with, and what limits it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.agent import Agent
from bridle.core.budget import Limits, Share
from bridle.core.context import Counted, estimate_message
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message
from bridle.core.permission import parse_rule
from bridle.core.sub_agent import ChildRequest
from bridle.sessions.children.inheritance import (
    FolderCopy,
    bounded_share,
    inherited_messages,
    rules_in_copy,
    stricter,
)


def counted(message: Message) -> Counted:
    return Counted(message, estimate_message(message))


@st.composite
def conversations(draw: st.DrawFn) -> list[Counted]:
    """Draw runs of a prompt and some turns; the last turn may have calls without results."""
    messages: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(0, 4))):
        messages.append(user_message(draw(st.text("a", max_size=60))))
        for _ in range(draw(st.integers(0, 3))):
            number += 1
            call = ToolCall(f"c{number}", "look", {})
            messages.append(Message("assistant", (Text("x"), call)))
            messages.append(Message("tool", (ToolResult(call.id, "look", draw(st.text("b", max_size=80))),)))
        messages.append(Message("assistant", (Text("done"),)))
    if messages and draw(st.booleans()):
        messages += [user_message("go"), Message("assistant", (ToolCall("last", "agent_fork", {}),))]
    return [counted(message) for message in messages]


orders = st.one_of(
    st.just(ChildRequest("p", "full_history")),
    st.builds(lambda amount: ChildRequest("p", "last_turns", amount), st.integers(0, 8)),
    st.builds(lambda amount: ChildRequest("p", "summary", amount), st.integers(0, 200)),
)


@given(conversations(), orders)
def test_what_is_inherited_can_be_sent_as_it_is(past: list[Counted], order: ChildRequest):
    kept = inherited_messages(order, past)

    asked: set[str] = set()
    for item in kept:
        if item.message.role == "tool":
            assert {part.call_id for part in item.message.parts} == asked
        else:
            assert not asked
        asked = {call.id for call in item.message.calls}
    assert not asked
    assert not kept or kept[0].message.role == "user"
    places = {id(item): place for place, item in enumerate(past)}
    assert [places[id(item)] for item in kept] == sorted(places[id(item)] for item in kept)


@given(conversations(), st.integers(0, 200))
def test_a_summary_is_the_longest_end_that_fits(past: list[Counted], tokens: int):
    kept = inherited_messages(ChildRequest("p", "summary", tokens), past)
    whole = inherited_messages(ChildRequest("p", "full_history"), past)

    longest: list[Counted] = []
    for start in range(len(whole) - 1, -1, -1):
        end = whole[start:]
        if end[0].message.role == "assistant":
            end = [[item for item in whole[:start] if item.message.role == "user"][-1], *end]
        if sum(item.tokens for item in end) > tokens:
            break
        longest = longest if end[0].message.role == "tool" else end
    assert kept == longest


@given(conversations(), st.integers(1, 8))
def test_so_many_turns_are_kept(past: list[Counted], turns: int):
    kept = inherited_messages(ChildRequest("p", "last_turns", turns), past)
    whole = inherited_messages(ChildRequest("p", "full_history"), past)

    there = sum(item.message.role == "assistant" for item in whole)
    assert sum(item.message.role == "assistant" for item in kept) == min(turns, there)


def test_in_the_first_turn_the_last_turns_are_the_task():
    past = [counted(user_message("go")), counted(Message("assistant", (ToolCall(CallId("a"), "fork"),)))]

    assert inherited_messages(ChildRequest("p", "last_turns", 3), past) == past[:1]


def test_nothing_is_nothing():
    assert inherited_messages(ChildRequest("p"), [counted(user_message("hi"))]) == []


def test_the_stricter_mode():
    assert [stricter("ask", "yolo"), stricter("plan", "ask"), stricter("yolo", "accept-edits")] == [
        "ask",
        "plan",
        "accept-edits",
    ]


@pytest.mark.parametrize(
    ("share", "bounded"),
    [
        (Share(), Limits(tokens=50, turns=9)),
        (Share(limits=Limits(tokens=200, turns=3)), Limits(tokens=100, turns=3)),
        (Share("equal", among=2), Limits(tokens=100, turns=9)),
        (Share("fixed", limits=Limits(tokens=70)), Limits(tokens=70)),
        (Share("fixed", limits=Limits(tokens=700)), Limits(tokens=100)),
    ],
)
def test_an_agents_own_limits_hold_too(share: Share, bounded: Limits):
    agent = Agent("a", "", "m/x", limits=Limits(tokens=100, turns=9))

    assert bounded_share(share, agent, 50).limits == bounded


def test_rules_against_paths_are_read_from_elsewhere():
    rules = [
        parse_rule("deny", "read_file(secret/**)"),
        parse_rule("ask", "edit_file(*.md)"),
        parse_rule("allow", "edit_file(src/**)"),
        parse_rule("deny", "bash(rm:*)"),
        parse_rule("deny", "read_file(/etc/**)"),
        parse_rule("deny", "web_fetch(domain:x.org)"),
        parse_rule("deny", "touch"),
        parse_rule("deny", "read_file(/home/me/keys/**)"),
        parse_rule("ask", "read_file(/home/me/site/keys/**)"),
    ]

    copy = FolderCopy("/home/me", "/trees/1", "/trees/1/site")
    assert rules_in_copy(rules, "/home/me/site", copy) == [
        parse_rule("deny", "read_file(/home/me/site/secret/**)"),
        parse_rule("ask", "edit_file(/home/me/site/*.md)"),
        parse_rule("deny", "read_file(/trees/1/keys/**)"),
        parse_rule("ask", "read_file(keys/**)"),
    ]
