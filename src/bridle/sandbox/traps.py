"""Moves away traps: files that a program leaves behind for the user's other programs to run.

```
start    existing traps are remembered (and mounted read-only, see `protected_paths`)
  ▼
program  runs; the watch records whether it has changed anything at all
  ▼
look     traps that were absent, or in another state, are moved to a folder of Bridle's
```

The look is at the disk, so a race with the watch does not help a program. It comes before the result is
returned. Only the part that makes something a trap is moved: the config of a repository, not the repository.
Of a folder that has only now become a repository, and whose config is older, it is `HEAD`.

If there are too many folders to remember, the content of the others is judged by its time of change.
"""

import asyncio
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from bridle.core.traps import AT_HOME, GIT, HEAD
from bridle.sandbox import git_repository
from bridle.sandbox.git_repository import is_below
from bridle.sandbox.syscall_watch import SyscallWatch
from bridle.sandbox.trap_scanner import (
    SLACK_NS,
    ScanResult,
    TrapPart,
    TrapScanner,
    find_hook_paths,
    repositories_around,
)

# ---------------------------------------------------------------------------- trap diff
# Which traps are new since an earlier scan: all that were absent then, or in another state.
#
# ```
# the scan covered the place      what was absent, or in another state, is new
# it did not: too many folders    the time of change decides: of the file, or of the folder that got its name
# ```
#
# The time alone is not enough: a file keeps its own when the folder around it is renamed to `.vscode` or
# `.git`.


def find_new_parts(seen: ScanResult, before: ScanResult) -> list[TrapPart]:
    """Return the parts that were absent before, or in another state."""
    return [part for part in seen.parts.values() if _is_fresh(part, before)]


def remove_parts(seen: ScanResult, parts: Iterable[TrapPart]) -> ScanResult:
    """Return a sight without these parts and without the traps they belong to."""
    gone = {part.path: part.trap for part in parts}
    left = {path: part for path, part in seen.parts.items() if path not in gone}
    return replace(seen, parts=left, traps=seen.traps.difference(gone.values()))


def select_paths_to_move(fresh: Iterable[TrapPart], before: ScanResult) -> dict[str, None]:
    """Return the paths to move: a trap that was absent before as a whole, of others only the new parts."""
    known = {part.trap for part in before.parts.values()}
    paths = {_what_to_move(part, before, is_known=part.trap in known) for part in fresh}
    return {path: None for path in sorted(paths) if not _is_among(os.path.dirname(path), paths)}


def _what_to_move(part: TrapPart, before: ScanResult, *, is_known: bool) -> str:
    if not part.is_of_git:
        return part.path if is_known else part.trap
    became_one = part.trap not in before.traps and not _is_named_git(part)
    if became_one and not _has_changed(part, before.since_ns):
        return os.path.join(part.trap, HEAD)  # the rest may be files of the user that have such names
    return part.path


def _is_named_git(part: TrapPart) -> bool:
    return os.path.basename(part.trap).lower() == GIT


def _is_fresh(part: TrapPart, before: ScanResult) -> bool:
    """True if a part was absent before, or in another state."""
    known = before.parts.get(part.path)
    if known is not None and known.state == part.state:
        return False
    if before.would_show(part) or _has_changed(part, before.since_ns):
        return True
    return part.trap not in before.traps and _became_trap(part, before.since_ns)


def _has_changed(part: TrapPart, since_ns: int) -> bool:
    """True if a part, or a folder between it and the trap, was created or changed since."""
    return any(_changed_ns(path) >= since_ns - SLACK_NS for path in _between(part))


def _became_trap(part: TrapPart, since_ns: int) -> bool:
    """True if a trap, or the folder around it, may have got its name since: that changes two folders.

    A folder may have become a repository through anything that was put into it.
    """
    if part.is_of_git and not _is_named_git(part):
        return _changed_ns(part.trap) >= since_ns - SLACK_NS
    folder = os.path.dirname(part.trap)
    pairs = ((part.trap, folder), (folder, os.path.dirname(folder)))
    return any(all(_changed_ns(path) >= since_ns - SLACK_NS for path in pair) for pair in pairs)


