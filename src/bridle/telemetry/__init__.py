"""Traces, metrics and logs for a collector, by the GenAI conventions of OpenTelemetry.

```
store.append ─▶ WatchedStore ─▶ Runs ─▶ facts ─┬▶ Spans  ─▶ OTLP
                                               └▶ Meters ─▶ OTLP, GET /metrics
logging "bridle.*" ────────────────────────────▶ LogTeller ─▶ OTLP
```

Only `opening` and what it imports know of OpenTelemetry, and it is imported only when something is on.
"""
