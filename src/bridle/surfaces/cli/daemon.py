"""`bridle daemon`: start, stop and inspect the background process that owns sessions."""

import argparse
import asyncio
import logging
import os
import shlex
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from msgspec import json

from bridle.config.settings import Settings, load_settings
from bridle.core.errors import BridleError
from bridle.core.queries import Servers
from bridle.core.server_views import ServerView
from bridle.surfaces.cli.output.log import LogFormatter, stderr_handler
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.launcher import connect_if_running, end_daemon, launch_daemon
from bridle.surfaces.remote.asks import DaemonStatus
from bridle.surfaces.shared.terminal import Console, cut, one_line
from bridle.surfaces.shared.text_format import format_count, short_id

LOG_BYTES = 5 * 1024 * 1024
LOG_FILES = 3
LOG_LAYOUT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
FOLLOW_S = 0.2


def run_daemon(args: argparse.Namespace, console: Console) -> int:
    """Run the daemon in the foreground."""
    from bridle.surfaces.daemon.forced_exit import exit_after
    from bridle.surfaces.daemon.kontekst import adapt_settings
    from bridle.surfaces.daemon.process import Daemon

    environ = _environment(args, console)
    settings = load_settings(environ, Path("/"))
    _log_to(DaemonFiles(settings.home), background=args.background)
    settings = adapt_settings(settings)

    async def serve() -> int:
        status = await Daemon(settings, environ).run()
        if settings.scale.enabled:
            exit_after(status)
        return status

    return asyncio.run(serve())


def _environment(args: argparse.Namespace, console: Console) -> Mapping[str, str]:
    """Return the environment of the daemon: with `--config`, that of a Kontekst installation."""
    if not args.config:
        return console.environ
    from bridle.surfaces.daemon.kontekst import make_kontekst_home

    return make_kontekst_home(args.config, console.environ)


def start_daemon(args: argparse.Namespace, console: Console) -> int:
    """Start the daemon in the background."""
    environ = _environment(args, console)
    _launch(environ, console)
    if args.config:
        console.hint(f"other commands use it with BRIDLE_HOME={shlex.quote(environ['BRIDLE_HOME'])}")
    return 0


def _launch(environ: Mapping[str, str], console: Console) -> None:
    place = DaemonFiles(load_settings(environ, Path("/")).home)

    async def begin() -> tuple[int, bool]:
        daemon = await connect_if_running(place)
        is_new = daemon is None
        daemon = daemon or await launch_daemon(place, environ)
        await daemon.aclose()
        return daemon.daemon.pid, is_new

    pid, is_new = asyncio.run(begin())
    console.out.line(f"the daemon is {'' if is_new else 'already '}running (process {pid})")


def stop_daemon(args: argparse.Namespace, console: Console) -> int:
    """Stop the daemon; the web page it served stays off until it is requested again."""
    _end(console)
    DaemonFiles(_settings(console).home).forget_web()
    return 0


def restart_daemon(args: argparse.Namespace, console: Console) -> int:
    """Restart the daemon with the version installed now; open web pages reconnect."""
    _end(console)
    _launch(console.environ, console)
    return 0


def _end(console: Console) -> None:
    settings = _settings(console)
    pid = asyncio.run(end_daemon(DaemonFiles(settings.home), float(settings.serve.shutdown_timeout)))
    console.out.line(f"the daemon stopped (process {pid})" if pid else "the daemon is not running")


def show_status(args: argparse.Namespace, console: Console) -> int:
    """Show the daemon's status; exit code 1 if none runs."""
    status, servers = asyncio.run(_status_here(DaemonFiles(_settings(console).home)))
    if args.json:
        console.out.json(json.encode(status))
    elif status is None:
        console.out.line("the daemon is not running")
    else:
        for line in (*_status_lines(status), *_server_lines(servers)):
            console.out.line(line)
    return 0 if status is not None else 1


def list_live(args: argparse.Namespace, console: Console) -> int:
    """List the sessions that the daemon has in memory."""
    status = asyncio.run(_status(DaemonFiles(_settings(console).home)))
    sessions = status.sessions if status is not None else ()
    if args.json:
        console.out.json(json.encode(sessions))
    elif status is None:
        console.err.line("the daemon is not running")
        console.hint("bridle daemon start")
    elif not sessions:
        console.err.line("the daemon has no open sessions")
    for session in () if args.json else sessions:
        state = console.out.paint(
            "warning" if session.state == "waiting" else "detail", f"{session.state:<8}"
        )
        title = cut(one_line(session.title), max(20, console.out.width - 60))
        watchers = format_count(session.watchers, "watcher")
        console.out.line(f"{short_id(session.id)}  {state} {session.model:<28} {watchers:<11} {title}")
    return 0


def show_log(args: argparse.Namespace, console: Console) -> int:
    """Show the end of the daemon's log, and with `--follow` what is added."""
    log = DaemonFiles(_settings(console).home).log
    if not log.exists():
        raise BridleError(f"no log yet: {log}", hint="bridle daemon start")
    for text in _end_of(log, max(0, args.lines), follow=args.follow):
        console.out.data(text)
        console.out.flush()
    return 0


