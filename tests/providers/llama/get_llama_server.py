"""Fetch a real `llama-server` for the tests: from Debian's packages by name, into a private folder.

Run as a program it prints the path of the executable; nothing on the system is changed. The packages come
from the mirror that this system's apt uses already, but from a newer suite, so their own C library comes
along and the program is made to start with it.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

SUITE = "sid"
PACKAGES = """
    llama.cpp-tools libllama0 libggml0 libc6 libstdc++6 libgcc-s1 libgomp1 libssl3t64 zlib1g libzstd1
""".split()
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
CACHE = Path(__file__).parents[3] / ".cache"
TIMEOUT_S = 120

WRAPPER = """\
#!/bin/sh
cd "{libraries}/ggml/backends0"  # ggml looks for its CPU backends in the working directory
LD_LIBRARY_PATH="{libraries}:{libraries}/llama" exec "{program}" "$@"
"""


class Unavailable(Exception):
    """A llama-server cannot be had on this machine."""


def get_llama_server(cache: Path = CACHE) -> Path:
    """Return the path of an executable: the one on PATH, the fetched one, or a freshly fetched one."""
    if found := shutil.which("llama-server"):
        return Path(found)
    place = cache / "llama-server"
    with locked(cache):
        if not _is_there(place):
            shutil.rmtree(place, ignore_errors=True)
            _fetch(place)
    return place / "llama-server"


def _is_there(place: Path) -> bool:
    """Return whether it was fetched to this folder: the wrapper contains absolute paths."""
    wrapper = place / "llama-server"
    return wrapper.exists() and f'exec "{place}/' in wrapper.read_text()


class locked:  # noqa: N801 - reads as a verb
    """Let one process at a time fill the cache, which git does not see."""

    def __init__(self, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        (cache / ".gitignore").write_text("*\n")
        self._file = (cache / "lock").open("w")

    def __enter__(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _fetch(place: Path) -> None:
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Unavailable("llama-server is not on PATH, and there is no apt-get to fetch it with")
    for folder in ("lists/partial", "own-lists/partial", "cache/archives/partial", "debs", "root"):
        (place / folder).mkdir(parents=True)
    common = ["-o", f"Dir::Cache={place}/cache", "-o", "APT::Sandbox::User=root", "-qq"]
    # This system's own suite, but with separate lists: a new machine may never have fetched its own.
    own = ["-o", f"Dir::State::lists={place}/own-lists", *common]
    newer = [
        *("-o", f"Dir::Etc::sourcelist={place}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null"),
        *("-o", f"Dir::State::lists={place}/lists", *common),
    ]
    _run("apt-get", *own, "update")
    _run("apt-get", *own, "download", "patchelf", cwd=place / "debs")
    (place / "sources.list").write_text(f"deb [signed-by={KEYRING}] {_mirror(own)} {SUITE} main\n")
    _run("apt-get", *newer, "update")
    _run("apt-get", *newer, "download", *PACKAGES, cwd=place / "debs")
    for package in sorted((place / "debs").glob("*.deb")):
        _run("dpkg-deb", "-x", str(package), str(place / "root"))
    _make_runnable(place)
    for leftover in ("lists", "own-lists", "cache", "debs"):
        shutil.rmtree(place / leftover)


def _make_runnable(place: Path) -> None:
    """Tie the program to its own C library; with a folder of models it starts itself again for each."""
    libraries = place / "root" / "usr" / "lib" / f"{os.uname().machine}-linux-gnu"
    program = place / "root" / "usr" / "bin" / "llama-server"
    loader = next(libraries.glob("ld-linux-*.so.*"))
    _run(str(place / "root" / "usr" / "bin" / "patchelf"), "--set-interpreter", str(loader), str(program))
    wrapper = place / "wrapper"
    wrapper.write_text(WRAPPER.format(libraries=libraries, program=program))
    wrapper.chmod(0o755)
    _run(str(wrapper), "--version")
    wrapper.rename(place / "llama-server")


def _mirror(options: list[str]) -> str:
    told = _run("apt-get", *options, "indextargets", "--format", "$(SITE)", "Created-By: Packages")
    sites = sorted({line for line in told.splitlines() if line and "security" not in line})
    if not sites:
        raise Unavailable("apt-get knows no mirror to fetch llama-server from")
    return sites[0]


def _run(*argv: str, cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{argv[0]}: {error}") from error
    if done.returncode:
        raise Unavailable(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


if __name__ == "__main__":
    try:
        print(get_llama_server())
    except Unavailable as error:
        sys.exit(f"error: {error}")
