"""Parse URLs strictly and normalize them, so that every program reads them the same way.

```
"HTTP://Bücher.Example.:80/a b#c"  ->  http  xn--bcher-kva.example  80  /a%20b
"http://0x7f.1/"                   ->  http  127.0.0.1                 /
```

A host is normalized to the form that is checked, shown and connected to: lowercase ASCII without a final
dot, IPv4 in dotted decimal from every notation, IPv6 in its shortest form without brackets.
"""

import ipaddress
import re
from typing import Literal
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from bridle.core.errors import ToolError

MAX_URL_LENGTH = 8000  # servers accept about 8 KiB for the whole request line
MAX_SHOWN = 200

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[0-9]{1,5}")
_SAFE = "/:@!$&'()*+,;=~-._%"
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Url(Struct, frozen=True):
    """A normalized http or https URL."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    target: str
    """Path and query, percent-encoded."""

    @property
    def is_literal(self) -> bool:
        """True if the host is an IP address."""
        return ":" in self.host or self.host.rpartition(".")[2].isdigit()

    @property
    def authority(self) -> str:
        """The host and port as written in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def parse_url(text: str) -> Url:
    """Parse a URL as a browser does, but reject ambiguous ones; raises ToolError."""
    text = text.strip(" ")
    shown = shorten(text)
    if len(text) > MAX_URL_LENGTH:
        raise ToolError(f"the URL has {len(text)} characters; the maximum is {MAX_URL_LENGTH}")
    if "\\" in text or any(char < " " or "\x7f" <= char <= "\x9f" for char in text):
        raise ToolError(f"{shown} contains a backslash or control character; encode it as %XX")
    try:
        pieces = urlsplit(text)
    except ValueError as error:
        raise ToolError(f"{shown} is not a URL: {error}") from error
    match pieces.scheme.lower():
        case "http" | "https" as scheme:
            pass
        case "":
            raise ToolError(f"{shown} has no scheme", hint=f"write https://{shown.lstrip('/')}")
        case other:
            raise ToolError(f"{shown}: only http and https can be fetched, not {shorten(other)}")
    if not pieces.netloc:
        raise ToolError(f"{shown} names no host")
    if "@" in pieces.netloc:
        raise ToolError("a URL with a user name or password before the host is not fetched")
    host, port = _split_port(pieces.netloc, shown)
    path = quote(pieces.path, safe=_SAFE) or "/"
    query = f"?{quote(pieces.query, safe=_SAFE + '?')}" if pieces.query else ""
    return Url(scheme, parse_host(host), port or _DEFAULT_PORTS[scheme], path + query)


def resolve_redirect(url: Url, location: str) -> Url:
    """Return the target of a redirect, which may be relative; raises ToolError."""
    # A header may contain any bytes, which arrive as surrogate escapes.
    text = location.encode(errors="surrogateescape").decode(errors="replace")
    try:
        return parse_url(urljoin(str(url), text))
    except ValueError as error:
        raise ToolError(f"{url} redirects to {shorten(text)}, which is not a URL") from error


def parse_host(text: str) -> str:
    """Return the normalized form of a host; raises ToolError if it is neither a name nor an address."""
    if text.startswith("["):
        return _parse_ipv6(text)
    name = (text.lower() if text.isascii() else _to_ascii(text)).removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _parse_ipv4(labels, text)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ToolError(f"{shorten(text)} is not a host name")
    return name


def shorten(text: str) -> str:
    """Return an untrusted text, cut and cleaned to fit on one line of a message."""
    line = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
    return "".join(char if char.isprintable() else "\ufffd" for char in line)


def _split_port(netloc: str, shown: str) -> tuple[str, int | None]:
    if netloc.startswith("["):
        host, bracket, rest = netloc.partition("]")
        host += bracket
    else:
        host, colon, rest = netloc.partition(":")
        rest = colon + rest
    if rest in ("", ":"):
        return host, None
    if not _PORT.fullmatch(rest[1:]) or rest[0] != ":" or not 0 < int(rest[1:]) < 65536:
        raise ToolError(f"{shown}: the port must be a number from 1 to 65535")
    return host, int(rest[1:])


def _to_ascii(text: str) -> str:
    """Map variant characters as browsers do (full-width digits, ideographic dots), the rest to punycode."""
    import idna  # noqa: PLC0415  loads large tables, for the few names that need them

    try:
        return idna.encode(text, uts46=True).decode().lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise ToolError(f"{shorten(text)} is not a host name") from error


def _parse_ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text[1:-1])
    except ValueError as error:
        raise ToolError(f"{shorten(text)} is not an IPv6 address") from error
    if address.scope_id is not None:
        raise ToolError(f"{shorten(text)} names a network interface, which is not supported")
    return str(address.ipv4_mapped or address)


def _parse_ipv4(labels: list[str], text: str) -> str:
    """Parse every notation that the C library accepts: octal, hexadecimal, fewer than four numbers."""
    refusal = ToolError(f"{shorten(text)} is not an IPv4 address")
    if len(labels) > 4 or not all(_NUMBER.fullmatch(label) and len(label) <= 16 for label in labels):
        raise refusal
    try:
        *firsts, last = [_number(label) for label in labels]
    except ValueError as error:
        raise refusal from error
    if any(first > 255 for first in firsts) or last >= 256 ** (4 - len(firsts)):
        raise refusal
    return str(
        ipaddress.IPv4Address(last + sum(first << 24 - 8 * place for place, first in enumerate(firsts)))
    )


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if label.startswith("0") else 10)
