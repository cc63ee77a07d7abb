#!/usr/bin/env python3
"""Says by its exit status whether a service answers.

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
    """Ask a service how it is; raises OSError when it is not well."""
    parts = urlsplit(url)
    if parts.scheme == "tcp":
        socket.create_connection((parts.hostname or "", parts.port or 0), TIMEOUT_S).close()
        return
    trust = ssl.create_default_context(cafile=authority) if parts.scheme == "https" else None
    urllib.request.urlopen(url, timeout=TIMEOUT_S, context=trust).close()


def main() -> int:
    """Ask, and say what is wrong."""
    _, url, *authority = sys.argv
    try:
        ask(url, authority[0] if authority else None)
    except OSError as error:
        sys.stderr.write(f"{url}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
