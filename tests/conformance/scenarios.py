"""The scenarios that are played on every surface."""

from typing import Any

from bridle.core.budget import Limits
from bridle.core.ids import CallId
from bridle.core.messages import user_message
from bridle.core.protocol import Answer, Cancel, Decide, Prompt, Reply, RunOptions, SessionOptions, Steer
from bridle.surfaces.meerkat.requests import SHELL_TOOLS
from bridle.surfaces.shared.run_driver import NOBODY
from tests.conformance.scenario import Scenario, Touch, When
from tests.conformance.seen import (
    Seen,
    asked,
    began,
    called,
    decided,
    ended,
    finished,
    said,
    started,
    thought,
)

UNTIL_GO = "until [ -e go ]; do sleep 0.01; done; echo gone"
NOTE = {"path": "note.txt", "content": "hello\n"}
DONE = (said("Done."), ended("completed", "Done."))
STOPPED = "cancelled"
NOT_RUN = "not run: the run ended (denied)"
CODE = "print(await glob('*.md'))\n1 + 1"
VALUE = '{"total": 7}'
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"total": {"type": "integer"}},
    "required": ["total"],
    "additionalProperties": False,
}


def call(call_id: str, tool: str, **args: Any) -> dict[str, Any]:
    return {"id": call_id, "name": tool, "args": args}


def waiting(call_id: str = "c1") -> tuple[Seen, ...]:
    """What is seen of a tool that waits for the file `go`, up to its start."""
    return (called(call_id, "bash", command=UNTIL_GO), started(call_id))


WAIT = {"calls": [call("c1", "bash", command=UNTIL_GO)]}
SAY_DONE = {"text": "Done."}

MADE = SessionOptions(
    mode="plan",
    deny=("read_file(secret/**)",),
    limits=Limits(turns=9),
    params={"temperature": 0.5},
    system="Be a pirate.",
    builtins=("glob", "bash"),
    without_builtins=SHELL_TOOLS,
)
NO_SHELL = "no tool is named 'bash' (hint: available tools: glob)"

PLAIN = Scenario(
    "plain_answer",
    begins=True,
    replies=({"text": ["It is ", "done."]},),
    story=(began(), said("It is done."), ended("completed", "It is done.")),
)

REASONING = Scenario(
    "reasoning",
    replies=({"reasoning": ["Let me ", "think."], "text": "Done."},),
    story=(began(), thought("Let me think."), *DONE),
)

PARALLEL = Scenario(
    "parallel_tools",
    files={"one.txt": "one", "two.txt": "two"},
    replies=(
        {
            "text": "I look.",
            "calls": [call("c1", "glob", pattern="one*"), call("c2", "glob", pattern="two*")],
        },
        SAY_DONE,
    ),
    story=(
        began(),
        said("I look."),
        called("c1", "glob", pattern="one*"),
        called("c2", "glob", pattern="two*"),
        started("c1"),
        started("c2"),
        finished("c1", "one.txt"),
        finished("c2", "two.txt"),
        *DONE,
    ),
)


def approval(name: str, answer: Answer, *rest: Seen) -> Scenario:
    """Make the scenario of a call that needs approval."""
    return Scenario(
        f"approval_{name}",
        remembers="write_file(*)" if answer == "always" else "",
        replies=({"calls": [call("c1", "write_file", **NOTE)]}, SAY_DONE),
        moves=(When(asked("c1"), Decide(CallId("c1"), answer)),),
        story=(began(), called("c1", "write_file", **NOTE), asked("c1"), decided("c1", answer), *rest),
    )


WRITTEN = (started("c1"), finished("c1", "Successfully wrote 6 bytes to note.txt"), *DONE)

