"""A network namespace for each node, joined by a bridge, if the machine allows it.

```
tests, PostgreSQL ── bridge 10.201.N.1 ─┬─ veth ─ namespace of node 1: eth0 10.201.N.2
                                        └─ veth ─ namespace of node 2: eth0 10.201.N.3
```

It needs root and iproute2. What an interrupted test run has left is taken away by the next one.
"""

import os
import re
import shutil
import subprocess
from contextlib import suppress

from tests.host_network import addresses_change

_OURS = re.compile(r"\bbri-(\d+)(?:-\d+)?\b")
_SUBNETS = range(1, 250)


class Network:
    """Namespaces of one test process; `close` takes them away."""

    def __init__(self) -> None:
        """Make the bridge; raises OSError when the machine does not allow it."""
        sweep()
        self._bridge = f"bri-{os.getpid()}"
        self._nodes = 0
        _ip("link", "add", self._bridge, "type", "bridge")
        try:
            _ip("link", "set", self._bridge, "addrgenmode", "none")  # no IPv6 address
            with addresses_change():
                self._subnet = self._take_subnet()
            _ip("link", "set", self._bridge, "up")
        except OSError:
            self.close()
            raise

    @property
    def address(self) -> str:
        """The address at which nodes reach everything outside their namespaces."""
        return f"{self._subnet}.1"

    def add(self) -> tuple[str, str]:
        """Make a namespace; returns its name and its address."""
        self._nodes += 1
        name, link = f"{self._bridge}-{self._nodes}", f"v{self._nodes}-{os.getpid()}"
        address = f"{self._subnet}.{self._nodes + 1}"
        _ip("netns", "add", name)
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", link, "addrgenmode", "none")
        _ip("link", "set", link, "master", self._bridge, "up")
        _ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        _ip("-n", name, "link", "set", "lo", "up")
        return name, address

    def close(self) -> None:
        """Remove everything."""
        _remove(os.getpid())

    def _take_subnet(self) -> str:
        taken = _ip("-4", "addr")
        for number in _SUBNETS:
            subnet = f"10.201.{(os.getpid() + number) % 250}"
            if f"{subnet}.1/" not in taken:
                _ip("addr", "add", f"{subnet}.1/24", "dev", self._bridge)
                return subnet
        raise OSError("no subnet is free")


def open_network() -> Network | None:
    """Make a network of namespaces; None where the machine does not allow it."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return None
    try:
        return Network()
    except OSError:
        return None


def sweep() -> None:
    """Remove everything of a process that has ended."""
    found = {int(pid) for pid in _OURS.findall(_ip("link") + _ip("netns"))}
    for pid in found:
        if not os.path.exists(f"/proc/{pid}"):
            _remove(pid)


def _remove(pid: int) -> None:
    ours = re.compile(rf"\bbri-{pid}-\d+\b")
    for name in set(ours.findall(_ip("netns"))):
        with suppress(OSError):
            _ip("netns", "del", name)
    with suppress(OSError), addresses_change():
        _ip("link", "del", f"bri-{pid}")


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
