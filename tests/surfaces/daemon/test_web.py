"""The page of a real daemon: served on request, and again after every kind of end."""

import asyncio
import signal
from contextlib import suppress
from pathlib import Path

import httpx

from bridle.surfaces.daemon.process import WEB_PORT
from tests.surfaces.daemon.process import DaemonProcess


async def test_the_page_survives_a_daemon_that_is_killed_and_one_that_is_ended(daemon: DaemonProcess):
    """One story, as a daemon takes a second to start."""
    daemon.place.make_folders()
    daemon.place.web.write_text("8.8.8.8:80\n")
    await daemon.start()
    assert not daemon.place.web.exists(), "a note that makes no sense is forgotten"
    assert "can be reached from other machines" in daemon.place.log.read_text()
    async with daemon.reached() as client:
        assert (await client.status()).listening == ()
        first, second = await client.open_web(), await client.open_web()
        assert (await client.status()).listening == (f"http {first.address}",)
    place = daemon.place
    assert (first.address, first.url != second.url) == (second.address, True)
    assert first.url.startswith(f"http://{first.address}/login?code=")
    assert (place.web.read_text(), place.web.stat().st_mode & 0o777) == (f"{first.address}\n", 0o600)

    async with httpx.AsyncClient(base_url=f"http://{first.address}", trust_env=False) as browser:
        assert (await browser.get("/")).status_code == 401
        login = await browser.get(first.url)
        assert (login.status_code, login.headers["location"]) == (303, "/")
        assert (await browser.get("/sessions")).json() == {"sessions": [], "next": None}

        for end in (signal.SIGKILL, signal.SIGTERM):
            daemon.send(end)
            daemon.wait()
            await daemon.start()
            assert (await browser.get("/sessions")).status_code == 200, "the login is still good"

        assert (await browser.get(second.url)).status_code == 303, "for who is logged in"
        browser.cookies.clear()
        assert (await browser.get(second.url)).status_code == 401, "a code dies with the daemon"
    assert "Traceback" not in place.log.read_text()


async def test_a_port_that_is_taken_is_no_trouble(daemon: DaemonProcess, home: Path):
    others = [await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)]
    taken = others[0].sockets[0].getsockname()[1]
    with suppress(OSError):  # someone else has it, which is as good
        others.append(await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", WEB_PORT))
    daemon.place.make_folders()
    daemon.place.keep_web(f"127.0.0.1:{taken}")
    await daemon.start()
    async with daemon.reached() as client:
        before = (await client.status()).listening
        found = await client.open_web()

    assert before == ()
    assert found.address not in (f"127.0.0.1:{taken}", f"127.0.0.1:{WEB_PORT}")
    async with httpx.AsyncClient(trust_env=False) as browser:
        assert (await browser.get(found.url)).status_code == 303
    assert daemon.place.kept_web() == found.address
    for other in others:
        other.close()


async def test_the_page_is_at_the_address_of_the_settings_without_a_login_where_none_is_wanted(
    daemon: DaemonProcess, home: Path
):
    (home / "config.toml").write_text('[http]\nbind = "127.0.0.1:0"\ntoken = false\n')
    daemon.place.make_folders()
    daemon.place.web.write_text("nonsense")
    await daemon.start()
    async with daemon.reached() as client:
        found = await client.open_web()
        assert (await client.status()).listening == (f"http {found.address}",)

    assert found.url == f"http://{found.address}/"
    async with httpx.AsyncClient(base_url=found.url, trust_env=False) as browser:
        page = await browser.get("/")
        assert (page.status_code, b'id="app"' in page.content) == (200, True)
        assert (await browser.get("/sessions")).status_code == 200
