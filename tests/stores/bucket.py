"""A bucket on this machine, with the part of S3's protocol that blobs need."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import gmtime, strftime
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class Bucket:
    """The content of a bucket, its requests, and the answers to the next ones."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.dates: dict[str, float] = {}
        self.now = 1_763_190_000.0
        self.asked: list[tuple[str, str]] = []
        self.faults: list[int] = []
        """Statuses of the next answers, instead of what they should be."""
        self.url = ""
        self.signed = ""


@contextmanager
def open_bucket_server(name: str) -> Iterator[Bucket]:
    """Serve a bucket of that name on 127.0.0.1."""
    bucket = Bucket()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        do_HEAD = do_PUT = do_DELETE = do_GET  # noqa: N815 (names of http.server)

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            key = unquote(parts.path).removeprefix(f"/{name}").lstrip("/")
            bucket.asked.append((self.command, key))
            bucket.signed = self.headers.get("Authorization", "")
            if bucket.faults:
                self._send(bucket.faults.pop(0), b"<Error><Code>Fault</Code></Error>")
            elif self.command == "PUT":
                bucket.objects[key], bucket.dates[key] = body, bucket.now
                self._send(200, b"", {"ETag": '"1"'})
            elif self.command == "DELETE":
                bucket.objects.pop(key, None)
                self._send(204, b"")
            elif self.command == "GET" and not key:
                self._send(200, self._listing(parse_qs(parts.query).get("prefix", [""])[0]))
            elif key in bucket.objects:
                dates = {"Last-Modified": formatdate(bucket.dates[key], usegmt=True), "ETag": '"1"'}
                self._send(200, bucket.objects[key], dates)
            else:
                self._send(404, b"<Error><Code>NoSuchKey</Code></Error>")

        def _listing(self, prefix: str) -> bytes:
            entries = "".join(
                f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size><ETag>1</ETag>"
                f"<LastModified>{strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(bucket.dates[key]))}</LastModified>"
                "</Contents>"
                for key, data in sorted(bucket.objects.items())
                if key.startswith(prefix)
            )
            return f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>".encode()

        def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for header, value in (headers or {}).items():
                self.send_header(header, value)
            if status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    bucket.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield bucket
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
