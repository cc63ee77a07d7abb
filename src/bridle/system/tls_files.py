"""The paths of the TLS files of a listener; a separate module, because `tls` loads OpenSSL."""

from typing import NamedTuple


class TlsFiles(NamedTuple):
    """Paths of the certificate, its key and the CA of clients; without a certificate there is no TLS."""

    cert: str = ""
    key: str = ""
    client_ca: str = ""
    where: str = "tls"
    """The settings table that names them, for error messages."""

    def __bool__(self) -> bool:
        return bool(self.cert)


NO_TLS = TlsFiles()
