"""Addresses at which a listener may listen."""

import pytest

from bridle.core.errors import ConfigError
from bridle.surfaces.daemon.listen_address import parse_listen_address
from bridle.system.tls_files import NO_TLS, TlsFiles

TLS = TlsFiles("/c.pem", "/k.pem", where="http.tls")


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("localhost:0", ("127.0.0.1", 0)),
        (":7", ("127.0.0.1", 7)),
        ("[::1]:7", ("::1", 7)),
    ],
)
def test_this_machine_may_always_be_listened_at(address: str, found: tuple[str, int]):
    assert parse_listen_address(address, "http.bind", has_token=False) == found


@pytest.mark.parametrize("address", ["0.0.0.0:80", "[::]:80", "10.0.0.1:80", "a.example:80"])
def test_other_machines_need_tls_and_a_token(address: str):
    host = address.rpartition(":")[0].strip("[]")

    assert parse_listen_address(address, "http.bind", tls=TLS) == (host, 80)
    with pytest.raises(ConfigError, match=r"^http\.bind: .* not protected by TLS"):
        parse_listen_address(address, "http.bind", tls=NO_TLS)
    with pytest.raises(ConfigError, match="not protected by a token"):
        parse_listen_address(address, "http.bind", tls=TLS, has_token=False)


@pytest.mark.parametrize("address", ["127.0.0.1:65536", "127.0.0.1:x", "127.0.0.1"])
def test_a_port_is_a_number(address: str):
    with pytest.raises(ConfigError, match="is not a port"):
        parse_listen_address(address, "http.bind")


def test_an_authority_without_a_certificate_is_a_mistake():
    with pytest.raises(ConfigError, match=r"^http\.tls: client_ca needs a certificate"):
        parse_listen_address("127.0.0.1:1", "http.bind", tls=TlsFiles(client_ca="/ca", where="http.tls"))
