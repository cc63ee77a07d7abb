"""AGENTS.md and CLAUDE.md: what people want every agent to know, from the general to the particular.

The order is fixed and the text depends on nothing but the files, so that the same files give the
same bytes at the head of every request: first the user's own, then from the project's root down to
the working directory. CLAUDE.md is read where a folder has no AGENTS.md.
"""

import codecs
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from bridle.config.document import literal
from bridle.config.textfile import Head, read_head
from bridle.core.errors import ConfigError

MAX_FILE_BYTES = 32 * 1024
FILE_NAMES = ("AGENTS.md", "CLAUDE.md")


class ContextText(Struct, frozen=True):
    """What the files say, ready for the system prompt, and what was left out of it."""

    text: str = ""
    files: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()


def read_context_files(home: Path, root: Path, cwd: Path) -> ContextText:
    """Read the files for a working directory inside of `root`; an unreadable one is a warning."""
    texts, files, warnings = [], [], []
    for folder in _folders(home, root, cwd):
        for name in FILE_NAMES:
            file = folder / name
            try:
                head = read_head(file, MAX_FILE_BYTES, within=None if folder == home else root)
                text = None if head is None else _decode(head, file)
            except ConfigError as error:
                warnings.append(f"{error.message} (it is left out)")
                continue
            if text is None:
                continue
            if text:
                label = f"your {name}" if folder == home else file.relative_to(root).as_posix()
                texts.append(f"<instructions from={literal(label)}>\n{text}\n</instructions>")
                files.append(file)
            break
    return ContextText("\n\n".join(texts), tuple(files), tuple(warnings))


def _folders(home: Path, root: Path, cwd: Path) -> Iterator[Path]:
    yield home
    between = [folder for folder in (cwd, *cwd.parents) if folder.is_relative_to(root)]
    yield from (folder for folder in reversed(between) if folder != home)


def _decode(head: Head, file: Path) -> str:
    is_cut = head.size_bytes > len(head.data)
    try:
        # A cut may fall inside a character, which is not an error of the file.
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
