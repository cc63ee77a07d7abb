"""With a real daemon that is killed and restarted: no typed text and no answer is lost."""

import json
from pathlib import Path

from bridle.core.errors import DaemonGone
from bridle.core.session_api import SessionApi
from tests.surfaces.daemon.process import DaemonProcess
from tests.surfaces.tui.stage import tui

CALL = {"name": "bash", "args": {"command": "touch x"}}
REPLIES = json.dumps({"replies": [{"text": "the first answer"}, {"calls": [CALL]}, {"text": "never"}]})


async def test_the_daemon_is_killed_and_comes_back(tmp_path: Path, env: dict[str, str]):
    home, cwd = tmp_path / "home", tmp_path / "project"
    home.mkdir(exist_ok=True)
    cwd.mkdir()
    (tmp_path / "script.json").write_text(REPLIES)
    config = f'model = "scripted/{tmp_path}/script.json"\n'
    (home / "config.toml").write_text(config)
    daemon = DaemonProcess(home, env)
    await daemon.start()

    async def reached() -> SessionApi:
        if not daemon.place.is_held():
            raise DaemonGone("the daemon does not exist")
        return await daemon.client()

    try:
        async with tui(reached, home, cwd, config=config) as shown:
            await shown.send("hello")
            await shown.sees("the first answer", "✓ done")

            daemon.kill()
            await shown.sees("no connection")
            await shown.type("go on")
            await shown.press("enter")
            await shown.sees("not sent:")
            assert shown.typed == "go on"

            await daemon.start()
            await shown.until(lambda: shown.app.link.state == "ready")
            await shown.sees("the first answer")
            await shown.press("enter")
            await shown.sees("waits for you")

            daemon.kill()  # in the middle of a run
            await daemon.start()
            await shown.sees("interrupted", "Enter to resume it")
            await shown.press("enter")
            await shown.sees("waits for you", "touch x")
            await shown.press("ctrl+q")
        assert shown.app.return_value is not None
        assert shown.app.return_value.runs
    finally:
        daemon.close()
