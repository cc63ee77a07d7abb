"""Starts and stops telemetry export: its own OpenTelemetry providers, with exporters in the SDK's threads.

It changes no global OpenTelemetry state. Data that cannot be exported in time is dropped: every queue is
bounded, and an unreachable collector does not slow down a run.
"""

import asyncio
import logging
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar

from msgspec import Struct
from opentelemetry._logs import Logger, LogRecord, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)
from prometheus_client import CollectorRegistry, generate_latest

from bridle.core.ids import CallId, SessionId
from bridle.core.protocol import Record, RunResumed, TurnStarted
from bridle.core.session_api import LiveSession
from bridle.core.trace import TRACE, Trace
from bridle.telemetry.metrics import Metrics
from bridle.telemetry.run_tracker import RunTracker
from bridle.telemetry.spans import SCOPE, Content, PresetIds, SpanExporter

# ---------------------------------------------------------------------------- logs
# Exports Bridle's log, each line with its run's trace context if known.


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


# ---------------------------------------------------------------------------- exporter


BEAT_S = 1.0
SHUTDOWN_S = 2.0

log = logging.getLogger("bridle.telemetry")


class TelemetryOptions(Struct, frozen=True):
    """Telemetry settings: what to export, and where."""

    version: str
    """Bridle's version."""
    traces: bool = False
    metrics: bool = False
    logs: bool = False
    endpoint: str = ""
    """The collector's URL; empty means the one in the environment, or this machine."""
    content: bool = False
    prometheus: bool = False
    mask: Callable[[str], str] = str
    """Removes secrets from a text."""


