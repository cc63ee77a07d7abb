"""Where git and the user's other programs find code to run, besides the default places in a repository.

```
core.hooksPath   in the config of a repository, of the one it shares, of the user or of the system
include.path     in any of them, and in what is included
home             start files of shells, git, ssh and the desktop
```

A file there is as dangerous as a hook.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from bridle.core.traps import AT_HOME, GIT, HEAD
from bridle.sandbox.git_repository import common_folder, is_repository, link_target, named_places
from bridle.system.git_config import read_text

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
