"""Query a provider and record everything it returns, for the contract tests."""

from typing import Any

from msgspec import Struct

from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.core.messages import Message, user_message
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.ports import Provider
from bridle.core.protocol import Delta, ReasoningDelta, TextDelta, ToolCallDelta


class Outcome(Struct):
    """One answer: its deltas joined where they belong together, and its end."""

    shown: list[tuple[str, str]] = []
    reply: ModelReply | None = None
    error: ProviderErrorKind | None = None
    retry_after_s: float | None = None


def request(*messages: Message, **fields: Any) -> ModelRequest:
    """Make a request, by default one that says hi."""
    given = {"model": "m", "system": "Be terse.", "messages": messages or (user_message("hi"),)}
    return ModelRequest(**(given | fields))


async def ask(provider: Provider, asked: ModelRequest | None = None) -> Outcome:
    """Stream one answer to its end."""
    outcome = Outcome()
    try:
        async for item in provider.stream(asked or request()):
            if isinstance(item, ModelReply):
                outcome.reply = item
            else:
                _join(outcome.shown, item)
    except ProviderError as error:
        outcome.error, outcome.retry_after_s = error.kind, error.retry_after_s
    return outcome


def _join(shown: list[tuple[str, str]], delta: Delta) -> None:
    match delta:
        case TextDelta():
            key, fragment = "text", delta.text
        case ReasoningDelta():
            key, fragment = "reasoning", delta.text
        case ToolCallDelta():
            key, fragment = f"{delta.name} {delta.call_id}", delta.args
        case _:
            raise AssertionError(delta)
    if shown and shown[-1][0] == key:
        fragment = shown.pop()[1] + fragment
    shown.append((key, fragment))
