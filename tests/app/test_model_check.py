from pathlib import Path

import pytest

from bridle.app.models import PROMPT, check_model
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ProviderError
from bridle.providers import ErrorFault, HangFault, Reply, Script
from bridle.providers.scripted_server import ScriptedServer


def settings(folder: Path, url: str) -> Settings:
    (folder / ".bridle").mkdir()
    (folder / ".bridle" / "config.toml").write_text(f'[providers.box]\nbase_url = "{url}/v1"\n')
    return load_settings({"HOME": str(folder)}, folder)


async def test_a_model_answers_a_tiny_request(tmp_path: Path):
    async with ScriptedServer(Script((Reply(" Hello! \n"),))) as server:
        assert await check_model(settings(tmp_path, server.url), "box/m") == "Hello!"
        (asked,) = server.requests

    assert len(PROMPT) < 40
    assert asked.body["max_tokens"] <= 200


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(ErrorFault(reason="server_overloaded"), "server_overloaded"), (HangFault(after=0), "network_timeout")],
)
async def test_a_model_that_does_not_answer_is_an_error(tmp_path: Path, fault: ErrorFault, kind: str):
    async with ScriptedServer(Script((Reply("x", fault=fault),))) as server:
        with pytest.raises(ProviderError) as raised:
            await check_model(settings(tmp_path, server.url), "box/m", patience_s=1.0)

    assert raised.value.kind == kind
