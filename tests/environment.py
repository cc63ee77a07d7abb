"""The environment of tests: one set of variables for all, and a fast folder for their files."""

import atexit
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

EMPTY = ("/dev/shm", "/run", "/tmp", "/var/tmp")
"""Where a sandbox has empty folders, so that nothing there tells whether its walls hold."""
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
PROGRAMS = ("bash", "git", "bwrap", "chromium", "tmux", "haproxy")
"""What tests start that is part of the system; where it lies elsewhere, that folder is on PATH, too."""
KEPT = ("CI", "HOME", "TMPDIR", "USER")
MEMORY = "/dev/shm"
PLAIN = re.compile(r"[A-Za-z0-9/._-]+")
ROOM_BYTES = 4 * 1024**3
"""How much memory must be free there before the files of tests go to it; they need a quarter."""
SWITCHES = (
    "BRIDLE_CHAOS_",
    "BRIDLE_CONFORMANCE",
    "BRIDLE_SCREENSHOTS",
    "BRIDLE_SOAK_",
    "BRIDLE_TEST_",
    "BRIDLE_TUTORIAL_",
    "PYTEST_",
    "SCHEMATHESIS_",
)
"""How the names of variables begin that change what is tested."""
REGISTRIES = ("PIP_", "SSL_CERT_", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""How those begin that say where packages come from: weights and a real llama-server are fetched once."""


def own_environment(found: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that all tests run in, whatever shell they are started from.

    An activated environment, other programs first on PATH, keys, proxies, a locale, a time zone, settings of
    git or of the terminal: none of it reaches a test.
    """
    kept = {
        name: value
        for name, value in found.items()
        if name in KEPT or name.startswith((*SWITCHES, *REGISTRIES))
    }
    folders = list(SYSTEM_FOLDERS)
    for program in PROGRAMS:
        if not shutil.which(program, path=os.pathsep.join(folders)):
            place = shutil.which(program, path=found.get("PATH", os.defpath))
            folders += [os.path.dirname(place)] if place else []
    return {
        **({"TMPDIR": MEMORY} if has_quick_folder() else {}),
        **kept,
        "PATH": os.pathsep.join(folders),
        "LOGNAME": f"u{os.getuid()}",  # short: it is part of the paths of sockets
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def take_own_environment() -> None:
    """Give this process that environment, and with it all that it starts; signals end what tests start."""
    own = own_environment(os.environ)
    os.environ.clear()
    os.environ.update(own)
    time.tzset()
    tempfile.tempdir = None  # looked for again
    if "PYTEST_XDIST_WORKER" in os.environ:
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            if signal.getsignal(number) is signal.SIG_IGN:  # as in the background of a script, or below nohup
                signal.signal(number, signal.SIG_DFL)


def has_quick_folder() -> bool:
    """True where files of tests can lie in memory, with enough room.

    On a disk a quarter of the time goes into making and removing folders, and waiting for what is written.
    """
    is_usable = os.path.ismount(MEMORY) and os.access(MEMORY, os.W_OK)
    return is_usable and shutil.disk_usage(MEMORY).free >= ROOM_BYTES


@contextmanager
def folder_outside_tmp(kind: str) -> Iterator[Path]:
    """Make an empty folder that is not below /tmp, for the time of the block: sandboxes hide what lies there.

    A repository begins around it: searches must not look further up, where git ignores it.
    """
    folder = _kept_folder() / kind
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    yield Path(tempfile.mkdtemp(dir=folder)).resolve()


def _folders() -> Path:
    """Return where folders of tests can lie that are not below /tmp.

    Many attacks are command lines that name a path without quotes: it must not have a space.
    """
    beside = Path(__file__).parents[1] / ".cache" / "tests"  # ignored by git
    at_home = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache" / "bridle-tests"
    return next((path for path in (beside, at_home) if _is_plain_and_shown(path)), beside)


def _is_plain_and_shown(path: Path) -> bool:
    return PLAIN.fullmatch(str(path)) is not None and not any(map(path.resolve().is_relative_to, EMPTY))


@cache
def _kept_folder() -> Path:
    """Return where the folders of this process lie; all go at its end.

    ext4 makes new files slowly while it remembers many that have just been removed.
    """
    folders = _folders()
    folders.mkdir(parents=True, exist_ok=True)
    left = [str(folder) for folder in folders.iterdir() if not Path("/proc", folder.name).exists()]
    # Of processes that were killed. In the background: what a whole round left takes minutes on a busy disk.
    subprocess.run(["sh", "-c", 'rm -rf "$@" &', "sh", *left], check=True)
    own = folders / str(os.getpid())
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own
