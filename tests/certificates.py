"""Certificates for tests: an authority and certificates it has signed, as files in a folder."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bridle.system.tls_files import TlsFiles


class Authority:
    """Signs certificates; its own is `ca.pem`."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.path = folder / f"{name}.pem"
        made = self._build(self._name, self._key, x509.BasicConstraints(ca=True, path_length=None), 0, 30)
        self.path.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def sign(
        self, name: str, *, begins: float = -1, ends: float = 30, password: bytes = b"", mtls: bool = False
    ) -> TlsFiles:
        """Make a certificate for this machine that holds between two days from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = self._build(subject, key, x509.BasicConstraints(ca=False, path_length=None), begins, ends)
        cert, private = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        kept = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        private.touch(0o600)
        private.chmod(0o600)
        private.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, kept)
        )
        return TlsFiles(str(cert), str(private), str(self.path) if mtls else "")

    def _build(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        constraints: x509.BasicConstraints,
        begins: float,
        ends: float,
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        names = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
        )
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + timedelta(days=min(begins, ends - 1)))
            .not_valid_after(now + timedelta(days=ends))
            .add_extension(constraints, critical=True)
            .add_extension(names, critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
            )
            .add_extension(
                x509.KeyUsage(
                    digital_signature=True,
                    key_cert_sign=constraints.ca,
                    crl_sign=constraints.ca,
                    content_commitment=False,
                    key_encipherment=False,
                    data_encipherment=False,
                    key_agreement=False,
                    encipher_only=False,
                    decipher_only=False,
                ),
                critical=True,
            )
            .sign(self._key, hashes.SHA256())
        )
