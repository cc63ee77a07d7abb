"""Find programs to run outside the sandbox: on PATH, but never in a folder that a session can write to.

| a candidate | is used |
|---|---|
| in a relative entry of PATH, such as `.` | no |
| in a folder of a session, or in the repository around it | no |
| elsewhere, if a link on its path lies in such a folder or points into it | no |
| in a system folder, for a session that works in `/` or `/usr` | yes |
| anywhere else | yes |

A script (`#!/usr/bin/env node`) searches PATH again when it starts, so programs outside the sandbox get the
variables of `unsandboxed_environment`.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
SEARCHED = tuple(
    """
    PATH PYTHONPATH PYTHONHOME VIRTUAL_ENV CONDA_PREFIX NODE_PATH JAVA_HOME LD_LIBRARY_PATH PERL5LIB RUBYLIB
    """.split()
)
"""Environment variables that name places to load code from."""

_SYSTEM_FOLDERS = tuple(
    "/usr /bin /sbin /lib /lib64 /etc/alternatives /nix/store /run/wrappers /run/current-system".split()
)
_MAX_LINKS = 40
WRITABLE = "is in a folder that agents can write to"
"""Why a program is not used, for messages."""


def find_program(name: str, path: str, *, outside: Sequence[str]) -> str | None:
    """Return the absolute path of a program outside these folders, or None; blocking.

    A name with a slash is not searched for: an absolute path is returned unchanged if it is a program.
    """
    if "/" in name:
        return name if os.path.isabs(name) and is_program(name) else None
    roots = _roots(outside)
    return next((place for place in _places(name, path) if not _is_within(place, roots)), None)


def why_not_found(name: str, path: str) -> str:
    """Return why `find_program` found nothing, as the end of a sentence that begins with the name."""
    if "/" in name:
        return "does not exist" if os.path.isabs(name) else "is not used: it is a relative path"
    place = next(_places(name, path), None)
    return "is not on PATH" if place is None else f"is not used: {place} {WRITABLE}"


def unsandboxed_path(path: str, outside: Sequence[str]) -> str:
    """Return a search path without relative entries and without entries in these folders."""
    return _kept(path, _roots(outside)) or SYSTEM_PATH


def unsandboxed_environment(environ: Mapping[str, str], outside: Sequence[str]) -> dict[str, str]:
    """Return an environment in which no search variable names a place in these folders."""
    roots = _roots(outside)
    kept = {name: _kept(environ[name], roots) for name in SEARCHED if name in environ}
    others = {name: value for name, value in environ.items() if name not in SEARCHED}
    return {**others, "PATH": SYSTEM_PATH, **{name: value for name, value in kept.items() if value}}


def working_folders() -> tuple[str, ...]:
    """Return this process's working directory; () if it was deleted or is `/`, as for a daemon."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        return ()
    return (here,) if here != "/" else ()


def is_within(path: str, folders: Sequence[str]) -> bool:
    """Return True if a path lies in one of these folders or their repositories, or has a link through one."""
    return _is_within(path, _roots(folders))


def is_program(path: str) -> bool:
    """Return True for an executable file."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _places(name: str, path: str) -> Iterator[str]:
    for entry in path.split(os.pathsep):
        place = os.path.join(entry, name)
        if os.path.isabs(entry) and is_program(place):
            yield place


def _kept(path: str, roots: Sequence[str]) -> str:
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if not _is_within(entry, roots))


def _is_within(path: str, roots: Sequence[str]) -> bool:
    if not os.path.isabs(path):
        return True  # a relative path depends on the working directory
    return any(_covers(root, step) for step in _steps(path) for root in roots)


def _covers(root: str, step: str) -> bool:
    if not _is_below(step, root):
        return False
    of_system = [folder for folder in _SYSTEM_FOLDERS if _is_below(folder, root)]
    return not any(_is_below(step, folder) or _is_below(folder, step) for folder in of_system)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _roots(folders: Sequence[str]) -> list[str]:
    return [_root_of(os.path.realpath(folder)) for folder in folders]


def _root_of(folder: str) -> str:
    """Return the outermost repository around a folder, or else the folder; ignore one in the user's home."""
    home = os.path.realpath(os.path.expanduser("~"))
    found = place = folder
    while place not in ("/", home):
        if os.path.lexists(os.path.join(place, ".git")):
            found = place
        place = os.path.dirname(place)
    return found


def _steps(path: str) -> Iterator[str]:
    """Yield every path that is looked up on the way to a file, with the links before it resolved."""
    left = path.split("/")[::-1]
    current, links = "/", 0
    while left and links <= _MAX_LINKS:
        part = left.pop()
        if part in ("", "."):
            continue
        if part == "..":
            current = os.path.dirname(current)
            continue
        step = os.path.join(current, part)
        yield step
        try:
            target = os.readlink(step)
        except OSError:
            current = step
            continue
        links += 1
        current = "/" if target.startswith("/") else current
        left += reversed(target.split("/"))
