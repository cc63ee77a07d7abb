"""Parses the Host header of a request strictly.

```
authority = host [ ":" port ]
host      = "[" IPv6 address "]" / IPv4 address / name of letters, digits, dots, dashes and underscores
port      = 1 to 65535, in digits
```

Anything else is not a host: `[::1].evil.com` is not `::1`, and `127.0.0.1:1:evil` is not `127.0.0.1`.
"""

import re
from ipaddress import AddressValueError, IPv6Address

from msgspec import Struct

MAX_PORT = 65535

_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::([0-9]{1,5}))?", re.ASCII)
_SCHEMES = {"http": 80, "https": 443}


class Authority(Struct, frozen=True):
    """A host, and the port if one is given."""

    host: str
    """In lower case; an IPv6 address without brackets, in its shortest form."""
    port: int | None = None


def authority_of(text: str) -> Authority | None:
    """Parse a Host header; return None if it is not exactly a host with an optional port."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    literal, name, digits = match.groups()
    port = int(digits) if digits is not None else None
    host = name.lower() if name is not None else _ipv6(literal)
    if host is None or port == 0 or (port is not None and port > MAX_PORT):
        return None
    return Authority(host, port)


def origin_of(text: str) -> tuple[str, Authority] | None:
    """Parse an Origin header into scheme and authority; the port defaults to the scheme's."""
    scheme, mark, rest = text.partition("://")
    authority = authority_of(rest) if mark and scheme.lower() in _SCHEMES else None
    return (scheme.lower(), with_port(authority, scheme.lower())) if authority is not None else None


def with_port(authority: Authority, scheme: str) -> Authority:
    """Return an authority with the scheme's default port if it has none."""
    return authority if authority.port is not None else Authority(authority.host, _SCHEMES[scheme])


def host_name(host: str) -> str:
    """Return a configured host in the form of `Authority.host`."""
    return _ipv6(host) or host.lower()


def _ipv6(text: str) -> str | None:
    try:
        return str(IPv6Address(text))
    except AddressValueError:
        return None
