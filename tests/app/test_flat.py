"""After many sessions, a process uses no more than after a few."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, ToolFinished
from bridle.core.queries import Records
from bridle.providers import scripted
from bridle.sessions.service import SessionService
from tests.holding import held

FIRST, MORE = 2, 3  # sessions
ROUNDS = 3


def script() -> dict[str, Any]:
    calls = [
        {"name": "write_file", "args": {"path": "{last_user}.txt", "content": "made"}},
        {"name": "bash", "args": {"command": "cat *.txt"}},
        {"name": "python", "args": {"code": "6 * 7"}},
        {"name": "agent_spawn", "args": {"prompt": "sub: look"}},
    ]
    turns = [{"match": "^go", "calls": [call]} for call in calls]
    return {"replies": [*turns, {"match": "^go", "text": "done"}, {"match": "^sub", "text": "seen"}]}


async def lead(service: SessionService, cwd: Path) -> list[str]:
    """Lead one session from its beginning to its end; return which calls came to something."""
    session = await service.create(cwd=str(cwd))
    receipt = await service.submit(session, Prompt(user_message(f"go-{session}")))
    ended = await service.wait(session, receipt.run_id)
    assert (ended.outcome, ended.text) == ("completed", "done"), ended
    await service.drop_idle(0.0, 0)
    events = [record.event for record in await service.ask(Records(session))]
    results = [event.result for event in events if isinstance(event, ToolFinished)]
    return [result.name for result in results if not result.is_error]


async def test_sessions_that_come_and_go_leave_nothing(
    home: Path, env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scripted, "MAX_KEPT_REQUESTS", 1)
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "script.json").write_text(json.dumps(script()))
    config = f'model = "scripted/{tmp_path}/script.json"\n[rules]\nmode = "yolo"\n'
    (home / "config.toml").write_text(f"{config}[lsp]\nenabled = false\n[memory]\nenabled = false\n")
    env = {**env, "PATH": os.environ["PATH"]}
    service = open_service(load_settings(env, project), env)
    try:
        worked = [await lead(service, project) for _ in range(FIRST)]
        before, grown = await held(), {"": 1}
        for _ in range(ROUNDS):
            worked += [await lead(service, project) for _ in range(MORE)]
            after = await held()
            grown = after.beyond(before)
            if not grown:
                break
            before = after  # a kernel that is kept ready may have come late; a leak grows again
    finally:
        await service.aclose()

    assert grown == {}
    assert all(calls == ["write_file", "bash", "python", "agent_spawn"] for calls in worked)
