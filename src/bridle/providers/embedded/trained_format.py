"""Serves requests of agents in the format that the adapter was trained on, and reads the calls it writes.

```
request ─▶ trained messages ─▶ server ─▶ words            ─▶ streamed as they come
                                       └▶ <tool_call>…     ─▶ parsed ─▶ repaired ─▶ a call
                                              malformed ─▶ asked once more, with a grammar
```

Requests for a title are served too. Other requests without tools (summaries) and those for a value of a
schema go to the weights without the adapter.
"""

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec.structs import replace

from bridle.core.messages import StopReason, Usage
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import Delta, TextDelta
from bridle.core.summary import TITLE_INSTRUCTION
from bridle.providers.embedded.call_repair import (
    NOT_SURE,
    KnownNames,
    parse_call,
    read_conversation,
    real_call,
    repair_call,
)
from bridle.providers.embedded.trained_messages import (
    CALL_END,
    CALL_START,
    OPTIONAL,
    TITLE_SYSTEM,
    TOOLS,
    offered_tools,
    system_text,
    title_prompt,
    trained_messages,
)
from bridle.providers.llama.tool_plan import allowed_tools
from bridle.providers.reply_builder import ReplyBuilder, reply_position
from bridle.providers.wire_format import TOOL_PARAMS, Items

WINDOW_TOKENS = 32_768
"""Tokens that a conversation may have: only its newest part is sent."""
MAX_CALLS = 8
MAX_ANSWER_CHARS = 2000
MAX_REPEATS = 3
MAX_REST_CHARS = 40  # after a call; what follows is not read
MALFORMED_CALL = "I could not write that tool call correctly. Please say it in other words."
TOO_LARGE = "That is too much for a model of my size. Connect a larger one with bridle init, and ask again."
_WITHOUT_ADAPTER = {"lora": [{"id": 0, "scale": 0.0}], "cache_prompt": False}
_WORDS_GRAMMAR = "root ::= [^<]+"
_LONG = ("content", "text", "command", "new")  # arguments that may be empty or have several lines
_GRAMMAR_TERMS = (
    r'line ::= [^\n<] [^\n]* | "<" [^\n/] [^\n]*',  # none is an early end of the call
    r'text ::= line? ("\n" line | "\n")*',
    r'numbers ::= [0-9]+ ("-" [0-9]+)?',
)

Ask = Callable[[ModelRequest], Items]