class Telemetry:
    """Exports telemetry for the records this process appends; its creator must close it."""

    def __init__(self, plan: TelemetryOptions, beat_s: float = BEAT_S) -> None:
        """Start the exporters; the event loop is sampled every `beat_s` seconds."""
        self.runs = RunTracker()
        self._beat_s = beat_s
        self._closing: list[Callable[[], object]] = []
        self._live: Callable[[], Sequence[LiveSession]] = tuple
        self._beating: asyncio.TimerHandle | None = None
        self._has_failed = False
        self._registry = CollectorRegistry() if plan.prometheus else None
        # The SDK logs its errors; without a log they must not appear on the terminal.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        resource = _resource(plan.version)
        self._spans = self._open_spans(plan, resource) if plan.traces else None
        self._meters = self._open_meters(plan, resource) if plan.metrics or plan.prometheus else None
        self._logs = self._open_logs(plan, resource) if plan.logs else None

    # ------------------------------------------------------------------ for runs

    def environment(self, session: SessionId, call_id: CallId | None) -> Mapping[str, str]:
        """Return the environment variable that gives a call's programs, or the run's, their trace context."""
        run = self.runs.run(session)
        if run is None or self._spans is None:
            return {}
        return {TRACE: self._spans.place(run, call_id).text}

    def seen(self, session: SessionId, records: Sequence[Record], seconds: float) -> None:
        """Export appended records and the duration of the append; never raises and never blocks."""
        try:
            self._take(session, records)
            if self._meters is not None:
                self._meters.appended(seconds)
                self.begin()
        except Exception:  # telemetry must not fail a run
            if not self._has_failed:
                self._has_failed = True
                log.exception("telemetry could not be sent to the collector")

    def _take(self, session: SessionId, records: Sequence[Record]) -> None:
        for fact in self.runs.take(session, records):
            if self._spans is not None:
                self._spans.tell(fact)
            if self._meters is not None:
                self._meters.tell(fact)
        if self._logs is not None and self._spans is not None:
            run = self.runs.run(session)
            # The task that starts a turn drives the run, so its log lines belong to the run.
            if run is not None and any(isinstance(one.event, TurnStarted | RunResumed) for one in records):
                current.set(self._spans.place(run, None))

    # ------------------------------------------------------------------ for the application

    def count(self, live: Callable[[], Sequence[LiveSession]]) -> None:
        """Set the function that lists the sessions in memory, to count them; runs in their event loop."""
        self._live = live

    def begin(self) -> None:
        """Start sampling the running event loop, unless already started."""
        if self._meters is not None and self._beating is None:
            self._beat(asyncio.get_running_loop(), None)

    def metrics_text(self) -> bytes:
        """Return the metrics in Prometheus format; blocks. Empty if Prometheus is off."""
        return b"" if self._registry is None else generate_latest(self._registry)

    async def aclose(self) -> None:
        """Export what is left, for at most `SHUTDOWN_S` seconds."""
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None
        if self._logs is not None:
            logging.getLogger(LOGGER).removeHandler(self._logs)
        closing, self._closing = self._closing, []
        await _run_with_timeout(SHUTDOWN_S, closing)

    def _beat(self, loop: asyncio.AbstractEventLoop, due_s: float | None) -> None:
        assert self._meters is not None
        now_s = loop.time()
        if due_s is not None:
            self._meters.record_lag(max(0.0, now_s - due_s))
        self._meters.live = Counter(one.state for one in self._live())
        due_s = now_s + self._beat_s
        self._beating = loop.call_at(due_s, self._beat, loop, due_s)

    # ------------------------------------------------------------------ signals

    def _open_spans(self, plan: TelemetryOptions, resource: Resource) -> SpanExporter:
        ids = PresetIds()
        provider = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=ids)
        provider.add_span_processor(
            BatchSpanProcessor(OTLPSpanExporter(endpoint=_endpoint(plan.endpoint, "traces")))
        )
        self._closing.append(provider.shutdown)
        return SpanExporter(provider, ids, plan.version, Content(plan.mask) if plan.content else None)

    def _open_meters(self, plan: TelemetryOptions, resource: Resource) -> Metrics:
        readers: list[MetricReader] = []
        if plan.metrics:
            exporter = OTLPMetricExporter(endpoint=_endpoint(plan.endpoint, "metrics"))
            readers.append(PeriodicExportingMetricReader(exporter))
        if self._registry is not None:
            readers.append(PrometheusMetricReader(registry=self._registry, scope_info_enabled=False))
        provider = MeterProvider(readers, resource, shutdown_on_exit=False)
        self._closing.append(provider.shutdown)
        return Metrics(provider.get_meter(SCOPE, plan.version))

    def _open_logs(self, plan: TelemetryOptions, resource: Resource) -> LogExporter:
        provider = LoggerProvider(resource, shutdown_on_exit=False)
        provider.add_log_record_processor(
            BatchLogRecordProcessor(OTLPLogExporter(endpoint=_endpoint(plan.endpoint, "logs")))
        )
        self._closing.append(provider.shutdown)
        log_exporter = LogExporter(provider.get_logger(SCOPE, plan.version), plan.mask)
        logging.getLogger(LOGGER).addHandler(log_exporter)
        return log_exporter


def _endpoint(base: str, signal: str) -> str | None:
    return f"{base.rstrip('/')}/v1/{signal}" if base else None


def _resource(version: str) -> Resource:
    """Return the resource attributes; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override ours."""
    ours = {
        "service.name": "bridle",
        "service.version": version,
        "service.instance.id": str(uuid.uuid4()),
    }
    return Resource.get_empty().merge(Resource(ours)).merge(OTELResourceDetector().detect())


async def _run_with_timeout(seconds: float, closing: Sequence[Callable[[], object]]) -> None:
    """Run blocking functions, each in a thread, and wait at most this long for them."""
    loop = asyncio.get_running_loop()

    def run(close: Callable[[], object], done: asyncio.Future[None]) -> None:
        try:
            close()
        except Exception:  # the process is about to exit
            log.exception("telemetry could not be closed")
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(done.set_result, None)

    waiting = []
    for close in closing:
        done: asyncio.Future[None] = loop.create_future()
        threading.Thread(target=run, args=(close, done), name="bridle-telemetry", daemon=True).start()
        waiting.append(done)
    if waiting:
        await asyncio.wait(waiting, timeout=seconds)
