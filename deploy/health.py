#!/usr/bin/env python3
"""Checks whether a service answers; the exit code is 0 if it does.

```
bridle-health tcp://127.0.0.1:7431
bridle-health https://localhost:7417/ready /certificates/ca.pem
```
"""

import socket
import ssl
import sys
import urllib.request
from urllib.parse import urlsplit

TIMEOUT_S = 4.0


def ask(url: str, authority: str | None) -> None:
    """Ask a service for its health; raises OSError if it is not healthy."""
    parts = urlsplit(url)
    if parts.scheme == "tcp":
        socket.create_connection((parts.hostname or "", parts.port or 0), TIMEOUT_S).close()
        return
    trust = ssl.create_default_context(cafile=authority) if parts.scheme == "https" else None
    urllib.request.urlopen(url, timeout=TIMEOUT_S, context=trust).close()


def main() -> int:
    """Check the service, and print the problem if there is one."""
    _, url, *authority = sys.argv
    try:
        ask(url, authority[0] if authority else None)
    except OSError as error:
        sys.stderr.write(f"{url}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
