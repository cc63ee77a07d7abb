"""Convert terminal output to text for a model: no colors, no progress bars, nothing invisible."""

import codecs
import re

from bridle.tools.secrets import Masker

MAX_OPEN_ESCAPE = 256  # a longer one is not a valid escape sequence
_STEP = 256 * 1024  # characters translated at once, while all other threads wait

_ESCAPE = re.compile(
    r"""
    \x1b (?: \[ [0-?]*+ [ -/]*+ [@-~]                             # colours, cursor
           | [\]PX^_] [^\x07\x1b\n]{0,4096}+ (?: \x07 | \x1b\\ )  # titles, links
           | [ -/]*+ [0-~]                                        # character sets and the like
           | )
    """,
    re.VERBOSE,
)
_OPEN_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+|[\]PX^_][^\x07\x1b\n]*+\x1b?|[ -/]*+)\Z")
_OVERSTRUCK = re.compile(r"[^\n\x08]\x08")

_UNPRINTED = dict.fromkeys(map(ord, "\x07\x08\x0e\x0f"))  # bell, backspace, shifts between character sets
_CONTROLS = {
    code: f"\\x{code:02x}" for code in [*range(0x20), *range(0x7F, 0xA0)] if chr(code) not in "\t\n\r"
} | _UNPRINTED


def clean_output(data: bytes) -> str:
    """Return output as text without escapes and overwritten lines; show bad bytes and control characters."""
    return _tidy(data.decode(errors="replace"))


class LiveText:
    """Cleans and masks output that arrives in pieces, for live display."""

    def __init__(self, masker: Masker) -> None:
        """Start a text; `masker` hides the secrets in it."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stream = masker.stream()
        self._open = ""

    def feed(self, data: bytes) -> str:
        """Add a piece and return the text that can be shown now."""
        text = self._open + self._decoder.decode(data)
        # A carriage return at the end may be half of a line ending.
        cut = len(text) - 1 if text.endswith("\r") else open_escape(text)
        self._open = text[cut:]
        return self._stream.feed(_tidy(text[:cut]))

    def flush(self) -> str:
        """Return what was held back; the output ends here."""
        text = self._open + self._decoder.decode(b"", final=True)
        self._open = ""
        return self._stream.feed(_tidy(text)) + self._stream.flush()


def open_escape(text: str) -> int:
    """Return where an escape sequence starts that the end cuts off; the length if there is none."""
    found = _OPEN_ESCAPE.search(text, max(0, len(text) - MAX_OPEN_ESCAPE))
    return found.start() if found else len(text)


def _tidy(text: str) -> str:
    if "\x1b" in text:
        text = _without(_ESCAPE, text)
    if "\x08" in text:
        text = _without(_OVERSTRUCK, text)
    if "\r" in text:
        text = "\n".join(_last_state(line) if "\r" in line else line for line in text.split("\n"))
    return "".join(text[at : at + _STEP].translate(_CONTROLS) for at in range(0, len(text), _STEP))


def _without(pattern: re.Pattern[str], text: str) -> str:
    # Not `sub`, which would block all other threads until it is done.
    pieces, position = [], 0
    for found in pattern.finditer(text):
        pieces.append(text[position : found.start()])
        position = found.end()
    return "".join([*pieces, text[position:]])


def _last_state(line: str) -> str:
    """Return the final text of a line that was overwritten through carriage returns."""
    states = [state for state in line.split("\r") if state]
    return states[-1] if states else ""


def escape_invisible(text: str) -> str:
    """Return a text with all invisible characters as escapes, so that nothing is hidden from a reader."""
    return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)
