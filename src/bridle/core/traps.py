"""Traps: files that make a program of the user run something by itself.

git runs hooks and what its config names, direnv an `.envrc`, an editor its tasks, an agent its servers and
hooks. Whatever writes one of them decides what the user's next `git status` or `cd` runs, outside of any
sandbox. So the file tools ask before they write one, and the sandbox lets no program leave one behind.

A trap is told by its name, at any depth and whatever its case: on some disks `.GIT` is `.git`.
"""

FILES = frozenset(
    """
.envrc .mcp.json .exrc .vimrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .autoenv .mise.toml mise.toml
""".split()
)
"""Read by direnv, agents, vim, Emacs, autoenv and mise in the folder that they are started in."""

FOLDERS = frozenset((".bridle", ".husky", ".idea"))
"""Everything in them counts."""

IN_FOLDERS = {
    ".vscode": frozenset(("tasks.json", "settings.json", "launch.json", "mcp.json")),
    ".zed": frozenset(("tasks.json", "settings.json", "debug.json")),
    ".fleet": frozenset(("run.json", "settings.json")),
    ".devcontainer": frozenset(("devcontainer.json",)),
    ".claude": frozenset(("settings.json", "settings.local.json")),
    ".cursor": frozenset(("mcp.json", "hooks.json")),
    ".gemini": frozenset(("settings.json",)),
    ".codex": frozenset(("config.toml", "hooks.json")),
}
"""Files that count in folders which hold harmless ones, too."""

GIT = ".git"
HEAD = "HEAD"
"""The one file that every repository has, also one without `.git`: git takes any folder with it, `objects`
and `refs` for a repository, and reads the config there."""


def trap_in(path: str) -> str:
    """Return a path up to the first trap in it; empty if there is none."""
    parts = path.split("/")
    for at, part in enumerate(parts):
        if is_trap(parts[at - 1] if at else "", part) or _is_of_git(part):
            return "/".join(parts[: at + 1])
    return ""


def is_trap(folder: str, name: str) -> bool:
    """Say whether a name in a folder, told by its path, is a trap by that alone; of git nothing is."""
    name = name.lower()
    return name in FILES or name in FOLDERS or name in IN_FOLDERS.get(folder.rpartition("/")[2].lower(), ())


def _is_of_git(name: str) -> bool:
    return name.lower().endswith(GIT) or name == HEAD
