"""Whether tools that see code are worth a place in the requests of a session."""

import os
import time
from collections import deque
from collections.abc import Callable

from bridle.core.languages import Languages

MAX_ENTRIES = 2000
MAX_DEPTH = 4
MAX_FOLDERS = 256
LOOK_AGAIN_S = 30.0

_DEPENDENCIES = frozenset({"node_modules", "venv", "__pycache__", "target", "dist", "build"})


class Usefulness:
    """Tells whether a folder has files that a language server is there for; safe in any thread."""

    def __init__(self, languages: Languages, clock: Callable[[], float] = time.monotonic) -> None:
        self._languages = languages
        self._clock = clock
        self._looked: dict[str, tuple[bool, float]] = {}
        """What was found out, and when."""

    def __call__(self, cwd: str) -> bool:
        """Look through a folder, some way down; a yes holds, a no for a short time; blocking."""
        is_useful, at_s = self._looked.get(cwd, (False, -LOOK_AGAIN_S))
        if not is_useful and self._clock() - at_s >= LOOK_AGAIN_S:
            is_useful = self._look(cwd)
            if len(self._looked) >= MAX_FOLDERS:
                self._looked.clear()
            self._looked[cwd] = (is_useful, self._clock())
        return is_useful

    def _look(self, cwd: str) -> bool:
        left, endings = MAX_ENTRIES, set[str]()
        folders = deque([(cwd, 1)])
        while folders and left > 0:
            folder, depth = folders.popleft()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        left -= 1
                        if left < 0:
                            break
                        if entry.is_dir(follow_symlinks=False):
                            if depth < MAX_DEPTH and not _is_left_out(entry.name):
                                folders.append((entry.path, depth + 1))
                            continue
                        ending = os.path.splitext(entry.name)[1] or entry.name
                        if ending not in endings and self._languages.serves(entry.path, cwd):
                            return True
                        endings.add(ending)
            except OSError:
                continue  # what cannot be listed cannot be worked on either
        return False


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name in _DEPENDENCIES