def _between(part: TrapPart) -> Iterator[str]:
    """Yield a part and the folders around it, up to the trap."""
    yield part.path
    path = os.path.dirname(part.path)
    while len(path) > len(part.trap):
        yield path
        path = os.path.dirname(path)


def _is_among(path: str, places: Collection[str]) -> bool:
    """True if a path is one of these places, or lies below one."""
    while path not in ("", "/"):
        if path in places:
            return True
        path = os.path.dirname(path)
    return False


def _changed_ns(path: str) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0


# ---------------------------------------------------------------------------- traps


_MAX_MOUNTED = 300
_MAX_FOLDERS_OF_A_SESSION = 2_000
"""How many folders a session's first program scans for traps to mount read-only."""
_MAX_FOLDERS_OF_A_PROGRAM = 250
"""How many folders each program scans when it starts: a millisecond."""
_MAX_SURVEYS = 32
_MAX_TOLD = 10
_WHY = "would make one of your programs run code outside the sandbox"
_TOO_MANY = (
    "there are so many folders now that not all were searched for files that would make a program of yours"
    " run something"
)


class Traps:
    """Guards the folders that programs may change; one per sandbox."""

    def __init__(self, *, home: str, away: str, hidden: Sequence[str] = ()) -> None:
        """Set the user's home, where to move traps, and what is hidden from programs: Bridle's own files."""
        self._home = home
        self._away = away
        self._hidden = frozenset(os.path.realpath(place) for place in hidden)
        self._surveys: dict[tuple[str, tuple[str, ...]], TrapScanner] = {}
        self._lock = threading.Lock()

    def existing(self, roots: Sequence[str]) -> tuple[str, ...]:
        """Return the paths of existing traps below the roots that must not be changed, nearest first."""
        with self._lock:
            sights = [survey.look(_MAX_FOLDERS_OF_A_SESSION) for survey in self._of(roots)]
        found = sorted({trap for sight in sights for trap in sight.traps}, key=lambda trap: trap.count("/"))
        return tuple(path for trap in found for path in _to_fix(trap))[:_MAX_MOUNTED]

    def place_of(self, cwd: str, path: str) -> str:
        """Return the place around a path whose files the user's programs read or run.

        Besides those that are recognized by name alone; empty if there is none.
        """
        root = os.path.realpath(cwd)
        [sight] = self.see([root]).values()
        names = (os.path.join(root, path), os.path.realpath(os.path.join(root, path)))
        around = [git for name in names for git in repositories_around(os.path.dirname(name))]
        at_home = (os.path.join(self._home, name) for name in AT_HOME)
        places = (*sight.places, *find_hook_paths(root, around, self._home), *at_home)
        return next((place for place in places if any(is_below(name, [place]) for name in names)), "")

    def see(self, roots: Sequence[str]) -> dict[str, ScanResult]:
        """Return the current traps, by root; of a large tree only the near ones."""
        with self._lock:
            return {survey.root: survey.look(_MAX_FOLDERS_OF_A_PROGRAM) for survey in self._of(roots)}

    def put_away(self, roots: Sequence[str], sights: dict[str, ScanResult]) -> list[str]:
        """Move away what is new or changed since; return sentences about it, and update the sights."""
        told: list[str] = []
        with self._lock:
            for survey in self._of(roots):
                before, was_cut = sights[survey.root], survey.is_cut
                seen = survey.look(since=before.since_ns, places=before.places)
                fresh = find_new_parts(seen, before)
                told += _shortened(self._move_all(select_paths_to_move(fresh, before), survey.root))
                sights[survey.root] = remove_parts(seen, fresh)
                if survey.is_cut and not was_cut:
                    told.append(_TOO_MANY)
        return told

    def _of(self, roots: Sequence[str]) -> Iterator[TrapScanner]:
        for root in _outer(roots):
            key = root, tuple(roots)
            survey = self._surveys.pop(key, None) or TrapScanner(root, roots, self._home, self._hidden)
            self._surveys[key] = survey
            while len(self._surveys) > _MAX_SURVEYS:
                del self._surveys[next(iter(self._surveys))]
            yield survey

    def _move_all(self, paths: Iterable[str], root: str) -> list[str]:
        """Move files to a new folder of ours, under their paths relative to the root; report each."""
        place = ""
        told = []
        for path in paths:
            name = os.path.relpath(path, root)
            try:
                place = place or _make_place(self._away)
                target = os.path.join(place, name)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with _opened(root, os.path.dirname(name)) as folder:
                    shutil.move(f"/proc/self/fd/{folder}/{os.path.basename(name)}", target)
            except OSError as error:
                why = error.strerror or error
                told.append(f"{_printable(name)} {_WHY} and could not be put away ({why}): remove it first")
            else:
                told.append(f"{_printable(name)} {_WHY}: it was put away and is now {_printable(target)}")
        return told


