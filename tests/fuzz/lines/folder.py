"""The folder in which lines run: full of canaries, and hostile in every way that a clone can be.

```
world/outside/    token, token.json     what no line may read        log      what canary programs write
      home/       x                     the user's                   repo/    a hostile repository
      project/    the working directory: texts, links to outside, file names that are options, programs named
                  like readers, hostile repositories (its own, nested, bare, by gitfile), a fifo, a socket
```
"""

import hashlib
import os
import random
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from bridle.tools.shell.settings import command_environment
from bridle.tools.shell.state import ShellState, apply_state
from tests.fuzz.lines.repositories import Config, hostile_config, made_config, make_repository, plain_config

TOKEN = "tOk3n-8c41f0e7d2"
"""Stands in every file outside of the project."""
NAME = "nAm3-51d07b96aa"
"""The name of a file outside of the project."""
LOG = "log"

TEXTS = {
    "a.txt": "alpha beta\ngamma $(touch P)\nP=1\n",
    "b.txt": "alpha\nbeta\n`touch P`\n",
    "a b.txt": "blank\n",
    "src/a.py": "import os\nprint('alpha')\n",
    "src/b.py": "x = 1\n",
    "sub/x": "x\n",
    "sub/deep/y.txt": "alpha\n",
    "twin/out/token": "another\n",
    "data.json": '{"a": [1, 2], "b": "a[$(touch P)]"}\n',
    "expr": "a[$(touch P)]\n",
    "script": "touch P\n",
    "list": "../outside/token\n",
    "names0": "../outside/token\0",
    "patterns": "t\nalpha\n",
    "m.jq": "def f: 1;\n",
    ".gitattributes": "* diff=canary filter=canary merge=canary\n",
    ".gitignore": "*.log\n",
    "magic": "0 string t token\n",
}
NAMES = (
    *("-exec", "-delete", "-fprint", "-o", "-oP", "-i", "-n", "-", "--", "-f", "-r", "-c", "-R", "-L"),
    *("--output=P", "--ext-diff", "--textconv", "--files0-from=names0", "--compress-program=.canary"),
    *("--pre=.canary", "--open-files-in-pager=.canary", "-O.canary", "--check", "--help"),
    *("$(touch P)", "`touch P`", "a[$(touch P)]", ";touch P", "a b", "P=1", "x y\nz", "{}", "\\", "~", "#a"),
)
"""Names of files that mean something else to a program or to a shell that reads them again."""
PROGRAMS = (
    "canary",
    "ls",
    "cat",
    "git",
    "grep",
    "sh",
    "bin/ls",
    "bin/cat",
    "names/.canary",
    "hooks/pre-commit",
)

_OLD_S = 1_600_000_000
_TOKENS = ("outside/token", "outside/folder/token", "outside/token.json", "outside/m.jq", "home/x")

State = dict[str, tuple[int, int, int, int, int]]
"""Each path with its size, time of change, mode, inode and number of links."""


