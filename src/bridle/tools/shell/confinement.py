"""How a checked command runs: a command proven to be read-only runs where it can change nothing."""

import os
from collections.abc import Mapping

from msgspec import Struct

from bridle.core.tool import Access
from bridle.tools.shell.settings import FORCED

_USER_GIT_FILES = (".gitconfig", ".config/git/config", ".config/git/ignore")
_CODE_NAMES = frozenset("RIPGREP_CONFIG_PATH TMPDIR".split())
"""Variables that make read-only programs run or read other files, or name a folder that does not exist."""

_GIT_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "diff.autoRefreshIndex": "false",
    "diff.ignoreSubmodules": "dirty",
    "gc.auto": "0",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
"""Settings that keep a repository from making git run programs or write during a read."""


class Confinement(Struct, frozen=True):
    """What one command may see and change."""

    reads_only: bool = False
    shown: tuple[str, ...] = ()
    """Folders and files that a read-only command may see besides the working directory."""
    uses_git: bool = False
    moves: bool = True
    """True if it may change the current folder; of a read-only command, nothing else is kept."""

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of `environ` that the command gets, plus the settings for git."""
        if not self.reads_only:
            return dict(environ)
        kept = {name: value for name, value in environ.items() if not _is_dropped(name)}
        if not _is_utf8(kept):
            kept["LC_ALL"] = "C.UTF-8"  # otherwise bash might split words differently than the check
        return {**kept, **(_git_environment() if self.uses_git else {})}


def confine(access: Access, root: str, home: str) -> Confinement:
    """Return how a command with this access runs; reads the disk."""
    if not access.reads_only:
        return Confinement()
    commands = [subject.value.split(" ") for subject in access.subjects if subject.kind == "command"]
    git = [words for words in commands if words[0] == "git"]
    moves = any(words[0] in ("cd", "pushd") for words in commands)
    if not git:
        return Confinement(reads_only=True, moves=moves)
    # `git config` runs nothing, and must not show Bridle's settings.
    is_only_config = all("config" in words[1:3] for words in git)
    places = tuple(_git_places(root, home))
    return Confinement(reads_only=True, shown=places, uses_git=not is_only_config, moves=moves)


def _git_places(root: str, home: str) -> list[str]:
    """Return what git reads outside the working directory: the user's settings and a repository above."""
    # Imports the bash grammar, which is loaded already: the command was checked.
    from bridle.tools.commands.git_repository import find_git_risk, find_repository  # noqa: PLC0415

    places = [os.path.join(home, name) for name in _USER_GIT_FILES]
    repository = find_repository(root)
    is_home = repository is not None and f"{home}/".startswith(f"{repository.top.rstrip('/')}/")
    if repository is not None and not is_home and not find_git_risk(repository):
        places += [repository.top, repository.git, repository.common]
    return [place for place in dict.fromkeys(places) if os.path.exists(place)]


def _is_dropped(name: str) -> bool:
    return name in _CODE_NAMES or (name.startswith("GIT_") and name not in FORCED)


def _is_utf8(environ: Mapping[str, str]) -> bool:
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG", "")
    return locale.lower().replace("-", "").endswith("utf8")


def _git_environment() -> dict[str, str]:
    numbered = enumerate(_GIT_SETTINGS.items())
    settings = {
        name: value
        for number, (key, setting) in numbered
        for name, value in ((f"GIT_CONFIG_KEY_{number}", key), (f"GIT_CONFIG_VALUE_{number}", setting))
    }
    count = {"GIT_CONFIG_COUNT": str(len(_GIT_SETTINGS)), "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    return {**settings, **count}
