"""Git worktrees for sub-agents: their changes stay apart until they are merged.

A repository can name code for git to run: hooks, filters, a file system monitor, diff helpers. None of it
runs here. Nor is a worktree's `.git` trusted once an agent has worked in it.
"""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.system.programs import find_program, unsandboxed_path, why_not_found

GIT_S = 60.0
MAX_OUTPUT_BYTES = 256 * 1024
MAX_SHOWN_CHARS = 4_000
MAX_FILTERS = 100
MAX_GIT_FILES = 1_000_000

_NO_WORKTREE = "no worktree for a sub-agent"
_STAY = 'isolation "none"'
_NOT_USED = ("hooks", "modules", "lfs", "annex")
"""Parts of a repository that need no check for links: git does not use them here; hooks are often links."""

_HARMLESS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "protocol.allow": "never",
    "gc.auto": "0",
    "advice.detachedHead": "false",
}


class Git(Struct, frozen=True):
    """The git program, and the PATH it gets."""

    program: str
    path: str


class Worktree(Struct, frozen=True):
    """A git worktree that a sub-agent works in."""

    path: str
    cwd: str
    """The folder that corresponds to the parent's working directory."""
    top: str
    """The working tree that it belongs to."""
    git_dir: str
    base: str
    """The commit it was created from."""
    git: Git

    async def leave(self) -> str:
        """Remove it if nothing was changed in it; otherwise return where it is and what was changed."""
        try:
            changed = await self._look("status", "--porcelain", "--untracked-files=normal")
            moved = (await self._look("rev-parse", "HEAD")).strip() != self.base
            if not changed and not moved:
                await _git(self.top, self.git, "worktree", "remove", "--force", self.path)
                return ""
            stat = await self._look("diff", "--stat", "--no-ext-diff", "--no-textconv", self.base)
        except (ToolError, OSError) as error:
            return f"[its worktree {self.path} is kept: {error}]"
        new = [line.removeprefix("?? ") for line in changed.splitlines() if line.startswith("?? ")]
        shown = "\n".join([*stat.splitlines(), *(f" new file {name}" for name in new)])
        if len(shown) > MAX_SHOWN_CHARS:
            shown = f"{shown[:MAX_SHOWN_CHARS]}\n…"
        return f"[its changes are in the worktree {self.path}]\n{shown}"

    async def _look(self, *words: str) -> str:
        places = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.path}
        return await _git(self.path, self.git, *words, places=places)


async def add_worktree(
    cwd: str, folder: str, name: str, environ: Mapping[str, str], *, writable: Sequence[str] = ()
) -> Worktree:
    """Create a worktree of the checked-out commit; raises ToolError if that fails.

    Git is not searched for in the working directory, nor in the other writable folders.
    """
    if not folder:
        raise ToolError("worktrees are not available here", hint='use isolation "none"')
    git = await _find_git(environ, (cwd, folder, *writable))
    top = (await _git(cwd, git, "rev-parse", "--show-toplevel")).strip("\n")
    base = (await _git(cwd, git, "rev-parse", "--verify", "HEAD^{commit}")).strip()
    asked = ("--path-format=absolute", "--git-dir", "--git-common-dir")
    places = (await _git(cwd, git, "rev-parse", *asked)).splitlines()
    await asyncio.to_thread(_require_own, cwd, top, *places)
    path = os.path.join(folder, name)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if await asyncio.to_thread(
            os.path.lexists, path
        ):  # a process died while creating it; no agent has used it
            await _git(top, git, "worktree", "remove", "--force", path)
        await _git(top, git, "worktree", "add", "--detach", "--quiet", "--no-checkout", path, base)
        # A worktree may have settings that the main tree lacks, and so other filters.
        await _git(path, git, "reset", "--hard", "--quiet", "--no-recurse-submodules")
        git_dir = (await _git(path, git, "rev-parse", "--absolute-git-dir")).strip("\n")
    except OSError as error:
        raise ToolError(f"no worktree can be created in {folder}: {error.strerror}") from error
    except BaseException:
        with suppress(ToolError):
            await _git(top, git, "worktree", "remove", "--force", path)
        raise
    return Worktree(path, _same_place(cwd, top, path), top, git_dir, base, git)


async def find_worktree(
    cwd: str,
    folder: str,
    name: str,
    base: str,
    environ: Mapping[str, str],
    *,
    within: str,
    writable: Sequence[str] = (),
) -> Worktree:
    """Return an existing worktree and the folder `within` it; raises ToolError if it is gone."""
    path = os.path.join(folder, name)
    is_there = await asyncio.to_thread(os.path.isdir, path)
    if not folder or not is_there or not Path(within).is_relative_to(path):
        raise ToolError(f"its worktree {path} is not on this machine", hint="start it again")
    git = await _find_git(environ, (cwd, folder, *writable))
    top = (await _git(cwd, git, "rev-parse", "--show-toplevel")).strip("\n")
    asked = ("--path-format=absolute", "--git-dir", "--git-common-dir")
    git_dir, common = (await _git(cwd, git, "rev-parse", *asked)).splitlines()
    await asyncio.to_thread(_require_own, cwd, top, git_dir, common)
    own = os.path.join(common, "worktrees", name)  # git names it after the folder, whose name is unique
    return Worktree(path, within, top, own, base, git)


