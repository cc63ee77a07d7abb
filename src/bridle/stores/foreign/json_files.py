"""Read JSON-lines files of other programs, with every size bounded and no link followed out of the folder."""

import os
import stat
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.malformed import MALFORMED
from bridle.core.protocol import Event, SessionCreated
from bridle.core.summary import title_from
from bridle.stores.kontekst_reader import KontekstConversation
from bridle.stores.record_lines import from_os_error

MAX_FILE_BYTES = 128 * 1024 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024  # an image in base64 takes some megabytes
MAX_LINES = 200_000
MAX_FILES = 20_000
MAX_DEPTH = 6

NO_JSON = "not a line of JSON"
TOO_LONG = f"longer than {MAX_LINE_BYTES // 1024**2} MiB"
TOO_MANY = f"more than {MAX_LINES:,} lines"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_decode = msgspec.json.Decoder().decode


class SourceFolder(Struct, frozen=True):
    """The location of something that may be a session."""

    key: str
    """The other program's id for it."""
    path: Path
    root: Path
    """The folder that the path must not leave."""


class ForeignSession(Struct, frozen=True):
    """A session of another program, as it was when it was read."""

    key: str
    conversation: KontekstConversation
    title: str = ""
    cwd: str = ""
    """Its working directory, if recorded."""

    def events(self, session: SessionId, cwd: str, agent: str) -> list[Event]:
        """Return the events of a session with the full content."""
        said = (item.message.text for item in self.conversation.messages if item.message.role == "user")
        title = title_from(self.title) or next(filter(None, map(title_from, said)), "")
        return [SessionCreated(session, cwd, agent, title), *self.conversation.added]


def find_files(root: Path, *, suffix: str) -> list[Path]:
    """Return the files in a folder and its subfolders, the last modified one at the end.

    Links are ignored. Blocks; raises StoreError if there are too many files.
    """
    found: list[tuple[int, str]] = []
    deep = len(root.parts) + MAX_DEPTH
    for folder, folders, names in os.walk(root):
        if len(Path(folder).parts) >= deep:
            folders.clear()
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(suffix) and (changed := _changed(path)) is not None:
                found.append((changed, path))
        if len(found) > MAX_FILES:
            raise StoreError(f"{root}: has more than {MAX_FILES:,} sessions")
    return [Path(path) for _, path in sorted(found)]


def read_json_lines(source: SourceFolder, skipped: Counter[str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file that are JSON objects; other lines are counted in `skipped`.

    Blocks; raises StoreError for a file that cannot be read, is too large, or leads out of its folder.
    """
    with open_regular(source) as file:
        for _ in range(MAX_LINES):
            line = file.readline(MAX_LINE_BYTES + 1)
            if not line:
                return
            if len(line) > MAX_LINE_BYTES:
                skipped[TOO_LONG] += 1
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE_BYTES)
                continue
            if (value := _table(line)) is not None:
                yield value
            elif line.strip():
                skipped[NO_JSON] += 1
        if file.read(1):
            skipped[TOO_MANY] += 1


def open_regular(source: SourceFolder) -> BinaryIO:
    """Open a regular file inside its root folder; the caller closes it. Raises StoreError."""
    real = os.path.realpath(source.path)
    if not Path(real).is_relative_to(os.path.realpath(source.root)):
        raise StoreError(f"{source.path}: leads out of {source.root}")
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise from_os_error(source.path, error) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
        os.close(descriptor)
        is_long = stat.S_ISREG(status.st_mode)
        why = f"is larger than {MAX_FILE_BYTES // 1024**2} MiB" if is_long else "is not a regular file"
        raise StoreError(f"{source.path}: {why}")
    return open(descriptor, "rb")


def _changed(path: str) -> int | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_mtime_ns if stat.S_ISREG(status.st_mode) else None


def _table(line: bytes) -> dict[str, Any] | None:
    try:
        value = _decode(line)
    except MALFORMED:
        return None
    return value if isinstance(value, dict) else None


def get_text(table: Any, key: str) -> str:
    """Return a string of an unvalidated table; empty if there is none."""
    value = table.get(key) if isinstance(table, dict) else None
    return value if isinstance(value, str) else ""


def get_time_ms(table: Any, key: str) -> int:
    """Return a time of an unvalidated table, in milliseconds since 1970; 0 if there is none."""
    try:
        when = datetime.fromisoformat(get_text(table, key))
    except ValueError:
        return 0
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0, (when - _EPOCH) // timedelta(milliseconds=1))


def get_table(table: Any, key: str) -> dict[str, Any]:
    """Return a table of an unvalidated table; empty if there is none."""
    value = table.get(key) if isinstance(table, dict) else None
    return value if isinstance(value, dict) else {}


def get_list(table: Any, key: str) -> list[Any]:
    """Return a list of an unvalidated table; empty if there is none."""
    value = table.get(key) if isinstance(table, dict) else None
    return value if isinstance(value, list) else []
