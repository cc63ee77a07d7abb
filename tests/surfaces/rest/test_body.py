"""Request bodies: what is accepted, how much, and what happens to incomplete ones."""

import asyncio
import json

import pytest
from starlette.types import Message, Receive, Scope, Send

from bridle.surfaces.rest.body import MAX_BODY_BYTES, MAX_TOGETHER_BYTES
from bridle.surfaces.rest.guard import Guard
from tests.surfaces.rest.client import Answer, ask, echo, refused, scope_of


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ('application/json;charset="utf-8"', 200),
        ("application/merge-patch+json", 200),
        ("application/json; charset=latin-1", 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("", 415),
    ],
)
async def test_only_json_is_taken(kind: str, expected: int):
    """A form of another site can send the others without being asked about it first."""
    answer = await ask(Guard(echo), scope_of("/sessions", "POST", content_type=kind), b"{}")

    assert answer.status == expected
    if expected != 200:
        assert refused(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")


async def test_a_body_comes_whole():
    json_body = {"content_type": "application/json"}

    in_pieces = await ask(Guard(echo), scope_of("/x", "POST", **json_body), b"{", b"", b"}")
    empty = await ask(Guard(echo), scope_of("/x", "POST", content_length="0"))
    most = await ask(Guard(echo), scope_of("/x", "POST", **json_body), b" " * MAX_BODY_BYTES)

    sizes = [json.loads(answer.body)["size"] for answer in (in_pieces, empty, most)]
    assert sizes == [2, 0, MAX_BODY_BYTES]


async def test_a_body_that_is_too_large_is_refused_before_it_is_read():
    seen: list[str] = []

    async def receive() -> Message:
        seen.append("read")
        return {"type": "http.request", "body": b"x", "more_body": True}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = scope_of("/x", "POST", content_type="application/json", content_length=str(MAX_BODY_BYTES + 1))
    await Guard(echo)(scope, receive, send)

    assert refused(Answer(sent)) == (413, "TOO_LARGE")
    assert not seen


async def test_a_body_that_does_not_say_how_long_it_is_ends_at_the_limit():
    read = 0

    async def receive() -> Message:
        nonlocal read
        read += 64 * 1024
        return {"type": "http.request", "body": bytes(64 * 1024), "more_body": True}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = scope_of("/x", "POST", content_type="application/json", transfer_encoding="chunked")
    await Guard(echo)(scope, receive, send)

    assert refused(Answer(sent)) == (413, "TOO_LARGE")
    assert read == MAX_BODY_BYTES + 64 * 1024


async def test_many_large_bodies_at_once_are_too_much_and_later_they_are_not():
    guard = Guard(echo)
    piece, go = bytes(MAX_BODY_BYTES - 2), asyncio.Event()
    json_body = {"content_type": "application/json"}

    async def large() -> int:
        pieces = [b"{}", piece]
        sent: list[Message] = []

        async def receive() -> Message:
            if len(pieces) == 1:
                await go.wait()
            return {"type": "http.request", "body": pieces.pop(), "more_body": bool(pieces)}

        async def send(message: Message) -> None:
            sent.append(message)

        await guard(scope_of("/x", "POST", **json_body, transfer_encoding="chunked"), receive, send)
        return Answer(sent).status

    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(large()) for _ in range(MAX_TOGETHER_BYTES // MAX_BODY_BYTES)]
        await asyncio.sleep(0)
        one_more = await ask(guard, scope_of("/x", "POST", **json_body), b" " * 100)
        go.set()
    later = await ask(guard, scope_of("/x", "POST", **json_body), b" " * MAX_BODY_BYTES)

    assert refused(one_more) == (503, "TOO_MANY_CONNECTIONS")
    assert [task.result() for task in waiting] == [200] * len(waiting)
    assert later.status == 200


async def test_a_client_that_leaves_amid_its_body_is_never_heard():
    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("half a request")

    messages: list[Message] = [
        {"type": "http.disconnect"},
        {"type": "http.request", "body": b"{", "more_body": True},
    ]

    async def receive() -> Message:
        return messages.pop()

    async def send(message: Message) -> None:
        raise AssertionError("nobody is there")

    scope = scope_of("/x", "POST", content_type="application/json", content_length="2")
    await Guard(never)(scope, receive, send)

    assert messages == []
