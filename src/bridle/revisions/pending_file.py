"""The pending file: states saved since the last `collect`, which survive a killed process.

```
{"type":"collected","changes":[…],"carried":[…]}   first line: what the last `collect` returned
{"type":"kept","entries":[…]}                      one line per `keep` since then
{"type":"confirmed"}                               the result was recorded and is not returned again
```

Each line is appended by one write and counts only with its line end. `collect` replaces the file atomically:
before that the `kept` lines count, afterwards their result. The result stays until it is confirmed. Until
then each `collect` returns it again unchanged, also after a crash, so that a caller can recognize what it
already recorded.
"""

import errno
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from bridle.core.errors import StoreError, StoreFull
from bridle.core.revision import FileChange, FileState
from bridle.revisions.file_reader import PathState, Version, last_change_ns
from bridle.revisions.path_names import unescape

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class SavedState(Struct, frozen=True, omit_defaults=True):
    """The saved state of a path."""

    path: str
    """Absolute and escaped."""
    state: FileState | None = None
    version: Version = ()
    settled: bool = True
    whole: bool = False
    """For a folder: True if all its content is saved too."""
    carried: bool = False
    """True if it is tracked since the last `collect` without a new `keep`."""
    until_ns: int = 0
    """For a carried path: changes after this time are not ours; 0 means no limit."""
    ours: bool = True
    """True if changes while it was carried are ours."""

    @property
    def found(self) -> PathState:
        """The saved state as a `Found`."""
        return PathState(self.state, self.version, self.settled)

    def owns_change(self) -> bool:
        """Return True if a change of the path, if any, is ours to report."""
        return not self.until_ns or last_change_ns(unescape(self.path)) <= self.until_ns

    @property
    def is_closed(self) -> bool:
        """True if every path below that is not saved did not exist."""
        return self.whole or self.state is None or self.state.kind != "folder"


class Collected(Struct, frozen=True, tag="collected"):
    """The last result, and the paths that are still tracked."""

    changes: tuple[FileChange, ...] = ()
    carried: tuple[SavedState, ...] = ()


class SavedStates(Struct, frozen=True, tag="kept"):
    """The states that one `keep` saved."""

    entries: tuple[SavedState, ...]


class Confirmed(Struct, frozen=True, tag="confirmed"):
    """The last result was recorded."""


Line = Collected | SavedStates | Confirmed

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Line)


class PendingFile:
    """The pending file of one session; without a path, nothing survives the process."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._may_exist = True

    def load(self) -> list[Line]:
        """Return the lines in order, and truncate an incomplete last one; raises StoreError.

        A line that cannot be decoded is skipped.
        """
        if self._path is None:
            return []
        try:
            data = self._path.read_bytes()
            end = data.rfind(b"\n") + 1
            if end < len(data):
                os.truncate(self._path, end)
        except FileNotFoundError:
            self._may_exist = False
            return []
        except OSError as error:
            raise _failure(self._path, error) from error
        return [line for text in data[:end].splitlines() if (line := _decoded(text)) is not None]

    def add(self, line: SavedStates | Confirmed) -> None:
        """Append a line completely or not at all; raises StoreFull or StoreError."""
        if self._path is None:
            return
        try:
            self._may_exist = True
            _append(self._path, line)
        except OSError as error:
            raise _failure(self._path, error) from error

    def replace(self, collected: Collected) -> None:
        """Replace all lines with a result; raises StoreFull or StoreError."""
        if self._path is None:
            return
        if not (collected.changes or collected.carried):
            self.remove()
            return
        draft = self._draft(self._path)
        try:
            draft.unlink(missing_ok=True)
            self._may_exist = True
            _append(draft, collected)
            os.rename(draft, self._path)
        except OSError as error:
            raise _failure(self._path, error) from error

    def remove(self) -> None:
        """Delete the file; raises StoreError."""
        if self._path is None or not self._may_exist:
            return
        try:
            self._path.unlink(missing_ok=True)
            self._draft(self._path).unlink(missing_ok=True)
        except OSError as error:
            raise _failure(self._path, error) from error
        self._may_exist = False

    @staticmethod
    def _draft(path: Path) -> Path:
        return path.with_name(f"{path.name}.draft")


def _append(path: Path, line: Line) -> None:
    """Append a line; if the disk is full, remove the part that was written."""
    data = memoryview(_encoder.encode(line) + b"\n")
    descriptor = _open(path)
    try:
        start = os.fstat(descriptor).st_size
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:
            os.ftruncate(descriptor, start)
            raise
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, flags, 0o600)


def _decoded(line: bytes) -> Line | None:
    try:
        decoded: Line = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return decoded


def _failure(path: Path, error: OSError) -> StoreError:
    if error.errno in _FULL:
        return StoreFull(
            f"{path}: no space left to save files before they change ({error.strerror})",
            hint="free some space, then try again",
        )
    return StoreError(f"{path}: {error.strerror or error}")
