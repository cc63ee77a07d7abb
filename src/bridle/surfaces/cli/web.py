"""`bridle web`: open the daemon's web page in a browser, with a login link."""

import argparse
import asyncio
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

from bridle.config.settings import load_settings
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.launcher import connect_if_running, launch_daemon
from bridle.surfaces.remote.asks import WebAddress
from bridle.surfaces.shared.terminal import Console

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def web(args: argparse.Namespace, console: Console) -> int:
    """Start the daemon if it does not run, and open its web page."""
    place = DaemonFiles(load_settings(console.environ, Path("/")).home)
    found = asyncio.run(_open_page(place, console.environ))
    may_open = not args.only_print and can_show_browser(console.environ)
    console.out.line(found.url)
    console.out.flush()
    if may_open and webbrowser.open(found.url):
        console.done(f"the page is open at http://{found.address}")
    elif not args.only_print:
        console.err.line("open this link in a browser; it works once, within five minutes")
    if is_remote(console.environ):
        console.hint(f"from your own machine: ssh -L {_port(found)}:{found.address} HOST, then open the link")
    return 0


async def _open_page(place: DaemonFiles, environ: Mapping[str, str]) -> WebAddress:
    """Return the page's address; stop a daemon that was started for it and cannot serve it."""
    reached = await connect_if_running(place)
    daemon = reached or await launch_daemon(place, environ)
    try:
        return await daemon.open_web()
    except BaseException:
        if reached is None:
            await daemon.shutdown()
        raise
    finally:
        await daemon.aclose()


def can_show_browser(environ: Mapping[str, str]) -> bool:
    """Return True if a browser opened here would be visible to the user."""
    return not is_remote(environ) and (sys.platform == "darwin" or any(environ.get(name) for name in SCREENS))


def is_remote(environ: Mapping[str, str]) -> bool:
    """Return True if the user is connected over SSH."""
    return bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


def _port(found: WebAddress) -> str:
    return found.address.rpartition(":")[2]
