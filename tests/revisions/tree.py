"""A folder as a value, a session that changes it like a watched program, and its journal."""

import os
import shutil
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import Blobs
from bridle.core.revision import FileChange, states_at
from bridle.revisions.file_revisions import FileKeeper, FileRevisions

S = SessionId("s")

Tree = dict[bytes, tuple[str, int, bytes]]


def tree_of(root: Path) -> Tree:
    """Return kind, mode and content of everything below a folder, and of the folder itself."""
    found: Tree = {}
    waiting = [os.fsencode(root)]
    while waiting:
        path = waiting.pop()
        facts = os.lstat(path)
        mode = stat.S_IMODE(facts.st_mode)
        name = os.path.relpath(path, os.fsencode(root))
        if stat.S_ISDIR(facts.st_mode):
            found[name] = ("folder", mode, b"")
            waiting += [os.path.join(path, child) for child in os.listdir(path)]
        elif stat.S_ISLNK(facts.st_mode):
            found[name] = ("link", 0, os.readlink(path))
        elif stat.S_ISREG(facts.st_mode):
            with open(path, "rb") as file:
                found[name] = ("file", mode, file.read())
        else:
            found[name] = ("other", mode, b"")
    return found


class Program:
    """Changes files, and has each path kept first, as the guard of a real program would do."""

    def __init__(self, root: Path, keep: Callable[[str], None]) -> None:
        self.root = root
        self.keep = keep

    def write(self, path: str, content: bytes) -> None:
        self._open(path, os.O_TRUNC, content)

    def append(self, path: str, content: bytes) -> None:
        self._open(path, os.O_APPEND, content)

    def unlink(self, path: str) -> None:
        self._do([path], lambda: os.unlink(self._at(path)))

    def mkdir(self, path: str, mode: int = 0o755) -> None:
        self._do([f"{path}/."], lambda: os.mkdir(self._at(path), mode))

    def rmdir(self, path: str) -> None:
        self._do([path], lambda: os.rmdir(self._at(path)))

    def rename(self, old: str, new: str) -> None:
        self._do([old, new], lambda: os.rename(self._at(old), self._at(new)))

    def symlink(self, path: str, target: str) -> None:
        self._do([path], lambda: os.symlink(target, self._at(path)))

    def link(self, old: str, new: str) -> None:
        self._do([old, new], lambda: os.link(self._at(old), self._at(new), follow_symlinks=False))

    def chmod(self, path: str, mode: int) -> None:
        if self._at(path).is_symlink():
            return
        alone = f"{path}/." if mode % 2 else path
        full = mode | (0o500 if self._at(path).is_dir() else 0o400)
        self._do([alone], lambda: self._at(path).chmod(full))

    def remove(self, path: str) -> None:
        """Do as `rm -rf`."""
        place = self._at(path)
        if place.is_dir() and not place.is_symlink():
            for child in sorted(os.listdir(place)):
                self.remove(f"{path}/{child}")
            self.rmdir(path)
        else:
            self.unlink(path)

    def _at(self, path: str) -> Path:
        return self.root / path

    def _open(self, path: str, flags: int, content: bytes) -> None:
        real = os.path.realpath(self._at(path))
        if not real.startswith(f"{self.root}/"):
            return

        def act() -> None:
            descriptor = os.open(self._at(path), os.O_WRONLY | os.O_CREAT | flags | os.O_NONBLOCK, 0o644)
            try:
                os.write(descriptor, content)
            finally:
                os.close(descriptor)

        self._do([real], act)

    def _do(self, paths: list[str], act: Callable[[], object]) -> None:
        """Refuse what cannot be kept, and take the refusals of the system."""
        with suppress(OSError, StoreError):
            for path in paths:
                self.keep(os.path.join(self.root, path))
            act()


class Journal:
    """A session's changes in order, recorded as the driver does."""

    def __init__(self, root: Path, folder: Path | None, blobs: Blobs) -> None:
        self.root = root
        self.changes: list[FileChange] = []
        self.points: list[tuple[int, Tree]] = [(0, tree_of(root))]
        self._folder = folder
        self._blobs = blobs
        self._recorded: tuple[FileChange, ...] = ()
        self.keeper: FileKeeper
        self.crash()

    def crash(self) -> None:
        """Continue in a new process, with the files that the old one left."""
        self.keeper = FileRevisions(self._folder, self._blobs).keeper(S, str(self.root))

    def keep(self, path: str) -> None:
        self.keeper.keep(path)

    def collect(self, *, confirm: bool = True) -> tuple[FileChange, ...]:
        """Record new changes, and remember the current state."""
        found = self.keeper.collect()
        new = tuple(change for change in found if change not in self._recorded)
        self._recorded = found
        self.changes += new
        if confirm:
            self.keeper.confirm()
            self._recorded = ()
        self.points.append((len(self.changes), tree_of(self.root)))
        return new

    def rewind(self, seq: int) -> tuple[str, ...]:
        """Restore the files to their state after `count` changes."""
        problems = self.keeper.restore(states_at(self.changes[seq:]))
        self.collect()
        return problems


AS_USER = """
import os, shutil, sys, tempfile
from pathlib import Path
import bridle.revisions.file_revisions, bridle.stores.blobs, tests.revisions.tree
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
root = Path(tempfile.mkdtemp()).resolve()
try:
    exec(sys.argv[1])
finally:
    tests.revisions.tree.clear(root)
"""


def as_user(code: str) -> str:
    """Run code as an ordinary user, with an empty folder `root`; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", AS_USER, textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def clear(root: Path) -> None:
    """Remove a tree, whatever its modes are."""
    root.chmod(0o700)
    for folder, names, _ in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(root)
