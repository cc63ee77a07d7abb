"""Log lines on stderr: a name they quote cannot steer the terminal."""

import logging

from bridle.surfaces.terminal import visible


class LogFormatter(logging.Formatter):
    """Formats a log record with its control characters shown as escapes."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return visible(super().format(record))


def stderr_handler(layout: str) -> logging.Handler:
    """Return a handler that writes to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter(layout))
    return handler


def clean_last_resort() -> None:
    """Clean what is logged where no command has set up logging."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(LogFormatter())
