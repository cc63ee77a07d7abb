"""A model that has just read every file, for tests of changes."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import FilesSeen


class Everything(Mapping[str, str]):
    """The digests of a folder's files as they are at the moment of asking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, path: str) -> str:
        try:
            return sha256((self._folder / path).read_bytes()).hexdigest()
        except OSError as error:
            raise KeyError(path) from error

    def __iter__(self) -> Iterator[str]:
        return (str(path.relative_to(self._folder)) for path in self._folder.rglob("*") if path.is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def knowing(context: ToolContext, **seen: str) -> ToolContext:
    """Give a context in which all files are known, or only these."""
    return replace(context, seen=seen or Everything(Path(context.cwd)))


def learn(context: ToolContext, output: ToolOutput) -> ToolContext:
    """Add the facts of a call about files, like a session."""
    seen = dict(context.seen)
    for note in output.notes:
        if isinstance(note, FilesSeen):
            seen.update({file.path: file.digest for file in note.files})
    return replace(context, seen=seen)