def _require_own(cwd: str, top: str, git_dir: str, common: str) -> None:
    """Refuse a repository that is elsewhere or takes parts from elsewhere; raises ToolError.

    A program that may write to the working directory can point it at any repository, which would expose what
    a rule or the sandbox hides.
    """
    own = os.path.join(top, ".git")
    if not Path(cwd).resolve().is_relative_to(Path(top).resolve()):
        raise ToolError(f"{_NO_WORKTREE}: the repository of {cwd} is that of {top}", hint=_STAY)
    if os.path.islink(own):
        raise ToolError(f"{_NO_WORKTREE}: {own} is a link", hint=_STAY)
    if git_dir != common:
        is_listed = os.path.realpath(os.path.dirname(git_dir)) == os.path.realpath(f"{common}/worktrees")
        if not is_listed or _first_line(f"{git_dir}/gitdir") != own:
            raise ToolError(f"{_NO_WORKTREE}: {own} points to a repository that does not list it", hint=_STAY)
    elif os.path.realpath(common) != os.path.realpath(own):
        raise ToolError(f"{_NO_WORKTREE}: its repository is elsewhere, in {common}", hint=_STAY)
    if os.path.lexists(f"{common}/objects/info/alternates"):
        raise ToolError(f"{_NO_WORKTREE}: its repository uses objects of another one", hint=_STAY)
    _require_no_links(common)


def _require_no_links(common: str) -> None:
    left = MAX_GIT_FILES
    for folder, folders, files in os.walk(common):
        if folder == common:
            folders[:] = [name for name in folders if name not in _NOT_USED]
        left -= len(files) + len(folders)
        if left < 0:
            raise ToolError(f"{_NO_WORKTREE}: {common} has more than {MAX_GIT_FILES:,} files", hint=_STAY)
        for name in (*folders, *files):
            if os.path.islink(os.path.join(folder, name)):
                raise ToolError(f"{_NO_WORKTREE}: {os.path.join(folder, name)} is a link", hint=_STAY)


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(MAX_SHOWN_CHARS).rstrip("\n")
    except OSError:
        return ""


def _same_place(cwd: str, top: str, path: str) -> str:
    """Return the folder of a worktree that corresponds to `cwd`; its top folder if there is none."""
    inner = Path(path, os.path.relpath(os.path.realpath(cwd), os.path.realpath(top)))
    return os.path.normpath(inner) if inner.is_dir() else path


async def _find_git(environ: Mapping[str, str], outside: Sequence[str]) -> Git:
    """Find git outside these folders; raises ToolError."""
    path = environ.get("PATH", os.defpath)
    program = await asyncio.to_thread(find_program, "git", path, outside=outside)
    if program is None:
        raise ToolError(f"worktrees are not available: git {why_not_found('git', path)}", hint=_STAY)
    return Git(program, await asyncio.to_thread(unsandboxed_path, path, outside))


async def _git(cwd: str, git: Git, *words: str, places: Mapping[str, str] | None = None) -> str:
    """Run git without any code that the repository names; raises ToolError with git's message."""
    environ = {
        "PATH": git.path,
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        **(places or {}),
    }
    settings = dict(_HARMLESS)
    status, names, _ = await _run(
        cwd, git.program, environ, "config", "-z", "--name-only", "--get-regexp", r"^filter\."
    )
    for name in names.split("\0")[:-1] if status == 0 else []:
        driver = name.rpartition(".")[0]
        settings |= {f"{driver}.{part}": "" for part in ("clean", "smudge", "process")}
        settings[f"{driver}.required"] = "false"
    if len(settings) > len(_HARMLESS) + 4 * MAX_FILTERS:
        raise ToolError(f"the git repository in {cwd} names too many filters")
    for number, (name, value) in enumerate(settings.items()):
        environ |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    environ["GIT_CONFIG_COUNT"] = str(len(settings))
    status, said, complaint = await _run(cwd, git.program, environ, *words)
    if status != 0:
        why = complaint.strip().removeprefix("fatal: ") or f"git {words[0]} ended with {status}"
        raise ToolError(f"{_NO_WORKTREE}: {why[:MAX_SHOWN_CHARS]}", hint=_STAY)
    return said


async def _run(cwd: str, program: str, environ: Mapping[str, str], *words: str) -> tuple[int, str, str]:
    """Return git's exit status, and the beginning of its output on both streams."""
    process = await asyncio.create_subprocess_exec(
        program,
        *words,
        cwd=cwd,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with asyncio.timeout(GIT_S):
            said, complaint = await asyncio.gather(_head(process.stdout), _head(process.stderr))
            return await process.wait(), said, complaint
    except TimeoutError as error:
        raise ToolError(f"git {words[0]} took longer than {GIT_S:g} s") from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _head(stream: asyncio.StreamReader) -> str:
    """Read everything, so that the program can end, but keep only the beginning."""
    kept = bytearray()
    while piece := await stream.read(64 * 1024):
        kept += piece[: MAX_OUTPUT_BYTES - len(kept)]
    return kept.decode(errors="replace")
