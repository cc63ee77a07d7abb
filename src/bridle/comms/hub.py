"""The comms hub: sends to peers by name, and listens for their messages.

```
send ─▶ find the peer ─┬─ in this process ─────────────────────────────────▶ its inbox
                       └─ seal ─▶ wire ═▶ unseal ─▶ for us, trusted, genuine? ─▶ its inbox ─▶ deliver
                                   ◀═ acknowledgement ◀────────────────────────────┘
```

A host, such as `bridle comms listen`, gets every message through `deliver`. Without one, messages wait in the
mailbox until a run takes them at the end of a turn.

An envelope that is not signed, not addressed to us, or not from a trusted peer is dropped without an answer.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from bridle.comms.address import Address, InprocAddress, TcpAddress, UnixAddress, check_name, parse_host
from bridle.comms.envelope import (
    Ack,
    BadEnvelope,
    Envelope,
    Kind,
    Message,
    Request,
    Response,
    Status,
    measure,
    read_id,
    seal,
    unseal,
)
from bridle.comms.identity import Identity, load_identity, peer_id
from bridle.comms.inbox import Inbox, Mailbox, ReceivedMessage, ReplayGuard, format_for_run
from bridle.comms.listener import open_listener
from bridle.comms.trust import Peer, Trust
from bridle.comms.wire import ACK_S, RECEIVE_S, PeerOffline, exchange
from bridle.core.errors import BridleError, ConfigError
from bridle.core.ids import SessionId
from bridle.core.server_views import PeerMessage, PeerView

# ---------------------------------------------------------------------------- registry
# The listeners of this process by name, which exchange messages without a connection.


class Receiver(Protocol):
    """An inbox or a mailbox."""

    def __len__(self) -> int: ...

    def put(self, item: ReceivedMessage) -> bool:
        """Add a message; return False if there is no room."""
        ...


class Registry:
    """Maps names to inboxes; one per process, or per group of listeners that may talk to each other."""

    def __init__(self) -> None:
        self._inboxes: dict[str, Receiver] = {}

    def add(self, name: str, inbox: Receiver) -> None:
        """Add a listener; raises ConfigError if the name is taken."""
        if name in self._inboxes:
            raise ConfigError(f'"{name}" is already listening in this process', hint="give it another name")
        self._inboxes[name] = inbox

    def remove(self, name: str) -> None:
        """Remove a listener."""
        self._inboxes.pop(name, None)

    def find(self, name: str) -> Receiver | None:
        """Return the inbox of a name; None if there is no such listener."""
        return self._inboxes.get(name)

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted(self._inboxes)


# ---------------------------------------------------------------------------- hub


IDENTITY_FOLDER = "identity"
TRUST_FILE = "trusted_peers.json"
_MAX_NAMED = 20

Deliver = Callable[[str, str], Awaitable[bool]]
"""Delivers a text to the model, with the sending peer's name; returns False if it was not accepted."""

log = logging.getLogger("bridle.comms")


class CommsOptions(Struct, frozen=True):
    """Our name, our files, and the addresses at which peers connect to us."""

    home: Path
    """BRIDLE_HOME: contains the key, the trusted peers and the socket."""
    name: str = "bridle"
    """Our name in this process, and the name of our socket."""
    tcp: str = ""
    """Listen at this HOST:PORT instead of a Unix socket."""
    other_machines: bool = False
    """Allow connections from other machines."""
    wired: bool = True
    """If False, only this process can connect to us, and no key is needed."""
    ack_s: float = ACK_S
    receive_s: float = RECEIVE_S


class Listener(Struct, frozen=True):
    """An open listener."""

    address: str
    inbox: Inbox
    dismissed: asyncio.Event
    """Set when a peer asks the host to end."""


