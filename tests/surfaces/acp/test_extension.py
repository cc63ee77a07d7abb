"""The read-only extension requests, from the client of the official package."""

from pathlib import Path
from typing import Any

import pytest
from acp import RequestError

from tests.sessions.stage import Play, Stage, says
from tests.surfaces.acp.editor import editing
from tests.surfaces.changed import changed


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"BRIDLE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}


async def test_a_session_that_is_not_open_can_be_looked_at(tmp_path: Path, env: dict[str, str]):
    async with Stage(Play(says("Hello."))) as stage, editing(stage.service, tmp_path, env) as (agent, _):
        await stage.run("hi")

        async def look(name: str, **params: Any) -> Any:
            return await agent.ext_method(f"bridle/{name}", {"sessionId": "play", **params})

        assert await look("diff", after=0, upto=3) == {"changes": [], "text": ""}
        assert await look("plan_rewind", toSeq=1) == {
            "to_seq": 1,
            "changes": [],
            "conflicts": [],
            "lost": [],
        }
        context = await look("context")
        assert [message["role"] for message in context["messages"]] == ["user", "assistant"]
        assert (await look("context", at=1))["messages"] == []
        assert "## Assistant\n\nHello." in (await look("export"))["text"]
        assert (await look("export", format="html"))["text"].startswith("<!doctype html>")
        assert (await look("usage"))["runs"] == {"completed": 1}


async def test_changes_on_disk_are_shown_in_part(tmp_path: Path, env: dict[str, str]):
    async with changed(tmp_path) as (stage, between), editing(stage.service, tmp_path, env) as (agent, _):
        first = await agent.ext_method("bridle/diff", {"sessionId": "play", "upto": between})
        second = await agent.ext_method("bridle/diff", {"sessionId": "play", "after": between})
        plan = await agent.ext_method("bridle/plan_rewind", {"sessionId": "play", "toSeq": between})

    assert [one["path"] for one in first["changes"]] == ["a.txt"]
    assert ("+one" in first["text"], "-one" in second["text"], "+two" in second["text"]) == (True, True, True)
    assert plan["changes"] == [
        {"path": "a.txt", "before": second["changes"][0]["after"], "after": first["changes"][0]["after"]}
    ]


async def test_a_folder_can_be_looked_at(tmp_path: Path, env: dict[str, str]):
    async with Stage(Play()) as stage, editing(stage.service, tmp_path, env) as (agent, _):
        agents = await agent.ext_method("bridle/folder", {"what": "agents"})
        rules = await agent.ext_method("bridle/folder", {"what": "rules", "cwd": str(tmp_path)})

    assert agents["what"] == "agents"
    assert {"coder", "default"} <= {row["agent"] for row in agents["agents"]}
    assert rules == {"what": "rules", "rules": {"agent": "default", "mode": "ask", "rules": []}}


@pytest.mark.parametrize(
    ("method", "params", "code", "said"),
    [
        ("diff", {}, -32602, "_bridle/diff: sessionId: is missing"),
        ("diff", {"sessionId": "play", "after": -1}, -32602, "_bridle/diff: after: expected `int` >= 0"),
        ("diff", {"sessionId": "play", "to": 1}, -32602, "_bridle/diff: to: unknown field"),
        ("plan_rewind", {"sessionId": "play"}, -32602, "_bridle/plan_rewind: toSeq: is missing"),
        ("context", {"sessionId": ".."}, -32002, "'..' cannot name a session"),
        ("context", {"sessionId": "nobody"}, -32002, 'no session "nobody"'),
        ("usage", {"sessionId": "nobody"}, -32002, 'no session "nobody"'),
        (
            "export",
            {"sessionId": "play", "format": "pdf"},
            -32602,
            "_bridle/export: format: invalid enum value 'pdf'",
        ),
        ("folder", {"what": "rules", "cwd": "/nowhere"}, -32602, "cwd: '/nowhere' is not a folder"),
        (
            "folder",
            {"what": "stats", "cwd": "/"},
            -32602,
            "cwd: does not apply here; stats cover all sessions",
        ),
    ],
)
async def test_what_makes_no_sense_is_refused(
    tmp_path: Path, env: dict[str, str], method: str, params: dict[str, Any], code: int, said: str
):
    async with Stage(Play()) as stage, editing(stage.service, tmp_path, env) as (agent, _):
        with pytest.raises(RequestError) as caught:
            await agent.ext_method(f"bridle/{method}", params)

    assert (caught.value.code, str(caught.value)) == (code, said)
