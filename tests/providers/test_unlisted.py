import pytest

from bridle.core.errors import ProviderError
from bridle.providers import HttpFault, ScriptedProvider
from bridle.providers.catalog import UnlistedModelProvider
from tests.providers.conversation import ask, request


async def test_an_answer_passes_through():
    inner = ScriptedProvider.of("hello")

    outcome = await ask(UnlistedModelProvider(inner, "did you mean x?"))

    assert outcome.shown == [("text", "hello")]
    assert outcome.reply


@pytest.mark.parametrize(
    ("reason", "hint"), [("model_not_found", "did you mean v/x?"), ("rate_limited", ""), ("server_error", "")]
)
async def test_only_a_model_that_is_not_found_gets_the_hint(reason, hint: str):
    provider = UnlistedModelProvider(ScriptedProvider.of(HttpFault(reason=reason)), "did you mean v/x?")

    with pytest.raises(ProviderError) as caught:
        [item async for item in provider.stream(request())]

    assert (caught.value.kind, caught.value.hint) == (reason, hint)


async def test_who_stops_listening_closes_the_stream_behind_it():
    provider = UnlistedModelProvider(ScriptedProvider.of("a long answer"), "")
    stream = provider.stream(request())

    await anext(stream)
    await stream.aclose()

    with pytest.raises(StopAsyncIteration):
        await anext(stream)
