"""The keys of `[telemetry]`: what is told to a collector of traces, metrics and logs."""

from msgspec import Struct

from bridle.config.kinds import BaseUrl


class TelemetrySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[telemetry]`: OpenTelemetry, with the conventions for generative AI; all of it is off by default."""

    traces: bool = False
    metrics: bool = False
    logs: bool = False
    endpoint: BaseUrl = ""
    """Where the collector is; empty for what OTEL_EXPORTER_OTLP_ENDPOINT says, or this machine."""
    content: bool = False
    """Whether prompts, answers, arguments and results are told too."""
    prometheus: bool = False
    """Whether `GET /metrics` of the HTTP service shows the metrics."""
    prometheus_open: bool = False
    """Whether that needs no token."""
