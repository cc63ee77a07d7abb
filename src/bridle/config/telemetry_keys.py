"""The keys of `[telemetry]`: what is sent to a collector of traces, metrics and logs."""

from msgspec import Struct

from bridle.config.value_types import BaseUrl


class TelemetrySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[telemetry]`: OpenTelemetry with the conventions for generative AI; all of it is off by default."""

    traces: bool = False
    metrics: bool = False
    logs: bool = False
    endpoint: BaseUrl = ""
    """The collector's address; empty means OTEL_EXPORTER_OTLP_ENDPOINT, or else this machine."""
    content: bool = False
    """Whether prompts, answers, arguments and results are sent too."""
    prometheus: bool = False
    """Whether `GET /metrics` of the HTTP service serves the metrics."""
    prometheus_open: bool = False
    """Whether `GET /metrics` works without a token."""
