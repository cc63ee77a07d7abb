"""A provider without a model: it turns each prompt into one tool call, so people can run a tool directly."""

from collections.abc import AsyncGenerator

from bridle.core.errors import ConfigError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall
from bridle.core.model import Model, ModelReply, ModelRequest, Price
from bridle.core.protocol import Delta

DIRECT_TOOLS = {"bash": "command", "python": "code"}
"""The tools that can run directly, each with the argument that takes the prompt."""

_WINDOW_TOKENS = 10_000_000  # no model reads it


class DirectProvider:
    """Replies to a prompt with one tool call, and to its result with empty text."""

    def __init__(self, tool: str) -> None:
        self._tool = tool

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        """Yield one reply, without deltas."""
        last = request.messages[-1]
        if last.role == "user":
            call = ToolCall(CallId(""), self._tool, {DIRECT_TOOLS[self._tool]: last.text})
            yield ModelReply(Message("assistant", (call,)), "tool_use")
        else:
            yield ModelReply(Message("assistant", (Text(""),)), "end_turn")

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""


def direct_model(provider: str, tool: str) -> Model:
    """Return a free model with a huge window; raises ConfigError for a tool that cannot run directly."""
    if tool not in DIRECT_TOOLS:
        raise ConfigError(
            f'model "{provider}/{tool}": {tool} cannot be used directly',
            hint=" and ".join(f"{provider}/{name}" for name in DIRECT_TOOLS) + " can",
        )
    return Model(provider, tool, _WINDOW_TOKENS, 1, price=Price(0.0, 0.0))
