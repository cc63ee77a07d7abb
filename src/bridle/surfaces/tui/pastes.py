"""Long pasted texts: the prompt shows `[paste #1: 120 lines]`, and the text itself is sent."""

import re

MAX_LINES = 10
MAX_CHARS = 2_000

_MARK = re.compile(r"\[paste #(\d+): \d[\d,]* (?:lines?|characters)\]")


class Pastes:
    """Maps placeholders to pasted texts; numbers continue from prompt to prompt."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Return a placeholder for a long text, or the text itself."""
        lines = text.count("\n") + 1
        if lines <= MAX_LINES and len(text) <= MAX_CHARS:
            return text
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        mark = f"[paste #{len(self._texts) + 1}: {size}]"
        self._texts[mark] = text
        return mark

    def expand(self, prompt: str) -> str:
        """Replace placeholders by their texts; keep a placeholder that the user typed."""
        return _MARK.sub(lambda found: self._texts.get(found[0], found[0]), prompt)