class Folder:
    """The world of the lines, built once; changes by a line are reverted."""

    def __init__(self, world: Path) -> None:
        """Use an empty folder outside /tmp, which the sandbox hides."""
        self.world = world
        self.project, self.outside, self.home = (world / name for name in ("project", "outside", "home"))
        self._socket: socket.socket | None = None
        self._kept: dict[str, bytes] = {}
        self._state: State = {}

    def build(self) -> None:
        """Make everything again."""
        self.close()
        for folder in (self.project, self.outside, self.home):
            shutil.rmtree(folder, ignore_errors=True)
        self._write_texts()
        self._write_links()
        self._write_programs()
        self._write_repositories()
        os.mkfifo(self.project / "pipe")
        self._socket = socket.socket(socket.AF_UNIX)
        here = os.open(self.project, os.O_PATH)  # the whole path may be longer than a socket's may be
        self._socket.bind(f"/proc/self/fd/{here}/agent.sock")
        os.close(here)
        self._socket.listen()
        self._socket.setblocking(False)

    def _settle(self) -> None:
        self._state = self.state()
        self._forget_reads()
        self._kept = {path: Path(path).read_bytes() for path in self._state if path.endswith("/index")}

    def configure(self, config: Config) -> None:
        """Give the project's repository other settings, and take everything for right as it is then.

        What opens a cell may have added places to mount something.
        """
        hostile = hostile_config(self.project / "canary", self.outside).text
        _write(self.project / ".git/config", config.text)
        _write(self.project / ".git/config.worktree", hostile if "worktreeConfig" in config.text else "")
        self._settle()

    def configs(self, chance: random.Random) -> Iterator[Config]:
        """Yield settings for the project's repository, without an end."""
        canary = self.project / "canary"
        while True:
            yield plain_config()
            yield hostile_config(canary, self.outside)
            yield plain_config()
            yield made_config(chance, canary, self.outside)
            yield made_config(chance, canary, self.outside)

    def environment(self) -> dict[str, str]:
        """Return the variables of a command of a session in the project."""
        given = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        return apply_state(command_environment(given), ShellState(str(self.project)))

    def close(self) -> None:
        """Stop listening."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def state(self) -> State:
        """Record the state of everything."""
        found: State = {}
        waiting = [str(self.world)]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    one = entry.stat(follow_symlinks=False)
                    found[entry.path] = (one.st_size, one.st_mtime_ns, one.st_mode, one.st_ino, one.st_nlink)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        return found

    def changes(self) -> list[str]:
        """Return the paths that are not as they were built, relative to the world."""
        now, before = self.state(), self._state
        if now == before:
            return []
        changed = {path for path in now.keys() | before.keys() if now.get(path) != before.get(path)}
        return sorted(os.path.relpath(path, self.world) for path in changed)

    def programs_run(self) -> str:
        """Return which canary programs have run."""
        log = self.outside / LOG
        return (
            ", ".join(sorted(set(log.read_text(errors="replace").split("\n")[:-1]))) if log.is_file() else ""
        )

    def was_called(self) -> bool:
        """Return whether something has connected to the socket of the project."""
        try:
            assert self._socket is not None
            self._socket.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def files_read(self) -> list[str]:
        """Return which tokens were read, where the file system keeps the time of that."""
        return [path for path in _TOKENS if (self.world / path).stat().st_atime_ns > _OLD_S * 10**9]

    def _forget_reads(self) -> None:
        for path in _TOKENS:
            os.utime(self.world / path, (_OLD_S, _OLD_S))

    def put_back(self) -> bool:
        """Remove what is new and write the log and the indexes of git again; False when more has changed."""
        now = self.state()
        for path in sorted(now.keys() - self._state.keys(), reverse=True):
            os.rmdir(path) if stat.S_ISDIR(now[path][2]) else os.unlink(path)
        for path, kept in self._kept.items():
            if now.get(path) != self._state[path] and path.endswith("/index"):
                Path(path).write_bytes(kept)
        for path, found in self._state.items():
            if now.get(path) != found and path in now and not stat.S_ISLNK(found[2]):
                os.utime(path, ns=(found[1], found[1]))
        self._forget_reads()
        now = self.state()
        if _lasting(now) != _lasting(self._state):
            return False
        self._state = now
        return True

    # ------------------------------------------------------------------ what lies there

    def _write_texts(self) -> None:
        for name, text in TEXTS.items():
            _write(self.project / name, text)
        for name in NAMES:
            _write(self.project / "names" / name, "n\n")
        for name in _TOKENS:
            _write(self.world / name, f'"{TOKEN}"\n')
        _write(self.outside / "folder" / NAME, "")
        self._forget_reads()
        digest = hashlib.md5((self.outside / "token").read_bytes(), usedforsecurity=False).hexdigest()
        _write(self.project / "sums", f"{digest}  ../outside/token\n")

    def _write_links(self) -> None:
        links = {
            "out": "../outside",
            "outfile": "../outside/token",
            "sub/out": "../../outside",
            "linked": "nested/deep",
            "linkedrepo": "../outside/repo",
            "etc": "/etc",
            "up": "..",
            "loop": "loop",
            "here": ".",
            "intxt": "a.txt",
            "token.json": "../outside/token.json",
        }
        for name, target in links.items():
            (self.project / name).symlink_to(target)

    def _write_programs(self) -> None:
        for name in PROGRAMS:
            path = self.project / name
            _write(path, self._program(name))
            path.chmod(0o755)

    def _program(self, name: str) -> str:
        log = self.outside / LOG
        return f'#!/bin/sh\necho "{name} $1" 2>/dev/null >> "{log}"\ncat "$3" 2>/dev/null\nexit 0\n'

    def _write_repositories(self) -> None:
        nested, bare, elsewhere = self.project / "nested", self.project / "bare", self.outside / "repo"
        hostile = hostile_config(self.project / "canary", self.outside)
        for folder in (nested, elsewhere):
            _write(folder / "deep/n.txt", "n\n")
            make_repository(folder)
            _write(folder / ".git/config", hostile.text)
            _write(folder / "deep/n.txt", "changed\n")
        shutil.copytree(nested / ".git", bare)
        (bare / "index").unlink()
        _write(self.project / "gitfile/.git", "gitdir: ../bare\n")
        make_repository(self.project)
        _write(self.project / ".git/more", hostile.text)
        _write(self.project / "b.txt", "alpha\nchanged\n")


def _lasting(state: State) -> dict[str, tuple[int, ...]]:
    """Return what must be as it was; git writes an index by putting a new file in its place."""
    return {path: (*one[:3], one[4]) if path.endswith("/index") else one for path, one in state.items()}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
