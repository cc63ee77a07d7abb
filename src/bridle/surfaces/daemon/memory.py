"""The memory use of this process."""

import os
from pathlib import Path


def resident_bytes() -> int:
    """Return the resident memory in bytes; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
