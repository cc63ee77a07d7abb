"""The embedded model answers by its name or by the path of any GGUF file."""

from pathlib import Path

import pytest

from bridle.core.errors import ProviderError
from bridle.core.messages import user_message
from bridle.core.model import Model, ModelReply, ModelRequest, Price
from bridle.providers.embedded.provider import embedded_provider
from bridle.providers.embedded.trained_format import WINDOW_TOKENS
from bridle.providers.llama.options import LlamaOptions
from bridle.sessions.structured_output import Extraction

SMALL = LlamaOptions(ctx_size=512, threads=1)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["name", "path"])
async def test_it_answers(weights: Path, tmp_path: Path, by: str) -> None:
    own = tmp_path / weights.name
    own.symlink_to(weights)
    name = weights.stem if by == "name" else str(own)
    provider = embedded_provider("embedded", name, weights.parent, options=SMALL)
    window = WINDOW_TOKENS if by == "name" else 512
    assert provider.model(name) == Model("embedded", name, window, 256, Price(0.0, 0.0))

    request = ModelRequest(name, "", (user_message("Say hello."),), (), 16)
    *_, reply = [item async for item in provider.stream(request)]

    assert isinstance(reply, ModelReply)
    assert reply.message.text
    assert reply.model == weights.stem
    await provider.aclose()


@pytest.mark.slow
async def test_it_gives_a_value_that_fits_a_schema(weights: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "country": {"enum": ["France", "Spain"]}},
        "required": ["city", "country"],
    }
    extraction = Extraction(schema, 0)
    said = f"Paris is the capital of France.\n\n{extraction.ask('', 0)}"
    provider = embedded_provider("embedded", weights.stem, weights.parent, options=SMALL)

    request = ModelRequest(
        weights.stem, "", (user_message(said),), (), 64, {"temperature": 0.0}, extraction.schema
    )
    *_, reply = [item async for item in provider.stream(request)]

    assert isinstance(reply, ModelReply)
    fits, value, _ = extraction.read(reply.message.text, asked=False)
    assert fits
    assert value["country"] in ("France", "Spain")
    await provider.aclose()


async def test_absent_weights_are_reported_with_the_way_to_get_them(tmp_path: Path) -> None:
    provider = embedded_provider("embedded", "smollm2-135m", tmp_path)

    with pytest.raises(ProviderError, match=r"file not found .hint: .*bridle models pull") as caught:
        await provider.facts("smollm2-135m")

    assert caught.value.kind == "invalid_request"

    await provider.aclose()
