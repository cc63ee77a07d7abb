"""Report an unexpected error: one line for the user, the details in a file."""

import os
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path

from bridle.config.settings import find_home
from bridle.core.errors import BridleError
from bridle.surfaces.shared.terminal import Console
from bridle.tools.secrets import Masker, find_secrets


def report_bug(console: Console, error: BaseException) -> None:
    """Write the traceback, with secrets masked as users send it to others, to a file and print its path."""
    mask = Masker(find_secrets(console.environ)).mask
    descriptor, path = tempfile.mkstemp(
        prefix="bug-", suffix=".log", dir=_folder(console)
    )  # mode 0600: readable by the owner only
    with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as report:
        report.write(mask("".join(traceback.format_exception(error))))
    console.fail(
        mask(f"Bridle has a bug: {type(error).__name__}: {error}"),
        hint=f"details are in {path}; please attach them to a bug report",
    )


def _folder(console: Console) -> Path | None:
    """Return the log folder, or None for the system's temporary folder if the home is not writable."""
    with suppress(BridleError, OSError):
        folder = find_home(console.environ, Path.cwd()) / "logs"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    return None
