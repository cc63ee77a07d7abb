"""Accounts and clones for the cells of `make matrix`."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from scripts.interpreters import Interpreter

ACCOUNT = "matrix-tester"
NOBODY = 65534
ORDINARY_PATH = "/usr/local/bin:/usr/bin:/bin"
PASSED = ("LANG", "LC_ALL", "TERM", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")


class Account(Struct, frozen=True):
    """A user who runs tests."""

    name: str
    home: str
    ids: tuple[int, int] | None = None
    """User and group, if they differ from those of this process."""


def own_account() -> Account:
    """Return the user of this process."""
    entry = pwd.getpwuid(os.geteuid())
    return Account(entry.pw_name, entry.pw_dir)


@contextmanager
def ordinary_account(*, needed: bool) -> Iterator[Account | None]:
    """Create a user for the tests, and remove it with all its files at the end."""
    if not needed or os.geteuid() != 0:
        yield None
        return
    _remove_account()  # left by a script that was killed
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", ACCOUNT], check=True)
    try:
        entry = pwd.getpwnam(ACCOUNT)
        yield Account(ACCOUNT, entry.pw_dir, (entry.pw_uid, entry.pw_gid))
    finally:
        _remove_account()


def _remove_account() -> None:
    command = ["userdel", "--force", "--remove", ACCOUNT]
    subprocess.run(command, stderr=subprocess.DEVNULL, check=False)


def prepare(root: Path, folder: Path, python: Interpreter, account: Account) -> tuple[Path, dict[str, str]]:
    """Update the clone of a Python to the last commit, with its environment, and give it to the user.

    Returns the clone and the variables of the tests; raises OSError and CalledProcessError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clone = folder / python.version
    if clone.exists():
        _give(clone, (os.geteuid(), os.getegid()))
        _run(["git", "fetch", "--quiet", str(root), "HEAD"], clone)
        _run(["git", "reset", "--quiet", "--hard", "FETCH_HEAD"], clone)
    else:
        _run(["git", "clone", "--quiet", str(root), str(clone)], folder)
    _run(["make", f"PYTHON={_reachable(python, folder)}", "node-packages"], clone)
    if account.ids is not None:
        _give(clone, account.ids)
        check_access(clone, account)
    return clone, environment(account, os.environ)


def check_access(clone: Path, account: Account) -> None:
    """Raise PermissionError if the user cannot enter the clone, for example in root's home."""
    user, group = account.ids or (None, None)
    look = ["test", "-x", str(clone)]
    try:
        subprocess.run(look, user=user, group=group, extra_groups=[], cwd="/", check=True)
    except (PermissionError, subprocess.CalledProcessError):
        hint = "choose a folder with --folder that every user can enter"
        raise PermissionError(f"the user {account.name} cannot enter {clone} (hint: {hint})") from None


def environment(account: Account, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a user's tests, with no Python environment activated."""
    kept = {name: environ[name] for name in PASSED if name in environ}
    programs = str(Path(sys.executable).parent)
    own = os.pathsep.join(one for one in environ.get("PATH", os.defpath).split(os.pathsep) if one != programs)
    path = own if account.ids is None else ORDINARY_PATH
    return {**kept, "PATH": path, "HOME": account.home, "USER": account.name, "LOGNAME": account.name}


def _reachable(python: Interpreter, folder: Path) -> str:
    """Return an interpreter that every user can start: a copy, if the original is in root's home."""
    if os.geteuid() != 0:
        return python.path
    try:
        command = [python.path, "-Ic", ""]
        subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", check=True, timeout=60)
    except (OSError, subprocess.CalledProcessError):
        copy = folder / "pythons" / python.version
        if not copy.exists():
            left_out = shutil.ignore_patterns("test", "__pycache__")
            shutil.copytree(python.prefix, copy, symlinks=True, ignore=left_out)
            relocate(copy / Path(python.path).relative_to(python.prefix), python.prefix)
        return str(copy / Path(python.path).relative_to(python.prefix))
    return python.path


def relocate(program: Path, prefix: str) -> None:
    """Make a program load its libraries from its own folder instead of the place where it was installed."""
    old, new = os.fsencode(f"{prefix}/lib"), b"$ORIGIN/../lib"
    if len(new) <= len(old):
        data = program.read_bytes()
        program.write_bytes(data.replace(old + b"\0", new.ljust(len(old), b"\0") + b"\0"))


def _give(folder: Path, ids: tuple[int, int]) -> None:
    _run(["chown", "--recursive", "--no-dereference", f"{ids[0]}:{ids[1]}", str(folder)], folder.parent)


def _run(command: list[str], cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, check=True)
