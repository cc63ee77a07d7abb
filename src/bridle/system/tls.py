"""TLS from three files: a certificate, its key and the CA of clients; reloaded when they change.

```
cert, key                a server presents the certificate
cert, key, client_ca     it also requires a client certificate signed by this CA (mTLS)
```

A file that is missing, expired, not matching or readable by others is reported by name before anything
listens.
"""

import logging
import os
import re
import ssl
import stat
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from bridle.core.errors import ConfigError
from bridle.system.tls_files import NO_TLS, TlsFiles

MIN_VERSION = ssl.TLSVersion.TLSv1_2
LOOK_S = 1.0  # seconds between two checks of the files
MAX_FILE_BYTES = 1024 * 1024
OPEN_TO_OTHERS = 0o077

_CERTIFICATE = re.compile(
    rb"-----BEGIN CERTIFICATE-----\s+[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----", re.DOTALL
)
_TIME_FORMATS = {0x17: "%y%m%d%H%M%SZ", 0x18: "%Y%m%d%H%M%SZ"}
_CONTEXT_0 = 0xA0

log = logging.getLogger("bridle.tls")


class Pems(NamedTuple):
    """The contents of the files."""

    cert: bytes
    key: bytes
    client_ca: bytes


def server_context(
    files: TlsFiles, now: Callable[[], float] = time.time, *, look_s: float = LOOK_S
) -> ssl.SSLContext:
    """Return the context for a listener; raises ConfigError if the files are unusable.

    When the files change, new connections use the new ones. Unusable new files are logged and ignored until
    they change again.
    """
    context = _server_context(files, now)
    context.sni_callback = _Renewing(files, now, look_s).look
    return context


def client_context(ca: str = "", files: TlsFiles = NO_TLS, *, any_name: bool = False) -> ssl.SSLContext:
    """Return the context for a client: the CA it trusts (default: the system's), and its own certificate.

    With `any_name` every certificate that the CA signed is trusted, under any host name: only for a CA that
    signs nothing else. Raises ConfigError.
    """
    where = files.where
    if ca:
        _read(f"{where}.client_ca", ca)
    try:
        context = ssl.create_default_context(cafile=ca or None)
    except ssl.SSLError as error:
        raise ConfigError(f'{where}.client_ca: "{ca}" contains no certificate') from error
    context.minimum_version = MIN_VERSION
    context.check_hostname = not (any_name and ca)
    if files:
        load_pems(files)
        _load_pair(context, files)
    return context


def load_pems(files: TlsFiles, now: Callable[[], float] = time.time) -> Pems:
    """Read and check the files; raises ConfigError."""
    if not files.key:
        raise ConfigError(f"{files.where}: the certificate has no key", hint=f"set {files.where}.key")
    cert = _read(f"{files.where}.cert", files.cert)
    key = _read(f"{files.where}.key", files.key, is_secret=True)
    authority = _read(f"{files.where}.client_ca", files.client_ca) if files.client_ca else b""
    _check_time(f"{files.where}.cert", files.cert, cert, now())
    if authority:
        _check_time(f"{files.where}.client_ca", files.client_ca, authority, now())
    return Pems(cert, key, authority)


