"""Cost of telemetry: a 50-turn run with traces and metrics, compared with the same run without.

Without telemetry there is no cost: the store is not wrapped, and nothing is imported.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import PYTHON, report, rounds
from rows import Line, Row, figure, ours
from turns import SCRIPT, TURNS, bridle_run

ROUNDS = rounds(3)
SINK = """
import http.server, sys
class Sink(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"""


async def followed_run(url: str, collector: str) -> list[float]:
    """Return the CPU seconds of each run with a collector, including the export."""
    from bridle.telemetry.exporter import Telemetry, TelemetryOptions

    plan = TelemetryOptions("bench", traces=True, metrics=True, logs=True, endpoint=collector)
    return await bridle_run(url, Telemetry(plan))


def main() -> list[Line]:
    """Compare CPU time over the same scripted server."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(SCRIPT))
        model = [PYTHON, "-m", "bridle.providers.scripted_server", str(script)]
        servers = [
            subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
            for argv in (model, [PYTHON, "-c", SINK])
        ]
        try:
            url, collector = (server.stdout.readline().strip() for server in servers if server.stdout)
            times: dict[str, list[float]] = {"off": [], "on": []}
            for _ in range(ROUNDS):
                for kind, found in times.items():
                    argv = [PYTHON, __file__, kind, f"{url}/v1", collector]
                    found += map(float, subprocess.check_output(argv).split())
        finally:
            for server in servers:
                server.terminate()
                server.wait()
                if server.stdout is not None:
                    server.stdout.close()
    followed = ours(times["on"], scale=1e3 / TURNS)
    plain = figure("without", times["off"], scale=1e3 / TURNS)
    return report(
        [Row("telemetry.cpu", "a turn with traces, metrics and logs", "ms CPU", followed, (plain,), 1.5)]
    )


if __name__ == "__main__":
    kind, address, sink = sys.argv[1:]
    print(*asyncio.run(bridle_run(address) if kind == "off" else followed_run(address, sink)))
