"""Finds the traps below a folder; a repeated scan costs one `stat` per folder.

Creating, moving or linking a file into a folder changes the folder's time of change, which no program can
set. So a folder with the same time as in the last scan holds the same names, and only the others are listed.
Known folders and the nearest new ones come first: if there are too many, new and deep ones are left out, and
the content of `.git` comes last. A folder that its owner cannot list, and that was changed meanwhile, is made
listable.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from bridle.core.traps import AT_HOME, FILES, FOLDERS, GIT, HEAD, IN_FOLDERS, is_trap
from bridle.sandbox import git_repository
from bridle.sandbox.git_repository import common_folder, is_repository, link_target, named_places
from bridle.system.git_config import read_text

# ---------------------------------------------------------------------------- hook paths
# Where git and the user's other programs find code to run, besides the default places in a repository.
#
# ```
# core.hooksPath   in the config of a repository, of the one it shares, of the user or of the system
# include.path     in any of them, and in what is included
# home             start files of shells, git, ssh and the desktop
# ```
#
# A file there is as dangerous as a hook.


_CONFIGS = ("config", "config.worktree")
_USER_CONFIGS = (".gitconfig", ".config/git/config")
_SYSTEM_CONFIG = "/etc/gitconfig"
_MAX_CONFIGS = 200
HOOKS = """
applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg
post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive
post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate
fsmonitor-watchman p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change
""".split()


def find_hook_paths(root: str, repositories: Iterable[str], home: str) -> tuple[str, ...]:
    """Return these places below a folder: from its repositories, those around it, and the home.

    A repository is given as its `.git`, or as the folder that git treats as one.
    """
    found = dict.fromkeys(os.path.join(home, name) for name in AT_HOME)
    read = cache(_read)
    for repository in dict.fromkeys((*repositories_around(root), *repositories)):
        for place in find_git_hook_paths(repository, home, read):
            found |= dict.fromkeys((place, os.path.realpath(place)))
    inside = [inner for place in found for inner in (_hooks_in(place) if place == root else (place,))]
    return tuple(place for place in inside if place.startswith(root.rstrip("/") + "/"))


def _read(config: str) -> str:
    return read_text(os.path.realpath(config)) or ""


def find_git_hook_paths(repository: str, home: str, read: Callable[[str], str] = _read) -> Iterator[str]:
    """Yield where git looks for a repository's hooks and settings, besides the repository's folder."""
    is_git = os.path.basename(repository).lower() == GIT
    top = os.path.dirname(repository) if is_git else repository
    is_link = os.path.islink(repository) or not os.path.isdir(repository)
    folder = link_target(repository) if is_link else repository
    common = common_folder(folder) if folder else ""
    own = [f"{place}/{name}" for place in dict.fromkeys((folder, common)) if place for name in _CONFIGS]
    todo = [*own, *(f"{home}/{name}" for name in _USER_CONFIGS), _SYSTEM_CONFIG]
    seen: set[str] = set()
    while todo and len(seen) < _MAX_CONFIGS:
        config = todo.pop()
        if config in seen:
            continue
        seen.add(config)
        for start in dict.fromkeys((top, common)):
            for place in named_places(read(config), os.path.dirname(config), start, home):
                yield place
                todo.append(place)  # if it is a file, it was included


def repositories_around(root: str) -> Iterator[str]:
    """Yield the repositories that git finds from a folder, the nearest first."""
    folder = root
    while True:
        git = os.path.join(folder, GIT)
        if os.path.lexists(git):
            yield git
        elif os.path.lexists(os.path.join(folder, HEAD)) and is_repository(folder):
            yield folder
        if folder in ("", "/"):
            return
        folder = os.path.dirname(folder)


def _hooks_in(folder: str) -> Iterator[str]:
    for name in HOOKS:
        yield os.path.join(folder, name)


# ---------------------------------------------------------------------------- trap scanner


SLACK_NS = 20_000_000
"""A disk's clock may lag behind ours by this much."""
MAX_FOLDERS = 50_000
MAX_INSIDE = 1_000
_LISTABLE = stat.S_IRUSR | stat.S_IXUSR


