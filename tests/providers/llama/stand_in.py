"""A program that stands in for llama-server where the model does not matter: its flags, its API, its deaths.

`--script FILE` is a JSON object: what to do at the start, what `/props` says, and one list of SSE deltas
for each chat request; what was asked is appended to FILE.asked. Standard library only, so it starts quickly.
"""

import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def flag(name: str, default: str = "") -> str:
    """Return the value after a flag."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


SCRIPT_FILE = Path(flag("--script"))
SCRIPT = json.loads(SCRIPT_FILE.read_text())
PROPS = {
    "default_generation_settings": {"n_ctx": int(flag("--ctx-size", "0"))},
    "total_slots": int(flag("--parallel", "1")),
    "chat_template_caps": {"supports_tools": True},
    "eos_token": "<end>",
} | SCRIPT.get("props", {})
END = 0  # the id of the token <end>


def count_starts() -> int:
    """Count the starts of this script, this one included."""
    file = SCRIPT_FILE.with_suffix(".starts")
    with file.open("a") as log:
        log.write(f"{os.getpid()}\n")
    return len(file.read_text().split())


class Handler(BaseHTTPRequestHandler):
    """Answers as llama-server does."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/health":
            self.answer({"status": "ok"})
        elif not self.is_allowed():
            self.answer({"error": {"message": "Invalid API Key"}}, 401)
        elif self.path.startswith("/props"):
            self.answer(PROPS)
        else:
            self.answer({"data": [{"id": "m", "meta": {"n_params": SCRIPT.get("parameters", 0)}}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.is_allowed():
            self.answer({"error": {"message": "Invalid API Key"}}, 401)
        elif self.path == "/tokenize":
            self.tokenize(body)
        else:
            self.chat(body)

    def is_allowed(self) -> bool:
        return self.headers["Authorization"] == f"Bearer {os.environ['LLAMA_API_KEY']}"

    def tokenize(self, body: dict) -> None:
        note({"path": "/tokenize", "content": body["content"]})
        if SCRIPT.get("tokenize") == "broken":
            self.answer({"error": {"message": "no"}}, 500)
            return
        content = body["content"] if isinstance(body["content"], list) else [body["content"]]
        tokens = []
        for piece in content:
            if isinstance(piece, int):
                tokens += [] if SCRIPT.get("tokenize") == "old" else [piece]
            elif piece == "<end>" and body.get("parse_special"):
                tokens.append(END)
            else:
                tokens += [len(word) for word in piece.split()]
        self.answer({"tokens": tokens})

    def chat(self, body: dict) -> None:
        asked = note({"path": "chat", **body})
        if SCRIPT.get("refuses_schemas") and "response_format" in body:
            self.answer(
                {"error": {"message": "failed to parse grammar", "type": "invalid_request_error"}}, 400
            )
            return
        deltas = SCRIPT["replies"][min(asked, len(SCRIPT["replies"])) - 1]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for delta in deltas:
            if delta == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if delta == "hang":
                time.sleep(60)
            self.event({"choices": [{"index": 0, "delta": delta}]})
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "model": "stand-in"})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, data: dict) -> None:
        self.wfile.write(b"data: %b\n\n" % json.dumps(data).encode())
        self.wfile.flush()

    def answer(self, body: dict, status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


def note(asked: dict) -> int:
    """Save the request; return the number of chat requests so far."""
    file = SCRIPT_FILE.with_suffix(".asked")
    with file.open("a") as log:
        log.write(json.dumps(asked) + "\n")
    return sum('"path": "chat"' in line for line in file.read_text().splitlines())


def main() -> None:
    starts = count_starts()
    print("key:", os.environ["LLAMA_API_KEY"], flush=True)
    if starts <= SCRIPT.get("die_at_starts", 0):
        print("0.00.001.000 E srv  load_model: failed to load model, 'x'", file=sys.stderr)
        sys.exit(1)
    if SCRIPT.get("never_ready"):
        time.sleep(60)
    if SCRIPT.get("ignore_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = ThreadingHTTPServer((flag("--host"), int(flag("--port"))), Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
