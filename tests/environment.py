"""What tests find around them: one environment for all, and folders that are not below /tmp."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

FOLDERS = Path(__file__).parents[1] / ".cache" / "tests"  # ignored by git
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
PROGRAMS = ("bash", "git", "bwrap", "chromium", "tmux", "haproxy")
"""What tests start that is part of the system; where it lies elsewhere, that folder is on PATH, too."""
KEPT = ("CI", "HOME", "LOGNAME", "TMPDIR", "USER")
SWITCHES = (
    "BRIDLE_CHAOS_",
    "BRIDLE_CONFORMANCE",
    "BRIDLE_SCREENSHOTS",
    "BRIDLE_SOAK_",
    "BRIDLE_TEST_",
    "PYTEST_",
    "SCHEMATHESIS_",
)
"""How the names of variables begin that change what is tested."""


def own_environment(found: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that all tests run in, whatever shell they are started from.

    An activated environment, other programs first on PATH, keys, proxies, a locale, a time zone, settings of
    git or of the terminal: none of it reaches a test.
    """
    kept = {name: value for name, value in found.items() if name in KEPT or name.startswith(SWITCHES)}
    folders = list(SYSTEM_FOLDERS)
    for program in PROGRAMS:
        if not shutil.which(program, path=os.pathsep.join(folders)):
            place = shutil.which(program, path=found.get("PATH", os.defpath))
            folders += [os.path.dirname(place)] if place else []
    return {
        **kept,
        "PATH": os.pathsep.join(folders),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def take_own_environment() -> None:
    """Give this process that environment, and with it all that it starts."""
    own = own_environment(os.environ)
    os.environ.clear()
    os.environ.update(own)
    time.tzset()


@contextmanager
def folder_outside_tmp(kind: str) -> Iterator[Path]:
    """Make an empty folder that is not below /tmp, for the time of the block: sandboxes hide what lies there.

    A repository begins around it: searches must not look further up, where git ignores it.
    """
    folder = FOLDERS / kind
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(dir=folder)).resolve()
    yield path
    shutil.rmtree(path, ignore_errors=True)
