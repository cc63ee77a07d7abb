"""The bubblewrap sandbox: a read-only system, a few writable folders, and hidden paths covered.

Mounts are made from the outside in, so that each mount point exists before it is covered:

| path | mount |
|---|---|
| `/` | the system's, read-only |
| `/dev /proc /dev/shm /tmp /var/tmp /run` | new and empty: no device, process or socket of the system |
| `/proc/sys` and the like | read-only: user ID 0 may write there even without capabilities |
| a writable folder | itself, writable |
| a pinned folder | itself: a mount point can be neither moved nor removed |
| a fixed path | itself, read-only |
| a hidden folder or file | an empty folder that cannot be entered; a device that cannot be opened |
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from msgspec.structs import replace

from bridle.sandbox.interpreter import find_interpreter
from bridle.sandbox.protected_paths import ProtectedPaths
from bridle.system.programs import find_program

SHARED_MEMORY = "/dev/shm"  # created by bubblewrap together with /dev
EMPTY = (SHARED_MEMORY, "/tmp", "/var/tmp", "/run")
SYSTEM_PLACES = (
    *("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin", "/run/wrappers/bin"),
    *("/run/current-system/sw/bin", "/nix/var/nix/profiles/default/bin"),
)
"""Where bubblewrap is searched for. Not on PATH: a project must not supply the program that confines it."""
MAX_STARTS = 5
"""How often a start is tried while mounts of this machine come and go."""
_MOUNT_RACE = re.compile(r"bwrap: Can't (bind mount|remount readonly on) ")
_MAX_SHEBANG_BYTES = 256  # of which the kernel reads no more
_EMPTY_BYTES = 1024**3  # for each of the empty folders, which lie in memory

Mount = Literal["empty", "writable", "pinned", "fixed", "hidden folder", "hidden file"]
_STRENGTH: tuple[Mount, ...] = ("empty", "pinned", "writable", "fixed", "hidden folder", "hidden file")


def find_bubblewrap(places: Sequence[str] = SYSTEM_PLACES) -> str | None:
    """Return the path of the system's bubblewrap, or None."""
    return find_program("bwrap", os.pathsep.join(places), outside=())


def is_mount_race(said: str) -> bool:
    """True if bubblewrap failed because a mount of this machine vanished while it copied them all."""
    return _MOUNT_RACE.search(said) is not None


def build_command_prefix() -> list[str]:
    """Return the command line prefix for the launcher; bubblewrap's arguments come through a descriptor."""
    return [find_bubblewrap() or "/usr/bin/bwrap", "--args", "{args}", "--"]


def build_arguments(
    shield: ProtectedPaths,
    writable: Sequence[str],
    cwd: str,
    *,
    network: bool = False,
    shown: Sequence[str] = (),
) -> list[str]:
    """Return bubblewrap's arguments, for folders that are absolute and free of links.

    Paths in `shown` are visible although they lie where a cell has an empty folder.
    """
    found = plan_mounts(shield, writable, cwd, network=network, shown=shown)
    return [
        *_namespaces(),
        *(() if network else ("--unshare-net",)),
        *("--ro-bind", "/", "/"),
        *_kernel_mounts(),
        *_options(found),
    ]


def build_read_only_arguments(shield: ProtectedPaths, places: Sequence[str], cwd: str) -> list[str]:
    """Return bubblewrap's arguments for programs that may only read, and see only these places."""
    links = {path: os.readlink(path) for path in places if os.path.islink(path)}
    fixed = tuple(path for path in places if path not in links)
    found = plan_mounts(replace(shield, fixed=fixed, pinned=()), (), cwd)
    return [
        *_namespaces(),
        "--unshare-net",
        *(part for path, target in links.items() for part in ("--symlink", target, path)),
        *_kernel_mounts(),
        *_options(found),
        *("--remount-ro", "/"),
    ]


def _namespaces() -> tuple[str, ...]:
    own = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
    return *own, "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"


def _kernel_mounts() -> tuple[str, ...]:
    return (
        *("--dev", "/dev", "--proc", "/proc"),
        *("--remount-ro", "/dev"),  # it lies in memory and has no size limit
        *(part for path in _settings() for part in ("--ro-bind", path, path)),
    )