def install(args: argparse.Namespace, console: Console) -> int:
    """Print a unit file that makes the system start the daemon."""
    kind = args.kind or ("launchd" if sys.platform == "darwin" else "systemd")
    home = _settings(console).home
    console.out.write(_launchd(home) if kind == "launchd" else _systemd(home))
    if console.out.is_terminal:
        name = "systemctl --user enable --now bridle" if kind == "systemd" else "launchctl load FILE"
        where = (
            "~/.config/systemd/user/bridle.service"
            if kind == "systemd"
            else "~/Library/LaunchAgents/bridle.plist"
        )
        console.hint(f"save this as {where}, then run: {name}")
    return 0


# ---------------------------------------------------------------------------- details


def _settings(console: Console) -> Settings:
    """Return the user's own settings: the daemon belongs to no project."""
    return load_settings(console.environ, Path("/"))


async def _status(place: DaemonFiles) -> DaemonStatus | None:
    daemon = await connect_if_running(place)
    if daemon is None:
        return None
    try:
        return await daemon.status()
    finally:
        await daemon.aclose()


async def _status_here(place: DaemonFiles) -> tuple[DaemonStatus | None, Sequence[ServerView]]:
    """Return the daemon's status, and that of the servers it started for the working directory."""
    daemon = await connect_if_running(place)
    if daemon is None:
        return None, ()
    try:
        status = await daemon.status()
        with suppress(BridleError):  # unreadable settings are reported by other commands
            return status, await daemon.ask(Servers(resolve_directory()))
        return status, ()
    finally:
        await daemon.aclose()


def _server_lines(servers: Sequence[ServerView]) -> list[str]:
    started = [view for view in servers if view.state not in ("off", "untrusted", "idle")]
    return [
        f"  {view.kind:<8}  {view.name} is {view.state}"
        + (f", process {view.pid}" if view.pid else "")
        + (f": {one_line(view.detail)}" if view.detail and view.state != "ready" else "")
        for view in started
    ]


def _status_lines(status: DaemonStatus) -> list[str]:
    running = sum(session.state == "running" for session in status.sessions)
    waiting = sum(session.state == "waiting" for session in status.sessions)
    return [
        f"the daemon is {'stopping' if status.is_stopping else 'running'}",
        f"  version   {status.version}",
        f"  process   {status.pid}, {status.memory_bytes / 1024**2:.0f} MB",
        f"  up        {_duration(time.time() - status.started_at / 1000)}",
        f"  home      {status.home}",
        f"  socket    {status.socket}",
        *(f"  listens   {where}" for where in status.listening),
        f"  sessions  {running} running, {waiting} waiting, {len(status.sessions) - running - waiting} idle",
        f"  clients   {status.clients}",
    ]


def _duration(seconds: float) -> str:
    whole = max(0, int(seconds))
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


def _log_to(place: DaemonFiles, *, background: bool) -> None:
    place.make_folders()
    handler = stderr_handler(LOG_LAYOUT)
    if background:
        handler = RotatingFileHandler(place.log, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
        handler.setFormatter(LogFormatter(LOG_LAYOUT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _systemd(home: Path) -> str:
    return f"""[Unit]
Description=Bridle, a runtime for LLM agents

[Service]
ExecStart={_quoted(sys.executable)} -P -m bridle daemon run
Environment={_quoted(f"BRIDLE_HOME={home}")}
Restart=on-failure

[Install]
WantedBy=default.target
"""


def _quoted(word: str) -> str:
    """Quote a word for systemd, which interprets quotes, backslashes and percent signs."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{plain}"' if plain != word or " " in word else word


def _end_of(log: Path, lines: int, *, follow: bool) -> Iterator[str]:
    """Yield a log's last lines; with `run_follower`, then what is added, across rotations."""
    file = open(log, encoding="utf-8", errors="replace")  # noqa: SIM115  closed below
    try:
        yield from deque(file, maxlen=lines)
        while follow:
            if text := file.read():
                yield text
            elif _is_rotated(log, file):
                file.close()
                file = open(log, encoding="utf-8", errors="replace")  # noqa: SIM115  closed below
            else:
                time.sleep(FOLLOW_S)
    finally:
        file.close()


def _is_rotated(log: Path, file: TextIO) -> bool:
    with suppress(FileNotFoundError):  # in a rotation, the new file appears a moment later
        return os.stat(log).st_ino != os.fstat(file.fileno()).st_ino
    return False


def _launchd(home: Path) -> str:
    from xml.sax.saxutils import escape

    words = "".join(
        f"    <string>{escape(word)}</string>\n"
        for word in (sys.executable, "-P", "-m", "bridle", "daemon", "run")
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>Label</key><string>bridle</string>
  <key>ProgramArguments</key><array>
{words}  </array>
  <key>EnvironmentVariables</key><dict>
    <key>BRIDLE_HOME</key><string>{escape(str(home))}</string>
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict></plist>
"""
