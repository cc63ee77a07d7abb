"""Typed functions become tools: what the model sees, what the function gets, and what it returns."""

import asyncio
import dataclasses
import threading
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

import bridle
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, ToolCall
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.providers import Call, ScriptedProvider
from bridle.surfaces.python.tools import PythonTools, to_output, to_tools
from tests.surfaces.python.opened import events, kinds, opened

CONTEXT = ToolContext(SessionId("s"), "/", lambda text: None, CallId("c"))


class Address(pydantic.BaseModel):
    town: str
    zip: int = pydantic.Field(ge=1)


@dataclasses.dataclass
class Item:
    name: str
    pieces: int = 1


@bridle.tool
def ship(
    items: list[Item],
    to: Address,
    how: Literal["air", "sea"] = "sea",
    weight: Annotated[float | None, "in kilograms"] = None,
) -> str:
    """Send things.

    Args:
        items: what to send
    """
    return f"{items!r} {to!r} {how} {weight}"


def test_the_model_sees_name_docstring_and_types():
    assert ship.spec == ToolSpec(
        "ship",
        "Send things.",
        {
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/Item"},
                    "description": "what to send",
                },
                "to": {
                    "title": "Address",
                    "type": "object",
                    "properties": {
                        "town": {"title": "Town", "type": "string"},
                        "zip": {"minimum": 1, "title": "Zip", "type": "integer"},
                    },
                    "required": ["town", "zip"],
                    "additionalProperties": False,
                },
                "how": {"enum": ["air", "sea"], "default": "sea"},
                "weight": {
                    "anyOf": [{"type": "number"}, {"type": "null"}],
                    "description": "in kilograms",
                    "default": None,
                },
            },
            "required": ["items", "to"],
            "additionalProperties": False,
            "$defs": {
                "Item": {
                    "title": "Item",
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "pieces": {"type": "integer", "default": 1}},
                    "required": ["name"],
                    "additionalProperties": False,
                }
            },
        },
    )


async def test_a_function_gets_values_of_its_types_and_its_own_defaults():
    output = await ship.run({"items": [{"name": "a"}], "to": {"town": "x", "zip": 2}}, CONTEXT)

    assert output == ToolOutput("[Item(name='a', pieces=1)] Address(town='x', zip=2) sea None")


async def test_arguments_that_a_type_refuses_go_back_to_the_model():
    with pytest.raises(bridle.ToolError, match="zip: Input should be greater than or equal to 1"):
        await ship.run({"items": [], "to": {"town": "x", "zip": 0}}, CONTEXT)


def test_a_tool_can_still_be_called():
    @bridle.tool
    def double(n: int) -> int:
        return 2 * n

    assert double(4) == 8


def test_what_is_said_of_a_tool():
    @bridle.tool(name="pay-now", description="Pay.", access="execute", once=True)
    def pay() -> None:
        """Do not read this."""

    assert pay.spec == ToolSpec(
        "pay-now", "Pay.", {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    )
    assert pay.access({}, CONTEXT) == Access("pay-now", "execute", once=True)
    assert not pay.parallel
    assert ship.parallel


class Ledger:
    def __init__(self) -> None:
        self.sum = 0

    def add(self, amount: int) -> int:
        """Add."""
        self.sum += amount
        return self.sum

    async def __call__(self, amount: int) -> int:
        """Add, too."""
        return self.add(amount)


async def test_methods_and_callable_objects_are_functions_too():
    ledger = Ledger()
    add = bridle.tool(ledger.add)
    call = bridle.tool(name="call")(ledger)

    await add.run({"amount": 2}, CONTEXT)
    await call.run({"amount": 3}, CONTEXT)

    assert (add.spec.name, ledger.sum) == ("add", 5)


def untyped(a, b: int): ...
def starred(*args: int): ...
def unknown(a: "Nowhere"): ...  # noqa: F821
def strange(a: threading.Lock): ...


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (untyped, 'tool untyped: parameter "a" has no type'),
        (starred, 'tool starred: parameter "args": a tool takes named arguments only'),
        (unknown, "tool unknown: its types cannot be read: name 'Nowhere' is not defined"),
        (strange, "tool strange: strange_arguments has no JSON Schema"),
        (lambda: None, "'<lambda>' cannot name a tool"),
    ],
)
def test_a_function_that_a_model_cannot_be_told_is_refused(function: Any, problem: str):
    with pytest.raises(bridle.UsageError) as refused:
        bridle.tool(function)

    assert refused.value.message.startswith(problem)


