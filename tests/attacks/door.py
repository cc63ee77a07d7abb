"""A server on this machine that no attack may reach."""

import socket
import threading
from contextlib import suppress

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\narrived"


class Door:
    """A server on this machine that answers everyone; counts the visits."""

    def __init__(self, family: int, address: object) -> None:
        self.answer = ANSWER
        self.socket = socket.socket(family)
        self.socket.bind(address)
        self.socket.listen(16)
        self._visits = 0
        self._mark = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def visits(self) -> int:
        """Count the connections so far; they are accepted in order."""
        self._mark.clear()
        with socket.socket(self.socket.family) as ours:
            ours.connect(self.socket.getsockname())
            ours.sendall(b"mark")
            assert self._mark.wait(5)
        return self._visits

    @property
    def port(self) -> int:
        """Return where it listens."""
        return int(self.socket.getsockname()[1])

    def _serve(self) -> None:
        while True:
            try:
                visitor, _ = self.socket.accept()
            except OSError:
                return
            with visitor, suppress(OSError):
                visitor.settimeout(1)
                if visitor.recv(4096) == b"mark":
                    self._mark.set()
                    continue
                self._visits += 1
                visitor.sendall(self.answer)

    def close(self) -> None:
        """Shut it, waking up who waits."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
