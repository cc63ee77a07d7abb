"""Read git config files conservatively: any line that is not clearly a setting is reported as such."""

import os
import re
import stat
from collections.abc import Iterator

_MAX_BYTES = 256 * 1024
_SECTION = re.compile(r"\[([A-Za-z0-9.-]++)(?:[ \t]++\"((?:[^\"\\]|\\.)*+)\")?\]")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]*")

Setting = tuple[str, str]
"""A name such as `remote.origin.url`, with the first and last part in lower case, and its value."""


def read_settings(text: str) -> Iterator[Setting]:
    """Yield the settings of a config; a line that is not clearly a setting gets an empty name."""
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
    """Return the text of a regular file; None if it is missing, not a regular file, or too long."""
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
