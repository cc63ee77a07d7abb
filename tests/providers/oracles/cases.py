"""Requests and replies for the vendors' own SDKs, and the comparison of both readings."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.messages import Message, Text, Usage, user_message
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.ports import Provider
from bridle.providers import Call, Reply
from bridle.providers.script import ScriptUsage
from tests.providers.conversation import ask
from tests.providers.oracles.conversations import EVERYTHING, results, stored

COUNTED = ScriptUsage(input=100, output=50, cache_read=30, cache_write=7, reasoning=11)

REPLIES = {
    "everything": Reply(
        text="Grüße 🦊, it is here.",
        reasoning="Let me see.",
        calls=(
            Call("f", {"path": "a long enough path"}),
            Call("g", {"b": [1, None]}, "own"),
            Call("f"),
        ),
        usage=COUNTED,
        model="m-2026",
    ),
    "text": Reply("one two three", usage=COUNTED),
    "a call": Reply(calls=(Call("f", {"x": 1}),)),
    "reasoning and a call": Reply(reasoning="hm", calls=(Call("f", {"x": 1}),), usage=ScriptUsage(output=1)),
    "the token limit": Reply("cut", stop_reason="max_tokens"),
    "a filter": Reply("cut", stop_reason="content_filter"),
}


class Reading(Struct):
    """One reading of an answer."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, Any]] = []
    usage: Usage = Usage()
    model: str = ""
    stop_reason: str = ""
    seals: list[str] = []
    """Signatures and encrypted reasoning, in their order."""


async def our_reading(provider: Provider, asked: ModelRequest) -> Reading:
    """Let our provider read an answer."""
    outcome = await ask(provider, asked)
    reply = outcome.reply
    assert reply is not None, outcome
    assert "".join(text for kind, text in outcome.shown if kind == "text") == reply.message.text
    return Reading(
        reply.message.text,
        reply.message.reasoning,
        [(call.id, call.name, call.args) for call in reply.message.calls],
        reply.usage,
        reply.model,
        reply.stop_reason,
        _seals(reply),
    )


def _seals(reply: ModelReply) -> list[str]:
    kept = [seal for part in reply.message.parts for seal in getattr(part, "meta", {}).values()]
    names = ("signature", "encrypted_content", "thoughtSignature")
    return [seal[name] for seal in kept for name in names if name in seal]


async def second_request(provider: Provider) -> ModelRequest:
    """Ask once, and give the request that sends the stored answer back with the results of its calls."""
    outcome = await ask(provider, replace(EVERYTHING, messages=(user_message("hi"),)))
    assert outcome.reply is not None
    said = stored(outcome.reply)
    goes_on = (user_message("hi"), said, results(said), Message("user", (Text("go on"),)))
    return replace(EVERYTHING, messages=goes_on)
