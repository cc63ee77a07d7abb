"""The host that a Host header names."""

import re
from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.rest.guard import Authority, authority_of, host_name, origin_of

PIECES = st.sampled_from(
    [
        "127.0.0.1",
        "localhost",
        "::1",
        "[",
        "]",
        ":",
        "[::1]",
        "80",
        "0",
        "65536",
        ".",
        "evil",
        "@",
        " ",
        "%",
        "²",
    ]
)


@pytest.mark.parametrize(
    ("text", "authority"),
    [
        ("localhost", Authority("localhost")),
        ("LocalHost:80", Authority("localhost", 80)),
        ("127.0.0.1:65535", Authority("127.0.0.1", 65535)),
        ("[::1]", Authority("::1")),
        ("[0:0:0:0:0:0:0:1]:8080", Authority("::1", 8080)),
    ],
)
def test_hosts_are_read(text: str, authority: Authority):
    assert authority_of(text) == authority


@pytest.mark.parametrize(
    "text", ["[::1].evil.com", "[127.0.0.1]evil", "127.0.0.1:1:evil", "[::1]evil", "::1"]
)
def test_what_only_begins_like_a_host_is_none(text: str):
    assert authority_of(text) is None


def test_configured_hosts_are_written_alike():
    assert [host_name(host) for host in ("My.Name", "0:0::1", "127.0.0.1")] == ["my.name", "::1", "127.0.0.1"]


def test_an_origin_has_the_port_of_its_scheme():
    assert origin_of("https://[::1]") == ("https", Authority("::1", 443))
    assert origin_of("http://localhost") == ("http", Authority("localhost", 80))
    assert origin_of("null") is None


@given(st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=30))
def test_a_host_is_the_whole_header_without_its_port(text: str):
    """Nothing of the header is dropped: written again it is what was read."""
    found = authority_of(text)
    if found is None:
        return
    port = "" if found.port is None else text.rpartition(":")[2]
    whole = text.removesuffix(f":{port}") if port else text
    assert not port or (int(port) == found.port and 1 <= int(port) <= 65535)
    if whole.startswith("["):
        assert whole.endswith("]")
        assert IPv6Address(whole[1:-1]) == IPv6Address(found.host)
    else:
        assert whole.lower() == found.host
        assert re.fullmatch(r"[a-z0-9._-]+", found.host)
