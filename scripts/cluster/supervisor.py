"""Supervises the processes of a cluster: starts them in order, restarts them, stops them in order."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from scripts.cluster import postgres
from scripts.cluster.compose import OURS, ComposeError, Service
from scripts.cluster.places import HOME, Places
from scripts.cluster.state import ClusterState, ServiceState, write_state

LOOK_S = 0.05
AGAIN_S = 1.0  # before a restart
KILLED_S = 10.0
POSTGRES = "postgres"
FULFILLED = {
    "service_started": ("running", "starting", "healthy", "unhealthy"),
    "service_healthy": ("healthy",),
    "service_completed_successfully": ("done",),
}
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_prctl = ctypes.CDLL(None).prctl


class Supervisor:
    """All processes of one cluster."""

    def __init__(self, places: Places, services: dict[str, Service], programs: Path) -> None:
        """Use these services, and a folder with the programs that the image would contain."""
        self._places = places
        self._services = {name: _Kept(service, places, programs) for name, service in services.items()}
        self._is_ending = False
        self._told = b""

    @property
    def state(self) -> ClusterState:
        """Return the state of all services."""
        return ClusterState(os.getpid(), {name: kept.state for name, kept in self._services.items()})

    def end(self, *_: object) -> None:
        """Start to stop everything; called by a signal handler."""
        self._is_ending = True

    @property
    def is_ending(self) -> bool:
        """True once the cluster has to stop."""
        return self._is_ending

    def look(self) -> None:
        """Start the services that can start, and check the others."""
        for kept in self._services.values():
            conditions = {other: self._services[other].state.condition for other in kept.service.needs}
            kept.look(
                may_start=all(
                    conditions[other] in FULFILLED[wanted] or conditions[other] == "left out"
                    for other, wanted in kept.service.needs.items()
                )
            )
        self._tell()

    def _tell(self) -> None:
        """Save the state of all services if it has changed."""
        told = msgspec.json.encode(self.state)
        if told != self._told:
            with suppress(OSError):  # a full disk must not stop the services; the next step tries again
                write_state(self._places.folder, told)
                self._told = told

    def stop(self) -> None:
        """Stop services in the reverse order of their dependencies, until none is left."""
        left = dict(self._services)
        while left:
            needed = {other for kept in left.values() for other in kept.service.needs}
            ending = {name: kept for name, kept in left.items() if name not in needed}
            for kept in ending.values():
                kept.ask_to_end()
            for name, kept in ending.items():
                kept.await_end()
                del left[name]


class _Kept:
    """One service."""

    def __init__(self, service: Service, places: Places, programs: Path) -> None:
        self.service = service
        self.state = ServiceState()
        self._places = places
        self._programs = programs
        self._process: subprocess.Popen[bytes] | None = None
        self._probe: subprocess.Popen[bytes] | None = None
        self._due = 0.0
        self._started = 0.0

    def look(self, *, may_start: bool) -> None:
        """Start the service if it is time, and check its health."""
        if self._process is None:
            if may_start and self.state.condition == "waiting" and time.monotonic() >= self._due:
                self._start()
        elif (status := self._process.poll()) is not None:
            self._ended(status)
        elif self.service.check is not None:
            self._check()

    def ask_to_end(self) -> None:
        """Ask the service to stop."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.Signals[self.service.stop_signal])

    def await_end(self) -> None:
        """Wait for the service to stop; after too long, kill it with all its processes."""
        if self._process is None:
            return
        try:
            self._process.wait(self.service.grace_s)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(KILLED_S)
        if self._probe is not None:
            self._probe.kill()
            self._probe.wait()

    # ------------------------------------------------------------------ its life

    def _start(self) -> None:
        service, places = self.service, self._places
        if (
            service.image not in (OURS, POSTGRES)
            and shutil.which(service.command[0], path=self._path()) is None
        ):
            self.state.condition = "left out"
            print(f"{service.name} is skipped: {service.command[0]} is not installed", file=sys.stderr)
            return
        places.lay_out(service)
        environment = self._environment()
        command = [places.here(service.name, word) for word in service.command]
        with (places.folder / "logs" / f"{service.name}.log").open("ab") as log:
            self._process = self._spawn(self._as_image(command, environment), environment, log)
        self._started = self._due = time.monotonic()
        self.state.pid = self._process.pid
        self.state.environment = environment
        self.state.folder = str(self._folder())
        self.state.condition = "running" if service.restarts and service.check is None else "starting"
        self.state.addresses = {
            port: f"127.0.0.1:{places.port(service.name, port)}" for port in service.ports
        }

    def _as_image(self, command: list[str], environment: dict[str, str]) -> list[str]:
        """Do what the service's image does before its command."""
        if self.service.image != POSTGRES:
            return command
        (volume,) = (mount for mount in self.service.mounts if mount.volume)
        folder = self._places.path(self.service.name, volume.target)
        postgres.make_data(folder, environment)
        port = self._places.port(self.service.name, "5432")
        environment |= {"PGPORT": str(port)}  # in a container, the health check uses the default port
        return [command[0], *postgres.options(folder, port), *command[1:]]

    def _spawn(
        self, command: list[str], environment: dict[str, str], output: IO[bytes] | int
    ) -> subprocess.Popen[bytes]:
        who = postgres.unprivileged() if self.service.image == POSTGRES else {}
        program = shutil.which(command[0], path=environment["PATH"])
        if program is None:
            raise ComposeError(f"{self.service.name}: the program {command[0]} is missing")
        number = signal.Signals[self.service.stop_signal]
        return subprocess.Popen(
            [program, *command[1:]],
            env=environment,
            cwd="/" if who else self._folder(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # only the supervisor gets Ctrl-C, and stops the services in order
            # No service outlives the supervisor. It has no threads, so preexec_fn is safe.
            preexec_fn=lambda: _prctl(_DEATH_SIGNAL, number),  # noqa: PLW1509
            **who,
        )

    def _folder(self) -> Path:
        """Return the working directory: a volume, as in the image."""
        work = self._places.path(self.service.name, "/workspaces")
        return (
            work
            if work.is_dir() and work.is_relative_to(self._places.folder)
            else self._places.path(self.service.name, HOME)
        )

    def _environment(self) -> dict[str, str]:
        given = {
            key: self._places.here(self.service.name, text) for key, text in self.service.environment.items()
        }
        own = {
            "PATH": self._path(),
            "HOME": str(self._places.path(self.service.name, HOME)),
            "LANG": "C.UTF-8",
        }
        return own | given

    def _path(self) -> str:
        usual = os.environ.get("PATH", os.defpath)
        places = [self._programs, Path(sys.executable).parent, postgres.find_programs()]
        return os.pathsep.join([*map(str, places), usual, "/usr/sbin"])

    def _ended(self, status: int) -> None:
        self.state.status, self.state.pid, self._process = status, 0, None
        if not self.service.restarts:
            self.state.condition = "done" if status == 0 else "failed"
            return
        self.state.restarts += 1
        self.state.condition = "waiting"
        self._due = time.monotonic() + AGAIN_S

    def _check(self) -> None:
        check = self.service.check
        assert check is not None
        now = time.monotonic()
        if self._probe is None:
            if now >= self._due:
                words = [self._places.here(self.service.name, word) for word in check.command]
                self._probe = self._spawn(words, self.state.environment, subprocess.DEVNULL)
        elif (status := self._probe.poll()) is not None:
            self._probe = None
            is_starting = self.state.condition == "starting" and now < self._started + check.start_period_s
            if status == 0:
                self.state.condition = "healthy"
            elif not is_starting:
                self.state.condition = "unhealthy"
            self._due = now + (
                check.start_interval_s if self.state.condition == "starting" else check.interval_s
            )