class Comms:
    """One participant. Creating it is free: it reads files and loads libraries on first use."""

    def __init__(
        self, options: CommsOptions, new_id: Callable[[], str], registry: Registry | None = None
    ) -> None:
        """Create with our options, a function that makes UUIDs, and the listeners of this process."""
        self.name = check_name(options.name)
        self.trust = Trust(options.home / TRUST_FILE)
        self._options = options
        self._folder = options.home / "run" / "comms"
        self._new_id = new_id
        self._registry = registry or Registry()
        self._identity: Identity | None = None
        self._mailbox = Mailbox()
        self._opening = asyncio.Lock()  # so that it is opened once
        self._open: AsyncExitStack | None = None
        self._address = ""

    # ------------------------------------------------------------------ peers

    @property
    def address(self) -> UnixAddress | TcpAddress:
        """The address we listen at; raises ConfigError."""
        if not self._options.tcp:
            return UnixAddress(str(self._folder / f"{self.name}.sock"))
        if (found := parse_host(self._options.tcp)) is None:
            raise ConfigError(f'comms.address: "{self._options.tcp}" is not HOST:PORT')
        return found

    async def identity(self) -> Identity:
        """Return our identity, creating a key the first time; raises ConfigError."""
        if self._identity is None:
            self._identity = await asyncio.to_thread(load_identity, self._options.home / IDENTITY_FOLDER)
        return self._identity

    async def peers(self) -> list[PeerView]:
        """Return all peers that messages can be sent to, by name; raises ConfigError."""
        trusted = await asyncio.to_thread(self.trust.peers)
        names = {peer.name for peer in trusted} | {self.name}
        here = [
            PeerView(name, str(InprocAddress(name))) for name in self._registry.names() if name not in names
        ]
        known = [PeerView(peer.name, str(peer.address), peer_id(peer.public)) for peer in trusted]
        return sorted([*known, *here], key=lambda peer: peer.name)

    def has_peers(self) -> bool:
        """Return whether there is any peer to send to; blocking."""
        try:
            return bool(self.trust.peers()) or any(name != self.name for name in self._registry.names())
        except ConfigError:
            return False

    # ------------------------------------------------------------------ messages for runs

    async def open(self) -> str:
        """Listen for the runs of this process until `aclose`; return the address.

        Raises ConfigError if another process listens at it.
        """
        async with self._opening:
            if not self._address:
                async with AsyncExitStack() as stack:
                    self._address = await stack.enter_async_context(self._receive(self._mailbox))
                    self._open = stack.pop_all()
            return self._address

    async def aclose(self) -> None:
        """Stop listening for runs."""
        if self._open is not None:
            stack, self._open, self._address = self._open, None, ""
            await stack.aclose()

    @contextmanager
    def taking(self, session: SessionId) -> Iterator[None]:
        """Note that a session's run takes messages while the context is open."""
        self._mailbox.begin(session)
        try:
            yield
        finally:
            self._mailbox.end(session)

    def take(self, session: SessionId) -> str:
        """Return what has arrived for a session's run, as the text of one message; empty for nothing."""
        return format_for_run(self._of_trusted(self._mailbox.take(session)))

    async def arrival(self, session: SessionId) -> None:
        """Wait until something has arrived for a session's run."""
        await self._mailbox.arrival(session)

    def note_sent(self, session: SessionId, peer: str, request_id: str = "") -> None:
        """Remember that a session wrote to a peer, so that the peer's messages reach this session."""
        self._mailbox.note_sent(session, peer, request_id)

    # ------------------------------------------------------------------ sending

    async def send(self, to: str, body: str) -> str:
        """Send a text and wait until it has arrived; returns its id. Raises BridleError."""
        return await self._send(to, Message(body))

    async def request(
        self, to: str, intent: str, params: Any = None, session: SessionId | None = None
    ) -> str:
        """Send a request and wait until it has arrived; returns its id. Raises BridleError.

        The response comes later, as a separate message, when the peer is done: to this session's run.
        """
        request_id = self._new_id()
        if session is not None:  # now: the response may arrive before the acknowledgement
            self.note_sent(session, to, request_id)
        return await self._send(to, Request(intent, params), request_id)

    async def respond(self, to: str, in_reply_to: str, status: Status, result: Any = None) -> str:
        """Answer a request; returns the id of the answer. Raises BridleError.

        The protocol does not acknowledge answers: success only means that the answer was sent.
        """
        return await self._send(to, Response(read_id(in_reply_to), status, result))

    async def write(self, session: SessionId, message: PeerMessage) -> str:
        """Send a message for a session, which gets the replies; return its id. Raises BridleError."""
        match message.kind:
            case "message":
                self.note_sent(session, message.to)
                return await self.send(message.to, message.text)
            case "request":
                return await self.request(message.to, message.text, message.value, session)
            case "response":
                self.note_sent(session, message.to)
                return await self.respond(message.to, message.in_reply_to, message.status, message.value)

    async def find(self, name: str) -> PeerView:
        """Return a peer by name; raises ConfigError that lists the names there are."""
        peers = await self.peers()
        for peer in peers:
            if peer.name == name:
                return peer
        names = [peer.name for peer in peers]
        more = ", …" if len(names) > _MAX_NAMED else ""
        raise ConfigError(
            f"unknown peer {name[:80]!a}",
            hint=f"known peers: {', '.join(names[:_MAX_NAMED])}{more}" if names else "no trusted peers yet",
        )

    async def _send(self, to: str, kind: Kind, envelope_id: str = "") -> str:
        await self.find(to)
        envelope_id = envelope_id or self._new_id()
        peer = next((peer for peer in await asyncio.to_thread(self.trust.peers) if peer.name == to), None)
        if peer is None:
            self._hand_over(to, envelope_id, kind)
        elif isinstance(peer.address, InprocAddress):
            self._hand_over(peer.address.name, envelope_id, kind)
        else:
            await self._transmit(peer, peer.address, envelope_id, kind)
        return envelope_id

    def _hand_over(self, name: str, envelope_id: str, kind: Kind) -> None:
        inbox = self._registry.find(name)
        if inbox is None:
            raise PeerOffline(f'"{name}" does not listen in this process')
        if not inbox.put(ReceivedMessage(self.name, envelope_id, kind, measure(kind))):
            raise PeerOffline(f'the inbox of "{name}" is full', hint="try again later")

    async def _transmit(
        self, peer: Peer, address: UnixAddress | TcpAddress, envelope_id: str, kind: Kind
    ) -> None:
        identity = await self.identity()
        data = seal(identity, peer.public, kind, envelope_id)
        wants_answer = isinstance(kind, Message | Request)
        answer = await exchange(address, data, wants_answer=wants_answer, timeout_s=self._options.ack_s)
        if answer is None:
            return
        try:
            ack = unseal(answer)
        except BadEnvelope as error:
            raise PeerOffline(f"{address} does not follow the peer protocol") from error
        is_ours = (ack.sender, ack.receiver, ack.kind) == (peer.public, identity.public, Ack(envelope_id))
        if not is_ours or not ack.is_genuine:
            raise PeerOffline(f'the program at {address} is not "{peer.name}"')

    # ------------------------------------------------------------------ listening

    @asynccontextmanager
    async def listening(self, deliver: Deliver, *, host: bool = False) -> AsyncIterator[Listener]:
        """Listen while the context is open, and deliver what arrives, one item at a time.

        Messages that one peer sends during a delivery are joined. With `host`, the message DISMISS is not
        delivered: it asks the host to end. Raises ConfigError if we cannot listen. A BridleError from
        `deliver` is logged; any other exception ends the context, as an ExceptionGroup.
        """
        inbox, dismissed = Inbox(self._mailbox), asyncio.Event()
        async with self._receive(inbox) as address, asyncio.TaskGroup() as group:
            self._address = address
            pump = group.create_task(self._deliver_all(inbox, deliver, dismissed if host else None))
            try:
                yield Listener(address, inbox, dismissed)
            finally:
                self._address = ""
                pump.cancel()

    @asynccontextmanager
    async def _receive(self, inbox: Receiver) -> AsyncIterator[str]:
        """Put what arrives into an inbox while the context is open; yields our address."""
        self._registry.add(self.name, inbox)
        try:
            async with self._wire(inbox) as address:
                yield str(address)
        finally:
            self._registry.remove(self.name)
            if len(inbox):
                log.warning("unread messages: %d", len(inbox))

    @asynccontextmanager
    async def _wire(self, inbox: Receiver) -> AsyncIterator[Address]:
        options = self._options
        if not options.wired:
            yield InprocAddress(self.name)
            return
        identity = await self.identity()
        seen = ReplayGuard(self._folder / f"{self.name}.seen")
        await asyncio.to_thread(seen.load)

        async def take(data: bytes) -> bytes | None:
            return await self._take(data, identity, inbox, seen)

        async with open_listener(
            self.address, take, other_machines=options.other_machines, receive_s=options.receive_s
        ) as address:
            yield address

    async def _take(
        self, data: bytes, identity: Identity, inbox: Receiver, seen: ReplayGuard
    ) -> bytes | None:
        """Check an envelope and put it into the inbox; returns the acknowledgement, if one is due."""
        try:
            judged = await asyncio.to_thread(self._judge, data, identity)
        except BadEnvelope:
            return None
        except ConfigError as error:
            log.warning("no peer is trusted: %s", error)
            return None
        if judged is None:
            return None
        peer, envelope = judged
        if not seen.has(peer.public, envelope.id):
            if not inbox.put(ReceivedMessage(peer.name, envelope.id, envelope.kind, len(data), peer.public)):
                return None
            seen.add(peer.public, envelope.id)
            await self._keep(seen, peer, envelope)
        if isinstance(envelope.kind, Response):
            return None
        return seal(identity, peer.public, Ack(envelope.id), self._new_id())

    async def _keep(self, seen: ReplayGuard, peer: Peer, envelope: Envelope) -> None:
        try:
            await asyncio.to_thread(seen.keep, peer.public, envelope.id)
        except ConfigError as error:  # it has arrived, so it is still acknowledged
            log.warning("a message might be accepted twice after a restart: %s", error)

    def _judge(self, data: bytes, identity: Identity) -> tuple[Peer, Envelope] | None:
        envelope = unseal(data)
        if envelope.receiver != identity.public or isinstance(envelope.kind, Ack):
            return None
        for peer in self.trust.peers():
            if peer.public == envelope.sender:
                return (peer, envelope) if envelope.is_genuine else None
        return None

    def _of_trusted(self, items: list[ReceivedMessage]) -> list[ReceivedMessage]:
        """Return the messages of those who are still trusted; blocking, but only for a look at the file."""
        try:
            keys = {peer.public for peer in self.trust.peers()}
        except ConfigError as error:
            log.warning("no peer is trusted: %s", error)
            keys = set()
        return [item for item in items if not item.key or item.key in keys]

    async def _deliver_all(self, inbox: Inbox, deliver: Deliver, dismissed: asyncio.Event | None) -> None:
        while True:
            items = self._of_trusted(await inbox.take())
            if not items:
                continue
            if dismissed is not None and items[0].dismisses:
                dismissed.set()
                continue
            try:
                was_taken = await deliver("\n\n".join(item.text for item in items), items[0].peer)
            except BridleError as error:
                log.warning("a message from %s could not be delivered: %s", items[0].peer, error)
                continue
            if not was_taken:
                log.warning("a message from %s was rejected", items[0].peer)