class Point(msgspec.Struct):
    x: int


PICTURE = Media("image/png", "aGk=")


@pytest.mark.parametrize(
    ("said", "output"),
    [
        ("words", ToolOutput("words")),
        (None, ToolOutput("done")),
        (3.5, ToolOutput("3.5")),
        ([Point(1), {"a": (1, 2)}], ToolOutput('[{"x":1},{"a":[1,2]}]')),
        (Item("a"), ToolOutput('{"name":"a","pieces":1}')),
        ({"to": Address(town="x", zip=1)}, ToolOutput('{"to":{"town":"x","zip":1}}')),
        (PICTURE, ToolOutput("", media=(PICTURE,))),
        (["see", {"n": 1}, PICTURE], ToolOutput('see\n{"n":1}', media=(PICTURE,))),
        (ToolOutput("no", is_error=True), ToolOutput("no", is_error=True)),
    ],
)
def test_what_a_function_returns_is_what_the_model_reads(said: Any, output: ToolOutput):
    assert to_output("t", said) == output


def test_what_json_cannot_hold_is_an_error():
    with pytest.raises(
        bridle.ToolError, match="t returned a list, which is not JSON: there is a complex in it"
    ):
        to_output("t", [1j])


async def test_a_plain_function_runs_in_a_thread_and_an_async_one_on_the_loop():
    here = threading.get_ident()

    @bridle.tool
    def plain() -> int:
        """Return where."""
        return threading.get_ident()

    @bridle.tool
    async def on_loop() -> int:
        """Return where."""
        return threading.get_ident()

    assert (await plain.run({}, CONTEXT)).text != str(here)
    assert (await on_loop.run({}, CONTEXT)).text == str(here)


async def test_more_plain_functions_may_wait_than_the_loop_has_threads():
    barrier = threading.Barrier(40, timeout=10)

    @bridle.tool
    def meet() -> str:
        """Wait for all the others."""
        barrier.wait()
        return "met"

    outputs = await asyncio.gather(*(meet.run({}, CONTEXT) for _ in range(40)))

    assert {output.text for output in outputs} == {"met"}


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (ValueError("oh"), "ValueError('oh')"),
        (StopIteration(), "RuntimeError('the function raised StopIteration()')"),
        (SystemExit(3), "RuntimeError('the function raised SystemExit(3)')"),
    ],
)
async def test_what_a_plain_function_raises_ends_its_call_and_not_the_program(
    raised: BaseException, said: str
):
    @bridle.tool
    def fail() -> None:
        """Fail."""
        raise raised

    with pytest.raises(Exception) as failed:  # noqa: PT011  which one is the question
        await fail.run({}, CONTEXT)

    assert repr(failed.value) == said


def test_whatever_is_no_tool_is_refused():
    with pytest.raises(bridle.UsageError, match="3 is not a tool"):
        to_tools([3])  # type: ignore[list-item]
    with pytest.raises(bridle.UsageError, match="tools are a list"):
        to_tools(print)  # type: ignore[arg-type]
    with pytest.raises(bridle.UsageError, match="tool print: unknown access 'all'"):
        bridle.tool(access="all")(print)  # type: ignore[call-overload]
    with pytest.raises(bridle.UsageError, match='two tools are named "ship"'):
        to_tools([ship, ship])


