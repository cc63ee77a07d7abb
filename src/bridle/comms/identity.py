"""Our identity: an Ed25519 key in `BRIDLE_HOME/identity`, and its public form, `ed25519:BASE64`.

Also access to the small files of comms: written atomically, read only if no other user can change them.
"""

import base64
import binascii
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from bridle.core.errors import ConfigError
from bridle.system import files
from bridle.system.files import PRIVATE_FILE, write_atomically

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# ---------------------------------------------------------------------------- files


PRIVATE = 0o077
"""The permission bits that other users may not have on a secret: all."""
UNCHANGED = 0o022
"""The permission bits that other users may not have on a trusted file: write."""


def read_file(path: Path, max_bytes: int, *, forbidden: int) -> bytes | None:
    """Return a file's content, None if there is no file; blocking.

    Raises ConfigError if it is a link or not a regular file, larger than `max_bytes`, or other users have
    forbidden rights.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(f"{path}: is not a regular file")
        if status.st_mode & forbidden:
            verb = "read" if forbidden == PRIVATE else "change"
            raise ConfigError(f"{path}: others can {verb} it", hint=f"chmod 600 {path}")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        raise ConfigError(f"{path}: is larger than {max_bytes} bytes")
    return data


def write_file(path: Path, data: bytes, *, mode: int = PRIVATE_FILE, replace: bool = True) -> None:
    """Write a whole file atomically; blocking; raises ConfigError.

    Without `replace`, an existing file stays unchanged.
    """
    try:
        write_atomically(path, data, mode=mode, replace=replace)
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file against changes by other processes; blocking; raises ConfigError."""
    with ExitStack() as locks:
        try:
            locks.enter_context(files.lock_file(path))
        except OSError as error:
            raise _unwritable(path, error) from error
        yield


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{path}: cannot be written: {error.strerror}")


# ---------------------------------------------------------------------------- identity


KEY_FILE = "identity.key"
PUBLIC_FILE = "identity.pub"
KEY_BYTES = 32
SIGNATURE_BYTES = 64
_PREFIX = "ed25519:"
_PRIME = 2**255 - 19
_ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_WEAK = frozenset({0, 1, _PRIME - 1, _ORDER_8, _PRIME - _ORDER_8})
"""The y coordinates of points of small order: with such a key, anyone can forge valid signatures."""
_MAX_CACHED_KEYS = 256  # parsed public keys in the cache


class Identity:
    """A secret key and its public key."""

    def __init__(self, secret: bytes) -> None:
        """Create from the 32 bytes of a secret key."""
        self._key = _ed25519().Ed25519PrivateKey.from_private_bytes(secret)
        self.public: bytes = self._key.public_key().public_bytes_raw()

    @property
    def peer_id(self) -> str:
        """Our public key as text."""
        return peer_id(self.public)

    def sign(self, data: bytes) -> bytes:
        """Return our signature of `data`."""
        signature: bytes = self._key.sign(data)
        return signature


def load_identity(folder: Path) -> Identity:
    """Return the identity stored in a folder, creating it the first time; blocking; raises ConfigError.

    A key that other users can read, or that does not have 32 bytes, is refused: it may not be ours alone.
    """
    path = folder / KEY_FILE
    secret = read_file(path, KEY_BYTES, forbidden=PRIVATE)
    if secret is None:
        new = _ed25519().Ed25519PrivateKey.generate().private_bytes_raw()
        write_file(path, new, replace=False)
        secret = read_file(path, KEY_BYTES, forbidden=PRIVATE)  # another process may have written it first
    if secret is None or len(secret) != KEY_BYTES:
        raise ConfigError(
            f"{path}: does not have {KEY_BYTES} bytes",
            hint="restore it from a backup, or remove it to get a new key, which your peers must trust again",
        )
    identity = Identity(secret)
    if read_file(folder / PUBLIC_FILE, KEY_BYTES, forbidden=0) != identity.public:
        write_file(folder / PUBLIC_FILE, identity.public, mode=0o644)
    return identity


def peer_id(public: bytes) -> str:
    """Return a public key as text."""
    return _PREFIX + base64.b64encode(public).decode()


def parse_peer_id(text: str) -> bytes:
    """Return the public key in a peer id; raises ConfigError."""
    try:
        public = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        public = b""
    if len(public) != KEY_BYTES or peer_id(public) != text:  # base64 can encode some bytes in two ways
        shown = text if len(text) <= 60 and text.isprintable() else f"{text[:60]!a}…"
        raise ConfigError(
            f'"{shown}" is not a peer id', hint="`bridle comms id`, run by the peer, prints it: ed25519:…"
        )
    return public


def is_signed(public: bytes, data: bytes, signature: bytes) -> bool:
    """Return whether a public key's owner signed `data`."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  slow to load

    try:
        _public_key(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


@lru_cache(maxsize=_MAX_CACHED_KEYS)
def _public_key(public: bytes) -> "Ed25519PublicKey":
    """Return a parsed public key; raises ValueError for one that anyone can sign with."""
    if (int.from_bytes(public, "little") & 2**255 - 1) % _PRIME in _WEAK:
        raise ValueError("an insecure key")
    key: Ed25519PublicKey = _ed25519().Ed25519PublicKey.from_public_bytes(public)
    return key


def _ed25519() -> ModuleType:
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415  slow to load

    return ed25519
