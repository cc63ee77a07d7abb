"""Looking up hosts without blocking, and the addresses that connections may use."""

import asyncio
import ipaddress
import threading
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.core.permission import Rule, parse_rule
from bridle.tools.web.network import MAX_ADDRESSES, check_addresses, look_up, special_kind

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "223.255.255.255",
]
PUBLIC_IPV6 = ["2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8"]

SPECIAL = {
    "0.0.0.0": "an unspecified",
    "0.1.2.3": "an unspecified",
    "10.0.0.1": "a private",
    "100.64.0.1": "a provider's internal",
    "100.100.100.200": "a provider's internal",
    "127.0.0.1": "a loopback",
    "127.255.255.254": "a loopback",
    "168.63.129.16": "a cloud's metadata",
    "169.254.169.254": "a link-local",
    "172.16.0.1": "a private",
    "172.31.255.255": "a private",
    "192.0.0.192": "a reserved",
    "192.168.1.1": "a private",
    "198.18.0.1": "a test network's",
    "224.0.0.1": "a multicast",
    "239.255.255.255": "a multicast",
    "240.0.0.1": "a reserved",
    "255.255.255.255": "a reserved",
    "::": "an unspecified",
    "::1": "a loopback",
    "::7f00:1": "a reserved",
    "::ffff:127.0.0.1": "a loopback",
    "::ffff:169.254.169.254": "a link-local",
    "64:ff9b::7f00:1": "a loopback",
    "64:ff9b::a9fe:a9fe": "a link-local",
    "64:ff9b:1::1": "a reserved",
    "100::1": "a reserved",
    "2001:0:7f00:1::": "a loopback",
    "2001:0:808:808::f5ff:fffe": "a private",
    "2001:db8::1": "a documentation",
    "2002:7f00:1::1": "a loopback",
    "2002:a9fe:a9fe::": "a link-local",
    "3fff::1": "a documentation",
    "4000::1": "a reserved",
    "5f00::1": "a reserved",
    "fc00::1": "a private",
    "fd00:ec2::254": "a private",
    "fe80::1": "a link-local",
    "febf::1": "a link-local",
    "fe80::1%lo": "a link-local",
    "fec0::1": "a private",
    "ff02::1": "a multicast",
}


def test_every_special_range_is_told():
    assert {text: special_kind(ipaddress.ip_address(text)) for text in SPECIAL} == SPECIAL


def test_the_neighbours_of_the_ranges_are_public():
    found = {text: special_kind(ipaddress.ip_address(text)) for text in PUBLIC + PUBLIC_IPV6}

    assert found == dict.fromkeys(PUBLIC + PUBLIC_IPV6, "")


def is_special(address: IPv4Address | IPv6Address) -> bool:
    return (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


# Numbers near the edges of the ranges, which random ones would never meet.
EDGES = st.sampled_from([int(ipaddress.ip_address(text)) for text in SPECIAL if ":" not in text])
IPV4 = st.builds(lambda base, step: (base + step) % 2**32, EDGES, st.integers(-300, 300)) | st.integers(
    0, 2**32 - 1
)
RANGES = (
    "::/96 ::/8 100::/64 2001::/23 2001:db8::/32 2000::/3 3fff::/20 4000::/3"
    " fc00::/7 fe80::/10 fec0::/10 ff00::/8"
)
PREFIXES = st.sampled_from([ipaddress.ip_network(text) for text in RANGES.split()])
IPV6 = st.builds(
    lambda network, low: int(network.network_address) | low & int(network.hostmask),
    PREFIXES,
    st.integers(0, 2**128 - 1),
)


@given(IPV4)
def test_no_special_ipv4_address_is_taken_for_public(number: int):
    address = IPv4Address(number)

    assert special_kind(address) or not is_special(address)


@given(IPV4)
def test_an_ipv4_address_that_is_called_special_is(number: int):
    address = IPv4Address(number)
    added = ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "100.64.0.0/10")

    is_added = any(address in ipaddress.ip_network(network) for network in added)
    assert not special_kind(address) or is_special(address) or is_added


@given(IPV6)
def test_no_special_ipv6_address_is_taken_for_public(number: int):
    address = IPv6Address(number)
    translated = address in ipaddress.ip_network("64:ff9b::/96") or address.teredo is not None

    assert special_kind(address) or translated or address.ipv4_mapped or not is_special(address)