class TrainedFormat:
    """The trained format of one server; remembers whether the server's cache is that of the adapter."""

    window_tokens = WINDOW_TOKENS

    def __init__(self, who: str) -> None:
        self._who = who
        self._is_cached = True

    def takes(self, request: ModelRequest) -> bool:
        """Return whether a request is one of an agent or for a title, which the adapter was trained for."""
        return request.output_schema is None and (bool(request.tools) or _wants_title(request))

    def unserved(self, request: ModelRequest) -> ModelRequest:
        """Return a request for the weights without the adapter."""
        # The server would reuse the start of a cached prompt that was computed with other weights.
        self._is_cached = False
        return replace(request, params={**_WITHOUT_ADAPTER, **request.params})

    async def stream(self, request: ModelRequest, ask: Ask) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield the words of a reply as they come, then the reply; raises ProviderError."""
        tools, is_forced = _tools(request)
        known = read_conversation(request.messages)
        asked = self._trained(request, tools)
        if is_forced:
            asked = _constrained(asked, call_grammar(tools))
        elif len(known.done) >= MAX_CALLS:
            asked = _constrained(asked, _WORDS_GRAMMAR)
        reader = _WrittenReply(ReplyBuilder(self._who, reply_position(request)))
        async with aclosing(reader.read(ask(asked))) as deltas:
            async for delta in deltas:
                yield delta
        if reader.call:
            async with aclosing(_finish_call(reader, _TrainedRequest(asked, tools, known), ask)) as deltas:
                async for delta in deltas:
                    yield delta
        yield reader.finish()

    def _trained(self, request: ModelRequest, tools: Collection[str]) -> ModelRequest:
        params = {key: value for key, value in request.params.items() if key not in TOOL_PARAMS}
        if not self._is_cached:
            params["cache_prompt"] = False
            self._is_cached = True
        params = {"temperature": 0.0, **params}
        if _wants_title(request):
            prompt = title_prompt(request.messages[-1].text)
            return replace(request, system=TITLE_SYSTEM, messages=(prompt,), params=params)
        messages = trained_messages(request.messages)
        return replace(request, system=system_text(tools), messages=messages, tools=(), params=params)


def _wants_title(request: ModelRequest) -> bool:
    return request.system == TITLE_INSTRUCTION


class _TrainedRequest(msgspec.Struct, frozen=True):
    """One request in the trained format, and what its calls are checked against."""

    asked: ModelRequest
    tools: Collection[str]
    known: KnownNames


async def _finish_call(
    reader: "_WrittenReply", order: _TrainedRequest, ask: Ask
) -> AsyncGenerator[Delta, None]:
    """Yield the call that was read, or words in its place."""
    call = parse_call(reader.call, order.tools)
    if call is None and reader.stop_reason == "max_tokens":
        yield reader.say(TOO_LARGE)
        return
    if call is None or call in order.known.done:
        grammar = call_grammar(order.tools) if call is None else _WORDS_GRAMMAR
        async with aclosing(reader.read(ask(_constrained(order.asked, grammar)))) as deltas:
            async for delta in deltas:
                yield delta
        if not reader.call:
            return
        call = parse_call(reader.call, order.tools)
    if call is None:
        yield reader.say(MALFORMED_CALL)
        return
    repaired = repair_call(call, order.known)
    real = real_call(repaired, order.known) if repaired else None
    yield reader.add_call(*real) if real else reader.say(NOT_SURE)


class _WrittenReply:
    """Reads one reply: words until `<tool_call>`, then the text of a call."""

    def __init__(self, builder: ReplyBuilder) -> None:
        self._builder = builder
        self._usage = Usage()
        self._model = ""
        self.call = ""
        self.stop_reason: StopReason = "end_turn"

    async def read(self, items: Items) -> AsyncGenerator[Delta, None]:
        """Yield the words of a reply; `call` is then the text of its call, or empty."""
        self.call = ""
        shown, held = "", ""
        async with aclosing(items):
            async for item in items:
                if isinstance(item, ModelReply):
                    self._usage += item.usage
                    self._model, self.stop_reason = item.model, item.stop_reason
                elif isinstance(item, TextDelta):
                    held += item.text
                    words, held = _split(held)
                    if words:
                        shown += words
                        yield self.say(words)
                    if len(held.partition(CALL_END)[2]) > MAX_REST_CHARS:
                        break
                    if is_endless(shown):
                        held = ""
                        break
        if held.startswith(CALL_START):
            self.call = held
        elif held:
            yield self.say(held)

    def say(self, words: str) -> TextDelta:
        """Add words to the reply."""
        return self._builder.text(words)

    def add_call(self, name: str, args: dict[str, Any]) -> Delta:
        """Add a call to the reply."""
        return self._builder.call(0, name=name, args=msgspec.json.encode(args).decode())

    def finish(self) -> ModelReply:
        """Return the reply; raises ProviderError if it is empty."""
        return self._builder.finish(self.stop_reason, self._usage, self._model)


def _split(text: str) -> tuple[str, str]:
    """Split a text into words to show and what may be the start of a call."""
    words, start, rest = text.partition(CALL_START)
    if start:
        return words.rstrip() if words.strip() else "", start + rest
    for size in range(min(len(text), len(CALL_START) - 1), 0, -1):
        if text.endswith(CALL_START[:size]):
            return text[:-size], text[-size:]
    return text, ""


def is_endless(text: str) -> bool:
    """Return whether an answer is too long or repeats itself."""
    if len(text) > MAX_ANSWER_CHARS:
        return True
    tail = text[-40:]
    return len(tail) == 40 and text.count(tail) > MAX_REPEATS


def _tools(request: ModelRequest) -> tuple[tuple[str, ...], bool]:
    """Return the trained tools that a request offers, and whether one must be called."""
    choice = request.params.get("tool_choice", "auto")
    tools = offered_tools({tool.name for tool in allowed_tools(request.tools, choice)})
    return tools, bool(tools) and choice not in ("auto", "none")


def _constrained(request: ModelRequest, grammar: str) -> ModelRequest:
    return replace(request, params={**request.params, "grammar": grammar})


def call_grammar(tools: Collection[str]) -> str:
    """Return a grammar, in llama.cpp's notation, of one call of these tools."""
    calls = " | ".join(f"call{at}" for at in range(len(tools)))
    rules = [f"call{at} ::= {_call_rule(name)}" for at, name in enumerate(tools)]
    return "\n".join(
        [f"root ::= {_quoted(CALL_START)} ({calls}) {_quoted(CALL_END)}", *rules, *_GRAMMAR_TERMS]
    )


def _call_rule(name: str) -> str:
    *firsts, last = TOOLS[name]
    parts = [_quoted(f"{name}\n"), *[_argument(arg, "line") for arg in firsts]]
    end = _argument(last, "text" if last in _LONG else "line")
    return " ".join([*parts, f"({end})?" if last in OPTIONAL else end])


def _argument(name: str, term: str) -> str:
    return f'{"numbers" if name in ("lines", "line") else term} "\\n"'


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()
