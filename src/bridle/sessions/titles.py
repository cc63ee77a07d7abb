"""Titles: the small model names a session after its first prompt."""

from contextlib import aclosing

from bridle.core.messages import Message, Text
from bridle.core.model import ModelReply, ModelRequest, cost_of
from bridle.core.ports import Models
from bridle.core.protocol import SessionTitled
from bridle.core.summary import title_from

INSTRUCTION = (
    "Write a title for a conversation that begins with the text below. "
    "At most six words, in the language of the text, no quotes, nothing else."
)
MAX_PROMPT_CHARS = 2_000
MAX_OUTPUT_TOKENS = 60


async def write_title(models: Models, ref: str, prompt: Message) -> SessionTitled | None:
    """Ask a model for a title; None when it has nothing to say. Raises BridleError."""
    provider, model = await models.resolve(ref)
    request = ModelRequest(
        model.name,
        INSTRUCTION,
        (Message("user", (Text(prompt.text[:MAX_PROMPT_CHARS]),)),),
        max_output_tokens=min(MAX_OUTPUT_TOKENS, model.max_output_tokens),
    )
    async with aclosing(provider.stream(request)) as stream:
        async for item in stream:
            if isinstance(item, ModelReply) and (title := _clean(item.message.text)):
                return SessionTitled(title, model.ref, item.usage, cost_of(item.usage, model.price))
    return None


def _clean(text: str) -> str:
    """Take the first line, without the quotes and full stops that models like to add."""
    return title_from(text).strip(" \t\"'`*#.")
