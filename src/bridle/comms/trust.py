"""The trusted peers: `BRIDLE_HOME/trusted_peers.json`, read again whenever it has changed.

```
{"peers": [{"name": "builder", "pubkey": "ed25519:…", "addr": "tcp://127.0.0.1:4200"}]}
```

Any fault in the file is an error, and then no peer is trusted.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from bridle.comms.address import Address, check_name, parse_address
from bridle.comms.identity import UNCHANGED, locked, parse_peer_id, peer_id, read_file, write_file
from bridle.core.errors import ConfigError
from bridle.core.malformed import MALFORMED

MAX_PEERS = 1000
MAX_TRUST_BYTES = 1024 * 1024


class Peer(Struct, frozen=True):
    """A trusted peer."""

    name: str
    public: bytes
    address: Address


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    pubkey: str
    addr: str


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    peers: tuple[_Entry, ...]


_decoder = msgspec.json.Decoder(_File)


class Trust:
    """The trusted peers in a file; every method blocks, and is thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: tuple[object, tuple[Peer, ...]] = (None, ())

    def peers(self) -> tuple[Peer, ...]:
        """Return all trusted peers, sorted by name; raises ConfigError."""
        mark = self._mark()
        if mark is None:
            return ()
        if self._known[0] != mark:
            self._known = mark, self._read()
        return self._known[1]

    def add(self, peer: Peer) -> None:
        """Trust a peer, replacing one of the same name. Raises ConfigError."""
        with locked(self.path):
            self._write([*(known for known in self._read() if known.name != peer.name), peer])

    def remove(self, name: str) -> bool:
        """Stop trusting a peer; return False if there was none of this name. Raises ConfigError."""
        with locked(self.path):
            before = self._read()
            after = [peer for peer in before if peer.name != name]
            if len(after) < len(before):
                self._write(after)
            return len(after) < len(before)

    def _mark(self) -> object:
        try:
            status = os.stat(self.path, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size

    def _read(self) -> tuple[Peer, ...]:
        data = read_file(self.path, MAX_TRUST_BYTES, forbidden=UNCHANGED)
        if data is None:
            return ()
        try:
            entries = _decoder.decode(data).peers
            return _checked(
                Peer(check_name(entry.name), parse_peer_id(entry.pubkey), parse_address(entry.addr))
                for entry in entries
            )
        except ConfigError as error:
            raise ConfigError(f"{self.path}: {error.message}", hint=error.hint) from error
        except MALFORMED as error:
            raise ConfigError(
                f"{self.path}: {error}", hint="fix it, or remove it and trust your peers again"
            ) from error

    def _write(self, peers: Sequence[Peer]) -> None:
        entries = tuple(
            _Entry(peer.name, peer_id(peer.public), str(peer.address)) for peer in _checked(peers)
        )
        text = msgspec.json.format(msgspec.json.encode(_File(entries)), indent=2)
        write_file(self.path, text + b"\n")


def _checked(peers: Iterable[Peer]) -> tuple[Peer, ...]:
    """Return peers sorted by name; raises ConfigError if a name or key is not unique."""
    found: dict[str, Peer] = {}
    owners: dict[bytes, str] = {}
    for peer in peers:
        if peer.name in found:
            raise ConfigError(f'two peers are named "{peer.name}"')
        if (other := owners.setdefault(peer.public, peer.name)) != peer.name:
            raise ConfigError(f'"{other}" and "{peer.name}" have the same key')
        found[peer.name] = peer
    if len(found) > MAX_PEERS:
        raise ConfigError(f"more than {MAX_PEERS} peers")
    return tuple(sorted(found.values(), key=lambda peer: peer.name))
