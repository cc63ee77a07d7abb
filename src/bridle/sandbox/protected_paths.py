"""The paths that are hidden from a program or read-only for it, as they exist on disk now.

| part | paths | effect |
|---|---|---|
| hidden | matches of a deny rule for reading; secrets in the home; Bridle's own files | it is not seen |
| fixed | matches of a deny rule for editing; git hooks and config; other `traps` | it cannot be changed |
| pinned | the folders on the way there, inside a writable one | they cannot be moved away with it |

Rules are expanded against the disk when a program starts. If the program itself creates a matching path
later, the watch refuses that.

A hidden file with several hard links is also hidden under its other names below the roots. Names outside the
roots cannot be found in reasonable time.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.permission import (
    EDITING_TOOLS,
    Rule,
    guarded_patterns,
    hidden_patterns,
    path_glob,
    rule_matches,
)
from bridle.core.tool import Subject
from bridle.sandbox.git_repository import OF_GIT, inner_repositories
from bridle.sandbox.trap_scanner import near_traps

SECRETS = """
.ssh .gnupg .aws .azure .config/gcloud .kube .docker/config.json .docker/contexts .netrc .npmrc .pypirc
.git-credentials .config/git/credentials .config/gh .config/glab-cli .config/op .config/doctl .config/rclone
.terraform.d/credentials.tfrc.json .cargo/credentials .cargo/credentials.toml .gem/credentials
.m2/settings.xml .gradle/gradle.properties .vault-token .pgpass .my.cnf .password-store .local/share/keyrings
.pki .local/share/kwalletd .config/BraveSoftware .config/chromium .config/google-chrome
.config/microsoft-edge .config/vivaldi .mozilla .thunderbird .claude/.credentials.json .codex/auth.json
.anthropic .config/anthropic
.bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history
""".split()


class SearchLimits(Struct, frozen=True):
    """How far to search; beyond these limits no program starts, rather than leave something readable."""

    entries: int = 200_000
    """Files to look at: half a second on a disk in memory."""
    paths: int = 2_000
    """Mounts: bubblewrap takes 9,000 arguments."""


class ProtectedPaths(Struct, frozen=True):
    """The paths to protect, absolute and free of links."""

    hidden_files: tuple[str, ...] = ()
    hidden_folders: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()


def find_protected_paths(
    rules: Sequence[Rule],
    writable: Sequence[str],
    cwd: str,
    *,
    home: str,
    hidden: Iterable[str] = (),
    shown: Sequence[str] = (),
    traps: Sequence[str] = (),
    bounds: SearchLimits = SearchLimits(),  # noqa: B008 - a value that cannot change
) -> ProtectedPaths:
    """Find the paths to hide and to fix; raises ToolError if there is too much to look at.

    The folders are absolute and free of links; relative patterns start in each of them. A folder in `hidden`
    may contain one of them, which stays visible. Folders in `shown` can be seen, but not changed.

    Paths in `traps` are fixed too, if they still exist. The folders around them can be moved, because
    whatever then appears in their place is checked.
    """
    bases = tuple(dict.fromkeys((*writable, *shown, cwd)))
    own = {os.path.realpath(place) for place in hidden}
    matching = set(_matching(hidden_patterns(rules), bases, home, bounds))
    places = {*own, *_secret_places(home), *matching, *_other_names(matching, bases, bounds)}
    covered = outermost(place for place in places if os.path.lexists(place))
    for place in covered:
        if place not in own and any(_is_below(base, [place]) for base in bases):
            raise ToolError(f"{place} is hidden by a deny rule, but the program would run in it")
    folders = tuple(place for place in covered if os.path.isdir(place))
    fixed = set(_matching(guarded_patterns(rules), bases, home, bounds))
    for root in writable:
        fixed.update(_fixed_below(root))
    pinned = [path for path in outermost(fixed) if path not in covered]
    fixed.update(trap for trap in traps if os.path.exists(trap) and not _is_below(trap, covered))
    fixed_paths = tuple(path for path in outermost(fixed) if path not in covered)
    result = ProtectedPaths(
        hidden_files=tuple(place for place in covered if place not in folders),
        hidden_folders=folders,
        fixed=fixed_paths,
        pinned=_pins([*covered, *pinned], writable),
    )
    if sum(len(paths) for paths in (covered, fixed_paths, result.pinned)) > bounds.paths:
        raise ToolError(
            f"the deny rules match more than {bounds.paths} paths", hint="name their folders instead"
        )
    return result


def _secret_places(home: str) -> Iterator[str]:
    for name in SECRETS:
        place = f"{home}/{name}"
        if os.path.exists(place):
            yield os.path.realpath(place)


def _fixed_below(root: str) -> Iterator[str]:
    for path in near_traps(root):
        if os.path.exists(path):
            yield os.path.realpath(path)
    git = os.path.join(root, ".git")
    for repository in (git, *inner_repositories(git)):
        for name in OF_GIT:
            path = os.path.join(repository, name)
            if os.path.exists(path):
                yield os.path.realpath(path)
    if os.path.isdir(git) and not os.path.lexists(os.path.join(git, "hooks")):
        # Every `git init` creates this folder; an empty one is harmless, but a program could create one with
        # hooks.
        os.makedirs(os.path.join(git, "hooks"), exist_ok=True)
        yield os.path.join(os.path.realpath(git), "hooks")
    if os.path.isfile(git):
        yield os.path.realpath(git)  # a worktree: rewriting this file would point git to other hooks


def _matching(
    patterns: Sequence[str], roots: Sequence[str], home: str, bounds: SearchLimits
) -> Iterator[str]:
    """Yield the outermost paths that match a pattern; a link counts as its target."""
    budget = _Budget(bounds.entries)
    for start, group in _by_start(patterns, roots, home).items():
        literal = [one for one in group if _is_literal(one)]
        for pattern in literal:
            path = os.path.join(start, pattern)
            if os.path.lexists(path):
                yield os.path.realpath(path)
        globs = [one for one in group if not _is_literal(one)]
        if globs:
            yield from _walk(start, globs, budget)


def _by_start(patterns: Sequence[str], roots: Sequence[str], home: str) -> dict[str, list[str]]:
    """Group patterns by the folder they start from, and remove that part from each."""
    found: dict[str, list[str]] = {}
    for pattern in patterns:
        whole = os.path.join(home, pattern[2:]) if pattern.startswith("~/") else pattern
        whole = whole.removesuffix("/**").rstrip("/") or whole
        for root in ("/",) if whole.startswith("/") else roots:
            steps = whole.strip("/").split("/")
            fixed = next((at for at, step in enumerate(steps[:-1]) if not _is_literal(step)), len(steps) - 1)
            start = os.path.normpath(os.path.join(root, *steps[:fixed]))
            found.setdefault(start, []).append("/".join(steps[fixed:]))
    return found


def _is_literal(pattern: str) -> bool:
    return "*" not in pattern and "?" not in pattern


def _walk(start: str, patterns: Sequence[str], budget: "_Budget") -> Iterator[str]:
    fits = _compiled(tuple(patterns)).fullmatch
    deepest = max(pattern.count("/") if "**" not in pattern else 10_000 for pattern in patterns)
    todo = [(start, "", 0)]
    while todo:
        folder, prefix, depth = todo.pop()
        for entry in _entries(folder, budget):
            name = prefix + entry.name
            if fits(name):
                yield os.path.realpath(entry.path)
            elif depth < deepest and entry.is_dir(follow_symlinks=False):
                todo.append((entry.path, name + "/", depth + 1))


class _Budget:
    """Counts the files that were looked at."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._left = entries

    def spend(self) -> None:
        """Count one more; raises ToolError beyond the limit."""
        self._left -= 1
        if self._left < 0:
            raise ToolError(
                f"the deny rules cannot be applied: they cover more than {self._entries} files",
                hint="write rules that start with a folder, for example secrets/**",
            )