class TrapCheck:
    """The traps that existed before one program; finds those that it has left since."""

    def __init__(self, traps: Traps, roots: Sequence[str]) -> None:
        """Remember the existing traps; blocking."""
        self._traps = traps
        self._roots = tuple(roots)
        self.is_due: Callable[[], bool] = lambda: True
        """True if anything can have changed since the last call."""
        self._sights = traps.see(roots)

    def renew(self) -> None:
        """Treat the traps that exist now as existing before; blocking."""
        self._sights = self._traps.see(self._roots)

    def finish(self) -> list[str]:
        """Move away the traps that the program has left so far; return a sentence for each. Blocking."""
        return self._traps.put_away(self._roots, self._sights)


def _make_place(folder: str) -> str:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=folder)


def _shortened(told: list[str]) -> list[str]:
    more = len(told) - _MAX_TOLD
    return told if more <= 0 else [*told[:_MAX_TOLD], f"the same applies to {more} more files"]


def _printable(path: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in path)


def _to_fix(trap: str) -> Iterator[str]:
    """Yield the paths to mount read-only for a trap: itself, or the relevant parts of a repository."""
    is_folder = os.path.isdir(trap) and not os.path.islink(trap)
    if is_folder and (os.path.basename(trap).lower() == GIT or git_repository.is_repository(trap)):
        for folder in (trap, *git_repository.inner_repositories(trap)):
            yield from _present(f"{folder}/{name}" for name in git_repository.OF_GIT)
    else:
        yield from _present([trap])


def _present(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if os.path.exists(path) and not os.path.islink(path):
            yield path


def _outer(roots: Sequence[str]) -> list[str]:
    others = {one: [other for other in roots if other != one] for one in roots}
    return [one for one in others if not is_below(one, others[one])]


@contextmanager
def _opened(root: str, way: str) -> Iterator[int]:
    """Open a folder below a root without following links: a program that still runs may put one there."""
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(root, flags)
    try:
        for step in filter(None, way.split("/")):
            inner = os.open(step, flags, dir_fd=number)
            os.close(number)
            number = inner
        yield number
    finally:
        os.close(number)


# ---------------------------------------------------------------------------- changes
# The effects of one program: refused changes of files, and traps that it left and that were moved away.


class ProgramChanges:
    """Implements `Changes` for a program in a cell."""

    def __init__(self, watch: SyscallWatch | None) -> None:
        self._watch = watch
        self.look: TrapCheck | None = None
        """Finds the traps that it leaves."""
        self.put_away: tuple[str, ...] = ()
        self._settling = asyncio.Lock()

    @property
    def kept_error(self) -> str:
        """Why changes of files were refused because they could not be saved for undo; empty if none was."""
        return self._watch.error if self._watch is not None else ""

    async def settle(self, *, is_done: bool = True) -> None:
        """Move the traps that it has left so far out of the project, and list them in `put_away`.

        Pass `is_done=False` if it may still write to files it has open, without a system call that is
        watched.
        """
        if self.look is None:
            return
        async with self._settling:
            is_due = self.look.is_due()
            if is_done and self._watch is not None:
                self._watch.mark()
            if is_due:
                found = await asyncio.to_thread(self.look.finish)
                self.put_away += tuple(found)

    async def accept(self) -> None:
        """Treat changes since the last `settle` as made by others, unless the program has made some."""
        if self.look is None or self._watch is None or not self._watch.is_quiet:
            return
        async with self._settling:
            await asyncio.to_thread(self.look.renew)
