"""The read-only methods of JSON-RPC besides Meerkat's."""

from pathlib import Path

import pytest

from tests.sessions.stage import Play, Stage, says
from tests.surfaces.rpc.client import RpcError, talking


async def test_a_session_is_looked_at_and_removed():
    async with Stage(Play(says("Hello."))) as stage, talking(stage.service) as talk:
        await talk.call("turn/start", session_id="play", prompt="hi")

        diff = await talk.call("session/diff", session_id="play")
        plan = await talk.call("session/plan_rewind", session_id="play", to_seq=1)
        context = await talk.call("session/context", session_id="play")
        texts = {
            name: (await talk.call("session/export", session_id="play", format=name))["text"]
            for name in ("md", "json", "html")
        }
        usage = await talk.call("session/usage", session_id="play")
        stats = await talk.call("stats/get")
        gone = await talk.call("session/delete", session_id="play")
        with pytest.raises(RpcError, match='no session "play"'):
            await talk.call("session/read", session_id="play")

    assert diff == {"changes": [], "text": ""}
    assert plan == {"to_seq": 1, "changes": [], "conflicts": [], "lost": []}
    assert [message["role"] for message in context["messages"]] == ["user", "assistant"]
    assert all("Hello." in text for text in texts.values())
    assert (usage["sessions"], usage["runs"]) == (1, {"completed": 1})
    assert (stats["sessions"], stats["runs"], stats["left_out"]) == (1, {"completed": 1}, [])
    assert gone == {"deleted": True}


async def test_a_folder_is_looked_at(tmp_path: Path):
    environ = {"BRIDLE_HOME": str(tmp_path / "home")}
    async with Stage(Play()) as stage, talking(stage.service, str(tmp_path), environ) as talk:
        agents = await talk.call("agents/list")
        models = await talk.call("models/list")
        rules = await talk.call("rules/list", cwd=str(tmp_path))
        servers = await talk.call("servers/list")
        with pytest.raises(RpcError, match="is not a folder"):
            await talk.call("rules/list", cwd="/nowhere")

    assert {"coder", "default"} <= {row["agent"] for row in agents["agents"]}
    assert all("ref" in model for model in models["models"])
    assert servers == {"servers": []}
    assert rules == {"agent": "default", "mode": "ask", "rules": []}
