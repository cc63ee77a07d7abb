"""The keys of `[http.tls]`, `[serve.tls]`, `[grpc.tls]` and `[scale.tls]`: a listener's certificates."""

from pathlib import Path

from msgspec import Struct

from bridle.config.value_types import PathText
from bridle.system.tls_files import TlsFiles


class TlsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The certificate files of a listener; without a certificate there is no TLS."""

    cert: PathText | None = None
    """The certificate in PEM, followed by the chain to its authority."""
    key: PathText | None = None
    """The private key in PEM, readable only by the user."""
    client_ca: PathText | None = None
    """The authority that must have signed every client's certificate."""

    def files(self, where: str) -> TlsFiles:
        """Return the files; `where` is the settings table that names them."""
        return TlsFiles(_path(self.cert), _path(self.key), _path(self.client_ca), where)


def _path(text: str | None) -> str:
    return str(Path(text).expanduser()) if text else ""
