"""Resolve the paths in a command line to the names that rules use.

```
"./a/../secrets//k"   secrets/k                normalized
"lnk/k"               lnk/k, data/k            through a link: also the real path
"/etc/passwd"         /etc/passwd              outside the root: absolute
"s*/key"              secrets/key, src/key     a pattern: the files it matches now
```
"""

import os
import re
from collections.abc import Iterator

from bridle.core.errors import ToolError
from bridle.tools.commands.git_repository import find_git_risk, find_repository
from bridle.tools.glob_patterns import Segment, parse_glob

MAX_PATH = 4096
MAX_MATCHES = 1_000
MAX_ENTRIES = 10_000
"""How many directory entries are read for the patterns of one command line."""

_PROCESS = re.compile(r"/proc/[^/]+(?:/task/[^/]+)?/(cwd|root)")
_PUBLIC = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev/null")
"""Paths outside the root that may be read without an approval."""


class PathResolver:
    """Resolves paths relative to one root, and names them for rules."""

    def __init__(self, root: str) -> None:
        self._root = os.path.normpath(root)
        self._real_root = os.path.realpath(root)
        self._known: dict[tuple[str, str], list[str]] = {}
        self._walk = _Walk()

    def names(self, path: str, cwd: str) -> list[str]:
        """Return the path relative to the root, or absolute outside it; two names if links are involved."""
        if len(path) > MAX_PATH or "\0" in path:
            return []
        if (path, cwd) not in self._known:
            self._known[path, cwd] = self._look_up(path, cwd)
        return self._known[path, cwd]

    def _look_up(self, path: str, cwd: str) -> list[str]:
        whole = _through_processes(os.path.join(cwd, path), cwd)
        names = (
            _relative(os.path.normpath(whole), self._root),
            _relative(os.path.realpath(whole), self._real_root),
        )
        return [_storable(name) for name in dict.fromkeys(names)]

    def exists(self, path: str, cwd: str) -> bool:
        """Return whether a path exists."""
        return len(path) <= MAX_PATH and "\0" not in path and os.path.lexists(os.path.join(cwd, path))

    def folder(self, path: str, cwd: str) -> str | None:
        """Return the folder that `cd` to a path leads to; None if it is not a folder now."""
        if len(path) > MAX_PATH or "\0" in path:
            return None
        target = os.path.normpath(_through_processes(os.path.join(cwd, path), cwd))
        return target if os.path.isdir(target) else None

    def is_open(self, name: str) -> bool:
        """Return whether a path may be read without an approval: it is inside, or a public system path."""
        return not name.startswith("/") or any(
            name == public or name.startswith(public + "/") for public in _PUBLIC
        )

    def holds(self, folder: str) -> bool:
        """Return whether a folder is the root or below it, and its path has no links."""
        inside = folder == self._real_root or folder.startswith(self._real_root.rstrip("/") + "/")
        return inside and os.path.realpath(folder) == folder

    def find_git_risk(self, cwd: str) -> str:
        """Return why git may do more than read when it runs in a folder; empty if it only reads.

        A repository below the root may be new, with a config that makes git run programs.
        """
        if not self.holds(cwd):
            return "it runs outside the working directory"
        found = find_repository(cwd)
        if found != find_repository(self._real_root):
            return f"{_relative(cwd, self._real_root)} belongs to a separate repository"
        return "" if found is None else find_git_risk(found)

    def matches(self, pattern: str, cwd: str) -> list[str]:
        """Return the paths that a pattern matches; raises ToolError if too many, or for an odd pattern."""
        if any(odd in pattern for odd in ("[:", "[=", "[.")) or len(pattern) > MAX_PATH:
            raise ToolError(f"cannot tell what {pattern} matches")
        start = "/" if pattern.startswith("/") else ""
        found = [start]
        for name in filter(None, pattern.split("/")):
            segment = parse_glob("*" if name == "**" else name)[0] if re.search(r"[*?\[\\]", name) else None
            found = [entry for folder in found for entry in self._walk.entries(folder, name, segment, cwd)]
            if len(found) > MAX_MATCHES:
                raise ToolError(f"{pattern} matches too many files")
        return [path for path in found if path != start and self.exists(path, cwd)]


class _Walk:
    """Lists folders, up to a total number of entries."""

    def __init__(self) -> None:
        self._left = MAX_ENTRIES

    def entries(self, folder: str, name: str, segment: Segment, cwd: str) -> Iterator[str]:
        """Yield the paths in a folder that match a name; raises ToolError when there are too many."""
        self._count()
        if segment is None:
            yield os.path.join(folder, name)
            return
        for entry in self._names(os.path.join(cwd, folder)):
            if segment.fullmatch(entry) and (not entry.startswith(".") or name.startswith((".", "\\."))):
                yield os.path.join(folder, entry)

    def _names(self, folder: str) -> Iterator[str]:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._count()
                    yield entry.name
        except OSError:
            return

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise ToolError("the patterns of the command line cover too many files")


def _through_processes(path: str, cwd: str) -> str:
    """Replace `/proc/self/cwd` and the like, which refer to the shell's process and not to this one."""
    if "proc" not in path:
        return path
    walked, is_through = "/", False
    for name in path.split("/"):
        if name == "..":
            walked = os.path.dirname(walked)
        elif name not in ("", "."):
            walked = os.path.join(walked, name)
        if match := _PROCESS.fullmatch(walked):
            walked, is_through = (cwd if match[1] == "cwd" else "/"), True
    return walked if is_through else path


def _storable(name: str) -> str:
    """Return a file name that can be stored: bytes that are not text become escapes."""
    return name if name.isascii() else name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _relative(path: str, root: str) -> str:
    path = "/" + path.lstrip("/")
    if path == root:
        return "."
    inside = root.rstrip("/") + "/"
    return path.removeprefix(inside) if path.startswith(inside) else path
