"""Traps: files that make one of the user's programs run something by itself.

git runs hooks and commands from its config, direnv an `.envrc`, an editor its tasks, an agent its servers and
hooks. Whatever writes such a file decides what the user's next `git status` or `cd` runs, outside any
sandbox. So the file tools ask before they write one, and the sandbox lets no program leave one behind.

Most traps are recognized by name, at any depth and in any case: on some disks `.GIT` is `.git`. Others lie
where git's settings point, or in the home folder: those are found on the disk and marked in the `Subject`.
"""

from collections.abc import Callable

from msgspec.structs import replace

from bridle.core.tool import Access, Subject

FILES = frozenset(
    """
.envrc .mcp.json .exrc .vimrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .dir-locals-2.el .autoenv
.mise.toml mise.toml .mise.local.toml mise.local.toml .devcontainer.json devcontainer.json
""".split()
)
"""Read by direnv, agents, vim, Emacs, autoenv, mise and editors in the folder in which they start."""

FOLDERS = frozenset((".bridle", ".husky", ".idea", ".mise", ".nvim", ".vim"))
"""Every file in them is a trap."""

ENDINGS = (".code-workspace",)
"""Every file with such an ending is a trap."""

IN_FOLDERS = {
    ".vscode": frozenset(("tasks.json", "settings.json", "launch.json", "mcp.json")),
    ".zed": frozenset(("tasks.json", "settings.json", "debug.json")),
    ".fleet": frozenset(("run.json", "settings.json")),
    ".helix": frozenset(("config.toml", "languages.toml")),
    ".config": frozenset(("mise", "mise.toml", "mise.local.toml")),
    ".hg": frozenset(("hgrc", "hgrc-not-shared", "sharedpath")),
    ".sl": frozenset(("config",)),
    ".claude": frozenset(("settings.json", "settings.local.json")),
    ".cursor": frozenset(("mcp.json", "hooks.json")),
    ".gemini": frozenset(("settings.json",)),
    ".codex": frozenset(("config.toml", "hooks.json")),
}
"""Traps in folders that also contain harmless files."""

GIT = ".git"
HEAD = "HEAD"
"""The one file in every repository, even without `.git`: git treats any folder with it, `objects` and `refs`
as a repository and reads the config there."""

AT_HOME = """
.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile
.zlogin .zlogout .config/fish .gitconfig .config/git .hgrc .config/hg .ssh .config/nvim .emacs .emacs.d
.config/autostart .config/environment.d .config/systemd/user .local/bin bin
""".split()
"""Files and folders that shells, git, ssh, editors and the desktop read or run in the user's home only."""


def trap_in(path: str) -> str:
    """Return a path up to the first trap in it; empty if there is none."""
    parts = path.split("/")
    for at, part in enumerate(parts):
        if is_trap(parts[at - 1] if at else "", part) or _is_of_git(part):
            return "/".join(parts[: at + 1])
    return ""


def no_trap(cwd: str, path: str) -> str:
    """Return no trap; the default where the disk is not searched."""
    return ""


def with_traps(access: Access, find_trap: Callable[[str], str]) -> Access:
    """Mark the paths that a call writes with the traps that `find_trap` finds."""

    def marked(subject: Subject) -> Subject:
        is_written = subject.kind == "path" and (subject.access or access.access) == "write"
        return replace(subject, trap=find_trap(subject.value)) if is_written else subject

    return replace(access, subjects=tuple(map(marked, access.subjects)))


def is_trap(folder: str, name: str) -> bool:
    """Return True if a name in a folder, given by its path, is a trap by name; not for git's own files."""
    name = name.lower()
    if name in FILES or name in FOLDERS or name.endswith(ENDINGS):
        return True
    return name in IN_FOLDERS.get(folder.rpartition("/")[2].lower(), ())


def _is_of_git(name: str) -> bool:
    return name.lower().endswith(GIT) or name == HEAD
