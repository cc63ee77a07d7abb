"""A collector that is unreachable, hangs or answers nonsense does not affect a run."""

import asyncio
import socket
import time

import pytest

from bridle.core.ids import SessionId
from bridle.core.protocol import Record, RunEnded
from bridle.telemetry.exporter import SHUTDOWN_S, Telemetry, TelemetryOptions
from tests.sessions.stage import Play, Stage, says
from tests.telemetry.collector import collecting
from tests.telemetry.followed import Followed


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_collector_that_is_away_holds_up_nothing():
    async with collecting() as collector:
        collector.url = f"http://127.0.0.1:{free_port()}"
        followed = Followed(collector, logs=True)
        async with Stage(Play(says("done")), clock=followed.clock, **followed.parts) as stage:
            ended = await stage.run("go")

    assert ended.text == "done"


async def test_a_collector_that_hangs_gets_a_few_seconds_at_the_end():
    async with collecting() as collector:
        collector.hang.clear()
        followed = Followed(collector)
        async with Stage(Play(says("done")), clock=followed.clock, **followed.parts) as stage:
            ended = await stage.run("go")
            closing = time.monotonic()
        took_s = time.monotonic() - closing
        # The threads of the SDK end with their requests, not with us.
        collector.hang.set()

    assert ended.text == "done"
    assert took_s < SHUTDOWN_S + 5


async def test_what_cannot_be_told_fails_nothing():
    telemetry = Telemetry(TelemetryOptions("1.0", prometheus=True))
    broken = Record(1, 0, RunEnded("r", "completed"), "")

    telemetry.seen(SessionId("s"), [broken, object()], 0.0)  # type: ignore[list-item]
    telemetry.seen(SessionId("s"), [broken], 0.0)
    await telemetry.aclose()
    await telemetry.aclose()


async def test_the_standard_variables_say_who_tells_and_whom(monkeypatch: pytest.MonkeyPatch):
    async with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "mine")
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
        collector.url = ""
        followed = Followed(collector, metrics=False)
        async with Stage(Play(says("done")), clock=followed.clock, **followed.parts) as stage:
            await stage.run("go")

    [resource] = collector.resources
    assert resource.pop("service.instance.id")
    assert resource == {
        "service.name": "mine",
        "service.version": "1.0",
        "deployment.environment.name": "test",
    }
    assert collector.headers[0]["x-team"] == "blue"


async def test_the_loop_is_looked_at_until_the_end():
    telemetry = Telemetry(TelemetryOptions("1.0", prometheus=True), beat_s=0.0)
    telemetry.begin()
    while b"bridle_event_loop_lag_seconds_count" not in telemetry.metrics_text():  # noqa: ASYNC110  it comes
        await asyncio.sleep(0)
    await telemetry.aclose()

    assert telemetry.metrics_text() == b""
