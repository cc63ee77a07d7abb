"""Tool calls for models whose chat template has no tools: plans a request constrained by a JSON Schema.

```
tool_choice     a capable model                              a weak model (below a billion parameters)
auto            sees the tools; replies in text, or starts   replies in text: such a model cannot choose
                a call, which is then requested again,       between a tool and an answer
                constrained by the schema of all tools
required, NAME  constrained by the schema of the tools, or   the same, with short required arguments only
                of the named one
none            replies in text                              replies in text
```

The embedded model with its adapter does not come here: `bridle.providers.embedded.trained_format` serves it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import ProviderError
from bridle.core.messages import Message, Part, Text, ToolCall, ToolResult
from bridle.core.model import ModelRequest
from bridle.core.tool import ToolSpec
from bridle.providers.llama.server_client import ServerFacts
from bridle.providers.llama.tool_schema import bound_schema, call_schema
from bridle.providers.supported_schema import LLAMA, reduce_schema
from bridle.providers.wire_format import TOOL_PARAMS

# ---------------------------------------------------------------------------- tool messages
# Conversations for models without a tool role: results become user messages, calls assistant text.
#
# ```
# assistant  calls a, b                     assistant  {"tool": "a", …}  {"tool": "b", …}
# tool       result of a, result of b  ─▶   user       Tool: a ⏎⏎ Result: ⏎ …  ---  Tool: b ⏎⏎ Result: ⏎ …
# user       go on                                     ---  go on
# ```
#
# Each result is written out before they are joined, so that the model gets all of them.


SEPARATOR = "\n\n---\n\n"
CallStyle = Literal["keep", "text", "drop"]


def merge_tool_messages(messages: Sequence[Message], calls: CallStyle) -> tuple[Message, ...]:
    """Return the conversation without tool messages; adjacent messages of one role are merged.

    Calls are kept, written out as text, or dropped; a message that is then empty is dropped.
    """
    folded: list[Message] = []
    for message in messages:
        parts = tuple(_parts(message, calls))
        role = "user" if message.role == "tool" else message.role
        if not parts:
            continue
        if folded and folded[-1].role == role:
            gap = () if role == "assistant" and calls == "keep" else (Text(SEPARATOR),)
            folded[-1] = Message(role, (*folded[-1].parts, *gap, *parts))
        else:
            folded.append(Message(role, parts))
    return tuple(folded)


def result_text(result: ToolResult) -> str:
    """Return a result as text, in Kontekst's format."""
    return f"Tool: {result.name}\n\nResult:\n{result.output}"


def call_text(call: ToolCall) -> str:
    """Return a call as text, in the format that a model without tool support uses."""
    return msgspec.json.encode({"tool": call.name, "arguments": call.args}).decode()


def _parts(message: Message, calls: CallStyle) -> Iterator[Part]:
    is_first = True
    for part in message.parts:
        if isinstance(part, ToolResult):
            yield Text(result_text(part) if is_first else f"{SEPARATOR}{result_text(part)}")
            yield from part.media
            is_first = False
        elif not isinstance(part, ToolCall) or calls == "keep":
            yield part
        elif calls == "text":
            yield Text(call_text(part) if is_first else f"\n{call_text(part)}")
            is_first = False


# ---------------------------------------------------------------------------- tool plan


WEAK_BELOW_PARAMETERS = 1_000_000_000
MAX_ARGUMENT_TOKENS = 256  # for a weak model, which often does not stop
MAX_QUOTE_TOKENS = 192
# These keep a small model from repeating itself. A penalty on every token would also stop it from quoting a
# tool's result, so _QUOTING penalizes only long repetitions.
_TALKING: dict[str, Any] = {"temperature": 0.0, "repeat_penalty": 1.1}
_QUOTING: dict[str, Any] = {"temperature": 0.0, "dry_multiplier": 0.8, "dry_allowed_length": 6}

ToolMode = Literal["auto", "native", "constrained"]
PlanKind = Literal["native", "words", "choice", "call", "value"]


class RequestPlan(Struct, frozen=True):
    """The request to send instead, and how to read its reply.

    native: the server handles tool calls, and a call printed as text counts too. words: no call is possible.
    choice: text, unless it starts a call, which `then` requests. call: the text is a tool and its arguments.
    value: the text fits a schema; `then` asks without it if
    the server rejects it.
    """

    kind: PlanKind
    request: ModelRequest
    then: "RequestPlan | None" = None


