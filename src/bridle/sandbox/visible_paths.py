"""What a read-only program can see: the system, its folders, and the programs on its PATH.

Everything else is missing, so that a command that was wrongly judged to be read-only finds no other file.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bridle.core.ports import ProcessSpec
from bridle.sandbox.interpreter import find_interpreter
from bridle.sandbox.protected_paths import outermost

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/sys/devices/system/cpu")
_SETTINGS = """
alternatives debian_version group hosts inputrc ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf
localtime magic mime.types nsswitch.conf os-release passwd pki/tls/openssl.cnf protocols rpc services
ssl/openssl.cnf terminfo timezone
""".split()
"""The files that programs read in `/etc`; the rest of it is not shown."""
_SHARED_BY_PROGRAMS = frozenset({".local", ".config"})
"""Folders of a home whose `bin` holds programs, but which also hold much else."""


def find_visible_paths(spec: ProcessSpec, home: str) -> tuple[str, ...]:
    """Return the paths to show, absolute; links among them are to be shown as links."""
    given = (*spec.writable, spec.cwd)
    settings = (f"/etc/{name}" for name in _SETTINGS)
    found = (
        *_SYSTEM,
        *settings,
        *given,
        *spec.shown,
        os.path.realpath(sys.base_prefix),
        os.path.dirname(find_interpreter()),
        *_programs(spec.env, home, given),
        *(_named(spec.argv, home, given) if spec.shows_program else ()),
    )
    return outermost(path for path in found if os.path.lexists(path))


def is_visible(path: str, places: Iterable[str]) -> bool:
    """True if a path lies in one of the shown places."""
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _programs(environ: Mapping[str, str], home: str, given: Sequence[str]) -> Iterator[str]:
    """Yield the folders on PATH, each with the installation it belongs to.

    One inside a given folder is visible anyway; its links are not followed, because the project may have made
    them.
    """
    for folder in environ.get("PATH", "").split(os.pathsep):
        if os.path.isabs(folder) and not is_visible(os.path.normpath(folder), given):
            yield from _with_installation(os.path.realpath(folder), home)


def _named(argv: Sequence[str], home: str, given: Sequence[str]) -> Iterator[str]:
    """Yield the files that a command line names, with what they load: packages and installations."""
    for word in argv:
        path = os.path.normpath(word)
        if not os.path.isabs(path) or not os.path.isfile(path) or is_visible(path, given):
            continue
        for place in dict.fromkeys((path, os.path.realpath(path))):
            above, packages, _ = place.partition("/node_modules/")
            folder = f"{above}/node_modules" if packages else os.path.dirname(place)
            yield place
            yield from _with_installation(folder, home)
            yield from _environment(os.path.dirname(folder), home)


def _environment(folder: str, home: str) -> Iterator[str]:
    """Yield a Python virtual environment and the Python it was made from; nothing if it is not one."""
    if os.path.isfile(f"{folder}/pyvenv.cfg"):
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(f"{folder}/bin/python")))
        yield from (place for place in (folder, prefix) if not _holds(place, home))


def _with_installation(folder: str, home: str) -> Iterator[str]:
    """Yield a folder of programs with the installation it belongs to, but nothing that contains the home."""
    if _holds(folder, home):
        return
    yield folder
    above = os.path.dirname(folder)
    if above.startswith("/opt/") or _is_installation(above.split("/")):
        yield above


def _holds(folder: str, home: str) -> bool:
    return f"{home}/".startswith(f"{folder.rstrip('/')}/")


def _is_installation(parts: Sequence[str]) -> bool:
    """True if a folder lies in one such as `.cargo` or `.pyenv`, which holds only programs."""
    return any(part.startswith(".") for part in parts) and _SHARED_BY_PROGRAMS.isdisjoint(parts)
