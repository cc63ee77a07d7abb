import asyncio
import logging
import os
import sys
from pathlib import Path
from uuid import UUID

import pytest

from bridle.comms import cbor
from bridle.comms.address import TcpAddress, UnixAddress, parse_address
from bridle.comms.envelope import Ack, Kind, Message, Request, Response, seal, unseal
from bridle.comms.hub import Comms, Listener, Registry
from bridle.comms.identity import Identity
from bridle.comms.inbox import MAX_WAITING
from bridle.comms.trust import Peer
from bridle.comms.wire import PeerOffline, exchange, frame, read_frame
from bridle.core.errors import BridleError, ConfigError
from bridle.core.ids import SessionId
from bridle.core.server_views import PeerView
from tests.comms.conftest import Delivered, make_comms, new_id, trust_each_other
from tests.patience import PATIENCE_S

NOWHERE = "uds:///nowhere/a.sock"
KINDS = ["unix", "tcp"]


@pytest.fixture
def one(tmp_path: Path) -> Comms:
    """Yield a sender."""
    return make_comms(tmp_path / "one", name="one")


@pytest.fixture(params=KINDS)
def other(tmp_path: Path, request: pytest.FixtureRequest) -> Comms:
    """Yield a listener."""
    return make_comms(tmp_path / "other", name="other", tcp="127.0.0.1:0" if request.param == "tcp" else "")


def real(listening: Listener) -> UnixAddress | TcpAddress:
    """Return where a listener is."""
    address = parse_address(listening.address)
    assert isinstance(address, UnixAddress | TcpAddress)
    return address


# ---------------------------------------------------------------------------- what arrives


async def test_words_requests_and_answers_arrive(one: Comms, other: Comms, delivered: Delivered):
    back = Delivered()
    async with one.listening(back) as mine, other.listening(delivered) as theirs:
        await trust_each_other(one, mine.address, other, theirs.address)

        await one.send("other", "hello")
        words = await delivered.next()
        request_id = await one.request("other", "review", {"pr": 42})
        request = await delivered.next()
        await other.respond("one", request_id.upper(), "completed", {"approved": True})
        response = await back.next()

    assert words == ("[COMMS MESSAGE from one]\nhello", "one")
    assert request == (
        (
            f'[COMMS REQUEST from one (id: {request_id})]\nIntent: review\nParams: {{\n  "pr": 42\n}}\n\n'
            f'To respond, use peer_respond with to="one", in_reply_to="{request_id}"'
        ),
        "one",
    )
    assert response == (
        (
            f"[COMMS RESPONSE from other (to request: {request_id})]\n"
            'Status: completed\nResult: {\n  "approved": true\n}'
        ),
        "other",
    )


async def test_what_comes_meanwhile_is_joined(one: Comms, other: Comms):
    texts, entered, go = [], asyncio.Event(), asyncio.Event()

    async def deliver(text: str, peer: str) -> bool:
        texts.append(text)
        entered.set()
        await go.wait()
        return True

    async with other.listening(deliver) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        await one.send("other", "1")
        await entered.wait()
        await one.send("other", "2")
        await one.send("other", "3")
        entered.clear()
        go.set()
        await entered.wait()

    head = "[COMMS MESSAGE from one]\n"
    assert texts == [f"{head}1", f"{head}2\n\n{head}3"]


async def test_the_largest_message_arrives(one: Comms, other: Comms, delivered: Delivered):
    async with other.listening(delivered) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        await one.send("other", "x" * 1_048_000)

        text, _ = await delivered.next()

    assert text.endswith("more characters are left out]")


async def test_a_host_is_dismissed_and_somebody_else_reads_it(one: Comms, other: Comms, delivered: Delivered):
    async with other.listening(delivered, host=True) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        await one.send("other", "DISMISS")
        await asyncio.wait_for(theirs.dismissed.wait(), PATIENCE_S)
        await one.send("other", "bye")
        assert await delivered.next() == ("[COMMS MESSAGE from one]\nbye", "one")
    async with other.listening(delivered) as theirs:
        one.trust.add(Peer("other", (await other.identity()).public, real(theirs)))
        await one.send("other", "DISMISS")
        assert await delivered.next() == ("[COMMS MESSAGE from one]\nDISMISS", "one")
        assert not theirs.dismissed.is_set()


# ---------------------------------------------------------------------------- what does not


