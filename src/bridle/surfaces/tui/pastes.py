"""Long pasted texts: the prompt shows `[paste #1: 120 lines]`, and the text is sent in its place."""

import re

MAX_LINES = 10
MAX_CHARS = 2_000

_MARK = re.compile(r"\[paste #(\d+): \d[\d,]* (?:lines?|characters)\]")


class Pastes:
    """What was pasted into one prompt after the other; the numbers go on."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Return what stands for a text: a mark if it is long, or the text itself."""
        lines = text.count("\n") + 1
        if lines <= MAX_LINES and len(text) <= MAX_CHARS:
            return text
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        mark = f"[paste #{len(self._texts) + 1}: {size}]"
        self._texts[mark] = text
        return mark

    def expand(self, prompt: str) -> str:
        """Put the texts where their marks are; a mark that somebody only typed stays."""
        return _MARK.sub(lambda found: self._texts.get(found[0], found[0]), prompt)
