"""What in a git repository makes git run something: everything that is not on a list of harmless settings.

```
config, config.worktree   settings that are not on the list, or that cannot be parsed with certainty
hooks                     every file that is not a *.sample
commondir                 takes config and hooks from elsewhere; a worktree's points to its main repository
.git, if it is a file     points to a repository elsewhere, which must be one of ours and harmless
```

A repository made by `git init`, `git clone`, `git worktree` or `git submodule` is harmless.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from bridle.system.git_config import Setting, read_settings, read_text

OF_GIT = ("config", "config.worktree", "commondir", "hooks")
"""The parts of a repository that can make the user's next git command run something."""
_CONFIGS = ("config", "config.worktree")
_DATA = ("objects", "refs", "logs", "hooks", "info")
_MAX_INNER = 10_000
_HARMLESS = re.compile(
    r"""
    core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks
        |autocrlf|eol|safecrlf|quotepath|sharedrepository|abbrev|compression|bigfilethreshold|trustctime
        |checkstat|preloadindex|untrackedcache|commitgraph|multipackindex|sparsecheckout|sparsecheckoutcone)
    | extensions\.(?:objectformat|refstorage|partialclone|worktreeconfig|preciousobjects|noop
        |compatobjectformat|relativeworktrees)
    | remote\..*\.(?:url|pushurl|fetch|push|tagopt|mirror|prune|prunetags|skipdefaultupdate|skipfetchall
        |promisor|partialclonefilter|gh-resolved)
    | branch\..*\.(?:remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base)
    | submodule\.(?:active|recurse) | submodule\..*\.(?:url|active|branch|ignore|shallow)
    | (?:user|author|committer)\.(?:name|email) | init\.defaultbranch | pull\.(?:rebase|ff)
    | push\.(?:default|autosetupremote|followtags) | fetch\.(?:prune|prunetags|parallel)
    | merge\.(?:ff|conflictstyle) | rebase\.(?:autostash|autosquash) | gc\.auto | index\.(?:version|skiphash)
    | advice\.[a-z]+ | color\.[a-z]+ | lfs\.repositoryformatversion | gui\.wmstate | gui\.geometry
    | receive\.(?:denynonfastforwards|denycurrentbranch|denydeletes)
    """,
    re.VERBOSE | re.DOTALL,
)


def harmful_settings(text: str, folder: str, roots: Sequence[str]) -> list[Setting]:
    """Return the settings of the repository in `folder` that are not known to be harmless."""
    return [one for one in read_settings(text) if not _is_harmless(one, folder, roots)]


def _is_harmless(setting: Setting, folder: str, roots: Sequence[str]) -> bool:
    name, value = setting
    if name == "core.worktree":  # where `git checkout` writes
        return '"' not in value and is_below(os.path.realpath(os.path.join(folder, value)), roots)
    # A value with `::` names a program that connects; one with a leading dash is taken for an option.
    return (
        _HARMLESS.fullmatch(name) is not None and "::" not in value and not value.strip('"').startswith("-")
    )


def named_places(text: str, folder: str, top: str, home: str) -> Iterator[str]:
    """Yield where a config looks for hooks and more settings: these count like its own.

    `folder` holds the config; relative hook paths start at `top`.
    """
    for name, value in read_settings(text):
        value = value.strip('"')
        if value.startswith("~/"):
            value = os.path.join(home, value[2:])
        if name == "core.hookspath" and value:
            yield os.path.normpath(os.path.join(top, value))
        elif value and (name == "include.path" or (name.startswith("includeif.") and name.endswith(".path"))):
            yield os.path.normpath(os.path.join(folder, value))


def harmful_parts(folder: str, roots: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the parts of a repository that would make git run something, each with a text for its state."""
    for inner in (folder, *inner_repositories(folder)):
        yield from _parts(inner, roots)
    if _is_of_worktree(folder):
        yield from _parts(common_folder(folder), roots)


def _is_of_worktree(folder: str) -> bool:
    """True if `git worktree` has made a repository inside another."""
    is_at_place = os.path.basename(os.path.dirname(folder)) == "worktrees"
    return is_at_place and (read_text(os.path.join(folder, "commondir")) or "").strip() == "../.."


def common_folder(folder: str) -> str:
    """Return where a repository keeps its config and hooks: itself, or what its `commondir` names."""
    text = (read_text(os.path.join(folder, "commondir")) or "").strip()
    return os.path.normpath(os.path.join(folder, text))


def _parts(folder: str, roots: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in _CONFIGS:
        path = os.path.join(folder, name)
        text = read_text(path)
        found = harmful_settings(text, folder, roots) if text is not None else []
        if found:
            yield path, repr(found)
        elif text is None and os.path.lexists(path):
            yield path, state_of(path)  # a link, a pipe, or far too long
    common = os.path.join(folder, "commondir")
    if os.path.lexists(common) and not _is_of_worktree(folder):
        yield common, state_of(common)
    yield from _hooks(os.path.join(folder, "hooks"))


def _hooks(folder: str) -> Iterator[tuple[str, str]]:
    if os.path.islink(folder):
        yield folder, state_of(folder)
        return
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if not name.endswith(".sample"):
            path = os.path.join(folder, name)
            yield path, state_of(path)


def link_target(path: str) -> str:
    """Return where a `.git` that is a file or a link points, free of links; empty if nowhere."""
    if os.path.islink(path):
        return os.path.realpath(path)
    text = read_text(path) or ""
    if not text.startswith("gitdir:"):
        return ""
    return os.path.realpath(os.path.join(os.path.dirname(path), text.removeprefix("gitdir:").strip()))


def harmful_link(path: str, roots: Sequence[str]) -> bool:
    """True unless a `.git` that is not a folder points to a harmless repository of ours."""
    target = link_target(path)
    if os.path.islink(path) or not target or not is_below(target, roots) or not is_repository(target):
        return True
    return any(True for _ in harmful_parts(target, roots))


def is_repository(folder: str) -> bool:
    """True if git would treat a folder as a repository, whatever its name."""
    try:
        return is_layout(os.listdir(folder))
    except OSError:
        return False


def is_layout(names: Iterable[str]) -> bool:
    """True if git treats a folder with these entries as a repository."""
    found = {name.lower() for name in names}
    return "head" in found and ("commondir" in found or {"objects", "refs"} <= found)


def inner_repositories(git: str) -> Iterator[str]:
    """Yield the repositories of submodules and worktrees, which lie inside their project's repository."""
    todo = [os.path.join(git, name) for name in ("modules", "worktrees")]
    left = _MAX_INNER
    while todo and left > 0:
        folder = todo.pop()
        is_one = os.path.lexists(os.path.join(folder, "HEAD"))
        if is_one:
            yield folder
        try:
            with os.scandir(folder) as entries:  # the name of a submodule may hold slashes
                found = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        if is_one:  # and one may lie inside another
            found = [path for path in found if os.path.basename(path) not in _DATA]
        left -= len(found)
        todo += found


def state_of(path: str) -> str:
    """Return a text that changes whenever a file does."""
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}:{found.st_ctime_ns}"


def is_below(path: str, folders: Iterable[str]) -> bool:
    """True if a path is one of these folders, or lies below one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
