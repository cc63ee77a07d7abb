"""The daemon's gRPC service: its address, and the process status it reports."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from bridle.app import skills_in
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ConfigError
from bridle.core.session_api import SessionApi
from bridle.core.skill import render
from bridle.scale.token_auth import TokenGate
from bridle.sessions.service import SessionService
from bridle.surfaces.daemon.daemon_files import DaemonFiles

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # read at import; with fork support, forked children may abort

from bridle.surfaces.grpc.daemon import DaemonStatus
from bridle.surfaces.grpc.server import GrpcServer, serve_grpc

MODEL_PROVIDER = "llama"
"""The provider whose server the status describes."""


class GrpcService(Struct, frozen=True):
    """What the Kontekst gRPC protocol needs from the process."""

    settings: Settings
    environ: Mapping[str, str]
    service: SessionService
    api: SessionApi
    started_at: int
    stop: Callable[[], None]
    gate: TokenGate | None = None
    """Authenticates tenants' tokens."""

    async def status(self) -> DaemonStatus:
        """Return the status of the daemon and its model server, within a second or two."""
        from bridle.providers.llama.server_client import list_models

        llama = self.settings.providers.get(MODEL_PROVIDER)
        endpoint = llama.base_url if llama is not None else ""
        pid = self.service.server_pids().get(MODEL_PROVIDER, 0)
        return DaemonStatus(
            bind=self.settings.grpc.bind,
            started_at=self.started_at,
            uptime_s=max(0, int(time.time() - self.started_at / 1000)),
            data_dir=str(self.settings.written),
            endpoint=endpoint,
            model_dir=(llama.models_dir or "") if llama is not None else "",
            llama_healthy=bool(endpoint) and await list_models(endpoint) is not None,
            llama_running=bool(pid),
            llama_pid=pid,
        )

    def request_shutdown(self) -> None:
        """Start to shut down; returns at once."""
        self.stop()

    def render_skill(self, cwd: str, name: str, arguments: str) -> str:
        """Return a skill's text with its arguments filled in; raises ConfigError."""
        for skill in skills_in(load_settings(self.environ, Path(cwd))):
            if skill.name == name and skill.user_invocable:
                return render(skill, arguments, cwd).removesuffix("\n\n---\n\n")
        raise ConfigError(f"skill not found: {name[:80]}")

    def _usual_folder(self) -> Path:
        """Return the working folder of runs that name none."""
        settings = self.settings
        return settings.written if settings.kontekst else settings.user_folder or settings.home

    async def serve(self, address: tuple[str, int], place: DaemonFiles) -> GrpcServer:
        """Start to listen; raises UsageError when the port is taken."""
        host, port = address
        return await serve_grpc(
            self.api,
            self,
            address=f"[{host}]:{port}" if ":" in host else f"{host}:{port}",
            cwd=str(self._usual_folder()),
            approvals=self.settings.grpc.approvals,
            render_skill=self.render_skill,
            token=place.load_token() if self.settings.grpc.token else "",
            gate=self.gate,
            tls=self.settings.grpc.tls.files("grpc.tls"),
        )
