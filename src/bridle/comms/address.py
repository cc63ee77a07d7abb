"""The address of a peer: `uds:///path`, `tcp://host:port`, or `inproc://name` in the same process."""

import ipaddress
import re

from msgspec import Struct

from bridle.core.errors import ConfigError

MAX_ADDRESS_CHARS = 4096 + 8  # the longest path and its prefix
MAX_PORT = 65535

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A valid peer name: it cannot be mistaken for anything else in a prompt or a path."""

_HOST = re.compile(r"\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._-]{1,253})")


class UnixAddress(Struct, frozen=True):
    """A Unix socket on this machine."""

    path: str

    def __str__(self) -> str:
        return f"uds://{self.path}"


class TcpAddress(Struct, frozen=True):
    """A TCP host and port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"tcp://[{self.host}]:{self.port}" if ":" in self.host else f"tcp://{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """True if only this machine can connect to it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class InprocAddress(Struct, frozen=True):
    """A listener in this process."""

    name: str

    def __str__(self) -> str:
        return f"inproc://{self.name}"


Address = UnixAddress | TcpAddress | InprocAddress


def parse_address(text: str) -> Address:
    """Parse an address as a user writes it; raises ConfigError."""
    scheme, mark, rest = text[: MAX_ADDRESS_CHARS + 1].partition("://")
    if mark and len(text) <= MAX_ADDRESS_CHARS and rest.isprintable():
        match scheme:
            case "uds" if rest.startswith("/") and not rest.endswith("/"):
                return UnixAddress(rest)
            case "tcp" if (found := parse_host(rest)) is not None and found.port:
                return found
            case "inproc" if NAME.fullmatch(rest):
                return InprocAddress(rest)
            case _:
                pass
    raise ConfigError(
        f'"{_shown(text)}" is not an address',
        hint="use uds:///path/of/a.sock, tcp://host:port or inproc://name",
    )


def parse_host(text: str) -> TcpAddress | None:
    """Parse `host:port`, port 0 included; None if it is something else."""
    host, _, port = text.rpartition(":")
    match = _HOST.fullmatch(host)
    if match is None or not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > MAX_PORT:
        return None
    if match["six"] is not None:
        try:
            return TcpAddress(str(ipaddress.IPv6Address(match["six"])), int(port))
        except ValueError:
            return None
    return TcpAddress(match["name"], int(port))


def check_name(name: str) -> str:
    """Return the name if a peer may have it; raises ConfigError."""
    if not NAME.fullmatch(name):
        raise ConfigError(
            f'"{_shown(name)}" is not a valid peer name', hint="use up to 64 letters, digits, - and _"
        )
    return name


def _shown(text: str) -> str:
    cut = text if len(text) <= 60 else f"{text[:60]}…"
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in cut)
