"""The git repository that a command would work with, and what in it could make git run or read more.

A repository brings its own config, which can name programs for nearly everything that git does. A git
command counts as reading only where the config holds nothing but listed keys.
"""

import os
import re
import stat
from collections.abc import Iterator

from msgspec import Struct

MAX_CONFIG_BYTES = 64 * 1024
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\["\\])*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")

_ANY_KEY = frozenset(
    "advice alias branch color commit credential fetch gc gitflow http init lfs maintenance merge pull push"
    " rebase receive rerere status submodule tag url user".split()
)
"""Sections whose keys a reading command does not follow."""
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
"""Other keys that it may meet: none of them names a program, or a place that files are read from."""
_PARTS = ("HEAD", "config", "index", "info", "logs", "objects", "packed-refs", "refs")


class Repository(Struct, frozen=True):
    """A working tree and where its history lies."""

    top: str
    """The folder that holds `.git`, free of links."""
    git: str
    common: str
    """Where config and objects lie; another folder than `git` in a worktree."""


def find_repository(folder: str) -> Repository | None:
    """Return the repository that git finds from a folder; None where it finds none."""
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


def surprise_in(repository: Repository) -> str:
    """Say what in a repository could make git do more than read it; empty for a plain one."""
    if repository.git == repository.top:
        return f"{repository.top} is a bare repository"
    if os.path.islink(os.path.join(repository.top, ".git")):
        return ".git is a link"
    for folder in dict.fromkeys((repository.git, repository.common)):
        for name in _PARTS:
            if os.path.islink(os.path.join(folder, name)):
                return f"{name} in its .git is a link"
    if not os.path.isfile(f"{repository.git}/HEAD") or not os.path.isdir(f"{repository.common}/objects"):
        return "its .git is not whole, and git may take another one"
    if os.path.lexists(f"{repository.common}/objects/info/alternates"):
        return "its .git takes objects from elsewhere"
    for path in (f"{repository.common}/config", f"{repository.git}/config.worktree"):
        for key, value in _settings(path):
            if not _is_listed(key) or (
                key == "core.bare" and value.lower() not in ("false", "no", "off", "0")
            ):
                return f"its git config sets {key}"
            if key == "core.worktree" and not _is_same(os.path.join(repository.git, value), repository.top):
                return "its git config sets core.worktree"
    return ""


def _looks_bare(folder: str) -> bool:
    """Return whether git may take a folder itself for a repository."""
    others = ("objects", "commondir")
    return os.path.lexists(f"{folder}/HEAD") and any(os.path.lexists(f"{folder}/{name}") for name in others)


def _is_listed(key: str) -> bool:
    return key in _KEYS or key.partition(".")[0] in _ANY_KEY


def _settings(path: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of a config file without their subsections, and `?` for what is not plain."""
    text = _read(path)
    if text is None:
        return
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if found := _SECTION.match(line):
            # `[diff "x"]` names a driver, which is not the same as `[diff]`.
            section = found[1].lower() + (".*" if found[2] is not None and found[1].lower() == "diff" else "")
            line = line[found.end() :].strip()
        if not line or line[0] in "#;":
            continue
        key = _KEY.fullmatch(line)
        if key is None or not section or line.endswith("\\"):
            yield "?", ""
            return
        yield f"{section}.{key[1].lower()}", (key[2] or "").strip().strip('"')


def _read(path: str) -> str | None:
    """Return a small regular file as text; None when there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return "?"
        data = file.read(MAX_CONFIG_BYTES + 1)
    return data.decode(errors="replace") if len(data) <= MAX_CONFIG_BYTES else "?"


def _followed(marker: str) -> str:
    """Return the folder that a `.git` stands for: itself, or what its text says."""
    if os.path.isdir(marker):
        return marker
    text = _read(marker) or ""
    return os.path.realpath(os.path.join(os.path.dirname(marker), text.removeprefix("gitdir:").strip()))


def _common(git: str) -> str:
    text = _read(os.path.join(git, "commondir"))
    return git if text is None else os.path.realpath(os.path.join(git, text.strip()))


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
