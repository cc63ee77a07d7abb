"""A complete setup for the REST service: a home, a project, an engine with a scripted model, a client."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.ids import SessionId
from bridle.sessions.service import SessionService
from bridle.surfaces.rest.app import make_app
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.shared.folder_info import Folders


class House:
    """An engine in this process, asked by HTTP without a socket."""

    def __init__(self, service: SessionService, http: httpx.AsyncClient, project: Path) -> None:
        self.service = service
        self.http = http
        self.project = project

    async def get(self, path: str, **options: Any) -> httpx.Response:
        return await self.http.get(path, **options)

    async def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.post(path, json=body, headers=named)

    async def session(self, prompt: str = "") -> SessionId:
        """Start a session in the project, and run a prompt if there is one."""
        session = await self.service.create(cwd=str(self.project))
        if prompt:
            message = {"role": "user", "parts": [{"type": "text", "text": prompt}]}
            receipt = await self.post(f"/sessions/{session}/commands", {"type": "prompt", "message": message})
            await self.service.wait(session, receipt.json()["run_id"])
        return session


def settle(home: Path, tmp_path: Path, replies: Sequence[dict[str, Any]]) -> Path:
    """Write the settings and the script of a scripted model; returns the project."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": replies, "repeat": True}))
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f'model = "scripted/{script}"\n[lsp]\nenabled = false\n')
    return project


@asynccontextmanager
async def built(
    home: Path, tmp_path: Path, env: dict[str, str], replies: Sequence[dict[str, Any]]
) -> AsyncIterator[tuple[House, Starlette]]:
    """Open the house and close it; gives the app, too."""
    project = settle(home, tmp_path, replies)
    service = open_service(load_settings(env, project), env)
    streams = Streams(service)
    app = make_app(service, Folders(env, str(project)), streams, live=service.live)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        try:
            yield House(service, http, project), app
        finally:
            streams.stop()
            await service.aclose()


@asynccontextmanager
async def opened(
    home: Path, tmp_path: Path, env: dict[str, str], replies: Sequence[dict[str, Any]]
) -> AsyncIterator[House]:
    """Open the house and close it."""
    async with built(home, tmp_path, env, replies) as (house, _):
        yield house