class TrapPart(Struct, frozen=True):
    """A file, or settings in one, that make something a trap, with its state."""

    path: str
    trap: str
    """The path that is a trap by its name, or the repository; the part itself or a folder around it."""
    state: str
    is_of_git: bool = False


class ScannedFolder(Struct, frozen=True):
    """The content of a folder at the last scan."""

    identity: tuple[int, int, int]
    looked_ns: int
    folders: tuple[str, ...]
    """The folders in it that are to be scanned."""
    traps: tuple[str, ...]
    """The traps in it, and itself if it is a repository."""


class ScanResult(Struct, frozen=True):
    """The result of a scan: the traps that were found, and the folders that were scanned."""

    parts: dict[str, TrapPart]
    """By their paths."""
    traps: frozenset[str]
    """All that were found by name, including harmless repositories."""
    places: tuple[str, ...]
    """Where git's config points, and start files in the home."""
    folders: dict[str, ScannedFolder]
    """Those that were scanned, by their paths."""
    since_ns: int
    """When the scan started."""

    def would_show(self, part: TrapPart) -> bool:
        """True if this scan would have found a part, had it existed then."""
        if part.trap in self.traps:
            return sum(known.trap == part.trap for known in self.parts.values()) < MAX_INSIDE
        folder = part.trap if part.trap in self.folders else os.path.dirname(part.trap)
        below = ""
        while folder not in self.folders:
            if folder in ("", "/"):
                return False
            folder, below = os.path.dirname(folder), folder
        return below not in self.folders[folder].folders


