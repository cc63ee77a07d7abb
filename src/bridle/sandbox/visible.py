"""What a program that may only read can see: the system, its folders, and the programs on its PATH.

Everything else is missing, so that a command that was wrongly judged to read finds no other file.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bridle.core.ports import ProcessSpec
from bridle.sandbox.interpreter import interpreter

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/sys/devices/system/cpu")
_SETTINGS = """
alternatives debian_version group hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf
localtime magic mime.types nsswitch.conf os-release passwd protocols rpc services terminfo timezone
""".split()
"""What programs read in `/etc`; the rest of it is not shown."""
_SHARED_BY_PROGRAMS = frozenset({".local", ".config"})
"""Folders of a home whose `bin` holds programs, and which hold much else."""


def visible_places(spec: ProcessSpec, home: str) -> tuple[str, ...]:
    """Return the paths to show, absolute; links among them are to be shown as links."""
    settings = (f"/etc/{name}" for name in _SETTINGS)
    found = (
        *_SYSTEM,
        *settings,
        *spec.writable,
        *spec.shown,
        spec.cwd,
        os.path.realpath(sys.base_prefix),
        os.path.dirname(interpreter()),
        *_programs(spec.env, home),
    )
    return tuple(_outermost(path for path in found if os.path.lexists(path)))


def is_visible(path: str, places: Iterable[str]) -> bool:
    """Return whether a path lies in what is shown."""
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _programs(environ: Mapping[str, str], home: str) -> Iterator[str]:
    """Yield the folders on PATH, each with the installation it belongs to."""
    for folder in environ.get("PATH", "").split(os.pathsep):
        real = os.path.realpath(folder) if os.path.isabs(folder) else "/"
        if f"{home}/".startswith(f"{real.rstrip('/')}/"):
            continue
        yield real
        above = os.path.dirname(real)
        if above.startswith("/opt/") or _is_installation(above.split("/")):
            yield above


def _is_installation(parts: Sequence[str]) -> bool:
    """Return whether a folder lies in one such as `.cargo` or `.pyenv`, which holds programs only."""
    return any(part.startswith(".") for part in parts) and _SHARED_BY_PROGRAMS.isdisjoint(parts)


def _outermost(paths: Iterable[str]) -> Sequence[str]:
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if not kept or not path.startswith(f"{kept[-1]}/"):
            kept.append(path)
    return kept
