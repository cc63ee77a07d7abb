"""Read the prompt: the words of the command line and the text on stdin, joined."""

import os
import select
import stat
import sys

from bridle.core.errors import UsageError
from bridle.core.protocol import MAX_PROMPT_BYTES
from bridle.surfaces.terminal import Console

PATIENCE_S = 3.0  # a pipe silent for this long may never be closed

_CHUNK_BYTES = 64 * 1024


def read_prompt(words: list[str], console: Console) -> str:
    """Return the prompt, empty if there is none; raises UsageError if it is too long or not UTF-8."""
    piped = _decode(_read_stdin(console)).rstrip("\n")
    prompt = "\n\n".join(text for text in (" ".join(words), piped) if text.strip())
    if len(prompt.encode()) > MAX_PROMPT_BYTES:
        raise _too_long()
    return prompt


def _read_stdin(console: Console) -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    descriptor = sys.stdin.fileno()
    is_stream = not stat.S_ISREG(os.fstat(descriptor).st_mode)
    if is_stream and not select.select([descriptor], [], [], PATIENCE_S)[0]:
        console.warn("waiting for stdin to end")
        console.hint("add < /dev/null if there is no input")
        console.err.flush()
    pieces, size = [], 0
    while piece := os.read(descriptor, _CHUNK_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_PROMPT_BYTES:
            raise _too_long()
    return b"".join(pieces)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"stdin is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start:,}",
            hint="convert it first, for example with iconv -t utf-8",
        ) from None


def _too_long() -> UsageError:
    return UsageError(
        f"the prompt is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MiB",
        hint="name the file in the prompt instead, and the agent reads what it needs",
    )
