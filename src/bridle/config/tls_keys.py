"""The keys of `[http.tls]`, `[serve.tls]`, `[grpc.tls]` and `[scale.tls]`: certificates of a listener."""

from pathlib import Path

from msgspec import Struct

from bridle.config.kinds import PathText
from bridle.system.tls_files import TlsFiles


class TlsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Which files a listener is protected by; without a certificate there is no TLS."""

    cert: PathText | None = None
    """The certificate in PEM, with those that lead to its authority behind it."""
    key: PathText | None = None
    """Its key in PEM, which only the user may read."""
    client_ca: PathText | None = None
    """The authority that must have signed the certificate of every client."""

    def files(self, where: str) -> TlsFiles:
        """Return the files; `where` is the table of the settings that names them."""
        return TlsFiles(_path(self.cert), _path(self.key), _path(self.client_ca), where)


def _path(text: str | None) -> str:
    return str(Path(text).expanduser()) if text else ""