SCENARIOS = (
    PLAIN,
    REASONING,
    PARALLEL,
    approval("yes", "once", *WRITTEN),
    approval("no", "deny", finished("c1", "denied: user denied", is_error=True), *DONE),
    approval("session", "session", *WRITTEN),
    approval("always", "always", *WRITTEN),
    approval("stop", "stop", finished("c1", NOT_RUN, is_error=True), ended("denied")),
    Scenario(
        "approval_by_nobody",
        is_unattended=True,
        replies=({"calls": [call("c1", "write_file", **NOTE)]}, SAY_DONE),
        moves=(When(asked("c1"), Decide(CallId("c1"), "stop", NOBODY)),),
        story=(
            began(),
            called("c1", "write_file", **NOTE),
            asked("c1"),
            decided("c1", "stop"),
            finished("c1", NOT_RUN, is_error=True),
            ended("denied"),
        ),
    ),
    Scenario(
        "steer",
        replies=(WAIT, {"text": "Done.", "expect": {"user": "left"}}),
        moves=(
            When(started("c1"), Steer(user_message("turn left"))),
            When(Seen("steers", "turn left"), Touch("go")),
        ),
        story=(began(), *waiting(), finished("c1", "gone"), Seen("steered", "turn left"), *DONE),
    ),
    Scenario(
        "queue",
        replies=(WAIT, SAY_DONE, {"text": "And more.", "expect": {"user": "more"}}),
        moves=(
            When(started("c1"), Prompt(user_message("more"))),
            When(Seen("queues", "more"), Touch("go")),
        ),
        story=(began(), *waiting(), finished("c1", "gone"), *DONE),
        runs=2,
    ),
    Scenario(
        "cancel_while_streaming",
        replies=({"text": ["It is ", "half"], "fault": {"kind": "hang"}},),
        moves=(When(Seen("streams", "It is half"), Cancel()),),
        story=(began(), said("It is half"), ended(STOPPED, "It is half")),
    ),
    Scenario(
        "cancel_in_a_tool",
        replies=(WAIT,),
        moves=(When(started("c1"), Cancel()),),
        story=(
            began(),
            *waiting(),
            finished("c1", "not finished: the run ended (cancelled)", is_error=True),
            ended(STOPPED),
        ),
    ),
    Scenario(
        "cancel_at_an_approval",
        replies=({"calls": [call("c1", "write_file", **NOTE)]},),
        moves=(When(asked("c1"), Cancel()),),
        story=(
            began(),
            called("c1", "write_file", **NOTE),
            asked("c1"),
            finished("c1", "not run: the run ended (cancelled)", is_error=True),
            ended(STOPPED),
        ),
    ),
    Scenario(
        "cancel_in_a_backoff",
        replies=({"fault": {"kind": "http", "reason": "rate_limited", "headers": {"retry-after": "60"}}},),
        moves=(When(Seen("retried", "1"), Cancel()),),
        story=(began(), Seen("retried", "1"), ended(STOPPED)),
    ),
    Scenario(
        "cancel_before_the_model_answers",
        replies=({"fault": {"kind": "hang", "after": 0}},),
        moves=(When(began(), Cancel()),),
        story=(began(), ended(STOPPED)),
    ),
    Scenario(
        "cancel_before_the_run",
        too_early=Cancel(),
        replies=(SAY_DONE,),
        story=(began(), *DONE),
    ),
    Scenario(
        "retry",
        replies=({"text": ["Half ", "and half."], "fault": {"kind": "reset", "after": 1, "times": 1}},),
        story=(began(), Seen("retried", "1"), said("Half and half."), ended("completed", "Half and half.")),
    ),
    Scenario(
        "budget_stop",
        settings="[limits]\nmax_tool_calls = 1\n",
        files={"one.txt": "one"},
        replies=(
            {"calls": [call("c1", "glob", pattern="one*")]},
            SAY_DONE,
        ),
        story=(
            began(),
            called("c1", "glob", pattern="one*"),
            started("c1"),
            finished("c1", "one.txt"),
            Seen("exhausted", "tool_calls"),
            ended("budget_exhausted"),
        ),
    ),
    Scenario(
        "compaction",
        before="Remember this. " + "It was a long and winding road. " * 60,
        replies=(
            SAY_DONE,  # also to what was compacted: there is no answer in it
            {"fault": {"kind": "http", "reason": "context_length_exceeded"}},
            {"match": "ummar", "text": "They said much."},
        ),
        story=(began(), Seen("compacted", "They said much."), *DONE),
    ),
    Scenario(
        "child_agent",
        files={
            "child.json": '{"replies": [{"text": "I am the child.", "usage": {"input": 5, "output": 2}}]}'
        },
        replies=(
            {"calls": [call("c1", "agent_spawn", prompt="be one", model="scripted/PROJECT/child.json")]},
            SAY_DONE,
        ),
        story=(
            began(),
            called("c1", "agent_spawn", model="scripted/PROJECT/child.json", prompt="be one"),
            started("c1"),
            Seen("spawned", "agent-1"),
            Seen("returned", "completed"),
            finished("c1", "I am the child.\n\n[agent-1 ID: completed, 1 turn, 7 tokens]"),
            *DONE,
        ),
    ),
    Scenario(
        "code_cell",
        files={"one.md": "one"},
        replies=({"calls": [call("c1", "python", code=CODE)]}, SAY_DONE),
        moves=(When(asked("c1"), Decide(CallId("c1"), "once")),),
        story=(
            began(),
            called("c1", "python", code=CODE),
            asked("c1"),
            decided("c1", "once"),
            started("c1"),
            called("c1.1", "glob", pattern="*.md"),
            started("c1.1"),
            finished("c1.1", "one.md"),
            finished("c1", "one.md\n2"),
            *DONE,
        ),
    ),
    Scenario(
        "question",
        replies=({"calls": [call("c1", "ask_user", question="Which?", choices=["left", "right"])]}, SAY_DONE),
        moves=(When(Seen("question", "Which?", "c1"), Reply(CallId("c1"), ("right",))),),
        story=(
            began(),
            called("c1", "ask_user", choices=["left", "right"], question="Which?"),
            started("c1"),
            Seen("question", "Which?", "c1"),
            Seen("answered", "right", "c1"),
            finished("c1", "right"),
            *DONE,
        ),
    ),
    Scenario(
        "question_to_nobody",
        is_unattended=True,
        replies=({"calls": [call("c1", "ask_user", question="Which?")]}, SAY_DONE),
        moves=(When(Seen("question", "Which?", "c1"), Reply(CallId("c1"))),),
        story=(
            began(),
            called("c1", "ask_user", question="Which?"),
            started("c1"),
            Seen("question", "Which?", "c1"),
            Seen("answered", "", "c1"),
            finished("c1", "The user did not answer; decide yourself and say what you assumed."),
            *DONE,
        ),
    ),
    Scenario(
        "as_it_was_made",
        made=MADE,
        before="Remember this.",
        replies=(
            SAY_DONE,
            {
                "calls": [call("c1", "bash", command="echo hi")],
                "expect": {"system": "Be a pirate.", "tools": ["glob"]},
            },
            SAY_DONE,
        ),
        story=(
            began(),
            called("c1", "bash", command="echo hi"),
            finished("c1", NO_SHELL, is_error=True),
            *DONE,
        ),
    ),
    Scenario(
        "structured_output",
        options=RunOptions(output_schema=SCHEMA),
        replies=(SAY_DONE, {"text": VALUE}),
        story=(began(), said("Done."), said(VALUE), ended("completed", VALUE)),
    ),
)
