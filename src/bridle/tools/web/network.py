"""How requests access the web: the proxy, the lookup of hosts, and which addresses may be connected to.

```
host ── lookup ─▶ every address ── public? ─────────────▶ connect to exactly these
                                └─ no: is there a rule that names it? ── no ─▶ ToolError
```

An allowed host name may resolve to any address tomorrow. So a rule allows an address that is not public
only if it names that address itself, or if the host name exists only in this network (`localhost`).
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from threading import Thread

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.permission import Rule, rule_matches
from bridle.core.tool import Subject

Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the addresses of a host; raises ToolError."""


async def look_up(host: str) -> Sequence[str]:
    """Return the addresses of a host in the system's order; raises ToolError.

    A lookup cannot be cancelled and may take half a minute. It runs in a separate daemon thread, which
    blocks neither the threads for files nor the exit of the program.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Sequence[str] | OSError] = loop.create_future()

    def settle(result: Sequence[str] | OSError) -> None:
        if not found.done():
            found.set_result(result)

    def work() -> None:
        result: Sequence[str] | OSError
        try:
            result = [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
        except UnicodeError as error:
            result = OSError(str(error))
        except OSError as error:
            result = error
        with suppress(RuntimeError):  # the loop is closed, and with it the caller
            loop.call_soon_threadsafe(settle, result)

    Thread(target=work, name=f"look up {host}", daemon=True).start()
    result = await found
    if isinstance(result, OSError):
        raise ToolError(f"{host} not found: {result.strerror or result}") from result
    return result


class Network(Struct, frozen=True):
    """How requests access the web."""

    proxy: str = ""
    """The URL of a proxy for all requests; a proxy in the environment is never used by default."""
    lookup: Lookup = look_up


DIRECT = Network()


# ---------------------------------------------------------------------------- addresses


MAX_ADDRESSES = 32

# https://www.iana.org/assignments/iana-ipv4-special-registry, and the one address that clouds added to it.
_SPECIAL_IPV4 = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "an unspecified"),
        ("10.0.0.0/8", "a private"),
        ("100.64.0.0/10", "a provider's internal"),
        ("127.0.0.0/8", "a loopback"),
        ("168.63.129.16/32", "a cloud's metadata"),
        ("169.254.0.0/16", "a link-local"),
        ("172.16.0.0/12", "a private"),
        ("192.0.0.0/24", "a reserved"),
        ("192.0.2.0/24", "a documentation"),
        ("192.88.99.0/24", "a reserved"),
        ("192.168.0.0/16", "a private"),
        ("198.18.0.0/15", "a test network's"),
        ("198.51.100.0/24", "a documentation"),
        ("203.0.113.0/24", "a documentation"),
        ("224.0.0.0/4", "a multicast"),
        ("240.0.0.0/4", "a reserved"),
    )
)
_SPECIAL_IPV6 = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "an unspecified"),
        ("::1/128", "a loopback"),
        ("fc00::/7", "a private"),
        ("fe80::/10", "a link-local"),
        ("fec0::/10", "a private"),
        ("ff00::/8", "a multicast"),
        ("2001::/23", "a reserved"),
        ("2001:db8::/32", "a documentation"),
        ("3fff::/20", "a documentation"),
    )
)
_GLOBAL_IPV6 = IPv6Network("2000::/3")
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_6TO4 = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")

_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".test")


def special_kind(address: IPv4Address | IPv6Address) -> str:
    """Return what makes an address not public, such as "a private"; empty for a public one."""
    if isinstance(address, IPv4Address):
        return next((kind for network, kind in _SPECIAL_IPV4 if address in network), "")
    if hidden := _embedded(address):
        return next(filter(None, map(special_kind, hidden)), "")
    kind = next((kind for network, kind in _SPECIAL_IPV6 if address in network), "")
    return kind or ("" if address in _GLOBAL_IPV6 else "a reserved")


def check_addresses(host: str, found: Sequence[str], tool: str, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the addresses of a host to connect to; raises ToolError if one is not allowed."""
    checked = []
    for text in dict.fromkeys(found[:MAX_ADDRESSES]):
        address = ipaddress.ip_address(text)
        kind = special_kind(address)
        if kind and not _is_named(host, address, tool, rules):
            raise _refusal(host, address, kind, tool)
        checked.append(text)
    if not checked:
        raise ToolError(f"{host} has no address")
    return tuple(checked)


def is_local_name(host: str) -> bool:
    """Return whether a host name is valid only on this machine or in this network."""
    return "." not in host or host.endswith(_LOCAL_SUFFIXES)


def _embedded(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 addresses to which packets for an IPv6 address may be delivered."""
    number = int(address)
    if address in _MAPPED or address in _NAT64:
        return (IPv4Address(number & 0xFFFFFFFF),)
    if address in _6TO4:
        return (IPv4Address(number >> 80 & 0xFFFFFFFF),)
    if address in _TEREDO:
        return IPv4Address(number >> 64 & 0xFFFFFFFF), IPv4Address(~number & 0xFFFFFFFF)
    return ()


def _is_named(host: str, address: IPv4Address | IPv6Address, tool: str, rules: Sequence[Rule]) -> bool:
    names = {str(address), host} if is_local_name(host) else {str(address)}
    return any(
        rule.action == "allow"
        and rule.pattern.lower() == f"domain:{name}"
        and rule_matches(rule, tool, Subject("domain", name))
        for rule in rules
        for name in names
    )


def _refusal(host: str, address: IPv4Address | IPv6Address, kind: str, tool: str) -> ToolError:
    which = f"{host} is" if host == str(address) else f"{host} leads to {address},"
    return ToolError(
        f"{which} {kind} address; {tool} connects to public addresses only",
        hint=f"the user can allow it with the rule allow {tool}(domain:{address})",
    )
