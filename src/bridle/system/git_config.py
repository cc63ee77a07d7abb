"""The config files of git, read with suspicion: a line that is not plainly a setting is told apart."""

import os
import re
import stat
from collections.abc import Iterator

_MAX_BYTES = 256 * 1024
_SECTION = re.compile(r"\[([A-Za-z0-9.-]++)(?:[ \t]++\"((?:[^\"\\]|\\.)*+)\")?\]")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]*")

Setting = tuple[str, str]
"""A name such as `remote.origin.url`, the outer parts in lower case, and its value."""


def read_settings(text: str) -> Iterator[Setting]:
    """Yield the settings of a config; a line that is not plainly one is a setting without a name."""
    section = ""
    for line in text.removeprefix("\ufeff").split("\n"):
        bare = line.strip()
        if not bare or bare[0] in "#;":
            continue
        key, _, value = bare.partition("=")
        if header := _SECTION.fullmatch(bare):
            inner = f".{header[2]}" if header[2] is not None else ""
            section = header[1].lower() + inner
        elif section and _KEY.fullmatch(key.rstrip()) and not bare.endswith("\\"):
            yield f"{section}.{key.rstrip().lower()}", value.strip()
        else:
            yield "", bare


def read_text(path: str) -> str | None:
    """Return what a plain file holds; None if it is none, or too long to be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
            return None
        return os.read(descriptor, _MAX_BYTES).decode(errors="surrogateescape")
    finally:
        os.close(descriptor)
