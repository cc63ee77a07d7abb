"""`bridle comms`: peer identity and trust, sending a message to a peer, and an agent that answers peers."""

import argparse
import asyncio
from pathlib import Path

from msgspec import Struct, json

from bridle.app import open_comms
from bridle.comms.address import check_name, parse_address
from bridle.comms.hub import Comms, Listener
from bridle.comms.identity import parse_peer_id
from bridle.comms.trust import Peer
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import BridleError, ConfigError, UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, RunOptions
from bridle.core.queries import ListSessions, Status
from bridle.core.session_api import SessionApi
from bridle.surfaces.cli.approver import Approver, open_approver
from bridle.surfaces.cli.options import check_rules, resolve_options
from bridle.surfaces.cli.output.data import print_json, write_table
from bridle.surfaces.cli.output.run_view import RunView
from bridle.surfaces.cli.run import report
from bridle.surfaces.cli.run_follower import Follower
from bridle.surfaces.cli.session_lookup import find_session, resolve_directory
from bridle.surfaces.shared.terminal import Console

HEADINGS = ("PEER", "PEER ID", "ADDRESS")


class PeerIdentity(Struct, frozen=True):
    """The output of `comms id --json`."""

    peer_id: str
    address: str


def show_id(args: argparse.Namespace, console: Console) -> int:
    """Print our peer id and address; creates a key on first use."""
    comms = open_comms(_settings(console))
    shown = PeerIdentity(asyncio.run(comms.identity()).peer_id, str(comms.address))
    if args.json:
        console.out.json(json.encode(shown))
    else:
        console.out.line(f"{shown.peer_id} {shown.address}")
    return 0


def trust(args: argparse.Namespace, console: Console) -> int:
    """Trust a peer."""
    peer = Peer(check_name(args.name), parse_peer_id(args.peer_id), parse_address(args.address))
    open_comms(_settings(console)).trust.add(peer)
    console.done(f"{peer.name} is trusted")
    return 0


def untrust(args: argparse.Namespace, console: Console) -> int:
    """Stop trusting a peer."""
    name = check_name(args.name)
    if not open_comms(_settings(console)).trust.remove(name):
        raise ConfigError(f"unknown peer {name}", hint="bridle comms peers")
    console.done(f"{name} is no longer trusted")
    return 0


def list_peers(args: argparse.Namespace, console: Console) -> int:
    """List the trusted peers."""
    peers = asyncio.run(open_comms(_settings(console)).peers())
    if args.json:
        print_json(console.out, peers)
    elif peers:
        write_table(console.out, HEADINGS, [(peer.name, peer.peer_id, peer.address) for peer in peers])
    else:
        console.err.line("no trusted peers yet")
        console.hint("bridle comms trust NAME PEER_ID ADDRESS")
    return 0


def send(args: argparse.Namespace, console: Console) -> int:
    """Send a message and wait until it is delivered."""
    asyncio.run(open_comms(_settings(console)).send(args.name, " ".join(args.text)))
    console.done(f"{args.name} has it")
    return 0


def listen(args: argparse.Namespace, console: Console) -> int:
    """Let an agent answer messages from peers until a peer, the limit or the user ends it."""
    if args.limit < 1:
        raise UsageError("--limit must be 1 or more")
    cwd = resolve_directory()
    options = RunOptions(
        model=args.model,
        mode=args.mode,
        allow=check_rules("allow", args.allow),
        ask=check_rules("ask", args.ask),
        deny=check_rules("deny", args.deny),
    )
    host = PeerListener(console, args, resolve_options(options, cwd, console.environ), cwd)
    try:
        return asyncio.run(host.run())
    finally:
        host.close()


# ---------------------------------------------------------------------------- the host


class PeerListener:
    """Turns messages from peers into prompts, one at a time."""

    def __init__(self, console: Console, args: argparse.Namespace, options: RunOptions, cwd: str) -> None:
        self._console = console
        self._args = args
        self._options = options
        self._cwd = cwd
        self._sessions: dict[str, SessionId] = {}
        self._service: SessionApi | None = None
        self._approver: Approver | None = None if args.no_run else open_approver(console.environ)
        self._left = args.limit
        self._ended = asyncio.Event()
        self._was_cancelled = False

    async def run(self) -> int:
        """Listen until dismissed, at the limit or cancelled; return the exit code."""
        comms = open_comms(_settings(self._console))
        if not self._args.no_run:
            self._service = self._open_service(comms)
        try:
            if self._args.session is not None and self._service is not None:
                sessions = await self._service.ask(ListSessions(archived=True))
                self._sessions[""] = find_session(sessions, self._args.session).id
            async with comms.listening(self.deliver, host=True) as opened:
                self._console.err.line(f"listening at {opened.address}")
                self._console.err.flush()
                await self._until_over(opened)
        finally:
            if self._service is not None:
                await self._service.aclose()
        return 130 if self._was_cancelled else 0

    async def deliver(self, text: str, peer: str) -> bool:
        """Print a peer's message and let the agent act on it; return False once listening has ended."""
        if self._ended.is_set():
            return False
        self._console.out.data(f"{text}\n")
        self._console.out.flush()
        if self._service is not None:
            try:
                await self._answer(self._service, text, peer)
            except BridleError as error:
                self._console.fail(error.message, error.hint)
        self._left -= 1
        if not self._left:
            self._ended.set()
        return True

    def close(self) -> None:
        """Close the terminal."""
        if self._approver is not None:
            self._approver.close()

    async def _answer(self, service: SessionApi, text: str, peer: str) -> None:
        session = self._sessions.get("") or self._sessions.get(peer)
        if session is None:
            agent = self._args.agent or ""
            session = await service.create(
                cwd=self._cwd, agent=agent, title=f"peer {peer}", options=self._options.of_session
            )
            self._sessions[peer] = session
        last_seq = (await service.ask(Status(session))).seq
        view = RunView(self._console, answer="streamed", chatty=self._console.err.is_terminal, verbose=False)
        command = Prompt(user_message(text), self._options, if_busy="reject")
        result = await Follower(service, session, view, self._approver).run(command, last_seq)
        report(self._console, result)
        if result.outcome == "cancelled":
            self._was_cancelled = True
            self._ended.set()

    async def _until_over(self, opened: Listener) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (opened.dismissed, self._ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _open_service(self, comms: Comms) -> SessionApi:
        """Open a service in this process, with comms on so that its agents can answer."""
        from bridle.app import Extensions, open_service
        from bridle.surfaces.cli.models import weights_notice

        mode = _settings(self._console).comms.mode
        flags = {"comms.mode": "unix" if mode == "off" else mode}
        settings = load_settings(self._console.environ, Path(self._cwd), flags)
        for warning in settings.warnings:
            self._console.warn(warning)
        return open_service(
            settings, self._console.environ, weights_notice(self._console), Extensions(comms=comms)
        )


# ---------------------------------------------------------------------------- details


def _settings(console: Console) -> Settings:
    """Return the user's own settings: the key and the trusted peers belong to no project."""
    return load_settings(console.environ, Path("/"))