async def refused(listening: Listener, envelope: bytes) -> bool:
    """Return whether an envelope gets no answer and has no effect."""
    before = len(listening.inbox)
    with pytest.raises(PeerOffline, match="did not accept it"):
        await exchange(real(listening), envelope, wants_answer=True, timeout_s=10)
    return len(listening.inbox) == before


async def test_only_what_is_genuine_trusted_and_for_us_is_taken(
    one: Comms, other: Comms, delivered: Delivered
):
    stranger = Identity(bytes(32))
    async with other.listening(delivered) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        us, them = await one.identity(), (await other.identity()).public
        good = seal(us, them, Message("hi"), new_id())
        fields = cbor.decode(good)
        forged = cbor.encode({**fields, "kind": {"type": "message", "body": "ho"}})
        impostor = cbor.encode({**fields, "sig": stranger.sign(b"anything")})
        misaddressed = seal(us, stranger.public, Message("hi"), new_id())
        untrusted = seal(stranger, them, Message("hi"), new_id())
        acknowledgement = seal(us, them, Ack(new_id()), new_id())

        for bad in (forged, impostor, misaddressed, untrusted, acknowledgement, good[:-1], b"x", b"\xa0"):
            assert await refused(theirs, bad)
        assert delivered.is_empty
        assert await exchange(real(theirs), good, wants_answer=True) is not None
        assert await delivered.next() == ("[COMMS MESSAGE from one]\nhi", "one")


async def test_an_acknowledgement_says_what_it_is_for_and_is_signed(
    one: Comms, other: Comms, delivered: Delivered
):
    async with other.listening(delivered) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        us, them = await one.identity(), (await other.identity()).public
        envelope_id = new_id()

        for kind in (Message("hi"), Request("do")):
            answer = await exchange(real(theirs), seal(us, them, kind, envelope_id), wants_answer=True)
            assert answer is not None
            ack = unseal(answer)
            assert (ack.sender, ack.receiver, ack.kind) == (them, us.public, Ack(envelope_id))
            assert ack.is_genuine


async def test_an_answer_is_taken_without_a_word(one: Comms, other: Comms, delivered: Delivered):
    async with other.listening(delivered) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        us, them = await one.identity(), (await other.identity()).public
        envelope = seal(us, them, Response(new_id(), "failed"), new_id())

        with pytest.raises(PeerOffline, match="did not accept it"):
            await exchange(real(theirs), envelope, wants_answer=True)
        assert (await delivered.next())[1] == "one"


async def test_what_is_sent_again_is_acknowledged_and_not_delivered_again(
    one: Comms, other: Comms, delivered: Delivered
):
    them = (await other.identity()).public
    us = await one.identity()
    envelope = seal(us, them, Message("pay"), new_id())
    other.trust.add(Peer("one", us.public, UnixAddress("/nowhere")))
    async with other.listening(delivered) as theirs:
        copies = [exchange(real(theirs), envelope, wants_answer=True) for _ in range(5)]
        assert None not in await asyncio.gather(*copies)
        assert await delivered.next() == ("[COMMS MESSAGE from one]\npay", "one")
    async with other.listening(delivered) as theirs:  # a restart
        assert await exchange(real(theirs), envelope, wants_answer=True) is not None
        assert (
            await exchange(real(theirs), seal(us, them, Message("last"), new_id()), wants_answer=True)
            is not None
        )

        assert await delivered.next() == ("[COMMS MESSAGE from one]\nlast", "one")
    assert delivered.is_empty


async def test_who_is_not_trusted_any_more_is_not_heard(one: Comms, other: Comms, delivered: Delivered):
    async with other.listening(delivered) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        await one.send("other", "hello")
        other.trust.remove("one")

        with pytest.raises(PeerOffline, match="did not accept it"):
            await one.send("other", "are you there")
        assert await delivered.next() == ("[COMMS MESSAGE from one]\nhello", "one")
    assert delivered.is_empty


async def test_messages_that_wait_are_dropped_when_their_peer_is_no_longer_trusted(one: Comms, other: Comms):
    address = await other.open()
    await trust_each_other(one, NOWHERE, other, address)
    await one.send("other", "hello")
    other.trust.remove("one")

    assert other.take(SessionId("s")) == ""
    await other.aclose()


async def test_a_host_does_not_get_them_either(one: Comms, other: Comms):
    texts: list[str] = []

    async def deliver(text: str, peer: str) -> bool:
        texts.append(text)
        await one.send("other", "while you are busy")
        other.trust.remove("one")
        dropped.set()
        return True

    dropped = asyncio.Event()
    async with other.listening(deliver) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        await one.send("other", "first")
        await dropped.wait()
        while len(theirs.inbox):  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0)

    assert texts == ["[COMMS MESSAGE from one]\nfirst"]


