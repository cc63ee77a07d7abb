"""Test a model with a one-word request."""

import asyncio
from contextlib import aclosing

from bridle.app.models import open_models
from bridle.config.settings import Settings

PROMPT = "Say hello in one word."
MAX_OUTPUT_TOKENS = 200  # enough for a model that reasons first
PATIENCE_S = 60.0


async def check_model(settings: Settings, ref: str, *, patience_s: float = PATIENCE_S) -> str:
    """Return a model's answer to a tiny request; raises ProviderError or ConfigError if it fails.

    Missing weights are not downloaded.
    """
    from bridle.core.errors import ProviderError
    from bridle.core.messages import user_message
    from bridle.core.model import ModelReply, ModelRequest

    models = open_models(settings)
    try:
        async with asyncio.timeout(patience_s):
            provider, model = await models.resolve(ref)
            longest = min(MAX_OUTPUT_TOKENS, model.max_output_tokens)
            request = ModelRequest(model.name, "", (user_message(PROMPT),), max_output_tokens=longest)
            async with aclosing(provider.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, ModelReply):
                        return item.message.text.strip()
    except TimeoutError as error:
        raise ProviderError(
            f"{ref} gave no answer within {patience_s:g} s", kind="network_timeout", hint="bridle doctor"
        ) from error
    finally:
        await models.aclose()
    raise ProviderError(f"{ref} ended without an answer", kind="empty_reply", hint="bridle doctor")