def _entries(folder: str, budget: "_Budget") -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                budget.spend()
                yield entry
    except OSError:
        return  # what we cannot list is closed to the program as well, or is gone


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{path_glob(pattern).pattern})" for pattern in patterns), re.DOTALL)


def _other_names(places: Iterable[str], roots: Sequence[str], bounds: SearchLimits) -> Iterator[str]:
    """Yield the other names, below the roots, of the files at or below these places."""
    budget = _Budget(bounds.entries)
    linked = {identity for place in places for identity in _linked(place, budget)}
    inodes = {inode for _, inode in linked}
    todo = list(roots) if linked else []
    while todo:
        for entry in _entries(todo.pop(), budget):
            if entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)
            elif entry.inode() in inodes:
                found = entry.stat(follow_symlinks=False)
                if (found.st_dev, found.st_ino) in linked:
                    yield entry.path


def _linked(place: str, budget: "_Budget") -> Iterator[tuple[int, int]]:
    """Yield device and inode of each file at or below a place that has more than one name."""
    todo = [place]
    while todo:
        path = todo.pop()
        try:
            found = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode):
            todo += [entry.path for entry in _entries(path, budget) if not entry.is_symlink()]
        elif stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
            yield found.st_dev, found.st_ino


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that lie in no other of them, in order."""
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if not kept or not path.startswith(kept[-1] + "/"):
            kept.append(path)
    return tuple(kept)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def _pins(paths: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
    pins: set[str] = set()
    for path in paths:
        for root in roots:
            if path.startswith(root + "/"):
                steps = path[len(root) + 1 :].split("/")[:-1]
                pins.update("/".join([root, *steps[: count + 1]]) for count in range(len(steps)))
    return tuple(sorted(pins))


# ---------------------------------------------------------------------------- path check
# What a program may not change although it lies in a writable folder, judged by path alone.
#
# The sandbox makes paths read-only that exist when a program starts. This check refuses what the program
# creates itself: a path that a deny rule matches, Bridle's own files in a project, a new hook in a
# repository.


_OWN = (".bridle", ".mcp.json")  # other traps are moved away at the end, because normal programs create them
# The user's next git command runs a hook, except the samples that `git init` creates; the two files make git
# take its config and its hooks from elsewhere.
_OF_GIT = re.compile(
    r"/\.git/(?:modules/.+/)?(?:hooks/.+(?<!\.sample)|commondir|config\.worktree)\Z", re.DOTALL
)


def build_path_check(
    rules: Sequence[Rule],
    writable: Sequence[str],
    cwd: str,
    home: str,
    unwalled: ProtectedPaths | None = None,
) -> Callable[[str], bool]:
    """Return a function that decides whether a path, absolute and free of links, must not be changed.

    With `unwalled`, it also covers the paths that the sandbox itself cannot fix, pin or hide.
    """
    denials = [_at_home(rule, home) for rule in rules if rule.action == "deny" and rule.pattern]
    walls = unwalled or ProtectedPaths()
    pinned = walls.pinned
    closed = (
        *walls.fixed,
        *walls.hidden_files,
        *walls.hidden_folders,
        *(f"{root.rstrip('/')}/{name}" for root in writable for name in _OWN),
    )
    below = tuple(f"{place}/" for place in closed)

    def refuses(path: str) -> bool:
        if path in closed or path in pinned or path.startswith(below):
            return True
        if "/.git/" in path and _OF_GIT.search(path) is not None:
            return True
        return any(_speaks_of(rule, name) for rule in denials for name in _names(path, writable, cwd))

    return refuses


def _names(path: str, writable: Sequence[str], cwd: str) -> list[str]:
    """Return the forms in which rules may name a path."""
    return [path, *(path[len(base) + 1 :] for base in {cwd, *writable} if path.startswith(base + "/"))]


def _speaks_of(rule: Rule, name: str) -> bool:
    return rule_matches(rule, EDITING_TOOLS[0], Subject("path", name, "write"))


def _at_home(rule: Rule, home: str) -> Rule:
    if not rule.pattern.startswith("~/"):
        return rule
    return Rule(rule.action, rule.tool, f"{home.rstrip('/')}/{rule.pattern[2:]}")
