"""What is known of a cluster that runs: a file in its folder, which only the keeper writes."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

Condition = Literal["waiting", "starting", "running", "healthy", "unhealthy", "done", "failed", "left out"]


class ServiceState(Struct):
    """How a service is."""

    condition: Condition = "waiting"
    pid: int = 0
    restarts: int = 0
    status: int | None = None
    """How it ended the last time."""
    addresses: dict[str, str] = {}
    """From a port in the compose file to the address that stands for it."""
    environment: dict[str, str] = {}
    folder: str = ""


class ClusterState(Struct):
    """How all of them are."""

    keeper: int
    services: dict[str, ServiceState]

    @property
    def is_settled(self) -> bool:
        """Tell whether nothing is on its way any more."""
        return all(
            one.condition not in ("waiting", "starting", "unhealthy") for one in self.services.values()
        )

    @property
    def failed(self) -> list[str]:
        """Return the services that could not be started."""
        return [name for name, one in self.services.items() if one.condition == "failed"]


def write_state(folder: Path, state: bytes) -> None:
    """Write it down, all at once; raises OSError."""
    fresh = folder / "state.new"
    fresh.touch(0o600)
    fresh.write_bytes(state)
    fresh.rename(folder / "state.json")


def read_state(folder: Path) -> ClusterState | None:
    """Return how the cluster of a folder is; None when none runs there."""
    with suppress(OSError, msgspec.MsgspecError):
        if is_kept(folder):
            return msgspec.json.decode((folder / "state.json").read_bytes(), type=ClusterState)
    return None


@contextmanager
def kept(folder: Path) -> Iterator[bool]:
    """Hold the folder as long as the context lasts; yields False when another keeper has it."""
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def is_kept(folder: Path) -> bool:
    """Tell whether a keeper lives."""
    try:
        with kept(folder) as is_free:
            return not is_free
    except OSError:
        return False
