"""Addresses that are never reached: disguised hosts, changing names, redirects to private addresses."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.permission import parse_rule
from bridle.core.ports import ToolContext
from bridle.tools.web import Network, WebFetch
from tests.tools.web.conftest import Site
from tests.tools.web.pages import answer, fetch, redirect, refusal

# ---------------------------------------------------------------------------- which hosts


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:{}/", "127.0.0.1 is a loopback address"),
        ("http://localhost:{}/", "a loopback address"),
        ("http://LOCALHOST.:{}/", "a loopback address"),
        ("http://2130706433:{}/", "127.0.0.1 is a loopback address"),
        ("http://0x7f.1:{}/", "127.0.0.1 is a loopback address"),
        ("http://0177.0.0.1:{}/", "127.0.0.1 is a loopback address"),
        ("http://127.1:{}/", "127.0.0.1 is a loopback address"),
        ("http://0:{}/", "0.0.0.0 is an unspecified address"),
        ("http://[::1]:{}/", "::1 is a loopback address"),
        ("http://[::ffff:127.0.0.1]:{}/", "127.0.0.1 is a loopback address"),
        ("http://[::ffff:7f00:1]:{}/", "127.0.0.1 is a loopback address"),
        ("http://[64:ff9b::7f00:1]:{}/", "64:ff9b::7f00:1 is a loopback address"),
        ("http://１２７.０.０.１:{}/", "127.0.0.1 is a loopback address"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254 is a link-local address"),
        ("http://[fd00:ec2::254]/latest/", "fd00:ec2::254 is a private address"),
        ("http://100.100.100.200/", "100.100.100.200 is a provider's internal address"),
        ("http://user@127.0.0.1:{}/", "user name or password"),
        ("file:///etc/passwd", "only http and https"),
    ],
)
@pytest.mark.parametrize("rules", [(), ("*",), ("web_fetch",), ("web_fetch(domain:*)",)])
async def test_no_disguise_reaches_the_inside(
    site: Site, context: ToolContext, url: str, reason: str, rules: tuple[str, ...]
):
    site.pages["/"] = answer(b"secret")
    allowed = replace(context, rules=tuple(parse_rule("allow", text) for text in rules), mode="yolo")

    assert reason in await refusal(allowed, url.format(site.port))
    assert site.requests == []


def naming(**addresses: Sequence[str]) -> tuple[WebFetch, list[str]]:
    """Make a tool for which names lead to these addresses, one after the other; and what it looked up."""
    left = {host: list(found) for host, found in addresses.items()}
    asked = []

    async def lookup(host: str) -> Sequence[str]:
        asked.append(host)
        name = host.partition(".")[0]
        return [left[name].pop(0)]

    return WebFetch(Network(lookup=lookup)), asked


async def test_a_name_is_looked_up_once_and_the_answer_used(site: Site, opened: ToolContext):
    """A second answer, which leads elsewhere, would be the attack that is called DNS rebinding."""
    site.pages["/"] = answer(b"hello")
    tool, asked = naming(public=["127.0.0.1", "127.0.0.2"])

    text = await fetch(opened, f"http://public.example:{site.port}/", tool)

    assert text.endswith("\n\nhello")
    assert asked == ["public.example"]
    assert f"Host: public.example:{site.port}" in site.requests[0]


async def test_a_name_that_leads_inside_is_refused(site: Site, context: ToolContext):
    tool, _ = naming(public=["127.0.0.1"])
    rules = (parse_rule("allow", "web_fetch(domain:public.example)"),)

    error = await refusal(replace(context, rules=rules), f"http://public.example:{site.port}/", tool)

    assert error == (
        "public.example leads to 127.0.0.1, a loopback address; web_fetch connects to public addresses only"
        " (hint: the user can allow it with the rule allow web_fetch(domain:127.0.0.1))"
    )
    assert site.requests == []


async def test_a_name_that_changes_its_address_between_two_hops_is_refused(site: Site, opened: ToolContext):
    site.pages["/"] = redirect("/again")
    site.pages["/again"] = answer(b"secret")
    tool, asked = naming(public=["127.0.0.1", "10.0.0.1"])

    error = await refusal(opened, f"http://public.example:{site.port}/", tool)

    assert error.startswith("public.example leads to 10.0.0.1, a private address;")
    assert asked == ["public.example"] * 2
    assert len(site.requests) == 1


async def test_localhost_is_reached_when_a_rule_names_it(site: Site, context: ToolContext):
    site.pages["/"] = answer(b"mine")
    rules = (parse_rule("allow", "web_fetch(domain:localhost)"),)
    tool, _ = naming(localhost=["127.0.0.1"])

    assert (await fetch(replace(context, rules=rules), f"http://localhost:{site.port}/", tool)).endswith(
        "mine"
    )


# ---------------------------------------------------------------------------- redirects


@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
async def test_a_redirect_on_the_same_host_is_followed(site: Site, opened: ToolContext, status: str):
    site.pages["/"] = redirect("b?c", status)
    site.pages["/b?c"] = answer(b"there")

    assert await fetch(opened, site.url) == f"URL: {site.url}/b?c\nStatus: 200 OK\n\nthere"


async def test_a_redirect_to_another_host_is_named_and_not_followed(site: Site, opened: ToolContext):
    site.pages["/"] = redirect("//www.other.example/x")

    assert await refusal(opened, site.url) == (
        f"{site.url}/ redirects to www.other.example; fetch http://www.other.example/x if you want it"
    )


@pytest.mark.parametrize(
    ("rules", "mode"), [(("web_fetch(domain:other.example)",), "ask"), ((), "yolo"), (("web_fetch",), "ask")]
)
async def test_a_redirect_to_an_allowed_host_is_followed(
    site: Site, opened: ToolContext, rules: tuple[str, ...], mode: Any
):
    site.pages["/"] = redirect(f"http://other.example:{site.port}/x")
    site.pages["/x"] = answer(b"there")
    allowed = (*opened.rules, *(parse_rule("allow", text) for text in rules))
    tool, asked = naming(other=["127.0.0.1"])

    text = await fetch(replace(opened, rules=allowed, mode=mode), site.url, tool)

    assert text.startswith(f"URL: http://other.example:{site.port}/x\n")
    assert asked == ["other.example"]


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", "only http and https can be fetched, not file"),
        ("ftp://h/", "only http and https can be fetched, not ftp"),
        ("http://user:pass@127.0.0.1/", "user name or password"),
        ("http://169.254.169.254/", "169.254.169.254 is a link-local address"),
        ("http://[::1]/", "::1 is a loopback address"),
        ("http://0xa9fea9fe/", "169.254.169.254 is a link-local address"),
        ("http://[/", "is not a URL"),
    ],
)
async def test_a_redirect_to_the_inside_is_refused(
    site: Site, opened: ToolContext, location: str, reason: str
):
    site.pages["/"] = redirect(location)

    assert reason in await refusal(replace(opened, mode="yolo"), site.url)


async def test_a_redirect_to_a_denied_host_is_refused(site: Site, opened: ToolContext):
    site.pages["/"] = redirect("http://bad.example/")
    rules = (*opened.rules, parse_rule("deny", "web_fetch(domain:*.example)"))

    error = await refusal(replace(opened, rules=rules, mode="yolo"), site.url)
    assert f"{site.url}/ redirects to bad.example;" in error


async def test_a_redirect_loop_ends(site: Site, opened: ToolContext):
    site.pages["/"] = redirect("/")

    assert await refusal(opened, site.url) == f"{site.url}/ redirects more than 5 times"
    assert len(site.requests) == 6


# ---------------------------------------------------------------------------- proxy


async def test_a_configured_proxy_takes_every_request(site: Site, context: ToolContext):
    site.pages["http://public.example/a"] = answer(b"by proxy")
    tool = WebFetch(Network(proxy=site.url))

    assert await fetch(context, "http://public.example/a", tool) == (
        "URL: http://public.example/a\nStatus: 200 OK\n\nby proxy"
    )


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://localhost/", "http://169.254.169.254/"])
async def test_a_proxy_is_not_asked_for_the_inside(site: Site, context: ToolContext, url: str):
    assert "address; web_fetch connects to public addresses only" in await refusal(
        context, url, WebFetch(Network(proxy=site.url))
    )
    assert site.requests == []
