"""Parsing web addresses: one form for every host, and nothing that two programs read differently."""

from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from yarl import URL

from bridle.core.errors import ToolError
from bridle.tools.web.urls import MAX_URL_LENGTH, Url, parse_host, parse_url, resolve_redirect


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.com", Url("https", "example.com", 443, "/")),
        ("  HTTP://EXAMPLE.com:80/A?b=c#d ", Url("http", "example.com", 80, "/A?b=c")),
        ("http://example.com.:8080/", Url("http", "example.com", 8080, "/")),
        ("http://h:/", Url("http", "h", 80, "/")),
        ("http://h?x", Url("http", "h", 80, "/?x")),
        ("http://h/a b/ü?q=ß&r=%20", Url("http", "h", 80, "/a%20b/%C3%BC?q=%C3%9F&r=%20")),
        ("http://[2001:DB8:0:0::1]:81/", Url("http", "2001:db8::1", 81, "/")),
        ("http://my_host-1.example", Url("http", "my_host-1.example", 80, "/")),
    ],
)
def test_an_address_is_read(text: str, expected: Url):
    assert parse_url(text) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("2130706433", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0x7F000001", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("1.2.772", "1.2.3.4"),
        ("１２７。０.０．１", "127.0.0.1"),  # full-width digits and ideographic dots
        ("ⓛocalhost", "localhost"),
        ("LOCALHOST.", "localhost"),
        ("Bücher.example", "xn--bcher-kva.example"),
        ("аpple.com", "xn--pple-43d.com"),  # a Cyrillic а
        ("[::ffff:127.0.0.1]", "127.0.0.1"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("1e3", "1e3"),
        ("x.y2", "x.y2"),
    ],
)
def test_a_host_has_one_form(host: str, expected: str):
    assert parse_host(host) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("example.com/a", "has no scheme (hint: write https://example.com/a)"),
        ("//example.com/a", "has no scheme (hint: write https://example.com/a)"),
        ("file:///etc/passwd", "only http and https can be fetched, not file"),
        ("ftp://h/", "only http and https"),
        ("gopher://h/", "only http and https"),
        ("javascript:alert(1)", "only http and https"),
        ("http:///etc", "names no host"),
        ("http:h", "names no host"),
        ("", "has no scheme"),
        ("http://user@h/", "user name or password"),
        ("http://public.example:pass@127.0.0.1/", "user name or password"),
        ("http://public.example\\@127.0.0.1/", "backslash or control character"),
        ("http://h\r\nX: y/", "backslash or control character"),
        ("http://h/\t", "backslash or control character"),
        ("http://h/\x85", "backslash or control character"),
        ("http://h/" + "a" * MAX_URL_LENGTH, "the maximum is 8000"),
        ("http://h:0/", "the port must be a number"),
        ("http://h:65536/", "the port must be a number"),
        ("http://h:8a/", "the port must be a number"),
        ("http://h:٣/", "the port must be a number"),
        ("http://[::1]8/", "http://[::1]8/"),  # which of its faults is named depends on the version of Python
        ("http://a..b/", "is not a host name"),
        ("http://../", "is not a host name"),
        ("http://-a.b/", "is not a host name"),
        ("http://a b/", "is not a host name"),
        ("http://%6cocalhost/", "is not a host name"),
        ("http://h%00.example/", "is not a host name"),
        (f"http://{'a' * 64}.example/", "is not a host name"),
        (f"http://{'a.' * 127}aa/", "is not a host name"),
        ("http://1.2.3.4.5/", "is not an IPv4 address"),
        ("http://1.2.3.256/", "is not an IPv4 address"),
        ("http://256.1/", "is not an IPv4 address"),
        ("http://4294967296/", "is not an IPv4 address"),
        ("http://08.1/", "is not an IPv4 address"),
        ("http://a.b.1/", "is not an IPv4 address"),
        (f"http://{'1' * 5000}/", "is not an IPv4 address"),
        ("http://[fe80::1%25lo]/", "names a network interface"),
        ("http://[::1/", "is not a URL"),
        ("http://[1::2::3]/", "is not "),
        ("http://\u2100.example/", "is not a"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text: str, reason: str):
    with pytest.raises(ToolError) as caught:
        parse_url(text)

    assert reason in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/b?c", "http://h:81/b?c"),
        ("b", "http://h:81/a/b"),
        ("?q", "http://h:81/a/x?q"),
        ("//other.example/z", "http://other.example/z"),
        ("https://h/", "https://h/"),
        ("/\udcc3\udcbc", "http://h:81/%C3%BC"),
        ("/\udcff", "http://h:81/%EF%BF%BD"),
    ],
)
def test_a_redirect_is_followed_from_where_it_is(location: str, expected: str):
    assert str(resolve_redirect(parse_url("http://h:81/a/x"), location)) == expected


def test_only_a_number_at_the_end_makes_an_address():
    literal = [parse_url(f"http://{host}/").is_literal for host in ("1.2.3.4", "[::1]", "a.b2", "a1", "1.a")]

    assert literal == [True, True, False, False, False]


@given(
    st.text(max_size=60)
    | st.text("htps:/@[]%.\\#?0x127lag \t", max_size=40).map(lambda text: "http://" + text)
)
@example("http://0x7f.1/@b")
def test_whatever_is_accepted_means_the_same_to_everybody(text: str):
    try:
        url = parse_url(text)
    except ToolError:
        return

    shown = str(url)
    assert parse_url(shown) == url
    assert shown.isascii()
    assert shown.isprintable()
    assert " " not in shown
    for host, port in (
        (urlsplit(shown).hostname, urlsplit(shown).port),
        (URL(shown, encoded=True).host, URL(shown, encoded=True).explicit_port),
    ):
        assert (host, port or {"http": 80, "https": 443}[url.scheme]) == (url.host, url.port)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "0x{:x}", "0{:o}"]), st.integers(1, 4))
def test_every_notation_of_an_ipv4_address_is_known(number: int, notation: str, count: int):
    """The system's own function decides: a text that it reads as an address must not pass as a name."""
    import socket  # noqa: PLC0415

    firsts = [number >> 24 - 8 * place & 255 for place in range(count - 1)]
    last = number & (1 << 8 * (5 - count)) - 1
    host = ".".join(notation.format(part) for part in [*firsts, last])

    assert parse_host(host) == socket.inet_ntoa(socket.inet_aton(host))
