"""Log lines on stderr, with control characters escaped so that quoted names cannot control the terminal."""

import logging

from bridle.surfaces.shared.terminal import visible


class LogFormatter(logging.Formatter):
    """Formats a log record and escapes its control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the formatted record."""
        return visible(super().format(record))


def stderr_handler(layout: str) -> logging.Handler:
    """Return a handler that writes to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter(layout))
    return handler


def escape_last_resort() -> None:
    """Escape control characters in messages logged before any logging is configured."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(LogFormatter())