async def test_a_broken_trust_file_trusts_nobody(
    one: Comms, other: Comms, delivered: Delivered, caplog: pytest.LogCaptureFixture
):
    async with other.listening(delivered) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        other.trust.path.write_text("{")

        with caplog.at_level(logging.WARNING), pytest.raises(PeerOffline):
            await one.send("other", "hello")

    assert delivered.is_empty
    assert "no peer is trusted" in caplog.text


async def test_a_flood_fills_the_inbox_and_no_more(tmp_path: Path):
    one, other = make_comms(tmp_path / "one"), make_comms(tmp_path / "other")
    entered, go, drained = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def stuck(text: str, peer: str) -> bool:
        entered.set()
        await go.wait()
        if not len(theirs.inbox):
            drained.set()
        return True

    async with other.listening(stuck) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        us, them = await one.identity(), (await other.identity()).public
        await one.send("other", "first")
        await entered.wait()
        places = asyncio.Semaphore(32)

        async def flood(number: int) -> bool:
            async with places:
                try:
                    envelope = seal(us, them, Message(str(number)), new_id())
                    await exchange(real(theirs), envelope, wants_answer=True)
                except PeerOffline:
                    return False
                return True

        taken = await asyncio.gather(*map(flood, range(2000)))

        assert sum(taken) == len(theirs.inbox) == MAX_WAITING
        go.set()
        await asyncio.wait_for(drained.wait(), PATIENCE_S)
        await one.send("other", "there is room again")


@pytest.mark.parametrize("answer", ["ok", ConfigError("the session is gone"), False])
async def test_a_delivery_that_fails_does_not_stop_the_others(
    one: Comms, other: Comms, caplog: pytest.LogCaptureFixture, answer: object
):
    texts: asyncio.Queue[str] = asyncio.Queue()

    async def deliver(text: str, peer: str) -> bool:
        await texts.put(text)
        if isinstance(answer, BridleError):
            raise answer
        return bool(answer)

    async with other.listening(deliver) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        for body in ("1", "2"):
            await one.send("other", body)
            assert await texts.get() == f"[COMMS MESSAGE from one]\n{body}"

    assert bool(caplog.text) == (answer != "ok")


# ---------------------------------------------------------------------------- who sends


async def test_only_the_right_peer_can_acknowledge(one: Comms, tmp_path: Path):
    them, thief = Identity(bytes([1]) * 32), Identity(bytes([2]) * 32)
    us = await one.identity()
    answers: list[bytes] = []

    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = unseal(await read_frame(reader))
        kind: Kind = Ack(request.id)
        liars = {
            "wrong key": seal(thief, us.public, kind, new_id()),
            "wrong message": seal(them, us.public, Ack(new_id()), new_id()),
            "wrong receiver": seal(them, thief.public, kind, new_id()),
            "wrong kind": seal(them, us.public, Message("ack"), new_id()),
            "not signed": cbor.encode(
                {**cbor.decode(seal(them, us.public, kind, new_id())), "sig": bytes(64)}
            ),
            "garbage": b"garbage",
            "true": seal(them, us.public, kind, new_id()),
        }
        answers.append(liars[cast(request.kind)])
        writer.write(frame(answers[-1]))
        writer.close()

    def cast(kind: Kind) -> str:
        assert isinstance(kind, Message)
        return kind.body

    server = await asyncio.start_server(lie, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    one.trust.add(Peer("other", them.public, TcpAddress("127.0.0.1", port)))
    try:
        for body in ("wrong key", "wrong message", "wrong receiver", "wrong kind", "not signed"):
            with pytest.raises(PeerOffline, match='is not "other"'):
                await one.send("other", body)
        with pytest.raises(PeerOffline, match="does not follow the peer protocol"):
            await one.send("other", "garbage")
        assert UUID(await one.send("other", "true")).version == 7
    finally:
        server.close()


async def test_an_unknown_peer_is_named_with_those_there_are(one: Comms):
    with pytest.raises(ConfigError, match="unknown peer 'other'") as none:
        await one.send("other", "hi")
    one.trust.add(Peer("anna", bytes(32), UnixAddress("/a")))
    with pytest.raises(ConfigError) as caught:
        await one.request("other", "hi")

    assert (none.value.hint, caught.value.hint) == ("no trusted peers yet", "known peers: anna")


# ---------------------------------------------------------------------------- in one process


async def test_those_of_one_process_need_neither_wire_nor_key(tmp_path: Path, delivered: Delivered):
    registry = Registry()
    anna = make_comms(tmp_path, registry, name="anna", wired=False)
    bert = make_comms(tmp_path, registry, name="bert", wired=False)
    async with bert.listening(delivered) as theirs:
        assert theirs.address == "inproc://bert"
        assert await anna.peers() == [PeerView("bert", "inproc://bert")]
        assert (anna.has_peers(), bert.has_peers()) == (True, False)
        await anna.send("bert", "hello")
        assert await delivered.next() == ("[COMMS MESSAGE from anna]\nhello", "anna")
        with pytest.raises(BridleError, match="at most"):
            await anna.send("bert", "x" * 2_000_000)

    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError, match="unknown peer 'bert'"):
        await anna.send("bert", "still there?")


