from pathlib import Path
from typing import Any

import pytest

from bridle.comms.address import UnixAddress
from bridle.comms.hub import Comms, Registry
from bridle.comms.tools import peer_tools
from bridle.comms.trust import Peer
from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.permission import judge, parse_rule
from bridle.core.ports import ConditionalTool, Tool, ToolContext, ToolOutput
from bridle.core.tool import PEER_TOOLS, Access, Subject
from bridle.tools.arguments import validate_arguments
from tests.comms.conftest import Delivered, make_comms

CONTEXT = ToolContext(SessionId("s"), "/", lambda text: None)
REQUEST_ID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.fixture
def registry() -> Registry:
    """Return the names of a process."""
    return Registry()


@pytest.fixture
def comms(tmp_path: Path, registry: Registry) -> Comms:
    """Yield a participant whose model has the tools."""
    return make_comms(tmp_path / "anna", registry, name="anna", wired=False)


@pytest.fixture
def tools(comms: Comms) -> dict[str, Tool]:
    """Return the tools by name."""
    return {tool.spec.name: tool for tool in peer_tools(comms)}


@pytest.fixture
def bert(tmp_path: Path, registry: Registry) -> Comms:
    """Yield a participant to talk to."""
    return make_comms(tmp_path / "bert", registry, name="bert", wired=False)


def test_the_names_are_all_listed(tools: dict[str, Tool]):
    assert sorted(tools) == list(PEER_TOOLS)


async def test_a_model_can_send_request_and_respond(
    tools: dict[str, Tool], bert: Comms, delivered: Delivered
):
    async with bert.listening(delivered):
        sent = await tools["peer_send"].run({"to": "bert", "body": "hello"}, CONTEXT)
        words = await delivered.next()
        asked = await tools["peer_request"].run(
            {"to": " bert ", "intent": "count", "params": {"n": 3}}, CONTEXT
        )
        request = await delivered.next()
        answered = await tools["peer_respond"].run(
            {"to": "bert", "in_reply_to": REQUEST_ID, "status": "completed", "result": [1]}, CONTEXT
        )
        response = await delivered.next()
        listed = await tools["peer_list"].run({}, CONTEXT)

    request_id = asked.text.rpartition(" ")[2]
    assert [sent, asked, answered, listed] == [
        ToolOutput("Message delivered to bert"),
        ToolOutput(f"Request delivered to bert, id {request_id}"),
        ToolOutput("Answer sent to bert"),
        ToolOutput("bert  inproc://bert"),
    ]
    assert words == ("[COMMS MESSAGE from anna]\nhello", "anna")
    assert f"(id: {request_id})]\nIntent: count" in request[0]
    assert response[0] == (
        f"[COMMS RESPONSE from anna (to request: {REQUEST_ID})]\nStatus: completed\nResult: [\n  1\n]"
    )


@pytest.mark.parametrize(
    ("tool", "args", "preview"),
    [
        ("peer_send", {"to": "bert", "body": "hello"}, "to bert, uds:///b.sock\nhello"),
        ("peer_request", {"to": "bert", "intent": "go"}, "to bert, uds:///b.sock\ngo"),
        (
            "peer_request",
            {"to": "bert", "intent": "go", "params": {"a": 1}},
            'to bert, uds:///b.sock\ngo\n{"a":1}',
        ),
        (
            "peer_respond",
            {"to": "bert", "in_reply_to": REQUEST_ID, "status": "failed", "result": "no"},
            'to bert, uds:///b.sock\nfailed\n"no"',
        ),
        ("peer_list", {}, ""),
    ],
)
async def test_who_is_asked_sees_what_would_be_sent_and_where(
    tools: dict[str, Tool], comms: Comms, tool: str, args: dict[str, Any], preview: str
):
    comms.trust.add(Peer("bert", bytes(32), UnixAddress("/b.sock")))

    validate_arguments(tools[tool].spec, args)
    assert await tools[tool].preview(args, CONTEXT) == preview


def test_rules_speak_of_the_peer(tools: dict[str, Tool]):
    access = tools["peer_send"].access({"to": "bert", "body": "x"}, CONTEXT)
    rules = [parse_rule("allow", "peer_send(bert)")]

    assert access == Access("peer_send", "network", (Subject("text", "bert"),))
    assert judge(access, rules, "ask").action == "allow"
    other = tools["peer_send"].access({"to": "carl", "body": "x"}, CONTEXT)
    assert judge(other, rules, "ask").action == "ask"
    assert judge(other, [parse_rule("deny", "peer_*")], "yolo").action == "deny"
    assert tools["peer_list"].access({}, CONTEXT) == Access("peer_list", "read")


@pytest.mark.parametrize(
    ("tool", "args", "why"),
    [
        ("peer_send", {"to": "carl", "body": "x"}, "unknown peer 'carl'"),
        ("peer_send", {"body": "x"}, "to is missing"),
        ("peer_send", {"to": " ", "body": "x"}, "to is missing"),
        ("peer_send", {"to": "bert", "body": ""}, "body is missing"),
        ("peer_send", {"to": "bert", "body": "\ud800"}, "it cannot be sent"),
        ("peer_request", {"to": "bert", "intent": "x" * 1001}, "more than 1000 characters"),
        ("peer_request", {"to": "bert", "intent": "x", "params": {"n": 2**70}}, "64 bits"),
        ("peer_respond", {"to": "bert", "in_reply_to": "7", "status": "failed"}, "is not the id"),
        ("peer_respond", {"to": "bert", "in_reply_to": REQUEST_ID, "status": "done"}, "must be one of"),
    ],
)
async def test_a_mistake_is_told(
    tools: dict[str, Tool],
    bert: Comms,
    delivered: Delivered,
    tool: str,
    args: dict[str, Any],
    why: str,
):
    async with bert.listening(delivered):
        with pytest.raises(ToolError, match=why):
            await tools[tool].run(args, CONTEXT)
    assert delivered.is_empty


async def test_a_peer_that_is_not_there_is_told(tools: dict[str, Tool], comms: Comms):
    comms.trust.add(Peer("bert", bytes(32), UnixAddress("/nowhere/b.sock")))

    with pytest.raises(ToolError, match=r"nothing is listening at uds:///nowhere/b\.sock"):
        await tools["peer_send"].run({"to": "bert", "body": "x"}, CONTEXT)


def test_they_are_of_use_only_when_there_is_somebody(tools: dict[str, Tool], comms: Comms):
    def useful() -> set[bool]:
        found = set()
        for tool in tools.values():
            assert isinstance(tool, ConditionalTool)
            found.add(tool.is_useful("/"))
        return found

    assert useful() == {False}
    comms.trust.add(Peer("bert", bytes(32), UnixAddress("/b.sock")))
    assert useful() == {True}
    comms.trust.path.write_text("garbage")
    assert useful() == {False}
