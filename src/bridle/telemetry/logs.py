"""Exports Bridle's log, each line with its run's trace context if known."""

import logging
from collections.abc import Callable
from contextvars import ContextVar

from opentelemetry._logs import Logger, LogRecord, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from bridle.core.trace import Trace

LOGGER = "bridle"
MAX_LINE_CHARS = 16_384
NS_PER_S = 1_000_000_000

_SEVERITIES = (
    (logging.CRITICAL, SeverityNumber.FATAL),
    (logging.ERROR, SeverityNumber.ERROR),
    (logging.WARNING, SeverityNumber.WARN),
    (logging.INFO, SeverityNumber.INFO),
    (logging.NOTSET, SeverityNumber.DEBUG),
)

current: ContextVar[Trace | None] = ContextVar("bridle_trace", default=None)
"""The trace and span of the running task."""


class LogExporter(logging.Handler):
    """A logging handler that queues records for a collector."""

    def __init__(self, logger: Logger, mask: Callable[[str], str]) -> None:
        super().__init__()
        self._logger = logger
        self._mask = mask
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Queue one log record; never raises."""
        try:
            self._logger.emit(self._told(record))
        except Exception:  # noqa: BLE001  logging does not raise
            self.handleError(record)

    def _told(self, record: logging.LogRecord) -> LogRecord:
        severity = next(number for level, number in _SEVERITIES if record.levelno >= level)
        return LogRecord(
            timestamp=int(record.created * NS_PER_S),
            context=_context(current.get()),
            severity_text=record.levelname,
            severity_number=severity,
            body=self._mask(self.format(record))[:MAX_LINE_CHARS],  # or half a secret would pass
            attributes={"log.logger": record.name},
        )


def _context(trace: Trace | None) -> Context:
    if trace is None:
        return Context()
    flags = TraceFlags(TraceFlags.SAMPLED if trace.sampled else TraceFlags.DEFAULT)
    place = SpanContext(trace.trace_id, trace.span_id, False, flags)
    return set_span_in_context(NonRecordingSpan(place), Context())
