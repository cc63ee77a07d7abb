"""Which files protect a listener; apart from what reads them, which loads OpenSSL."""

from typing import NamedTuple


class TlsFiles(NamedTuple):
    """The certificate, its key and the authority of clients; without a certificate there is no TLS."""

    cert: str = ""
    key: str = ""
    client_ca: str = ""
    where: str = "tls"
    """The table of the settings that names them, for errors."""

    def __bool__(self) -> bool:
        return bool(self.cert)


NO_TLS = TlsFiles()
