"""Traces, metrics and logs in the GenAI conventions of OpenTelemetry.

```
store.append ─▶ WatchedStore ─▶ Runs ─▶ facts ─┬▶ Spans  ─▶ OTLP
                                               └▶ Meters ─▶ OTLP, GET /metrics
logging "bridle.*" ────────────────────────────▶ LogTeller ─▶ OTLP
```

Only `exporter` and its imports use OpenTelemetry, and it is imported only when telemetry is on.
"""
