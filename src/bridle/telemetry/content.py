"""Message content for traces, if enabled: secrets masked, long text cut."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.json import encode

from bridle.core.messages import Message, Reasoning, Text, ToolCall
from bridle.telemetry.attributes import (
    INPUT_MESSAGES,
    OUTPUT_MESSAGES,
    TOOL_ARGUMENTS,
    TOOL_RESULT,
    Attributes,
    finish_reasons,
)
from bridle.telemetry.facts import FinishedRun, ModelCall, ToolUse

MAX_TEXT_CHARS = 8_192
MAX_PARTS = 64
_CUT = "…"


class Content:
    """Returns messages, arguments and results as span attributes."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask = mask

    def of_run(self, over: FinishedRun) -> Attributes:
        """Return the prompt and the final text of a run."""
        return {
            INPUT_MESSAGES: self._messages("user", [self._text(over.run.prompt)]),
            OUTPUT_MESSAGES: self._messages("assistant", [self._text(over.end.text)]),
        }

    def of_call(self, call: ModelCall) -> Attributes:
        """Return the reply of a model; empty if there was none."""
        if call.message is None or call.stop_reason is None:
            return {}
        parts = list(self._parts(call.message))[:MAX_PARTS]
        [reason] = finish_reasons(call.stop_reason)
        return {OUTPUT_MESSAGES: self._messages("assistant", parts, finish_reason=reason)}

    def of_tool(self, use: ToolUse) -> Attributes:
        """Return the arguments and the result of a tool call."""
        args = encode(use.args or {}).decode()
        return {TOOL_ARGUMENTS: self._cut(args), TOOL_RESULT: self._cut(use.output)}

    def _parts(self, message: Message) -> Iterator[dict[str, Any]]:
        for part in message.parts:
            match part:
                case Text():
                    yield self._text(part.text)
                case Reasoning():
                    yield {"type": "reasoning", "content": self._cut(part.text)}
                case ToolCall():
                    args = self._cut(encode(part.args).decode())
                    yield {"type": "tool_call", "id": part.id, "name": part.name, "arguments": args}
                case _:
                    pass

    def _text(self, text: str) -> dict[str, Any]:
        return {"type": "text", "content": self._cut(text)}

    def _messages(self, role: str, parts: list[dict[str, Any]], **more: str) -> str:
        return encode([{"role": role, "parts": parts, **more}]).decode()

    def _cut(self, text: str) -> str:
        # Mask before cutting, or half of a secret could remain.
        masked = self._mask(text)
        return masked if len(masked) <= MAX_TEXT_CHARS else masked[:MAX_TEXT_CHARS] + _CUT
