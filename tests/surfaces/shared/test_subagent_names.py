"""Sub-agents as a person sees them: named, from start to end, and when they ask."""

import io

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Usage
from bridle.core.protocol import (
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    Question,
    QuestionAsked,
    RunEnded,
)
from bridle.surfaces.cli.output.run_view import RunView
from bridle.surfaces.shared.subagent_names import SubAgentNames
from bridle.surfaces.shared.terminal import Console, Screen
from bridle.surfaces.shared.text_format import approval_lines, describe_args, question_lines
from tests.surfaces.records import RUN, records

CHILD = SessionId("019a8536-2b7c-7000-8000-000000000002")
BEGUN = ChildStarted(CHILD, "agent-1", "count\nthe files")
ENDED = ChildEnded(CHILD, "completed", "", 2, 3, Usage(input=1_000, output=234), 0.02, 1_200)


def test_the_beginning_and_the_end_of_a_sub_agent():
    kin = SubAgentNames()

    assert kin.line(BEGUN) == "agent-1 started: count\nthe files"
    assert kin.line(ENDED) == "agent-1 is done · 1.2 s · 2 turns · 1,234 tokens · $0.0200"
    assert kin.line(ChildEnded(CHILD, "failed", "no key")) == (
        "agent-1 failed: no key · 0 ms · 0 turns · 0 tokens · price unknown"
    )
    assert kin.line(RunEnded(RUN, "completed")) == ""


def test_one_of_a_sub_agents_own_has_only_its_id():
    assert [SubAgentNames().name(CHILD), SubAgentNames().name(None)] == ["sub-agent 019a8536-2b7c", ""]


def test_who_asks_is_named():
    screen, kin = Screen(io.StringIO(), {}), SubAgentNames()
    kin.line(BEGUN)
    request = ApprovalRequested(
        CallId("c"), "touch", {"on": "a"}, "writes a file (mode ask)", "a", child=CHILD
    )
    asked = QuestionAsked(CallId("q"), Question("which?", ("red",)), CHILD)

    approval = approval_lines(screen, request, kin.format_asker(request))
    question = question_lines(screen, asked.question, kin.format_asker(asked))

    assert approval == ["touch on=a", "a", "Needs approval for agent-1: writes a file (mode ask)"]
    assert question == ["? which?", "asked by agent-1", "  1 red"]


def test_who_asks_from_further_down_is_placed():
    kin, below = SubAgentNames(), SessionId("019a8536-9999-7000-8000-000000000009")
    kin.line(BEGUN)
    own, first, second = (
        QuestionAsked(CallId(key), Question("which?"), child)
        for key, child in (("q", None), (f"{CHILD}/q", CHILD), (f"{CHILD}/{below}/q", below))
    )

    assert [kin.format_asker(one) for one in (own, first, second)] == [
        "",
        "agent-1",
        "sub-agent 019a8536-9999 (under agent-1)",
    ]


def test_a_run_shows_its_sub_agents_on_a_line_each():
    out, err = io.StringIO(), io.StringIO()
    view = RunView(
        Console(Screen(out, {}), Screen(err, {}), {}), answer="streamed", chatty=True, verbose=False
    )
    asked = QuestionAsked(CallId("q"), Question("which?"), CHILD)

    for record in records([BEGUN, asked, ENDED]):
        view.show(record)

    assert out.getvalue() == ""
    assert err.getvalue().splitlines() == [
        "agent-1 started: count the files",
        "  ? which?",
        "  asked by agent-1",
        "agent-1 is done · 1.2 s · 2 turns · 1,234 tokens · $0.0200",
    ]


def test_a_call_that_starts_one_is_told_by_its_prompt():
    assert describe_args({"prompt": "count", "budget": {"max_turns": 1}}) == "count"
