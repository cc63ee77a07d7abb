"""A collector on this machine: accepts OTLP over HTTP, decodes it and stores it."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from msgspec import Struct
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Seen(Struct, frozen=True):
    """A span as it arrived."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    is_error: bool
    began_ms: int
    ended_ms: int
    attributes: dict[str, Any]


class Collector:
    """The received data."""

    def __init__(self) -> None:
        self.url = ""
        self.spans: list[Seen] = []
        self.metrics: dict[str, list[Any]] = {}
        """The newest data points of each metric."""
        self.logs: list[tuple[str, str, str]] = []
        """Text, trace and span of each line."""
        self.resources: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.hang = asyncio.Event()
        self.hang.set()

    def named(self, name: str) -> list[Seen]:
        return [span for span in self.spans if span.name == name]

    def tree(self) -> list[Any]:
        """Return the names of all spans as nested lists, each below its parent, in the order they began."""
        ids = {span.span_id for span in self.spans}

        def below(parents: Iterable[str]) -> list[Any]:
            found = [span for span in self.spans if span.parent_id in parents]
            found.sort(key=lambda span: (span.began_ms, span.ended_ms, span.name))
            return [[span.name, *below((span.span_id,))] for span in found]

        return below({span.parent_id for span in self.spans} - ids)

    async def take(self, request: web.Request) -> web.Response:
        await self.hang.wait()
        data = await request.read()
        if request.headers.get("content-encoding") == "gzip" and data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.headers.append(dict(request.headers))
        match request.path:
            case "/v1/traces":
                self._take_traces(ExportTraceServiceRequest.FromString(data))
            case "/v1/metrics":
                self._take_metrics(ExportMetricsServiceRequest.FromString(data))
            case "/v1/logs":
                self._take_logs(ExportLogsServiceRequest.FromString(data))
        return web.Response(body=b"", content_type="application/x-protobuf")

    def _take_traces(self, request: Any) -> None:
        for resource in request.resource_spans:
            self.resources.append(_values(resource.resource.attributes))
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                self.spans.append(
                    Seen(
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        span.kind,
                        span.status.code == 2,
                        span.start_time_unix_nano // 1_000_000,
                        span.end_time_unix_nano // 1_000_000,
                        _values(span.attributes),
                    )
                )

    def _take_metrics(self, request: Any) -> None:
        for scope in (scope for one in request.resource_metrics for scope in one.scope_metrics):
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                self.metrics[metric.name] = [
                    (_values(point.attributes), point.count if kind == "histogram" else _number(point))
                    for point in getattr(metric, kind).data_points
                ]

    def _take_logs(self, request: Any) -> None:
        for scope in (scope for one in request.resource_logs for scope in one.scope_logs):
            for line in scope.log_records:
                self.logs.append((line.body.string_value, line.trace_id.hex(), line.span_id.hex()))


def _number(point: Any) -> float:
    return getattr(point, point.WhichOneof("value"))


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """Open a collector at a free port."""
    collector = Collector()
    app = web.Application()
    app.router.add_post("/v1/{signal}", collector.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    collector.url = f"http://{host}:{port}"
    try:
        yield collector
    finally:
        collector.hang.set()
        await runner.cleanup()
