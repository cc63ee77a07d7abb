"""Shared by the fake servers: a language server reduced to reading and writing messages."""

import json
import sys
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Handler = Callable[[Message], None]


def read() -> Message | None:
    """Read a message; None at the end of the input."""
    length = 0
    while line := sys.stdin.buffer.readline():
        name, _, value = line.decode().partition(":")
        if name.lower() == "content-length":
            length = int(value)
        if not line.strip():
            return json.loads(sys.stdin.buffer.read(length))
    return None


def send(message: Message) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def reply(message: Message, result: Any) -> None:
    send({"id": message["id"], "result": result})


def tell(method: str, params: Any) -> None:
    send({"method": method, "params": params})


def publish(uri: str, diagnostics: list[Any], version: int | None = None) -> None:
    given = {} if version is None else {"version": version}
    tell("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": diagnostics, **given})


def problem(line: int, message: str, start: int = 0, end: int = 1, severity: int = 1) -> Message:
    place = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"range": place, "severity": severity, "message": message}


def uri_of(message: Message) -> str:
    return message["params"]["textDocument"]["uri"]


def serve(handlers: dict[str, Handler], **capabilities: Any) -> None:
    """Answer `initialize` and `shutdown`, and pass on everything else; unhandled requests get no answer."""
    usual = {"textDocumentSync": 1, "definitionProvider": True, "renameProvider": True}
    while (message := read()) is not None:
        method = message.get("method", "")
        if handler := handlers.get(method):
            handler(message)
        elif method == "initialize":
            reply(message, {"capabilities": {**usual, **capabilities}, "serverInfo": {"name": "player"}})
        elif method == "shutdown":
            reply(message, None)
        elif method == "exit":
            sys.exit(0)