def stamp_files(files: TlsFiles) -> tuple[object, ...]:
    """Return a value that changes when a file changes."""
    found: list[object] = []
    for path in (files.cert, files.key, files.client_ca):
        try:
            status = os.stat(path) if path else None
        except OSError:
            status = None
        found.append(None if status is None else (status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)


class _Renewing:
    """Check the files when a client connects, and use new files for new connections."""

    def __init__(self, files: TlsFiles, now: Callable[[], float], look_s: float) -> None:
        self._files = files
        self._look_s = look_s
        self._now = now
        self._seen = stamp_files(files)
        self._looked_at = time.monotonic()
        self._newer: ssl.SSLContext | None = None

    def look(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        """Set the newest context on a new connection."""
        if time.monotonic() - self._looked_at >= self._look_s:
            self._looked_at = time.monotonic()
            found = stamp_files(self._files)
            if found != self._seen:
                self._seen = found
                self._renew()
        if self._newer is not None:
            connection.context = self._newer

    def _renew(self) -> None:
        try:
            self._newer = _server_context(self._files, self._now)
            log.info("%s: the certificate was read again", self._files.where)
        except ConfigError as error:
            log.warning("still using the old certificate: %s", error)


def _server_context(files: TlsFiles, now: Callable[[], float]) -> ssl.SSLContext:
    pems = load_pems(files, now)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = MIN_VERSION
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
    context.set_alpn_protocols(["http/1.1"])
    _load_pair(context, files)
    if pems.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(cadata=pems.client_ca.decode("ascii", "replace"))
        except ssl.SSLError as error:
            raise ConfigError(
                f'{files.where}.client_ca: "{files.client_ca}" contains no certificate'
            ) from error
    return context


def _load_pair(context: ssl.SSLContext, files: TlsFiles) -> None:
    asked = False

    def no_password() -> str:  # without it, OpenSSL prompts at the terminal
        nonlocal asked
        asked = True
        return ""

    try:
        context.load_cert_chain(files.cert, files.key, no_password)
    except (ssl.SSLError, OSError, ValueError) as error:
        if asked:
            why, hint = "has a password", "use a key without a password that only you can read"
        elif isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
            why, hint = f'does not belong to the certificate "{files.cert}"', ""
        else:
            why, hint = f'and "{files.cert}" are not a key and certificate in PEM format', ""
        raise ConfigError(f'{files.where}.key: "{files.key}" {why}', hint=hint) from error


def _read(key: str, path: str, *, is_secret: bool = False) -> bytes:
    """Return the contents of a file; raises ConfigError."""
    try:
        with open(path, "rb", opener=_open) as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ConfigError(f'{key}: "{path}" is not a file')
            if is_secret and status.st_mode & OPEN_TO_OTHERS:
                raise ConfigError(f'{key}: other users can read the file "{path}"', hint=f"chmod 600 {path}")
            return opened.read(MAX_FILE_BYTES)
    except OSError as error:
        raise ConfigError(f'{key}: "{path}" cannot be read: {os.strerror(error.errno or 0)}') from error


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)  # opening a named pipe could block forever


def _check_time(key: str, path: str, pem: bytes, now: float) -> None:
    found = _CERTIFICATE.search(pem)
    if found is None:
        raise ConfigError(f'{key}: "{path}" contains no certificate')
    try:
        begins, ends = _validity(ssl.PEM_cert_to_DER_cert(found[0].decode()))
    except (ValueError, IndexError) as error:
        raise ConfigError(f'{key}: the certificate in "{path}" is damaged') from error
    if now > ends.timestamp():
        raise ConfigError(f'{key}: the certificate in "{path}" expired on {ends:%Y-%m-%d}')
    if now < begins.timestamp():
        raise ConfigError(f'{key}: the certificate in "{path}" is not valid before {begins:%Y-%m-%d}')


def _validity(der: bytes) -> tuple[datetime, datetime]:
    """Return the validity period of a certificate (RFC 5280, 4.1); raises ValueError, IndexError."""
    _, certificate, _ = _element(der)
    _, content, _ = _element(certificate)
    tag, _, rest = _element(content)
    for _ in range(3 if tag == _CONTEXT_0 else 2):  # skip an optional version, then serial, algorithm, issuer
        _, _, rest = _element(rest)
    _, validity, _ = _element(rest)
    tag, begins, rest = _element(validity)
    other_tag, ends, _ = _element(rest)
    return _time(tag, begins), _time(other_tag, ends)


def _element(data: bytes) -> tuple[int, bytes, bytes]:
    """Split DER into the first element's tag, its content, and what follows."""
    tag, size, at = data[0], data[1], 2
    if size & 0x80:
        at += size & 0x7F
        size = int.from_bytes(data[2:at], "big")
    return tag, data[at : at + size], data[at + size :]


def _time(tag: int, text: bytes) -> datetime:
    return datetime.strptime(text.decode(), _TIME_FORMATS.get(tag, "")).replace(tzinfo=UTC)