def plan_request(
    request: ModelRequest,
    facts: ServerFacts,
    *,
    mode: ToolMode = "auto",
    tool_role: bool | None = None,
    weak_below: int = WEAK_BELOW_PARAMETERS,
) -> RequestPlan:
    """Return the plan for a request; raises ProviderError if `tool_choice` is invalid."""
    params = dict(request.params)
    role = params.pop("tool_role", tool_role)
    request = replace(request, params=params)
    if request.output_schema is not None:
        return _plan_value(request, facts, role, is_weak=0 < facts.parameters < weak_below)
    if mode == "native" or (mode == "auto" and facts.has_tools):
        messages = merge_tool_messages(request.messages, "keep") if role is False else request.messages
        return RequestPlan("native", replace(request, messages=messages))
    choice = params.pop("tool_choice", "auto")
    params.pop("parallel_tool_calls", None)
    tools = allowed_tools(request.tools, choice)
    if 0 < facts.parameters < weak_below:  # a model of unknown size counts as capable
        return _plan_weak(request, tools, is_forced=choice != "auto")
    return _plan_capable(request, tools, is_forced=choice != "auto")


def allowed_tools(tools: Sequence[ToolSpec], choice: Any) -> tuple[ToolSpec, ...]:
    """Return the tools that a `tool_choice` allows; raises ProviderError if it is invalid."""
    if choice == "none":
        return ()
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else choice.get("name")
        tools = [tool for tool in tools if tool.name == name]
        if not tools:
            raise ProviderError(f'tool_choice: unknown tool "{name}"', kind="invalid_request")
    elif choice not in ("auto", "required", "any"):
        raise ProviderError(f"tool_choice: {choice!r} is not known", kind="invalid_request")
    return tuple(tools)


# ---------------------------------------------------------------------------- capable models

_INSTRUCTIONS = """\
You have these tools:
{tools}

To use one, answer with nothing but {{"tool": "NAME", "arguments": {{...}}}} and you will get its result. \
To answer, use plain words."""


def _plan_capable(request: ModelRequest, tools: tuple[ToolSpec, ...], *, is_forced: bool) -> RequestPlan:
    messages = merge_tool_messages(request.messages, "text")
    if not tools:
        return RequestPlan("words", replace(request, messages=messages, tools=()))
    shown = "\n".join(
        f"- {tool.name}: {tool.description}\n  {msgspec.json.encode(tool.parameters).decode()}"
        for tool in tools
    )
    system = f"{request.system}\n\n{_INSTRUCTIONS.format(tools=shown)}".strip()
    asked = replace(request, system=system, messages=messages, tools=())
    call = RequestPlan("call", constrain_request(asked, call_schema(tools)))
    return call if is_forced else RequestPlan("choice", asked, then=call)


def _plan_value(request: ModelRequest, facts: ServerFacts, role: Any, *, is_weak: bool) -> RequestPlan:
    """Plan a request for a value, constrained by the part of its schema that a grammar can express."""
    messages = request.messages
    if role is False or not facts.has_tools:
        messages = merge_tool_messages(messages, "text")
    params = {key: value for key, value in request.params.items() if key not in TOOL_PARAMS}
    asked = replace(request, messages=messages, tools=(), params=params, output_schema=None)
    schema = reduce_schema(request.output_schema or {}, LLAMA).schema
    if schema is None:
        return RequestPlan("words", asked)
    return RequestPlan(
        "value",
        constrain_request(asked, bound_schema(schema) if is_weak else schema),
        then=RequestPlan("words", asked),
    )


def constrain_request(request: ModelRequest, schema: dict[str, Any]) -> ModelRequest:
    """Return the request with its reply constrained by a JSON Schema."""
    answer = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    return replace(request, params={**request.params, "response_format": answer})


# ---------------------------------------------------------------------------- weak models


def _plan_weak(request: ModelRequest, tools: tuple[ToolSpec, ...], *, is_forced: bool) -> RequestPlan:
    has_results = bool(request.messages) and request.messages[-1].role == "tool"
    # Without the calls, the results follow the question, which small models understand best.
    messages = merge_tool_messages(request.messages, "drop")
    sampling = _QUOTING if has_results else _TALKING
    asked = replace(request, messages=messages, tools=(), params={**sampling, **request.params})
    if tools and is_forced:
        short = replace(asked, max_output_tokens=min(request.max_output_tokens, MAX_ARGUMENT_TOKENS))
        return RequestPlan("call", constrain_request(short, call_schema(tools, is_weak=True)))
    if has_results:
        asked = replace(asked, max_output_tokens=min(request.max_output_tokens, MAX_QUOTE_TOKENS))
    return RequestPlan("words", asked)
