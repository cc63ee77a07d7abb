"""`bridle web`: a link that logs in, a browser that opens it, and a hint for remote users."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bridle.surfaces.cli.web import can_show_browser, is_remote
from tests.surfaces.command import Bridle

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/login\?code=[\w-]{43}\n")


@pytest.fixture
def ended(bridle: Bridle) -> Iterator[None]:
    """Let no daemon live longer than the test."""
    yield
    bridle("daemon", "stop")


def code_of(link: str) -> int:
    """Follow a link as a browser does; returns the status."""
    with httpx.Client(trust_env=False) as browser:
        return browser.get(link.strip()).status_code


@pytest.mark.usefixtures("ended")
def test_the_page_is_opened_and_stays_where_it_is_until_the_daemon_is_stopped(bridle: Bridle, tmp_path: Path):
    """One story, as a daemon takes a second to start."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" > {opened}\n')
    browser.chmod(0o755)

    printed = bridle("web", "--print")
    shown = bridle("web", BROWSER=f"{browser} %s")
    far = bridle("web", SSH_CONNECTION="10.0.0.2 1 10.0.0.1 22", DISPLAY=":10")

    [port] = {match[1] for done in (printed, shown, far) if (match := LINK.fullmatch(done.out))}
    assert (printed.code, printed.err, shown.err) == (0, "", "")
    assert opened.read_text() == shown.out
    assert far.err == (
        "open this link in a browser; it works once, within five minutes\n"
        f"hint: from your own machine: ssh -L {port}:127.0.0.1:{port} HOST, then open the link\n"
    )
    assert [code_of(printed.out), code_of(printed.out), code_of(far.out)] == [303, 401, 303]
    assert f"\n  listens   http 127.0.0.1:{port}\n" in bridle("daemon", "status").out

    bridle("daemon", "restart")
    assert f"\n  listens   http 127.0.0.1:{port}\n" in bridle("daemon", "status").out
    bridle("daemon", "stop")
    bridle("daemon", "start")
    assert "listens" not in bridle("daemon", "status").out


@pytest.mark.parametrize(
    ("environ", "screen", "far"),
    [
        ({}, False, False),
        ({"DISPLAY": ":0"}, True, False),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True, False),
        ({"BROWSER": "firefox"}, True, False),
        ({"DISPLAY": ":10", "SSH_CONNECTION": "a"}, False, True),
        ({"SSH_TTY": "/dev/pts/1"}, False, True),
    ],
)
def test_a_browser_is_opened_where_it_is_seen(environ: dict[str, str], screen: bool, far: bool):
    assert (can_show_browser(environ), is_remote(environ)) == (screen, far)
