import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.comms.address import (
    Address,
    InprocAddress,
    TcpAddress,
    UnixAddress,
    check_name,
    parse_address,
    parse_host,
)
from bridle.core.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("uds:///run/a b.sock", UnixAddress("/run/a b.sock")),
        ("tcp://127.0.0.1:4200", TcpAddress("127.0.0.1", 4200)),
        ("tcp://box.example:1", TcpAddress("box.example", 1)),
        ("tcp://[::1]:65535", TcpAddress("::1", 65535)),
        ("inproc://builder-2", InprocAddress("builder-2")),
    ],
)
def test_an_address_is_read_and_written(text: str, expected: Address):
    assert parse_address(text) == expected
    assert str(expected) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "uds://",
        "uds://relative.sock",
        "uds:///folder/",
        "uds:///a\nb",
        "tcp://127.0.0.1",
        "tcp://127.0.0.1:0",
        "tcp://127.0.0.1:65536",
        "tcp://127.0.0.1:٣",
        "tcp://a b:1",
        "tcp://[::zz]:1",
        "tcp://user@host:1",
        "tcp://:80",
        "inproc://a/b",
        "inproc://",
        "http://a:1",
        "uds:///" + "x" * 5000,
    ],
)
def test_what_is_no_address_is_refused(text: str):
    with pytest.raises(ConfigError, match="is not an address") as caught:
        parse_address(text)
    assert caught.value.message.isprintable()


@given(st.text(max_size=60) | st.from_regex(r"(uds|tcp|inproc)://[^\n]{0,30}"))
def test_every_text_is_an_address_that_reads_the_same_again_or_is_refused(text: str):
    try:
        address = parse_address(text)
    except ConfigError:
        return

    assert parse_address(str(address)) == address


def test_what_is_local_is_known():
    hosts = ("localhost", "127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "10.0.0.1", "example.com")

    assert [host for host in hosts if TcpAddress(host, 1).is_local] == list(hosts[:4])


def test_a_listener_may_ask_for_a_free_port():
    assert parse_host("127.0.0.1:0") == TcpAddress("127.0.0.1", 0)
    assert parse_host("nonsense") is None


@pytest.mark.parametrize("name", ["", "a b", "a\n", "ä", "a" * 65, "../x", "[COMMS]"])
def test_a_name_that_could_be_mistaken_is_refused(name: str):
    with pytest.raises(ConfigError, match="is not a valid peer name"):
        check_name(name)
