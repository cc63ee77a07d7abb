"""Finds the traps below a folder, and finds them again at the price of one `stat` for each folder.

What is made, moved or linked into a folder changes the folder's time of change, which no program can set.
So a folder whose time is the one of the last look holds the same names, and only the others are listed.
The folders that are known and the nearest of the others are looked at first: where there are too many, new
and deep ones are left out. One that its owner cannot list, and that was changed meanwhile, is made listable.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bridle.core.traps import FILES, FOLDERS, GIT, IN_FOLDERS, is_trap
from bridle.sandbox import repository

SLACK_NS = 20_000_000
"""The clock of a disk may be that much behind ours."""
MAX_FOLDERS = 50_000
_MAX_INSIDE = 1_000
_LISTABLE = stat.S_IRUSR | stat.S_IXUSR


class Part(Struct, frozen=True):
    """What makes a trap of something, in a state: a file, or settings in one."""

    path: str
    trap: str
    """The path that is a trap by its name, or the repository; the part itself or a folder around it."""
    state: str
    is_of_git: bool = False


class Sight(Struct, frozen=True):
    """What was found, and where it was looked for."""

    parts: dict[str, Part]
    """By their paths."""
    traps: frozenset[str]
    """All that was found by name, repositories that are harmless among them."""
    since_ns: int
    """When the look began."""


class _Folder(Struct, frozen=True):
    identity: tuple[int, int, int]
    looked_ns: int
    folders: tuple[str, ...]
    """The folders in it that are to be looked at."""
    traps: tuple[str, ...]
    """Those in it, and itself if it is a repository."""


class Survey:
    """Knows the folders below one; not to be used by two threads at once."""

    def __init__(self, root: str, roots: Sequence[str]) -> None:
        """Take the folder, and all folders that programs may write to."""
        self.root = root
        self.named: tuple[str, ...] = ()
        """Paths that git's config names: as good as its own hooks and settings."""
        self.is_cut = False
        """There were more folders than were looked at."""
        self._roots = tuple(roots)
        self._folders: dict[str, _Folder] = {}
        self._traps: dict[str, tuple[str, ...]] = {}
        """Those that are known, by the folder they were found in."""

    @property
    def traps(self) -> list[str]:
        """What is known by name, the nearest first."""
        found = (trap for traps in self._traps.values() for trap in traps)
        return sorted(dict.fromkeys((*found, *self.named)), key=lambda trap: trap.count("/"))

    def look(self, max_folders: int = MAX_FOLDERS, opened_since_ns: int | None = None) -> Sight:
        """Return the parts of all traps: of those in so many folders, and of those that are known already.

        Folders that were closed since then are opened.
        """
        since_ns = time.time_ns()
        self._walk(max_folders, opened_since_ns)
        traps = self.traps
        parts = {part.path: part for trap in traps for part in self._parts(trap)}
        return Sight(parts, frozenset(traps), since_ns)

    def _walk(self, max_folders: int, opened_since_ns: int | None) -> None:
        """Bring what is known of the folders up to date."""
        known, new, seen = deque([self.root]), deque[str](), set[str]()
        while (known or new) and len(seen) < max_folders:
            folder = known.popleft() if known else new.popleft()
            seen.add(folder)
            found = self._known(folder, opened_since_ns)
            if found is not None and found is self._folders.get(folder):  # nearly always: so it must be quick
                known.extend(found.folders)
                continue
            for inner in found.folders if found is not None else ():
                (known if inner in self._folders else new).append(inner)
            self._note(folder, found)
        self.is_cut = bool(known or new)
        if not self.is_cut and len(seen) < len(self._folders):  # the others are no longer there
            self._folders = {folder: found for folder, found in self._folders.items() if folder in seen}
            self._traps = {folder: traps for folder, traps in self._traps.items() if folder in seen}

    def _note(self, folder: str, found: _Folder | None) -> None:
        if found is None:
            self._folders.pop(folder, None)
        else:
            self._folders[folder] = found
        if found is not None and found.traps:
            self._traps[folder] = found.traps
        else:
            self._traps.pop(folder, None)

    def _known(self, folder: str, opened_since_ns: int | None) -> _Folder | None:
        """Return what is in a folder, from the last look if nothing can have changed since."""
        try:
            found = os.lstat(folder)
            identity = found.st_dev, found.st_ino, found.st_ctime_ns
            known = self._folders.get(folder)
            is_same = known is not None and known.identity == identity
            if known is not None and is_same and found.st_ctime_ns < known.looked_ns - SLACK_NS:
                return known
            if opened_since_ns is not None and found.st_ctime_ns >= opened_since_ns - SLACK_NS:
                _open(folder, found)
            return _list(folder, identity)
        except OSError:
            return None  # gone, or closed for us

    def _parts(self, trap: str) -> Iterator[Part]:
        is_folder = os.path.isdir(trap) and not os.path.islink(trap)
        if trap in self.named or is_trap(*os.path.split(trap)):
            for path in _all_files(trap) if is_folder else (trap,):
                if state := repository.state_of(path):
                    yield Part(path, trap, state)
        elif is_folder:
            for path, state in repository.harmful_parts(trap, self._roots):
                yield Part(path, trap, state, is_of_git=True)
        elif os.path.lexists(trap) and repository.harmful_link(trap, self._roots):
            yield Part(trap, trap, repository.state_of(trap))


def near_traps(root: str) -> Iterator[str]:
    """Yield the traps that lie in a folder itself, those of git left out."""
    names = (*FILES, *FOLDERS, *(f"{folder}/{name}" for folder in IN_FOLDERS for name in IN_FOLDERS[folder]))
    for name in sorted(names):
        path = f"{root}/{name}"
        if os.path.lexists(path):
            yield path


def _open(folder: str, found: os.stat_result) -> None:
    """Give the owner of a folder the right to list and enter it: what cannot be listed may still be used."""
    if found.st_mode & _LISTABLE != _LISTABLE and found.st_uid == os.geteuid():
        number = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.chmod(f"/proc/self/fd/{number}", stat.S_IMODE(found.st_mode) | _LISTABLE)
        finally:
            os.close(number)


def _list(folder: str, identity: tuple[int, int, int]) -> _Folder:
    looked_ns = time.time_ns()
    names: set[str] = set()
    folders: list[str] = []
    traps: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            names.add(entry.name)
            if entry.name.lower() == GIT or is_trap(folder, entry.name):
                traps.append(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
    if repository.is_layout(names):
        traps.append(folder)
    return _Folder(identity, looked_ns, tuple(folders), tuple(traps))


def _all_files(folder: str) -> Iterator[str]:
    """Yield what lies in a folder and below it; a folder without anything is nothing."""
    left = _MAX_INSIDE
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in (*files, *links):
            yield os.path.join(place, name)
            left -= 1
            if not left:
                return
