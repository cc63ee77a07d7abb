"""Context files: AGENTS.md and CLAUDE.md, instructions for every agent, from general to specific.

The order is fixed and the text depends only on the files, so that the same files give the same bytes at
the start of every request: first the user's own, then from the project's root down to the working
directory. CLAUDE.md is read where a folder has no AGENTS.md. A line such as `@other.md` is plain text: files
do not include other files.
"""

import codecs
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from bridle.config.textfile import Head, read_head
from bridle.config.toml_document import literal
from bridle.core.errors import ConfigError

MAX_FILE_BYTES = 32 * 1024
MAX_TOTAL_BYTES = 64 * 1024  # of all files together; some 16,000 tokens
FILE_NAMES = ("AGENTS.md", "CLAUDE.md")


class ContextText(Struct, frozen=True):
    """The text of the files for the system prompt, and warnings about what was left out."""

    text: str = ""
    files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


def read_context_files(home: Path, root: Path, cwd: Path) -> ContextText:
    """Read the files for a working directory inside `root`; an unreadable one is a warning."""
    texts: list[str] = []
    files: list[Path] = []
    warnings: list[str] = []
    room_bytes = MAX_TOTAL_BYTES
    for folder in _folders(home, root, cwd):
        file, text = _read_one(folder, None if folder == home else root, warnings)
        if not text:
            continue
        size_bytes = len(text.encode())
        if size_bytes > room_bytes:
            how = f"is {'cut' if room_bytes else 'left out'}"
            warnings.append(f"{file}: {how}: these files together exceed {MAX_TOTAL_BYTES} bytes")
            text = _cut(text, room_bytes) if room_bytes else ""
        room_bytes = max(0, room_bytes - size_bytes)
        if text:
            label = f"your {file.name}" if folder == home else file.relative_to(root).as_posix()
            texts.append(f"<instructions from={literal(label)}>\n{text}\n</instructions>")
            files.append(file)
    return ContextText("\n\n".join(texts), tuple(files), tuple(warnings))


def _read_one(folder: Path, within: Path | None, warnings: list[str]) -> tuple[Path, str]:
    """Return the first existing context file of a folder and its text; an empty text if there is none."""
    for name in FILE_NAMES:
        file = folder / name
        try:
            head = read_head(file, MAX_FILE_BYTES, within=within)
            if head is not None:
                return file, _decode(head, file)
        except ConfigError as error:
            warnings.append(f"{error.message} (skipped)")
    return folder, ""


def _cut(text: str, limit_bytes: int) -> str:
    kept = text.encode()[:limit_bytes].decode(errors="ignore")
    whole_lines = kept[: kept.rfind("\n")] if "\n" in kept else kept
    return f"{whole_lines.strip()}\n[cut: these files together exceed {MAX_TOTAL_BYTES} bytes]"


def _folders(home: Path, root: Path, cwd: Path) -> Iterator[Path]:
    yield home
    between = [folder for folder in (cwd, *cwd.parents) if folder.is_relative_to(root)]
    yield from (folder for folder in reversed(between) if folder != home)


def _decode(head: Head, file: Path) -> str:
    is_cut = head.size_bytes > len(head.data)
    try:
        # A cut may fall inside a character, which is not an error in the file.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head.data, final=not is_cut)
    except UnicodeDecodeError as error:
        line = head.data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}:{line}: is not UTF-8 text") from error
    text = text.replace("\r\n", "\n")
    if not is_cut:
        return text.strip()
    whole_lines = text[: text.rfind("\n")] if "\n" in text else text
    note = f"[cut: the file has {head.size_bytes} bytes, of which {MAX_FILE_BYTES} are read]"
    return f"{whole_lines.strip()}\n{note}"
