"""How a request is adapted to a model without tools, by size and content."""

from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Message, ToolCall, ToolResult, user_message
from bridle.core.model import ModelRequest
from bridle.core.tool import ToolSpec
from bridle.providers.llama.server_client import ServerFacts
from bridle.providers.llama.tool_plan import RequestPlan, constrain_request, plan_request

NATIVE = ServerFacts(parameters=135_000_000)
WEAK = ServerFacts(parameters=135_000_000, has_tools=False)
CAPABLE = ServerFacts(parameters=7_000_000_000, has_tools=False)


def spec(name: str, *required: str) -> ToolSpec:
    properties = {key: {"type": "string"} for key in required}
    return ToolSpec(
        name, f"Do {name}.", {"type": "object", "properties": properties, "required": list(required)}
    )


TOOLS = (
    spec("bash", "command"),
    spec("edit_file", "path", "old_str", "new_str"),
    spec("grep", "pattern"),
    spec("list_files", "pattern"),
    spec("read_file", "path"),
    spec("web_fetch", "url"),
    spec("write_file", "path", "content"),
)
RESULT = (
    Message("assistant", (ToolCall(CallId("1"), "list_files", {"pattern": "*"}),)),
    Message("tool", (ToolResult(CallId("1"), "list_files", "a.txt"),)),
)


def request(*messages: Message | str, **params: Any) -> ModelRequest:
    talk = tuple(user_message(m) if isinstance(m, str) else m for m in messages)
    return ModelRequest("m", "Be kind.", talk, TOOLS, 1000, params)


def schema_of(plan: RequestPlan) -> dict[str, Any]:
    return plan.request.params["response_format"]["json_schema"]["schema"]


def test_a_model_that_knows_tools_gets_the_request_as_it_is() -> None:
    asked = request("hi", tool_choice="required")

    assert plan_request(asked, NATIVE) == RequestPlan("native", asked)


@pytest.mark.parametrize("where", ["option", "params"])
def test_results_are_folded_where_the_tool_role_is_off(where: str) -> None:
    asked = request("hi", *RESULT, **({"tool_role": False} if where == "params" else {}))

    plan = plan_request(asked, NATIVE, tool_role=False if where == "option" else None)

    assert [message.role for message in plan.request.messages] == ["user", "assistant", "user"]
    assert plan.request.messages[1].calls
    assert plan.request.tools == TOOLS
    assert plan.request.params == {}


@pytest.mark.parametrize("prompt", ["Who wrote Hamlet?", "List the files.", ""])
def test_a_weak_model_answers_as_if_there_were_no_tools(prompt: str) -> None:
    plan = plan_request(request(prompt), WEAK)

    params = {"temperature": 0.0, "repeat_penalty": 1.1}
    expected = ModelRequest("m", "Be kind.", (user_message(prompt),), (), 1000, params)
    assert plan == RequestPlan("words", expected)


def test_a_weak_model_answers_after_a_result() -> None:
    plan = plan_request(request("List the files.", *RESULT), WEAK)

    assert plan.kind == "words"
    said = "List the files.\n\n---\n\nTool: list_files\n\nResult:\na.txt"
    assert [message.text for message in plan.request.messages] == [said]
    assert plan.request.params == {"temperature": 0.0, "dry_multiplier": 0.8, "dry_allowed_length": 6}
    assert plan.request.max_output_tokens == 192


@pytest.mark.parametrize(
    "choice", [{"type": "function", "function": {"name": "grep"}}, {"type": "tool", "name": "grep"}]
)
def test_a_weak_model_can_be_made_to_use_one_tool(choice: dict[str, Any]) -> None:
    plan = plan_request(request("Who wrote Hamlet?", tool_choice=choice), WEAK)

    assert plan.kind == "call"
    assert schema_of(plan)["properties"]["tool"] == {"const": "grep"}
    assert "tool_choice" not in plan.request.params


def test_a_weak_model_that_must_choose_is_held_to_all_tools() -> None:
    plan = plan_request(request("Who wrote Hamlet?", tool_choice="required"), WEAK)

    assert plan.kind == "call"
    assert len(schema_of(plan)["anyOf"]) == len(TOOLS)


@pytest.mark.parametrize("facts", [WEAK, CAPABLE])
def test_without_tools_there_are_only_words(facts: ServerFacts) -> None:
    plan = plan_request(request("List the files.", tool_choice="none"), facts)

    assert plan.kind == "words"
    assert plan.request.system == "Be kind."


def test_a_capable_model_is_shown_the_tools_and_may_begin_a_call() -> None:
    plan = plan_request(request("hi", *RESULT), CAPABLE)

    assert plan.kind == "choice"
    assert "- grep: Do grep." in plan.request.system
    assert plan.request.tools == ()
    assert plan.request.messages[1].text == '{"tool":"list_files","arguments":{"pattern":"*"}}'
    assert plan.then is not None
    assert plan.then.kind == "call"
    assert len(schema_of(plan.then)["anyOf"]) == len(TOOLS)


def test_an_unknown_choice_is_refused() -> None:
    for choice in ({"name": "nope"}, "sometimes"):
        with pytest.raises(ProviderError, match="tool_choice"):
            plan_request(request("hi", tool_choice=choice), CAPABLE)


def test_the_mode_can_be_set() -> None:
    assert plan_request(request("hi"), WEAK, mode="native").kind == "native"
    assert plan_request(request("hi"), ServerFacts(), mode="constrained").kind == "choice"


# ---------------------------------------------------------------------------- values

AGE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
NOTE = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}


def wants(schema: dict[str, Any], *messages: Message | str, **params: Any) -> ModelRequest:
    return replace(request(*messages, **params), tools=(), output_schema=schema)


@pytest.mark.parametrize("facts", [NATIVE, CAPABLE, WEAK])
def test_a_value_is_held_to_its_schema_and_asked_for_without_where_that_is_refused(facts: ServerFacts):
    plan = plan_request(wants(AGE, "how old", temperature=0.0, tool_choice="auto"), facts)
    plain = ModelRequest("m", "Be kind.", (user_message("how old"),), (), 1000, {"temperature": 0.0})

    assert plan == RequestPlan("value", constrain_request(plain, AGE), then=RequestPlan("words", plain))


def test_a_weak_model_gets_an_end_for_its_texts():
    weak = plan_request(wants(NOTE, "hi"), WEAK)
    capable = plan_request(wants(NOTE, "hi"), CAPABLE)

    assert schema_of(capable) == NOTE
    assert schema_of(weak)["properties"] == {"note": {"type": "string", "maxLength": 160}}


def test_what_becomes_no_grammar_is_asked_for_in_words():
    plan = plan_request(wants({"enum": [[1]]}, "hi"), CAPABLE)

    assert plan == RequestPlan("words", ModelRequest("m", "Be kind.", (user_message("hi"),), (), 1000, {}))


@pytest.mark.parametrize(("facts", "role"), [(CAPABLE, None), (NATIVE, False)])
def test_results_are_told_in_words_where_a_model_knows_no_tools(facts: ServerFacts, *, role: bool | None):
    plan = plan_request(wants(AGE, "go", *RESULT), facts, tool_role=role)

    assert [message.role for message in plan.request.messages] == ["user", "assistant", "user"]
    kept = plan_request(wants(AGE, "go", *RESULT), NATIVE)
    assert [message.role for message in kept.request.messages] == ["user", "assistant", "tool"]
