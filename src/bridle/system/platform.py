"""Supported operating systems.

| system | what works |
|---|---|
| Linux | everything |
| macOS | everything except agents' programs: the launcher that starts and watches them needs Linux |
| Windows | nothing; WSL counts as Linux |

This module can be imported on all of these systems.
"""

import sys

from bridle.core.errors import UsageError


def require_posix() -> None:
    """Raise UsageError on Windows, where Bridle cannot run."""
    if sys.platform == "win32":
        raise UsageError(
            "Bridle does not run natively on Windows", hint="run it in WSL, on Linux or on macOS"
        )


def is_linux() -> bool:
    """Return True on Linux, where agents' programs can be started."""
    return sys.platform.startswith("linux")
