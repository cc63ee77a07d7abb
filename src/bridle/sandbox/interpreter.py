"""The Python that the launcher runs on."""

import os
import sys


def interpreter() -> str:
    """Return the program itself, not its name in a virtual environment, which may lie anywhere."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
