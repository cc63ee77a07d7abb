"""A process that starts a run in several sessions, reports when all of them are in a tool, and waits.

doomed.py HOME SESSION FOLDER [SESSION FOLDER …]
"""

import asyncio
import os
import sys
from pathlib import Path

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, Record, ToolStarted
from bridle.core.session_api import SessionApi


async def _into_a_tool(api: SessionApi, session: SessionId, folder: str) -> None:
    await api.create(cwd=folder, session_id=session)
    await api.submit(session, Prompt(user_message("go")))
    async for item in api.watch(session):
        if isinstance(item, Record) and isinstance(item.event, ToolStarted):
            return


async def _main(home: str, *plays: str) -> None:
    environ = {**os.environ, "BRIDLE_HOME": home}
    api = open_service(load_settings(environ, Path(home)), environ)
    for session, folder in zip(plays[::2], plays[1::2], strict=True):
        await _into_a_tool(api, SessionId(session), folder)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
