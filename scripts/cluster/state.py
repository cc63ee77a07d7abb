"""The state of a running cluster: a file in its folder, which only the supervisor writes."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

Condition = Literal["waiting", "starting", "running", "healthy", "unhealthy", "done", "failed", "left out"]


class ServiceState(Struct):
    """The state of a service."""

    condition: Condition = "waiting"
    pid: int = 0
    restarts: int = 0
    status: int | None = None
    """The exit code of its last run."""
    addresses: dict[str, str] = {}
    """The local address for each port in the compose file."""
    environment: dict[str, str] = {}
    folder: str = ""


class ClusterState(Struct):
    """The state of all services."""

    supervisor: int
    services: dict[str, ServiceState]

    @property
    def is_settled(self) -> bool:
        """True if no service is starting or stopping."""
        return all(
            one.condition not in ("waiting", "starting", "unhealthy") for one in self.services.values()
        )

    @property
    def failed(self) -> list[str]:
        """Return the services that could not be started."""
        return [name for name, one in self.services.items() if one.condition == "failed"]


def write_state(folder: Path, state: bytes) -> None:
    """Save the state atomically; raises OSError."""
    fresh = folder / "state.new"
    fresh.touch(0o600)
    fresh.write_bytes(state)
    fresh.rename(folder / "state.json")


def read_state(folder: Path) -> ClusterState | None:
    """Return the state of the cluster in a folder, or None if none runs there."""
    with suppress(OSError, msgspec.MsgspecError):
        if is_supervised(folder):
            return msgspec.json.decode((folder / "state.json").read_bytes(), type=ClusterState)
    return None


@contextmanager
def locked(folder: Path) -> Iterator[bool]:
    """Lock the folder for the duration of the context; yields False if another supervisor has the lock."""
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def is_supervised(folder: Path) -> bool:
    """Return whether the supervisor is alive."""
    try:
        with locked(folder) as is_free:
            return not is_free
    except OSError:
        return False
