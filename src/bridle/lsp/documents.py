"""The files a server has open; it gets every change of them, with a version, before any request."""

import asyncio
import os
import stat
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.lsp.catalogue import language_id
from bridle.lsp.connection import Connection
from bridle.lsp.diagnostics import Diagnostics
from bridle.lsp.positions import TextSource, to_uri
from bridle.lsp.settings import LanguageServer

# ---------------------------------------------------------------------------- files
# Reads text files for language servers, up to a size limit. Everything here blocks.


MAX_FILE_BYTES = 4 * 1024 * 1024
BYTE_ORDER_MARK = "\ufeff"

Stamp = tuple[int, int, int]


class Content(Struct, frozen=True):
    """The content of a file."""

    text: str
    stamp: Stamp

    @property
    def sent(self) -> str:
        """The text sent to servers: without the byte order mark, which positions do not count."""
        return self.text.removeprefix(BYTE_ORDER_MARK)


def stat_stamp(path: str) -> Stamp | None:
    """Return a stamp that changes with the file; None if there is no regular file."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def read_content(path: str) -> Content | None:
    """Read a text file; None if there is none. Raises ToolError if it is too large or no UTF-8 text."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise ToolError(f"{path} cannot be read: {error}") from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise ToolError(f"{path} is not a file")
    with open(descriptor, "rb") as file:
        if found.st_size > MAX_FILE_BYTES:
            raise ToolError(f"{path} is too large for a language server: {found.st_size} bytes")
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ToolError(f"{path} is too large for a language server: it grows")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ToolError(f"{path} is not UTF-8 text") from error
    return Content(text, (found.st_mtime_ns, found.st_size, found.st_ino))


# ---------------------------------------------------------------------------- documents


MAX_OPEN = 64

ChangeKind = Literal["created", "changed", "deleted"]
_CHANGES: Mapping[ChangeKind, int] = {"created": 1, "changed": 2, "deleted": 3}


class Document(Struct, frozen=True):
    """A file in the version last sent to a server."""

    path: str
    version: int
    content: Content

    @property
    def uri(self) -> str:
        """The `file://` URI."""
        return to_uri(self.path)

    @property
    def source(self) -> TextSource:
        """The text that positions refer to."""
        return TextSource(self.content.sent)


class Documents:
    """The open files of one server, least recently used first; at most `MAX_OPEN`."""

    def __init__(
        self, server: LanguageServer, connection: Connection, diagnostics: Diagnostics, *, saves: bool
    ) -> None:
        self._server = server
        self._connection = connection
        self._diagnostics = diagnostics
        self._saves = saves
        self._open: dict[str, Document] = {}
        self._version = 0
        self._lock = asyncio.Lock()  # a version must be sent before the next one is made

    def get(self, path: str) -> Document | None:
        """Return an open file; None if it is not open."""
        return self._open.get(path)

    def recent(self, count: int) -> list[Document]:
        """Return the most recently used files, newest first."""
        return list(reversed(self._open.values()))[:count]

    async def sync(self, paths: Iterable[str]) -> dict[str, Document]:
        """Send all changes of open files to the server and open these files; returns those that exist.

        Raises ToolError for a file that cannot be read as text.
        """
        wanted = list(dict.fromkeys(paths))[:MAX_OPEN]
        async with self._lock:
            documents = {path: document.content for path, document in self._open.items()}
            contents, unreadable = await asyncio.to_thread(_read_changed, wanted, documents)
            for path, content in contents.items():
                self._update(path, content)
            if unreadable:
                raise ToolError(unreadable)
            for path in wanted:
                if path in self._open:
                    self._open[path] = self._open.pop(path)
            self._shrink()
            return {path: self._open[path] for path in wanted if path in self._open}

    def notify_changes(self, changes: Mapping[str, ChangeKind]) -> None:
        """Notify the server of changes on disk to files that are not open."""
        found = [
            {"uri": to_uri(path), "type": _CHANGES[kind]}
            for path, kind in changes.items()
            if path not in self._open
        ]
        if found:
            self._connection.tell("workspace/didChangeWatchedFiles", {"changes": found})

    def _update(self, path: str, content: Content | None) -> None:
        old = self._open.get(path)
        if content is None:
            if old is not None:
                self._close(path)
            return
        if old is not None and old.content.text == content.text:
            self._open[path] = Document(path, old.version, content)
            return
        self._version += 1
        self._diagnostics.expect(path, self._version, TextSource(content.sent))
        new = Document(path, self._version, content)
        identity = {"uri": new.uri, "version": new.version}
        if old is None:
            extension = "." + path.rpartition(".")[2]
            opened = {**identity, "languageId": language_id(self._server, extension), "text": content.sent}
            self._connection.tell("textDocument/didOpen", {"textDocument": opened})
        else:
            self._connection.tell(
                "textDocument/didChange",
                {"textDocument": identity, "contentChanges": [{"text": content.sent}]},
            )
            if self._saves:
                self._tell("textDocument/didSave", path)
        self._open[path] = new

    def _close(self, path: str) -> None:
        del self._open[path]
        self._diagnostics.forget(path)
        self._tell("textDocument/didClose", path)

    def _shrink(self) -> None:
        while len(self._open) > MAX_OPEN:
            self._close(next(iter(self._open)))

    def _tell(self, method: str, path: str) -> None:
        params: dict[str, Any] = {"textDocument": {"uri": to_uri(path)}}
        self._connection.tell(method, params)


def _read_changed(
    wanted: list[str], documents: Mapping[str, Content]
) -> tuple[dict[str, Content | None], str]:
    """Read the wanted files and all others that have changed; also return why a wanted one is unreadable.

    Wanted files are always read: two edits within one clock tick leave the same stamp.
    """
    contents: dict[str, Content | None] = {}
    unreadable = ""
    for path in dict.fromkeys((*documents, *wanted)):
        if path not in wanted and documents[path].stamp == stat_stamp(path):
            continue
        try:
            contents[path] = read_content(path)
        except ToolError as error:
            contents[path] = None
            unreadable = error.message if path in wanted else unreadable
    return contents, unreadable
