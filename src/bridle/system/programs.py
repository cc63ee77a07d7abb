"""Programs that run outside the sandbox: found on PATH, but never where a session can write.

| a candidate | counts |
|---|---|
| in a relative entry of PATH, such as `.` | no |
| in a folder of a session, or in the repository around it | no |
| elsewhere, with a link on the way that lies in such a folder or leads into it | no |
| in a folder of the system, for a session that works in `/` or `/usr` | yes |
| anywhere else | yes |

A script (`#!/usr/bin/env node`) makes the kernel look on PATH again: what runs outside the sandbox gets the
variables of `outer_environment`.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
SEARCHED = tuple(
    """
    PATH PYTHONPATH PYTHONHOME VIRTUAL_ENV CONDA_PREFIX NODE_PATH JAVA_HOME LD_LIBRARY_PATH PERL5LIB RUBYLIB
    """.split()
)
"""Variables that tell programs where to look for code."""

_SYSTEM_FOLDERS = tuple(
    "/usr /bin /sbin /lib /lib64 /etc/alternatives /nix/store /run/wrappers /run/current-system".split()
)
_MAX_LINKS = 40
WRITABLE = "lies in a folder that agents can write to"
"""Why a program is not used."""


def find_program(name: str, path: str, *, outside: Sequence[str]) -> str | None:
    """Return the absolute path of a program that lies outside these folders; blocking.

    A name with a slash is not looked for: an absolute path is returned as it is, if there is a program.
    """
    if "/" in name:
        return name if os.path.isabs(name) and is_program(name) else None
    grounds = _grounds(outside)
    return next((place for place in _places(name, path) if not _is_within(place, grounds)), None)


def why_not_found(name: str, path: str) -> str:
    """Say why `find_program` found nothing, as the end of a sentence that begins with the name."""
    if "/" in name:
        return "is not there" if os.path.isabs(name) else "is not used: it is a relative path"
    place = next(_places(name, path), None)
    return "is not on PATH" if place is None else f"is not used: {place} {WRITABLE}"


def outer_path(path: str, outside: Sequence[str]) -> str:
    """Return a search path without relative entries, and without those in these folders."""
    return _kept(path, _grounds(outside)) or SYSTEM_PATH


def outer_environment(environ: Mapping[str, str], outside: Sequence[str]) -> dict[str, str]:
    """Return an environment in which programs look for no code in these folders."""
    grounds = _grounds(outside)
    kept = {name: _kept(environ[name], grounds) for name in SEARCHED if name in environ}
    others = {name: value for name, value in environ.items() if name not in SEARCHED}
    return {**others, "PATH": SYSTEM_PATH, **{name: value for name, value in kept.items() if value}}


def working_folders() -> tuple[str, ...]:
    """Return the folder that this process works in; nothing where it is gone, or `/`, as for a daemon."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        return ()
    return (here,) if here != "/" else ()


def is_within(path: str, folders: Sequence[str]) -> bool:
    """True for a path that lies in one of these folders or in their repositories, or leads through one."""
    return _is_within(path, _grounds(folders))


def is_program(path: str) -> bool:
    """True for a file that may be executed."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _places(name: str, path: str) -> Iterator[str]:
    for entry in path.split(os.pathsep):
        place = os.path.join(entry, name)
        if os.path.isabs(entry) and is_program(place):
            yield place


def _kept(path: str, grounds: Sequence[str]) -> str:
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if not _is_within(entry, grounds))


def _is_within(path: str, grounds: Sequence[str]) -> bool:
    if not os.path.isabs(path):
        return True  # it is another file in each folder
    return any(_covers(ground, step) for step in _steps(path) for ground in grounds)


def _covers(ground: str, step: str) -> bool:
    if not _is_below(step, ground):
        return False
    of_system = [folder for folder in _SYSTEM_FOLDERS if _is_below(folder, ground)]
    return not any(_is_below(step, folder) or _is_below(folder, step) for folder in of_system)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _grounds(folders: Sequence[str]) -> list[str]:
    return [_ground(os.path.realpath(folder)) for folder in folders]


def _ground(folder: str) -> str:
    """Return the outermost repository around a folder, or the folder; the user's home does not count."""
    home = os.path.realpath(os.path.expanduser("~"))
    found = place = folder
    while place not in ("/", home):
        if os.path.lexists(os.path.join(place, ".git")):
            found = place
        place = os.path.dirname(place)
    return found


def _steps(path: str) -> Iterator[str]:
    """Yield every name that is looked up on the way to a file, each with the links before it followed."""
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
