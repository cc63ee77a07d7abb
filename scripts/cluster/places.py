"""The local paths and ports that replace those of containers.

| in a container | here |
|---|---|
| `worker-1:7431`, and `0.0.0.0:7431` or `localhost:7431` inside of it | a free port of 127.0.0.1 |
| `/home/bridle` of a service | `FOLDER/services/NAME/home` |
| a volume | `FOLDER/volumes/NAME` |
| a mounted file or secret | `FOLDER/services/NAME/mounted/…` |
"""

import random
import re
import socket
from collections.abc import Mapping
from pathlib import Path

from scripts.cluster.compose import Mount, Service, filled_in

HOME = "/home/bridle"
PORTS = range(15_000, 32_000)  # below the ports that the system assigns automatically
THIS_MACHINE = "127.0.0.1"


class Places:
    """Maps addresses and paths of services to local ones, also inside texts."""

    def __init__(self, folder: Path, services: Mapping[str, Service], values: Mapping[str, str]) -> None:
        self.folder = folder
        self._values = values
        self._ports: dict[tuple[str, str], int] = {}
        self._paths = {name: self._mapped(service) for name, service in services.items()}
        names = "|".join(re.escape(name) for name in (*services, "0.0.0.0", THIS_MACHINE, "localhost"))
        self._address = re.compile(rf"(?<![\w.-])({names}):(\d+)(?!\d)")

    def here(self, service: str, text: str) -> str:
        """Return a text of a service with local addresses and paths."""
        paths = self._paths[service]
        targets = "|".join(re.escape(target) for target in sorted(paths, key=len, reverse=True))
        text = re.sub(rf"(?<![\w./-])({targets})(?![\w.-])", lambda match: str(paths[match[1]]), text)
        text = self._address.sub(lambda match: self._addressed(service, match), text)
        return filled_in(text, self._values)

    def path(self, service: str, target: str) -> Path:
        """Return the local path for a path in a service."""
        return Path(self.here(service, target))

    def port(self, service: str, port: str) -> int:
        """Return the local port for a port of a service."""
        if (service, port) not in self._ports:
            self._ports[service, port] = _free_port()
        return self._ports[service, port]

    def lay_out(self, service: Service) -> None:
        """Create the folders of a service and its mounts."""
        self.path(service.name, HOME).mkdir(parents=True, exist_ok=True)
        for mount in service.mounts:
            path = self.path(service.name, mount.target)
            if mount.volume:
                path.mkdir(parents=True, exist_ok=True)
                self._show_at_home(service.name, mount.target, path)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(0o600)
            text = Path(mount.file).read_text() if mount.file else self._values.get(mount.secret, "")
            path.write_text(self.here(service.name, text) if mount.file else text)

    def _show_at_home(self, service: str, target: str, volume: Path) -> None:
        """Link a volume that is mounted inside the home, for programs that use only paths in the home."""
        if target.startswith(f"{HOME}/"):
            link = self.path(service, HOME) / target.removeprefix(f"{HOME}/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(volume)

    def _addressed(self, service: str, match: re.Match[str]) -> str:
        host, port = match.groups()
        is_own = host in ("0.0.0.0", THIS_MACHINE, "localhost")
        name = "localhost" if host == "localhost" else THIS_MACHINE
        return f"{name}:{self.port(service if is_own else host, port)}"

    def _mapped(self, service: Service) -> dict[str, Path]:
        mine = self.folder / "services" / service.name
        found = {HOME: mine / "home"}
        for mount in service.mounts:
            found[mount.target] = self._mounted(mine, mount)
        return found

    def _mounted(self, mine: Path, mount: Mount) -> Path:
        if mount.volume:
            return self.folder / "volumes" / mount.volume
        if mount.target.startswith(f"{HOME}/"):
            return mine / "home" / mount.target.removeprefix(f"{HOME}/")
        return mine / "mounted" / mount.target.lstrip("/")


def _free_port() -> int:
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((THIS_MACHINE, port))
            except OSError:
                continue
        return port
