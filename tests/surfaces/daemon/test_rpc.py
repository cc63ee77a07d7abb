"""The JSON-RPC socket of a daemon."""

import asyncio
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

from bridle.core.ids import SessionId
from bridle.surfaces.shared.session_calls import read_session
from tests.patience import PATIENCE_S
from tests.surfaces.daemon.process import DaemonProcess

LOADED = "import bridle.surfaces.daemon.process, sys; print('bridle.surfaces.rpc' in sys.modules)"


async def ask(path: Path, method: str, **params: Any) -> list[Any]:
    """Connect, send a request and return all messages up to its answer."""
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        writer.write(json.dumps(request).encode() + b"\n")
        heard: list[Any] = []
        async with asyncio.timeout(PATIENCE_S):
            while not heard or heard[-1].get("id") != 1:
                heard.append(json.loads(await reader.readline()))
        return heard
    finally:
        writer.close()


async def test_sessions_are_run_over_a_socket_of_the_users_own(daemon: DaemonProcess, tmp_path: Path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": [{"text": "Hello."}]}))
    await daemon.start()
    path = daemon.place.rpc

    *events, answer = await ask(
        path, "session/create", prompt="hi", model=f"scripted/{script}", cwd=str(tmp_path)
    )
    [listed] = await ask(path, "session/list")
    *_, elsewhere = await ask(path, "session/create", prompt="hi", model=f"scripted/{script}")
    async with daemon.reached() as client:
        homeless = await read_session(client, SessionId(elsewhere["result"]["session_id"]))
    mode = stat.S_IMODE(path.stat().st_mode)

    assert (answer["result"]["text"], events[-1]["params"]["event"]["type"]) == ("Hello.", "run_completed")
    assert [one["cwd"] for one in listed["result"]["sessions"]] == [str(tmp_path)]
    assert homeless.known.created.cwd == str(daemon.place.work)
    assert mode == 0o600
    assert daemon.ask_to_end() == 0
    assert not path.exists()


def test_a_daemon_that_nobody_asks_does_not_load_it(env: dict[str, str]):
    done = subprocess.run([sys.executable, "-c", LOADED], env=env, capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