@cache
def _settings() -> list[str]:
    """Return the writable paths in `/proc` that belong to the kernel, not to a process."""
    with os.scandir("/proc") as entries:
        found = [entry for entry in entries if not entry.name.isdigit() and not entry.is_symlink()]
    return sorted(
        entry.path for entry in found if entry.is_dir() or entry.stat(follow_symlinks=False).st_mode & 0o222
    )


def find_program_paths(argv: Sequence[str], search_path: str = "") -> tuple[str, ...]:
    """Return the folders to show if a program, or the interpreter of a script, lies in `/tmp` or the like.

    For a file in a `bin` folder that is the whole installation; for one inside `node_modules`, all of its
    packages.
    """
    program = shutil.which(argv[0], path=search_path) or argv[0]
    words = (word for word in (program, *argv[1:]) if os.path.isfile(word))
    files = dict.fromkeys(path for word in words for path in _files_of(word))
    return tuple(dict.fromkeys(_place(path) for path in files if any(_holds(root, path) for root in EMPTY)))


def _files_of(program: str) -> Iterator[str]:
    """Yield a program, the target if it is a link, and the interpreter that its first line names."""
    yield from (program, os.path.realpath(program))
    try:
        with open(program, "rb") as file:
            line = os.fsdecode(file.readline(_MAX_SHEBANG_BYTES))
        words = shlex.split(line[2:]) if line.startswith("#!") else []
    except (OSError, ValueError):
        return  # starting it will report what is wrong
    for word in words:
        if os.path.isfile(word):
            yield from (word, os.path.realpath(word))


def _place(path: str) -> str:
    folder, packages, _ = os.path.normpath(path).partition("/node_modules/")
    place = f"{folder}/node_modules" if packages else os.path.dirname(os.path.normpath(path))
    if os.path.basename(place) == "bin":
        place = os.path.dirname(place)
    return path if place in EMPTY else place


def plan_mounts(
    shield: ProtectedPaths,
    writable: Sequence[str],
    cwd: str,
    *,
    network: bool = False,
    shown: Sequence[str] = (),
) -> dict[str, Mount]:
    """Return what is mounted where, from the outside in; for one path the strictest mount wins."""
    wishes: list[tuple[Mount, Sequence[str]]] = [
        ("empty", [SHARED_MEMORY, *(os.path.realpath(path) for path in EMPTY[1:] if os.path.isdir(path))]),
        ("pinned", shield.pinned),
        ("writable", writable),
        ("fixed", shield.fixed),
        ("hidden folder", shield.hidden_folders),
        ("hidden file", shield.hidden_files),
    ]
    found: dict[str, Mount] = {}
    for kind, paths in wishes:
        for path in paths:
            if path not in found or _STRENGTH.index(kind) > _STRENGTH.index(found[path]):
                found[path] = kind
    names = os.path.realpath("/etc/resolv.conf")
    if network and names.startswith("/run/") and os.path.exists(names):
        found[names] = "fixed"  # where many systems keep the addresses of their name servers
    for place in {os.path.realpath(sys.base_prefix), os.path.dirname(find_interpreter()), *shown}:
        if any(_holds(path, place) for path in EMPTY):
            found.setdefault(place, "fixed")  # otherwise the launcher or the program could not start
    nearest = max((path for path in found if _holds(path, cwd)), key=len, default="")
    if nearest and found[nearest] == "empty":
        found[cwd] = "fixed"  # otherwise it would not exist
    hidden = [path for path, kind in found.items() if kind == "hidden folder"]
    return {
        path: kind
        for path, kind in sorted(found.items(), key=lambda item: item[0].split("/"))
        if kind == "writable" or path == cwd or not any(path.startswith(place + "/") for place in hidden)
    }


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _empty(path: str) -> tuple[str, ...]:
    return "--perms", "1777", "--size", str(_EMPTY_BYTES), "--tmpfs", path


def _options(found: dict[str, Mount]) -> Iterator[str]:
    closed: list[str] = []
    for path, kind in found.items():
        match kind:
            case "empty":
                yield from _empty(path)
            case "writable" | "pinned":
                yield from ("--bind", path, path)
            case "fixed":
                yield from ("--ro-bind", path, path)
            case "hidden file":
                yield from ("--ro-bind", "/dev/null", path)
            case "hidden folder":
                way = any(other.startswith(path + "/") for other in found)
                yield from ("--perms", "0111" if way else "0000", "--tmpfs", path)
                closed.append(path)
    for path in closed:
        yield from ("--remount-ro", path)
