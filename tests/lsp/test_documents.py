"""How a server is informed about its open files."""

import os
from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ToolError
from bridle.lsp.diagnostics import Diagnostics, Signal
from bridle.lsp.documents import MAX_FILE_BYTES, MAX_OPEN, Documents
from bridle.lsp.positions import to_uri
from bridle.lsp.settings import LanguageServer


class Heard:
    """Replaces a connection, and records the messages."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def tell(self, method: str, params: Any) -> None:
        self.told.append((method.rpartition("/")[2], params))

    def take(self) -> list[tuple[str, Any]]:
        told, self.told = self.told, []
        return told


@pytest.fixture
def heard() -> Heard:
    """Return a connection that records everything."""
    return Heard()


@pytest.fixture
async def documents(heard: Heard) -> Documents:
    """Return the documents of a server for Python."""
    server = LanguageServer("toy", ("toy",), (".py",))
    board = Diagnostics("toy", lambda _: True, Signal())
    return Documents(server, heard, board, saves=True)  # type: ignore[arg-type]


async def test_a_file_is_opened_changed_and_closed(documents: Documents, heard: Heard, project: Path):
    path = project / "a.py"
    uri = to_uri(str(path))
    path.write_text("one\n")

    await documents.sync([str(path)])
    await documents.sync([str(path)])
    path.write_text("two\n")
    await documents.sync([])
    path.unlink()
    await documents.sync([])
    await documents.sync([str(path)])

    assert heard.take() == [
        ("didOpen", {"textDocument": {"uri": uri, "version": 1, "languageId": "python", "text": "one\n"}}),
        ("didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "two\n"}]}),
        ("didSave", {"textDocument": {"uri": uri}}),
        ("didClose", {"textDocument": {"uri": uri}}),
    ]


async def test_the_same_text_written_again_is_no_change(documents: Documents, heard: Heard, project: Path):
    path = project / "a.py"
    path.write_text("one\n")
    first = await documents.sync([str(path)])
    heard.take()

    path.unlink()
    path.write_text("one\n")
    second = await documents.sync([str(path)])

    assert heard.take() == []
    assert [one[str(path)].version for one in (first, second)] == [1, 1]


async def test_a_change_that_leaves_the_same_stamp_is_seen(documents: Documents, heard: Heard, project: Path):
    """Two edits within one tick of the clock look alike from outside."""
    path = project / "a.py"
    path.write_text("one\n")
    await documents.sync([str(path)])
    found = path.stat()
    heard.take()

    path.write_text("two\n")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    await documents.sync([str(path)])

    assert [method for method, _ in heard.take()] == ["didChange", "didSave"]


async def test_a_byte_order_mark_is_not_sent_but_kept(documents: Documents, heard: Heard, project: Path):
    path = project / "a.py"
    path.write_bytes("\ufeffone\r\n".encode())

    found = await documents.sync([str(path)])

    assert heard.take()[0][1]["textDocument"]["text"] == "one\r\n"
    assert found[str(path)].content.text == "\ufeffone\r\n"


async def test_the_longest_unused_are_closed(documents: Documents, heard: Heard, project: Path):
    paths = [str(project / f"{number}.py") for number in range(MAX_OPEN + 1)]
    for path in paths:
        Path(path).write_text("")
    for path in paths[:-1]:
        await documents.sync([path])
    await documents.sync(paths[:1])
    heard.take()

    await documents.sync(paths[-1:])

    closed = [params["textDocument"]["uri"] for method, params in heard.take() if method == "didClose"]
    assert closed == [to_uri(paths[1])]
    assert [one.path for one in documents.recent(3)] == [paths[-1], paths[0], paths[-2]]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff", "is not UTF-8 text"),
        (b"x" * (MAX_FILE_BYTES + 1), f"is too large for a language server: {MAX_FILE_BYTES + 1} bytes"),
    ],
)
async def test_what_is_no_text_is_refused_and_closed(
    documents: Documents, heard: Heard, project: Path, data: bytes, why: str
):
    path = project / "a.py"
    path.write_text("one\n")
    await documents.sync([str(path)])
    heard.take()
    path.write_bytes(data)

    with pytest.raises(ToolError) as caught:
        await documents.sync([str(path)])

    assert caught.value.message == f"{path} {why}"
    assert [method for method, _ in heard.take()] == ["didClose"]
    assert await documents.sync([]) == {}


async def test_a_folder_or_a_pipe_is_no_file(documents: Documents, project: Path):
    os.mkfifo(project / "pipe")

    for path in (project, project / "pipe"):
        with pytest.raises(ToolError, match="is not a file"):
            await documents.sync([str(path)])


async def test_changes_of_open_files_are_told_once(documents: Documents, heard: Heard, project: Path):
    path = project / "a.py"
    path.write_text("one\n")
    await documents.sync([str(path)])
    heard.take()

    documents.notify_changes({str(path): "changed"})
    documents.notify_changes({str(path): "changed", "/b.py": "created", "/c.py": "deleted"})

    changes = [{"uri": "file:///b.py", "type": 1}, {"uri": "file:///c.py", "type": 3}]
    assert heard.take() == [("didChangeWatchedFiles", {"changes": changes})]