class TrapScanner:
    """Remembers the folders below a root; not thread-safe."""

    def __init__(
        self, root: str, roots: Sequence[str], home: str = "/nonexistent", hidden: Collection[str] = ()
    ) -> None:
        """Set the root, all folders that programs may write to, and the paths that are hidden from them."""
        self.root = root
        self.is_cut = False
        """True if there were more folders than were scanned."""
        self._roots = tuple(roots)
        self._home = home
        self._hidden = frozenset(hidden)
        self._folders: dict[str, ScannedFolder] = {}
        self._traps: dict[str, tuple[str, ...]] = {}
        """The known traps, by the folder they were found in."""

    def look(
        self, max_folders: int = MAX_FOLDERS, *, since: int | None = None, places: Sequence[str] | None = None
    ) -> ScanResult:
        """Return the parts of all traps: in up to `max_folders` folders, and of those known already.

        Folders that were made unlistable since `since` are made listable again. `hook_paths` are those of an
        earlier sight: what a program has written into a config since does not count.
        """
        since_ns = time.time_ns()
        seen = self._walk(max_folders, since)
        found = [trap for traps in self._traps.values() for trap in traps]
        of_git = [trap for trap in found if _is_of_git(trap)]
        if places is None:
            places = find_hook_paths(self.root, of_git, self._home)
        traps = dict.fromkeys((*found, *self._targets(of_git), *places))
        parts = {part.path: part for trap in traps for part in self._parts(trap, places)}
        return ScanResult(parts, frozenset(traps), tuple(places), seen, since_ns)

    def _targets(self, traps: Iterable[str]) -> Iterator[str]:
        """Yield the repositories that a `.git` points to, if programs can change them."""
        for trap in traps:
            target = "" if _is_folder(trap) else git_repository.link_target(trap)
            if (
                target
                and git_repository.is_below(target, self._roots)
                and git_repository.is_repository(target)
            ):
                yield target

    def _walk(self, max_folders: int, since: int | None) -> dict[str, ScannedFolder]:
        """Update the known folders; return those that were scanned."""
        known, new, inside = deque([self.root]), deque[str](), deque[str]()
        seen: dict[str, ScannedFolder] = {}
        count = 0
        while (known or new or inside) and count < max_folders:
            folder = (known or new or inside).popleft()
            count += 1
            found = self._known(folder, since)
            if found is None or found is not self._folders.get(folder):
                self._note(folder, found)
            if found is None:
                continue
            seen[folder] = found
            for inner in found.folders:
                is_inside = f"/{GIT}/" in f"{inner}/".lower()
                (inside if is_inside else known if inner in self._folders else new).append(inner)
        self.is_cut = bool(known or new)
        if not (self.is_cut or inside) and len(seen) < len(self._folders):  # the others no longer exist
            self._folders = dict(seen)
            self._traps = {folder: traps for folder, traps in self._traps.items() if folder in seen}
        return seen

    def _note(self, folder: str, found: ScannedFolder | None) -> None:
        if found is None:
            self._folders.pop(folder, None)
        else:
            self._folders[folder] = found
        if found is not None and found.traps:
            self._traps[folder] = found.traps
        else:
            self._traps.pop(folder, None)

    def _known(self, folder: str, since: int | None) -> ScannedFolder | None:
        """Return the content of a folder, from the last scan if nothing can have changed since."""
        try:
            found = os.lstat(folder)
            identity = found.st_dev, found.st_ino, found.st_ctime_ns
            known = self._folders.get(folder)
            is_same = known is not None and known.identity == identity
            if known is not None and is_same and found.st_ctime_ns < known.looked_ns - SLACK_NS:
                return known
            if since is not None and found.st_ctime_ns >= since - SLACK_NS:
                _open(folder, found)
            return self._list(folder, identity)
        except OSError:
            return None  # gone, or closed to us

    def _list(self, folder: str, identity: tuple[int, int, int]) -> ScannedFolder:
        looked_ns = time.time_ns()
        names: set[str] = set()
        folders: list[str] = []
        traps: list[str] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                names.add(entry.name)
                if entry.path in self._hidden:
                    continue
                is_git = entry.name.lower() == GIT
                is_named = is_trap(folder, entry.name)
                if is_git or is_named:
                    traps.append(entry.path)
                if not is_named and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
        if git_repository.is_layout(names):
            traps.append(folder)
        return ScannedFolder(identity, looked_ns, tuple(folders), tuple(traps))

    def _parts(self, trap: str, places: Sequence[str]) -> Iterator[TrapPart]:
        is_folder = _is_folder(trap)
        if trap in places or not _is_of_git(trap):
            for path in _all_files(trap) if is_folder else (trap,):
                if state := git_repository.state_of(path):
                    yield TrapPart(path, trap, state)
        elif is_folder:
            for path, state in git_repository.harmful_parts(trap, self._roots):
                yield TrapPart(path, trap, state, is_of_git=True)
        elif os.path.lexists(trap) and git_repository.harmful_link(trap, self._roots):
            target = git_repository.link_target(trap)
            yield TrapPart(trap, trap, f"{git_repository.state_of(trap)} {target} {_identity(target)}")


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_of_git(trap: str) -> bool:
    """True if a trap is a repository, or points to one."""
    return not is_trap(*os.path.split(trap))


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.lstat(path)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def near_traps(root: str) -> Iterator[str]:
    """Yield the traps directly in a folder, without those of git."""
    names = (*FILES, *FOLDERS, *(f"{folder}/{name}" for folder in IN_FOLDERS for name in IN_FOLDERS[folder]))
    for name in sorted(names):
        path = f"{root}/{name}"
        if os.path.lexists(path):
            yield path


def _open(folder: str, found: os.stat_result) -> None:
    """Let the owner list and enter a folder: what cannot be listed may still be used."""
    if found.st_mode & _LISTABLE != _LISTABLE and found.st_uid == os.geteuid():
        number = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.chmod(f"/proc/self/fd/{number}", stat.S_IMODE(found.st_mode) | _LISTABLE)
        finally:
            os.close(number)


def _all_files(folder: str) -> Iterator[str]:
    """Yield the files and links below a folder; an empty folder yields nothing."""
    left = MAX_INSIDE
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in (*files, *links):
            yield os.path.join(place, name)
            left -= 1
            if not left:
                return
