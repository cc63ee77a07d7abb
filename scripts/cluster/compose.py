"""The parts of a compose file that plain processes need."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

OURS = "bridle"
"""Stands for the image built from this tree; all other images have names."""
_VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?::([-?])([^}]*))?\})")
_TIME = re.compile(r"(\d+)(ms|s|m)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


class ComposeError(Exception):
    """The compose file cannot be run; the text says why."""


class Mount(NamedTuple):
    """A path in a service: a volume, or the text of a local file."""

    target: str
    volume: str = ""
    file: str = ""
    secret: str = ""
    """The variable that has the value."""


class Check(NamedTuple):
    """A health check of a service."""

    command: tuple[str, ...]
    start_interval_s: float
    interval_s: float
    start_period_s: float


class Service(NamedTuple):
    """One service."""

    name: str
    image: str
    command: tuple[str, ...]
    environment: dict[str, str]
    mounts: tuple[Mount, ...]
    needs: dict[str, str]
    """Services that this one needs, and the condition they must meet first."""
    ports: tuple[str, ...]
    """Ports where others reach it."""
    check: Check | None
    restarts: bool
    grace_s: float
    stop_signal: str


def read_services(path: Path) -> dict[str, Service]:
    """Read a compose file without replacing variables. Raises ComposeError, OSError."""
    document = yaml.safe_load(path.read_text())
    files = {name: (path.parent / value["file"]) for name, value in document.get("configs", {}).items()}
    secrets = {name: value["environment"] for name, value in document.get("secrets", {}).items()}
    return {
        name: _service(name, value, files, secrets) for name, value in sorted(document["services"].items())
    }


def filled_in(text: str, values: Mapping[str, str]) -> str:
    """Replace variables with their values; raises ComposeError if a required one is missing."""

    def value(match: re.Match[str]) -> str:
        escaped, name, kind, rest = match.groups()
        if escaped:
            return "$"
        if found := values.get(name):
            return found
        if kind == "?":
            raise ComposeError(f"{name} is not set: {rest}")
        return rest or ""

    return _VARIABLE.sub(value, text)


def _service(name: str, value: dict[str, Any], files: dict[str, Path], secrets: dict[str, str]) -> Service:
    mounts = [_volume(text) for text in value.get("volumes", [])]
    mounts += [Mount(one["target"], file=str(files[one["source"]])) for one in value.get("configs", [])]
    mounts += [Mount(f"/run/secrets/{one}", secret=secrets[one]) for one in value.get("secrets", [])]
    needs = {other: need["condition"] for other, need in value.get("depends_on", {}).items()}
    return Service(
        name=name,
        image=value["image"].partition(":")[0] if "image" in value else OURS,
        command=tuple(value["command"]),
        environment={key: str(text) for key, text in value.get("environment", {}).items()},
        mounts=tuple(mounts),
        needs=needs,
        ports=(*value.get("expose", ()), *(text.rpartition(":")[2] for text in value.get("ports", ()))),
        check=_check(value["healthcheck"]) if "healthcheck" in value else None,
        restarts=value.get("restart", "no") != "no",
        grace_s=_seconds(value.get("stop_grace_period", "10s")),
        stop_signal=value.get("stop_signal", "SIGTERM"),
    )


def _volume(text: str) -> Mount:
    volume, target, *_ = text.split(":")
    return Mount(target, volume=volume)


def _check(value: dict[str, Any]) -> Check:
    kind, *words = value["test"]
    if kind != "CMD":
        raise ComposeError(f"a health check is a list that begins with CMD, not {shlex.join(value['test'])}")
    times = (_seconds(value[key]) for key in ("start_interval", "interval", "start_period"))
    return Check(tuple(words), *times)


def _seconds(text: str) -> float:
    match = _TIME.fullmatch(text)
    if match is None:
        raise ComposeError(f"{text} is not a duration such as 500ms, 10s or 1m")
    return int(match[1]) * _UNITS[match[2]]
