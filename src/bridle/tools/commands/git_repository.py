"""Find the git repository of a command, and check whether it could make git run or read something else.

A repository has a config file, which can name programs for nearly everything that git does. A git
command counts as read-only only where the config contains nothing but listed keys.
"""

import os

from msgspec import Struct

from bridle.system.git_config import read_settings, read_text

_ANY_KEY = frozenset(
    "advice alias branch color commit credential fetch gc gitflow http init lfs maintenance merge pull push"
    " rebase receive rerere status submodule tag url user".split()
)
"""Config sections that do not affect a read-only command."""
_KEYS = frozenset(
    """
    core.abbrev core.autocrlf core.bare core.bigfilethreshold core.compression core.eol core.filemode
    core.hidedotfiles core.hookspath core.ignorecase core.logallrefupdates core.longpaths
    core.precomposeunicode core.protecthfs core.protectntfs core.quotepath core.repositoryformatversion
    core.safecrlf core.sparsecheckout core.sparsecheckoutcone core.symlinks core.untrackedcache
    core.worktree diff.algorithm diff.colormoved diff.mnemonicprefix diff.noprefix diff.renamelimit
    diff.renames extensions.objectformat extensions.refstorage index.sparse index.threads index.version
    log.abbrevcommit log.date log.decorate log.follow remote.fetch remote.mirror remote.prune remote.push
    remote.pushurl remote.tagopt remote.url
    """.split()
)
"""Other allowed keys: none of them names a program, or a place that files are read from."""
_PARTS = ("HEAD", "config", "index", "info", "logs", "objects", "packed-refs", "refs")


class Repository(Struct, frozen=True):
    """A working tree and the folders of its history."""

    top: str
    """The folder that contains `.git`, with links resolved."""
    git: str
    common: str
    """The folder of config and objects; in a worktree, not the same as `git`."""


def find_repository(folder: str) -> Repository | None:
    """Return the repository that git would find from a folder; None if there is none."""
    place = os.path.realpath(folder)
    while True:
        marker = os.path.join(place, ".git")
        if os.path.lexists(marker):
            git = _followed(marker)
            return Repository(place, git, _common(git))
        if _looks_bare(place):
            return Repository(place, place, place)
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above


def find_git_risk(repository: Repository) -> str:
    """Return what in a repository could make git do more than read it; empty if nothing could."""
    if repository.git == repository.top:
        return f"{repository.top} is a bare repository"
    if os.path.islink(os.path.join(repository.top, ".git")):
        return ".git is a link"
    for folder in dict.fromkeys((repository.git, repository.common)):
        for name in _PARTS:
            if os.path.islink(os.path.join(folder, name)):
                return f"{name} in its .git is a link"
    if not _knows_its_tree(repository):
        return "its .git points to a repository that does not list it"
    if not os.path.isfile(f"{repository.git}/HEAD") or not os.path.isdir(f"{repository.common}/objects"):
        return "its .git is incomplete, so git may use another one"
    if os.path.lexists(f"{repository.common}/objects/info/alternates"):
        return "its .git uses objects from elsewhere"
    for path in (f"{repository.common}/config", f"{repository.git}/config.worktree"):
        if why := _surprise_in_config(path, repository):
            return why
    modules = read_text(f"{repository.top}/.gitmodules")
    is_open = any(name.endswith(".ignore") or not name for name, _ in read_settings(modules or ""))
    return "its .gitmodules makes git look into submodules" if is_open else ""


def _knows_its_tree(repository: Repository) -> bool:
    """Return whether a repository refers back to its folder: a `.git` file can name any repository."""
    git, common, top = repository.git, repository.common, repository.top
    if git == f"{top}/.git":
        return git == common
    if git != common:  # a worktree
        is_listed = os.path.dirname(git) == f"{common}/worktrees"
        return is_listed and _is_same((read_text(f"{git}/gitdir") or "").strip(), f"{top}/.git")
    settings = dict(read_settings(read_text(f"{git}/config") or ""))
    own = settings.get("core.worktree", "").strip('"')  # a submodule
    return bool(own) and _is_same(os.path.join(git, own), top)


def _surprise_in_config(path: str, repository: Repository) -> str:
    text = read_text(path)
    if text is None:
        return "its git config cannot be read" if os.path.lexists(path) else ""
    for name, value in read_settings(text):
        value = value.strip('"')
        if not name:
            return "its git config has a line that cannot be read"
        is_other = name == "core.worktree" and not _is_same(
            os.path.join(repository.git, value), repository.top
        )
        is_bare = name == "core.bare" and value.lower() not in ("false", "no", "off", "0")
        if not _is_listed(name) or is_other or is_bare:
            return f"its git config sets {name}"
    return ""


def _looks_bare(folder: str) -> bool:
    """Return whether git may treat the folder itself as a repository."""
    others = ("objects", "commondir")
    return os.path.lexists(f"{folder}/HEAD") and any(os.path.lexists(f"{folder}/{name}") for name in others)


def _is_listed(name: str) -> bool:
    section, _, rest = name.partition(".")
    if section in _ANY_KEY:
        return not (section == "submodule" and rest.endswith(("ignore", "recurse")))
    # `[diff "x"]` defines a driver; it is not the same section as `[diff]`.
    return (f"{section}.{rest.rpartition('.')[2]}" if section == "remote" else name) in _KEYS


def _followed(marker: str) -> str:
    """Return the git folder of a `.git`: itself, or the folder that its text names."""
    if os.path.isdir(marker):
        return marker
    text = read_text(marker) or ""
    return os.path.realpath(os.path.join(os.path.dirname(marker), text.removeprefix("gitdir:").strip()))


def _common(git: str) -> str:
    text = read_text(os.path.join(git, "commondir"))
    return git if text is None else os.path.realpath(os.path.join(git, text.strip()))


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
