"""Reject command lines that are too long to analyze or contain hidden characters."""

import re
import unicodedata

MAX_BYTES = 64 * 1024
MAX_LOOSE_BYTES = 4 * 1024
"""The limit outside quotes and here-documents: the grammar takes quadratic time on invalid input, 100 ms for
this size."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
_CLOSED = re.compile(r"""'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.|<<-?[ ]?["'\\]?(\w++)[^\n]*+\n""", re.DOTALL)


def find_unreadable(text: str) -> str:
    """Return why a command line is not parsed at all; empty for one that is."""
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        return f"the command line is longer than {MAX_BYTES} bytes"
    if len(text) > MAX_LOOSE_BYTES and _loose_bytes(text) > MAX_LOOSE_BYTES:
        return f"the command line contains more than {MAX_LOOSE_BYTES} bytes of commands"
    if _CONTROL.search(text):
        return "the command line contains control characters"
    if not text.isascii() and any(
        unicodedata.category(char) in _HIDDEN for char in text if not char.isascii()
    ):
        return "the command line contains invisible characters"
    return ""


def _loose_bytes(text: str) -> int:
    """Count the bytes outside quotes and here-documents, roughly."""
    loose, position = 0, 0
    for match in _CLOSED.finditer(text):
        if match.start() < position:
            continue
        loose += match.start() - position
        position = match.end()
        if match[1]:
            position = max(position, text.find("\n" + match[1], position - 1))
        elif set("$`") & set(match[0]) and match[0][0] == '"':
            loose += len(match[0])
    return loose + len(text) - position
