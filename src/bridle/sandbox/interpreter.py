"""The Python interpreter that runs the launcher."""

import os
import sys


def find_interpreter() -> str:
    """Return the real path of our interpreter: its link in a virtual environment may lie anywhere."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
