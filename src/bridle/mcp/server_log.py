"""The output of servers: cleaned for display, with the last lines kept."""

import re
from collections import deque
from collections.abc import Mapping

from bridle.mcp.settings import ServerSettings

MAX_LINES = 200
MAX_LINE_CHARS = 500
LAST_LINES = 8
HIDDEN = "(hidden)"

_MIN_SECRET_CHARS = 6  # shorter ones occur in every text
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth|cookie|session|private", re.IGNORECASE)
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colors and cursor moves
    r"|\x1b[\]PX^_].*?(?:\x1b\\|\x07|$)"  # titles, links and other strings
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
    r"\U000e0000-\U000e007f]"  # also characters that are invisible or change the text direction
)


def clean(text: str, limit: int) -> str:
    """Return untrusted text without characters that control a terminal or are invisible, cut to a length."""
    text = text[: 4 * limit]
    shown = _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n"))).strip()
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def clean_line(text: str, limit: int = MAX_LINE_CHARS) -> str:
    """Return a text as one line."""
    return clean(" ".join(text[: 4 * limit].split()), limit)


class ServerLog:
    """The last lines that a server printed or logged, without its secrets."""

    def __init__(self, settings: ServerSettings) -> None:
        # Of "Bearer abc" a server often repeats only the last word.
        tokens = (text.rpartition(" ")[2] for text in _secret_values(settings.headers))
        given = {*_secret_values(settings.env), *settings.headers.values(), *tokens}
        secrets = {*given, settings.oauth.client_secret}
        found = sorted((one for one in secrets if len(one) >= _MIN_SECRET_CHARS), key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, found))) if found else None
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._fresh = 0  # lines since the server was last started

    def mask(self, text: str) -> str:
        """Return a text without the server's secrets."""
        return text if self._secrets is None else self._secrets.sub(HIDDEN, text)

    def say(self, line: str) -> None:
        """Keep a line, unless it is empty."""
        if shown := clean_line(self.mask(line)):
            self._lines.append(shown)
            self._fresh += 1

    def begin(self) -> None:
        """Mark a new start of the server: earlier lines belong to another process."""
        self._fresh = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines that are kept, oldest first."""
        return tuple(self._lines)

    def last(self, count: int = LAST_LINES) -> str:
        """Return the last lines since the server was started, as one text."""
        found = min(count, self._fresh)
        return "\n".join(list(self._lines)[-found:]) if found else ""


def _secret_values(env: Mapping[str, str]) -> list[str]:
    return [value for name, value in env.items() if _SECRET_NAME.search(name)]