class Many:
    """A dispatcher of two tools."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []

    @property
    def specs(self) -> list[ToolSpec]:
        return [ToolSpec(name, "", {"type": "object", "properties": {}}) for name in ("left", "right")]

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        self.calls.append(call)
        return ToolOutput(f"{call.name} it is")


async def test_lent_tools_are_called_by_name_and_say_what_they_touch():
    @bridle.tool(access="network")
    def fetch(context: bridle.ToolContext) -> str:
        """Fetch."""
        return f"{context.session} {context.call_id} {context.cwd}"

    many = Many()
    lent = PythonTools(to_tools([fetch, many]), SessionId("s"), "/here")

    assert [spec.name for spec in lent.specs] == ["fetch", "left", "right"]
    assert lent.access_of("fetch") == Access("fetch", "network")
    assert lent.access_of("left") == Access("left", "read")
    assert await lent.dispatch(ToolCall(CallId("c1"), "fetch")) == ToolOutput("s c1 /here")
    assert await lent.dispatch(ToolCall(CallId("c2"), "right")) == ToolOutput("right it is")
    with pytest.raises(bridle.ToolError, match="no tool is named 'up'"):
        await lent.dispatch(ToolCall(CallId("c3"), "up"))


async def test_functions_tools_and_dispatchers_work_in_a_run(tmp_path: Path):
    many = Many()
    calls = [
        Call("ship", {"items": [], "to": {"town": "x", "zip": 1}}),
        Call("left"),
        Call("broken"),
    ]
    provider = ScriptedProvider.of(calls, "{tool_results}")

    def broken() -> None:
        """Break."""
        raise ValueError("it broke")

    async with opened(provider, tmp_path, tools=[ship, many, broken]) as b:
        result = await (await b.session()).run("go")

    assert result.text.splitlines() == [
        "[] Address(town='x', zip=1) sea None",
        "left it is",
        "broken failed: ValueError: it broke",
    ]
    assert [call.name for call in many.calls] == ["left"]


async def test_a_tool_may_show_what_it_does_and_ask(tmp_path: Path):
    @bridle.tool
    async def greet(context: bridle.ToolContext) -> str:
        """Greet."""
        context.emit("thinking")
        assert context.ask is not None
        [name] = await context.ask(bridle.Question("Who are you?", ("Jo", "Al")))
        return f"hello {name}"

    seen = []

    def answer(asked: bridle.QuestionAsked) -> str:
        seen.append(asked.question)
        return "Al"

    provider = ScriptedProvider.of(Call("greet"), "{last_tool_result}")
    async with opened(provider, tmp_path, tools=[greet], answer=answer) as b:
        run = (await b.session()).stream("go")
        items = [item async for item in run]

    assert run.result.text == "hello Al"
    assert seen == [bridle.Question("Who are you?", ("Jo", "Al"))]
    assert [item.text for item in items if isinstance(item, bridle.ToolOutputDelta)] == ["thinking"]


async def test_tools_of_one_session_are_its_own_and_are_asked_about(tmp_path: Path):
    asked = []

    def approve(ask: bridle.ApprovalRequested) -> bool:
        asked.append((ask.tool, ask.args))
        return True

    @bridle.tool(access="write")
    def note(text: str) -> str:
        """Note."""
        return f"noted {text}"

    provider = ScriptedProvider.of(Call("note", {"text": "a"}), "{last_tool_result}")
    async with opened(provider, tmp_path, approve=approve) as b:
        first = await b.session(tools=[note])
        second = await b.session()
        assert (await first.run("go")).text == "noted a"
        assert (await second.run("go")).text.startswith("no tool is named 'note'")
        await first.aclose()
        assert (await (await b.session(first.id)).fork(1)).id != first.id
        records = await first.records()

    assert asked == [("note", {"text": "a"})]
    assert [event.tool for event in events(records, bridle.ToolStarted)] == ["note"]
    assert "ApprovalDecided" in kinds(records)


async def test_a_tool_of_ones_own_may_take_the_place_of_a_built_in_one(tmp_path: Path):
    def datetime() -> str:
        """Say the time."""
        return "teatime"

    provider = ScriptedProvider.of(Call("datetime"), "{last_tool_result}")
    async with opened(provider, tmp_path, tools=[datetime], builtins=True) as b:
        assert (await (await b.session()).run("go")).text == "teatime"


async def test_the_time_limit_of_the_settings_holds_for_every_kind_of_tool(tmp_path: Path):
    async def hang() -> None:
        await asyncio.Event().wait()

    class Dispatcher:
        specs = (bridle.ToolSpec("far", "", {"type": "object", "properties": {}}),)

        async def dispatch(self, call: bridle.ToolCall) -> bridle.ToolOutput:
            await hang()
            return bridle.ToolOutput("")

    for given, name in ((hang, "hang"), (Dispatcher(), "far")):
        provider = ScriptedProvider.of(Call(name), "{last_tool_result}")
        async with opened(provider, tmp_path, tools=[given], settings={"tools.timeout": "50ms"}) as b:
            session = await b.session()
            result = await session.run("go")
        assert result.text == f"{name} did not finish within 0.05 s"
