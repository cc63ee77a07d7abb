"""Code mode: fenced Python in a reply runs as a call, and the model gets only text."""

import pytest

from bridle.core.errors import ConfigError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message
from bridle.core.model import ModelReply
from bridle.core.permission import parse_rule
from bridle.core.ports import ToolOutput
from bridle.core.protocol import ModelReplied, ToolFinished, ToolStarted
from bridle.core.tool import Access, ToolSpec
from tests.sessions.stage import Play, SmallTool, Stage, says

BLOCK = "I look.\n```python\nawait look(on='a')\n```"


class FakePython(SmallTool):
    """Shows the code that it is given."""

    def __init__(self) -> None:
        super().__init__("python", lambda on: "", access="execute")
        self.spec = ToolSpec(
            "python",
            "Run Python.",
            {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
        )

    def access(self, args, context):
        return Access("python", "execute")

    async def preview(self, args, context):
        return args["code"]

    async def run(self, args, context):
        self.calls.append(args["code"])
        return ToolOutput(f"ran {len(self.calls)}")


def look() -> SmallTool:
    return SmallTool("look", lambda on: f"saw {on}")


def stage(play: Play, python: FakePython) -> Stage:
    return Stage(play, tools=[python, look()], rules=[parse_rule("allow", "python")])


async def test_a_block_is_a_call_of_python_and_the_model_gets_its_output_as_words():
    play, python = Play(says(BLOCK), says("It is done.")), FakePython()
    async with stage(play, python) as on_stage:
        ended = await on_stage.run("hi", code=True)
        log = await on_stage.log()

    assert (ended.outcome, ended.text, ended.tool_calls) == ("completed", "It is done.", 1)
    assert python.calls == ["await look(on='a')"]
    replied = [event.message for event in log if isinstance(event, ModelReplied)]
    block = ToolCall(CallId("call_1_1"), "python", {"code": "await look(on='a')"}, meta={"fenced": True})
    assert replied == [
        Message("assistant", (Text(BLOCK), block)),
        Message("assistant", (Text("It is done."),)),
    ]
    assert [request.tools for request in play.requests] == [(), ()]
    assert play.requests[1].messages == (
        user_message("hi"),
        Message("assistant", (Text(BLOCK),)),
        user_message("[Output]\nran 1"),
    )


async def test_the_prompt_tells_which_functions_there_are():
    play = Play(says("Hello."))
    async with stage(play, FakePython()) as on_stage:
        await on_stage.run("hi", code=True)

    system = play.requests[0].system
    assert system.startswith("You are a play.\n\nYou act by writing Python.")
    assert "- `look(on: str) -> str` — The look tool." in system
    assert "- `python(" not in system


async def test_a_block_that_was_cut_off_at_the_limit_does_not_run():
    cut = ModelReply(Message("assistant", (Text("```python\nlook('a"),)), "max_tokens")
    play, python = Play(cut, says("Shorter then.")), FakePython()
    async with stage(play, python) as on_stage:
        ended = await on_stage.run("hi", code=True)
        log = await on_stage.log()

    assert ended.text == "Shorter then."
    assert python.calls == []
    assert not [event for event in log if isinstance(event, ToolStarted)]
    [finished] = [event for event in log if isinstance(event, ToolFinished)]
    assert finished.result.is_error
    assert "cut off" in finished.result.output
    assert play.requests[1].messages[-1].text.startswith("[Error]\n")


async def test_the_same_session_goes_on_with_tool_calls_and_back_in_code():
    call = ToolCall(CallId("l"), "look", {"on": "b"})
    play, python = (
        Play(says(BLOCK), says("One."), says("", call), says("Two."), says("Three.")),
        FakePython(),
    )
    async with stage(play, python) as on_stage:
        await on_stage.run("first", code=True)
        await on_stage.run("second")
        await on_stage.run("third", code=True)

    with_tools, in_code = play.requests[3], play.requests[4]
    assert {spec.name for spec in with_tools.tools} == {"look", "python"}
    results = [
        part for message in with_tools.messages for part in message.parts if isinstance(part, ToolResult)
    ]
    assert [result.output for result in results] == ["ran 1", "saw b"]
    assert [message.role for message in in_code.messages] == ["user", "assistant"] * 4 + ["user"]
    assert in_code.messages[5].text == "```python\nawait look(on='b')\n```"
    assert in_code.messages[6].text == "[Output of look]\nsaw b"


async def test_code_without_the_tool_is_refused():
    async with Stage(Play(says("Hello.")), tools=[look()]) as on_stage:
        with pytest.raises(ConfigError, match="code mode needs the tool python, which is not available"):
            await on_stage.run("hi", code=True)