@given(IPV4)
def test_an_ipv4_address_is_the_same_in_every_disguise(number: int):
    address = IPv4Address(number)
    server = int(IPv4Address("8.8.8.8"))
    disguises = [
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | number << 80 | 1),
        IPv6Address((0x20010000 << 96) | server << 64 | number ^ 0xFFFFFFFF),
        IPv6Address((0x20010000 << 96) | number << 64 | server ^ 0xFFFFFFFF),
    ]

    assert [special_kind(disguise) for disguise in disguises] == [special_kind(address)] * 5


# ---------------------------------------------------------------------------- rules


def rules(*texts: str) -> tuple[Rule, ...]:
    return tuple(parse_rule("allow", text) for text in texts)


@pytest.mark.parametrize(
    ("host", "address", "rule"),
    [
        ("127.0.0.1", "127.0.0.1", "web_fetch(domain:127.0.0.1)"),
        ("::1", "::1", "web_fetch(domain:::1)"),
        ("localhost", "127.0.0.1", "web_fetch(domain:localhost)"),
        ("localhost", "::1", "web_fetch(domain:LocalHost)"),
        ("localhost", "127.0.0.1", "web_fetch(domain:127.0.0.1)"),
        ("nas.lan", "192.168.1.2", "web_fetch(domain:nas.lan)"),
        ("wiki.example.com", "10.0.0.5", "web_fetch(domain:10.0.0.5)"),
        ("1.1.1.1", "1.1.1.1", "bash"),
    ],
)
def test_a_rule_that_names_it_opens_an_address(host: str, address: str, rule: str):
    assert check_addresses(host, (address,), "web_fetch", rules(rule)) == (address,)


@pytest.mark.parametrize(
    "rule",
    [
        "web_fetch",
        "*",
        "web_fetch(domain:*)",
        "web_fetch(domain:127.*)",
        "web_fetch(domain:127.0.0.2)",
        "download(domain:127.0.0.1)",
        "bash(domain:127.0.0.1)",
    ],
)
def test_no_other_rule_opens_it(rule: str):
    with pytest.raises(ToolError) as caught:
        check_addresses("127.0.0.1", ("127.0.0.1",), "web_fetch", rules(rule))

    assert str(caught.value) == (
        "127.0.0.1 is a loopback address; web_fetch connects to public addresses only"
        " (hint: the user can allow it with the rule allow web_fetch(domain:127.0.0.1))"
    )


def test_a_denying_rule_opens_nothing():
    denying = (
        parse_rule("deny", "web_fetch(domain:127.0.0.1)"),
        parse_rule("ask", "web_fetch(domain:127.0.0.1)"),
    )

    with pytest.raises(ToolError, match="loopback"):
        check_addresses("127.0.0.1", ("127.0.0.1",), "web_fetch", denying)


def test_a_public_name_that_is_allowed_does_not_lead_inside():
    """The owner of the name could point it at the user's machine after "always allow"."""
    with pytest.raises(ToolError) as caught:
        check_addresses(
            "docs.example", ("169.254.169.254",), "web_fetch", rules("web_fetch(domain:docs.example)")
        )

    assert str(caught.value).startswith("docs.example leads to 169.254.169.254, a link-local address;")


def test_one_bad_address_among_good_ones_is_enough():
    with pytest.raises(ToolError, match=r"leads to 10\.0\.0\.1, a private address"):
        check_addresses("mixed.example", ("1.1.1.1", "10.0.0.1"), "web_fetch", ())


def test_addresses_keep_their_order_and_are_bounded():
    many = [str(IPv4Address(0x08080000 + number)) for number in range(100)]

    assert check_addresses("h.example", ["9.9.9.9", "9.9.9.9", *many], "web_fetch", ()) == (
        "9.9.9.9",
        *many[: MAX_ADDRESSES - 2],
    )


def test_a_host_without_addresses_is_an_error():
    with pytest.raises(ToolError, match=r"h\.example has no address"):
        check_addresses("h.example", (), "web_fetch", ())


async def test_the_system_knows_this_machine():
    assert set(await look_up("localhost")) <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("host", ["nothing.invalid", "a" * 70, "a..b"])
async def test_an_unknown_host_is_an_error(host: str):
    with pytest.raises(ToolError, match="not found: "):
        await look_up(host)


async def test_a_cancelled_lookup_does_not_hold_the_program_up():
    task = asyncio.create_task(look_up("localhost"))
    await asyncio.sleep(0)
    lookups = [thread for thread in threading.enumerate() if thread.name == "look up localhost"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert all(thread.daemon for thread in lookups)
    await asyncio.gather(*(asyncio.to_thread(thread.join) for thread in lookups))
