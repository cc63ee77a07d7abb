"""Attribute names and values of the GenAI conventions, and their mapping from Bridle's terms."""

from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.messages import StopReason, Usage

AttributeValue = str | bool | int | float | list[str]
Attributes = dict[str, AttributeValue]

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_STREAM = "gen_ai.request.stream"
AGENT = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
FINISH_REASONS = "gen_ai.response.finish_reasons"
TOKEN_TYPE = "gen_ai.token.type"
TOOL = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
ERROR = "error.type"

RUN_ID = "bridle.run.id"
OUTCOME = "bridle.run.outcome"
TURN = "bridle.turn"
TURNS = "bridle.run.turns"
TOOL_CALLS = "bridle.run.tool_calls"
COST = "bridle.cost"
ANSWER = "bridle.answer"

MAX_NAMES = 100  # distinct names per kind in metrics; a model may invent any number
OTHER = "other"

_PROVIDERS = {"gemini": "gcp.gemini", "mistral": "mistral_ai", "xai": "x_ai"}
"""Providers whose name in the conventions differs from our settings."""
_FINISHED: dict[StopReason, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_call",
    "content_filter": "content_filter",
    "cancelled": "cancelled",
}


def provider_and_model(ref: str) -> tuple[str, str]:
    """Split a model reference; the provider gets its name in the conventions."""
    provider, _, model = ref.partition("/")
    return _PROVIDERS.get(provider, provider), model


def finish_reasons(stop: StopReason) -> list[str]:
    """Return a stop reason in the conventions' terms."""
    return [_FINISHED[stop]]


def input_tokens(usage: Usage) -> int:
    """Return all input tokens, including those read from or written to a cache."""
    return usage.input + usage.cache_read + usage.cache_write


def usage_attributes(usage: Usage) -> Attributes:
    """Return usage attributes; counts that not every vendor reports only if nonzero."""
    found: Attributes = {
        "gen_ai.usage.input_tokens": input_tokens(usage),
        "gen_ai.usage.output_tokens": usage.output,
    }
    more = {
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
    }
    return found | {name: count for name, count in more.items() if count}


def tool_type(tool: str) -> str:
    """Return `extension` for a tool of an MCP server, otherwise `function`."""
    return "extension" if tool.startswith(MCP_PREFIX) else "function"


class NameLimit:
    """Limits the number of distinct names in metrics."""

    def __init__(self, most: int = MAX_NAMES) -> None:
        self._most = most
        self._known: set[str] = set()

    def of(self, name: str) -> str:
        """Return a name, or `OTHER` for a new name beyond the limit."""
        if name in self._known:
            return name
        if len(self._known) >= self._most:
            return OTHER
        self._known.add(name)
        return name