async def test_a_name_is_taken_once_in_a_process(tmp_path: Path, delivered: Delivered):
    registry = Registry()
    first, second = (make_comms(tmp_path, registry, name="anna", wired=False) for _ in range(2))
    async with first.listening(delivered):
        with pytest.raises(ConfigError, match='"anna" is already listening in this process'):
            async with second.listening(delivered):
                raise AssertionError("both listen")
        assert registry.names() == ["anna"]
    assert registry.names() == []


async def test_an_inbox_of_this_process_has_a_bound(tmp_path: Path):
    registry = Registry()
    anna = make_comms(tmp_path, registry, name="anna", wired=False)
    bert = make_comms(tmp_path, registry, name="bert", wired=False)
    entered = asyncio.Event()

    async def stuck(text: str, peer: str) -> bool:
        entered.set()
        await asyncio.Event().wait()
        return True

    async with bert.listening(stuck) as theirs:
        await anna.send("bert", "first")
        await entered.wait()
        for number in range(MAX_WAITING):
            await anna.send("bert", str(number))
        with pytest.raises(PeerOffline, match='the inbox of "bert" is full'):
            await anna.send("bert", "one more")
        assert len(theirs.inbox) == MAX_WAITING


# ---------------------------------------------------------------------------- ending


async def test_what_was_taken_is_acknowledged_although_the_listener_leaves(one: Comms, other: Comms):
    came = asyncio.Event()

    async def deliver(text: str, peer: str) -> bool:
        came.set()
        return True

    async with other.listening(deliver) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        sending = asyncio.create_task(one.send("other", "the last one"))
        await came.wait()

    assert UUID(await sending).version == 7


async def test_nothing_is_acknowledged_that_nobody_could_deliver_any_more(one: Comms, other: Comms):
    async def broken(text: str, peer: str) -> bool:
        raise BrokenPipeError("nobody reads the output")

    async def listen() -> None:
        async with other.listening(broken) as theirs:
            await trust_each_other(one, NOWHERE, other, theirs.address)
            await one.send("other", "1")
            await asyncio.Event().wait()

    with pytest.raises(ExceptionGroup) as caught:
        await listen()
    assert caught.group_contains(BrokenPipeError)
    with pytest.raises(PeerOffline, match="nothing is listening"):
        await one.send("other", "2")


async def test_what_nobody_has_read_is_told(one: Comms, other: Comms, caplog: pytest.LogCaptureFixture):
    entered = asyncio.Event()

    async def stuck(text: str, peer: str) -> bool:
        entered.set()
        await asyncio.Event().wait()
        return True

    async with other.listening(stuck) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        await one.send("other", "1")
        await entered.wait()
        await one.send("other", "2")

    assert [record.getMessage() for record in caplog.records] == ["unread messages: 1"]


async def test_leaving_is_quick_and_leaves_nothing(one: Comms, other: Comms, tmp_path: Path):
    async def stuck(text: str, peer: str) -> bool:
        await asyncio.Event().wait()
        return True

    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    async with other.listening(stuck) as theirs:
        await trust_each_other(one, NOWHERE, other, theirs.address)
        await one.send("other", "1")
        await one.send("other", "2")

    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert others == []
    if sys.platform == "linux":
        assert (
            len(os.listdir("/proc/self/fd")) <= before + 1
        )  # a thread of the pool may hold one for a moment
    with pytest.raises(PeerOffline, match="nothing is listening"):
        await one.send("other", "3")
