"""The small tools: todos, questions, time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.permission import judge
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.core.protocol import Question, Todo, TodosChanged
from bridle.tools import basic_tools as basic_tools_module
from bridle.tools.arguments import fit_arguments
from bridle.tools.basic_tools import NO_ANSWER, AskUser, DateTime, Todos, Wait, basic_tools


class StoppedClock(Struct, frozen=True):
    """A clock that always shows the same time."""

    at_ms: int = 1_700_000_000_500

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_s(self) -> float:
        return 0.0


async def refusal(tool: Tool, args: dict[str, Any], context: ToolContext) -> str:
    with pytest.raises(ToolError) as caught:
        await tool.run(args, context)
    return str(caught.value)


# ---------------------------------------------------------------------------- todos


async def test_the_list_is_replaced_and_shown(context: ToolContext):
    todos = [
        {"text": "look", "status": "completed"},
        {"text": " write\n it ", "status": "in_progress"},
        {"text": "test"},
    ]

    assert await Todos().run({"todos": todos}, context) == ToolOutput(
        "[x] look\n[>] write it\n[ ] test",
        notes=(
            TodosChanged(
                (Todo("look", "completed"), Todo("write it", "in_progress"), Todo("test", "pending"))
            ),
        ),
    )


async def test_the_list_may_become_empty(context: ToolContext):
    assert await Todos().run({"todos": []}, context) == ToolOutput(
        "The list is empty.", notes=(TodosChanged(()),)
    )


@pytest.mark.parametrize(
    ("todos", "error"),
    [
        (
            [{"text": text, "status": "in_progress"} for text in "ab"],
            "only one todo may be in_progress, not 2 (hint: finish 'a' first)",
        ),
        ([{"text": " \n", "status": "pending"}], "a todo needs text"),
        ([{"text": "a", "status": "done"}], "Invalid enum value 'done' - at \"$.todos[0].status\""),
        ([{"text": "a" * 501}], 'Expected "str" of length <= 500 - at "$.todos[0].text"'),
        ([{"text": "a"}] * 101, 'Expected "array" of length <= 100 - at "$.todos"'),
        ("a", 'Expected "array", got "str" - at "$.todos"'),
    ],
    ids="busy blank status long many kind".split(),
)
async def test_a_list_that_makes_no_sense_is_refused(context: ToolContext, todos: Any, error: str):
    assert await refusal(Todos(), {"todos": todos}, context) == error


@given(
    st.lists(st.fixed_dictionaries({"text": st.text(), "status": st.sampled_from(["pending", "completed"])}))
)
def test_a_list_keeps_its_order_and_shows_one_line_for_each(todos: list[dict[str, str]]):
    try:
        output = asyncio.run(Todos().run({"todos": todos}, ToolContext(SessionId("s"), "/", print)))
    except ToolError:
        assert any(not todo["text"].strip() for todo in todos) or len(todos) > 100
        return

    assert [todo.status for todo in output.notes[0].todos] == [todo["status"] for todo in todos]
    assert len(output.text.split("\n")) == max(1, len(todos))


# ---------------------------------------------------------------------------- ask_user


def answering(*answers: str) -> tuple[Callable[[Question], Awaitable[tuple[str, ...]]], list[Question]]:
    asked: list[Question] = []

    async def ask(question: Question) -> tuple[str, ...]:
        asked.append(question)
        return answers

    return ask, asked


async def test_the_user_is_asked(context: ToolContext):
    ask, asked = answering("tabs", "spaces")
    args = {"question": " Which? \n", "choices": ["tabs", " spaces "], "several": True}

    output = await AskUser().run(args, replace(context, ask=ask))

    assert output == ToolOutput("tabs\nspaces")
    assert asked == [Question("Which?", ("tabs", "spaces"), several=True)]


async def test_a_question_without_choices_has_one_answer(context: ToolContext):
    ask, asked = answering("Ada")

    assert await AskUser().run(
        {"question": "Name?", "several": True}, replace(context, ask=ask)
    ) == ToolOutput("Ada")
    assert asked == [Question("Name?")]


async def test_nobody_answers(context: ToolContext):
    ask, _ = answering()

    assert await AskUser().run({"question": "Name?"}, context) == ToolOutput(NO_ANSWER)
    assert await AskUser().run({"question": "Name?"}, replace(context, ask=ask)) == ToolOutput(NO_ANSWER)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"question": " "}, "the question is empty"),
        ({"question": "a" * 2001}, 'Expected "str" of length <= 2000 - at "$.question"'),
        ({"question": "a", "choices": ["x", " x"]}, "two choices are the same"),
        ({"question": "a", "choices": [""]}, "a choice is empty"),
        ({"question": "a", "choices": list("abcdefghi")}, 'Expected "array" of length <= 8 - at "$.choices"'),
        ({"question": "a", "choices": ["x" * 201]}, 'Expected "str" of length <= 200 - at "$.choices[0]"'),
        ({}, 'Object missing required field "question"'),
    ],
    ids="blank long same empty many wide none".split(),
)
async def test_a_question_that_makes_no_sense_is_refused(
    context: ToolContext, args: dict[str, Any], error: str
):
    ask, asked = answering("x")

    assert await refusal(AskUser(), args, replace(context, ask=ask)) == error
    assert asked == []


async def test_a_question_can_be_cancelled(context: ToolContext):
    asked = asyncio.Event()

    async def ask(_: Question) -> tuple[str, ...]:
        asked.set()
        await asyncio.Event().wait()
        return ()

    task = asyncio.create_task(AskUser().run({"question": "a"}, replace(context, ask=ask)))
    await asked.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


# ---------------------------------------------------------------------------- datetime


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2023-11-14T22:13:20+00:00\nTuesday, UTC (UTC)\nepoch 1700000000"),
        ("Asia/Tokyo", "2023-11-15T07:13:20+09:00\nWednesday, Asia/Tokyo (JST)\nepoch 1700000000"),
        (" Europe/Berlin ", "2023-11-14T23:13:20+01:00\nTuesday, Europe/Berlin (CET)\nepoch 1700000000"),
    ],
)
async def test_the_time_is_told_in_a_zone(context: ToolContext, zone: str, text: str):
    assert await DateTime(StoppedClock()).run({"timezone": zone}, context) == ToolOutput(text)


async def test_the_time_is_local_by_default(context: ToolContext):
    local = datetime.fromtimestamp(1_700_000_000).astimezone()

    assert await DateTime(StoppedClock()).run({}, context) == ToolOutput(
        f"{local.isoformat()}\n{local:%A}, local time ({local:%Z})\nepoch 1700000000"
    )


@pytest.mark.parametrize(
    ("zone", "error"),
    [
        ("europe/berlim", "unknown time zone 'europe/berlim' (hint: did you mean Europe/Berlin"),
        ("Berlin", "unknown time zone 'Berlin' (hint: did you mean Europe/Berlin?)"),
        ("new york", "unknown time zone 'new york' (hint: did you mean America/New_York?)"),
        ("Moon", "unknown time zone 'Moon' (hint: write it as Europe/Paris)"),
        ("../../etc/passwd", "unknown time zone '../../etc/passwd'"),
        ("/etc/localtime", "unknown time zone '/etc/localtime'"),
        ("Europe", "unknown time zone 'Europe'"),
        ("a\0b", "unknown time zone 'a\\x00b'"),
        ("x" * 101, 'Expected "str" of length <= 100 - at "$.timezone"'),
    ],
)
async def test_an_unknown_zone_is_refused_with_near_names(context: ToolContext, zone: str, error: str):
    assert (await refusal(DateTime(StoppedClock()), {"timezone": zone}, context)).startswith(error)


# ---------------------------------------------------------------------------- wait


@pytest.mark.parametrize(("seconds", "text"), [(0, "Waited 0 s"), (0.01, "Waited 0.01 s")])
async def test_time_passes(context: ToolContext, seconds: float, text: str):
    began = time.monotonic()

    assert await Wait().run({"seconds": seconds}, context) == ToolOutput(text)
    assert time.monotonic() - began >= seconds


@pytest.mark.parametrize("seconds", [-1, 301, 1e300, float("nan"), float("inf"), True, None, "1"])
async def test_too_long_a_wait_is_refused(context: ToolContext, seconds: Any):
    assert "seconds" in await refusal(Wait(), {"seconds": seconds}, context)


async def test_a_wait_can_be_cancelled(context: ToolContext):
    task = asyncio.create_task(Wait().run({"seconds": 300}, context))
    await asyncio.sleep(0)
    began = time.monotonic()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 300


# ---------------------------------------------------------------------------- what rules and models see


def test_no_tool_of_the_module_is_left_out():
    defined = {
        kind
        for kind in vars(basic_tools_module).values()
        if isinstance(kind, type) and kind.__module__ == basic_tools_module.__name__ and hasattr(kind, "spec")
    }

    assert {type(tool) for tool in basic_tools(StoppedClock())} == defined >= {AskUser, DateTime, Todos, Wait}


def test_every_tool_is_described():
    for tool in basic_tools(StoppedClock()):
        assert 50 < len(tool.spec.description) < 400


def test_what_takes_turns_with_other_calls():
    assert [AskUser().parallel, Todos().parallel] == [False, False]
    assert [DateTime(StoppedClock()).parallel, Wait().parallel] == [True, True]


@pytest.mark.parametrize("mode", ["ask", "plan", "accept-edits", "yolo"])
async def test_none_of_them_asks_for_permission(context: ToolContext, mode: Any):
    for tool in basic_tools(StoppedClock()):
        args = {"name": "x"} if tool.spec.name == "skill" else {}
        assert judge(tool.access(args, context), (), mode).action == "allow"
        assert await tool.preview(args, context) == ""


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        (Todos(), {"todos": [{"status": "pending"}]}),
        (Todos(), {"todos": [{"text": "a", "status": "later"}]}),
        (AskUser(), {"question": 1}),
        (AskUser(), {"choices": ["x"]}),
        (Wait(), {"seconds": 301}),
        (Wait(), {}),
    ],
    ids=range(6),
)
def test_the_schema_refuses_what_the_tool_would(tool: Tool, args: dict[str, Any]):
    with pytest.raises(ToolError):
        fit_arguments(tool.spec, args)
