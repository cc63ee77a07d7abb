"""Which operating systems Bridle runs on, and what to say elsewhere.

| system | |
|---|---|
| Linux | everything |
| macOS | no program of an agent is started: the part that starts and watches them is made for Linux |
| Windows | nothing; WSL is a Linux |

Importing this module needs nothing that one of these systems lacks.
"""

import sys

from bridle.core.errors import UsageError


def require_posix() -> None:
    """Raise UsageError where nothing of Bridle can work."""
    if sys.platform == "win32":
        raise UsageError("Bridle does not run on Windows itself", hint="run it in WSL, on Linux or on macOS")


def is_linux() -> bool:
    """Say whether agents' programs can be started here."""
    return sys.platform.startswith("linux")
