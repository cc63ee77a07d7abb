"""Finds out which kind of sandbox works on this machine, by trying it."""

import os
import platform
import subprocess
import sys
from collections.abc import Sequence

from bridle.core.ports import SandboxKind, SandboxStatus
from bridle.sandbox import landlock
from bridle.sandbox.bubblewrap import (
    MAX_STARTS,
    SYSTEM_PLACES,
    build_arguments,
    find_bubblewrap,
    is_mount_race,
)
from bridle.sandbox.protected_paths import ProtectedPaths
from bridle.sandbox.syscalls import NUMBERS
from bridle.system.platform import is_linux

_PROBE_S = 10.0
_INSTALL = "install bubblewrap: apt install bubblewrap, dnf install bubblewrap"
_working: set[tuple[str, int, int, int]] = set()
"""Each bubblewrap that worked in this process; if one stops working later, starting a cell fails."""


def find_status(wanted: SandboxKind | None = None, places: Sequence[str] = SYSTEM_PLACES) -> SandboxStatus:
    """Return the best kind that works, or the required one, and what provides each protection."""
    if not is_linux():
        return _status("none", f"no sandbox for {sys.platform} yet")
    if platform.machine() not in NUMBERS:
        return _status("none", f"Bridle does not know the system calls of {platform.machine()}")
    if wanted == "none":
        return _status("none", "the sandbox is turned off")
    missing = _bubblewrap_fault(places)
    if not missing and wanted in (None, "bubblewrap"):
        return _status("bubblewrap", "")
    if landlock.version() and wanted in (None, "landlock"):
        return _status("landlock", missing or "Landlock was asked for")
    return _status("none", f"{missing or 'no bubblewrap'}, and the kernel has no Landlock")


def _bubblewrap_fault(places: Sequence[str]) -> str:
    """Return why bubblewrap does not work; empty if it does."""
    program = find_bubblewrap(places)
    if program is None:
        return f"bubblewrap is not installed ({_INSTALL})"
    command = [program, *build_arguments(ProtectedPaths(), (), "/"), "--", "true"]
    try:
        found = os.stat(program)
        identity = (program, found.st_dev, found.st_ino, found.st_mtime_ns)
        if identity in _working:
            return ""
        said = _complaint(command)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run: {error}"
    if not said:
        _working.add(identity)
        return ""
    hint = " (user namespaces may be forbidden: sysctl kernel.apparmor_restrict_unprivileged_userns)"
    return f"bubblewrap does not work: {said}{hint if os.getuid() else ''}"


def _complaint(command: Sequence[str]) -> str:
    """Return bubblewrap's error message; empty if it succeeds."""
    for _ in range(MAX_STARTS):
        done = subprocess.run(
            command,
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_S,
            check=False,
        )
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode == 0 or not is_mount_race(said):
            break
    return (said or f"exit status {done.returncode}") if done.returncode else ""


def _status(kind: SandboxKind, why: str) -> SandboxStatus:
    wrapped, locked = kind == "bubblewrap", kind == "landlock"
    guarded = kind != "none"
    abi = landlock.version() if locked else 0
    parts = (
        ("files", guarded, "private mounts" if wrapped else f"Landlock {abi}" if locked else ""),
        ("hidden", guarded, "covered by mounts" if wrapped else "left out of Landlock" if locked else ""),
        ("fixed", guarded, "read-only mounts" if wrapped else "the watch" if locked else ""),
        (
            "network",
            guarded,
            "own network, proxy by the rules" if wrapped else "no sockets at all" if locked else "",
        ),
        ("processes", guarded, "own process namespace" if wrapped else "Landlock scopes" if abi >= 6 else ""),
        ("syscalls", guarded, "seccomp" if guarded else ""),
        ("undo", _is_known(), "seccomp user notification" if _is_known() else ""),
        ("limits", is_linux(), "rlimits per process, forks counted" if is_linux() else ""),
    )
    return SandboxStatus(kind, why, parts)


def _is_known() -> bool:
    return is_linux() and platform.machine() in NUMBERS
