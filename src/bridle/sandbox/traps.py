"""Puts away what a program leaves behind for the user's other programs to run: traps.

```
start    what is there is remembered (and mounted read-only, see `shield`)
  ▼
program  runs; the watch knows whether it has changed anything at all
  ▼
look     what has appeared or changed since, and is a trap, is moved to a folder of Bridle's
```

The look is at the disk, so that no race with the watch helps. It comes before the result is given. What
is put away is only the part that makes a trap: the config of a repository, not the repository.
"""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace

from bridle.core.traps import GIT
from bridle.sandbox import repository
from bridle.sandbox.survey import SLACK_NS, Part, Sight, Survey
from bridle.system.git_config import read_text

_MAX_MOUNTED = 300
_MAX_FOLDERS_OF_A_SESSION = 2_000
"""How far the first program of a session looks for what to mount."""
_MAX_FOLDERS_OF_A_PROGRAM = 250
"""How far each looks when it starts: a millisecond."""
_MAX_SURVEYS = 32
_USER_CONFIGS = (".gitconfig", ".config/git/config")
_SYSTEM_CONFIG = "/etc/gitconfig"
_MAX_TOLD = 10
_WHY = "would make a program of yours run something outside the sandbox"
_TOO_MANY = (
    "there are so many folders now that not all were searched for files that would make a program of yours"
    " run something"
)


class Traps:
    """Looks after the folders that programs may change; one for a sandbox."""

    def __init__(self, *, home: str, away: str) -> None:
        """Take the user's home, whose git config may name places in a project, and where to put things."""
        self._home = home
        self._away = away
        self._surveys: dict[tuple[str, tuple[str, ...]], Survey] = {}
        self._lock = threading.Lock()

    def existing(self, roots: Sequence[str]) -> tuple[str, ...]:
        """Return what of the traps below the roots is there now and is not to be changed, nearest first."""
        with self._lock:
            surveys = list(self._of(roots))
            for survey in surveys:
                survey.look(_MAX_FOLDERS_OF_A_SESSION)
        found = [trap for survey in surveys for trap in survey.traps]
        return tuple(path for trap in found for path in _to_fix(trap))[:_MAX_MOUNTED]

    def see(self, roots: Sequence[str]) -> dict[str, Sight]:
        """Return what there is, by root; of a large tree only what is near."""
        with self._lock:
            return {survey.root: survey.look(_MAX_FOLDERS_OF_A_PROGRAM) for survey in self._of(roots)}

    def put_away(self, roots: Sequence[str], sights: dict[str, Sight]) -> list[str]:
        """Put away what has come or changed since; returns sentences about it, and renews the sights."""
        told: list[str] = []
        with self._lock:
            for survey in self._of(roots):
                before, was_cut = sights[survey.root], survey.is_cut
                seen = survey.look(opened_since_ns=before.since_ns)
                moved = _to_move(seen.parts.values(), before)
                told += _shortened(self._move_all(moved, survey.root))
                left = {path: part for path, part in seen.parts.items() if not _is_among(path, moved)}
                sights[survey.root] = replace(seen, parts=left)
                if survey.is_cut and not was_cut:
                    told.append(_TOO_MANY)
        return told

    def _of(self, roots: Sequence[str]) -> Iterator[Survey]:
        for root in _outer(roots):
            key = root, tuple(roots)
            survey = self._surveys.pop(key, None) or Survey(root, roots)
            self._surveys[key] = survey
            while len(self._surveys) > _MAX_SURVEYS:
                del self._surveys[next(iter(self._surveys))]
            survey.named = tuple(path for path in _named_by_git(root, self._home) if _is_below(path, root))
            yield survey

    def _move_all(self, paths: Iterable[str], root: str) -> list[str]:
        """Move files to a new folder of ours, each below it as it was below the root; tells of each."""
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


class Look:
    """What was there before one program, and what it has left by now."""

    def __init__(self, traps: Traps, roots: Sequence[str]) -> None:
        """Remember what is there; blocking."""
        self._traps = traps
        self._roots = tuple(roots)
        self.is_due: Callable[[], bool] = lambda: True
        """Says whether anything can have changed since it was last asked."""
        self._sights = traps.see(roots)

    def renew(self) -> None:
        """Take what is there now as what was there before; blocking."""
        self._sights = self._traps.see(self._roots)

    def finish(self) -> list[str]:
        """Put away the traps that the program has left by now; returns a sentence for each. Blocking."""
        return self._traps.put_away(self._roots, self._sights)


def _named_by_git(root: str, home: str) -> Iterator[str]:
    """Yield where git looks for hooks and settings of the repository in a folder, beside the usual places."""
    own = [f"{root}/{GIT}/{name}" for name in ("config", "config.worktree")]
    for path in (*own, *(f"{home}/{name}" for name in _USER_CONFIGS), _SYSTEM_CONFIG):
        text = read_text(path)
        if text:
            yield from repository.named_places(text, os.path.dirname(path), root, home)


def _make_place(folder: str) -> str:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return tempfile.mkdtemp(prefix=time.strftime("%Y%m%d-%H%M%S-"), dir=folder)


def _shortened(told: list[str]) -> list[str]:
    more = len(told) - _MAX_TOLD
    return told if more <= 0 else [*told[:_MAX_TOLD], f"so it is with {more} files more"]


def _printable(path: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in path)


def _to_fix(trap: str) -> Iterator[str]:
    """Yield what to mount of a trap that exists: itself, or what matters of a repository."""
    is_folder = os.path.isdir(trap) and not os.path.islink(trap)
    if is_folder and (os.path.basename(trap).lower() == GIT or repository.is_repository(trap)):
        for folder in (trap, *repository.inner_repositories(trap)):
            yield from _present(f"{folder}/{name}" for name in repository.OF_GIT)
    else:
        yield from _present([trap])


def _present(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if os.path.exists(path) and not os.path.islink(path):
            yield path


def _to_move(parts: Iterable[Part], before: Sight) -> dict[str, None]:
    """Return what to move: a trap that was not there before as a whole, of the others the new parts."""
    known = {part.trap for part in before.parts.values()}
    fresh = [part for part in parts if _is_fresh(part, before)]
    paths = {part.path if part.is_of_git or part.trap in known else part.trap for part in fresh}
    return {path: None for path in sorted(paths) if not _is_among(os.path.dirname(path), paths)}


def _is_fresh(part: Part, before: Sight) -> bool:
    """Say whether a part has come or changed since: by itself, or with a folder around it that was moved."""
    known = before.parts.get(part.path)
    if known is not None and known.state == part.state:
        return False
    since_ns = before.since_ns - SLACK_NS
    if any(_changed_ns(path) >= since_ns for path in _between(part)):
        return True
    outer = (part.trap, os.path.dirname(part.trap))  # both change when a trap gets its name
    return part.trap not in before.traps and all(_changed_ns(path) >= since_ns for path in outer)


def _between(part: Part) -> Iterator[str]:
    """Yield a part and the folders around it, up to the trap."""
    yield part.path
    path = os.path.dirname(part.path)
    while len(path) > len(part.trap):
        yield path
        path = os.path.dirname(path)


def _is_among(path: str, places: Collection[str]) -> bool:
    """Say whether a path is one of these places, or lies below one."""
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


def _outer(roots: Sequence[str]) -> list[str]:
    return [one for one in dict.fromkeys(roots) if not any(_is_below(one, other) for other in roots)]


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


@contextmanager
def _opened(root: str, way: str) -> Iterator[int]:
    """Open a folder below a root without following a link: a program that runs on may put one there."""
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
