"""The self-descriptions of servers of several versions are read alike."""

from typing import Any

import pytest

from bridle.core.errors import ProviderError
from bridle.providers.llama.server_client import ServerAddress, ServerClient, ServerFacts, parse_facts

PROPS = {
    "default_generation_settings": {"n_ctx": 2048},
    "total_slots": 2,
    "chat_template_caps": {"supports_tools": False},
    "eos_token": "</s>",
}
MODELS = {"data": [{"id": "a", "meta": {"n_params": 1}}, {"id": "b", "meta": {"n_params": 2}}]}


@pytest.mark.parametrize(
    ("props", "models", "model", "facts"),
    [
        (PROPS, MODELS, "b", ServerFacts(2048, 2, 2, has_tools=False, end_token="</s>")),
        (PROPS, MODELS, "", ServerFacts(2048, 2, 0, has_tools=False, end_token="</s>")),
        (
            PROPS,
            {"data": MODELS["data"][:1]},
            "x",
            ServerFacts(2048, 2, 1, has_tools=False, end_token="</s>"),
        ),
        ({"chat_template": "{{ tools }}"}, None, "", ServerFacts()),
        ({"chat_template": "{{ messages }}"}, [], "", ServerFacts(has_tools=False)),
        ({"default_generation_settings": None, "total_slots": "x"}, {"data": [1]}, "", ServerFacts()),
    ],
)
def test_facts(props: dict[str, Any], models: Any, model: str, facts: ServerFacts) -> None:
    assert parse_facts(props, models, model) == facts


def test_an_address_does_not_show_its_key() -> None:
    assert repr(ServerAddress("http://127.0.0.1:1", "secret")) == "Address('http://127.0.0.1:1')"


async def test_a_server_that_is_not_there_is_not_well() -> None:
    control = ServerClient("llama")
    nobody = ServerAddress("http://127.0.0.1:1")

    assert not await control.is_healthy(nobody, 1)
    with pytest.raises(ProviderError, match="llama: /props cannot be reached"):
        await control.facts(nobody, "", 1)

    await control.aclose()
