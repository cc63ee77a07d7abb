"""What was kept since the last `collect`, in a file that outlives a killed process.

```
{"type":"collected","changes":[…],"carried":[…]}   first line: what the last `collect` returned
{"type":"kept","entries":[…]}                      one line for each `keep` since then
{"type":"confirmed"}                               the result was recorded and need not come again
```

Each line is added by one write and counts only with its line end. `collect` puts a new file in place of
the old one in one step: before it the kept lines count, after it their result does. The result stays until
it is confirmed; until then each `collect` returns it once more, also after a crash, exactly as it was, so
that whoever did record it can tell.
"""

import errno
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from bridle.core.errors import StoreError, StoreFull
from bridle.core.revision import FileChange, FileState
from bridle.revisions.names import unescape
from bridle.revisions.sight import Found, Version, last_touched_ns

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Kept(Struct, frozen=True, omit_defaults=True):
    """What lay at a path when it was kept."""

    path: str
    """Absolute and escaped."""
    state: FileState | None = None
    version: Version = ()
    settled: bool = True
    whole: bool = False
    """For a folder: all that was in it has been kept too."""
    carried: bool = False
    """Nobody asked for it since the last `collect`; it is watched further."""
    until_ns: int = 0
    """For a carried path: what is done to it later than this is not ours; 0 for no such time."""
    ours: bool = True
    """What happened to it while it was carried is ours."""

    @property
    def found(self) -> Found:
        """What was seen then."""
        return Found(self.state, self.version, self.settled)

    def owns_change(self) -> bool:
        """Tell whether a change of the path, if there is one, is to be reported."""
        return not self.until_ns or last_touched_ns(unescape(self.path)) <= self.until_ns

    @property
    def is_closed(self) -> bool:
        """Whether everything below that is not kept itself did not exist."""
        return self.whole or self.state is None or self.state.kind != "folder"


class Collected(Struct, frozen=True, tag="collected"):
    """The last result, and what is still watched."""

    changes: tuple[FileChange, ...] = ()
    carried: tuple[Kept, ...] = ()


class KeptNow(Struct, frozen=True, tag="kept"):
    """What one `keep` has kept."""

    entries: tuple[Kept, ...]


class Confirmed(Struct, frozen=True, tag="confirmed"):
    """The last result was recorded."""


Line = Collected | KeptNow | Confirmed

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Line)


class Pending:
    """The file of one session; without a path nothing outlives the process."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._may_exist = True

    def load(self) -> list[Line]:
        """Return the lines in order, and cut off a torn one; raises StoreError.

        A line that cannot be decoded says nothing.
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

    def add(self, line: KeptNow | Confirmed) -> None:
        """Append a line, whole or not at all; raises StoreFull or StoreError."""
        if self._path is None:
            return
        try:
            self._may_exist = True
            _append(self._path, line)
        except OSError as error:
            raise _failure(self._path, error) from error

    def replace(self, collected: Collected) -> None:
        """Let a result stand for all lines; raises StoreFull or StoreError."""
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
        """Forget all lines; raises StoreError."""
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
    """Add a line; what a full disk leaves of it is cut off again."""
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
            f"{path}: no space is left to keep files before they change ({error.strerror})",
            hint="free some space, then try again",
        )
    return StoreError(f"{path}: {error.strerror or error}")
