from pathlib import Path

from bridle.core.context import Counted
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.core.protocol import SessionCreated
from bridle.stores.foreign.claude import BRANCH, SIDE, read, sources
from bridle.stores.foreign.json_files import NO_JSON, ForeignSession, SourceFolder
from bridle.stores.kontekst_reader import KontekstConversation
from tests.stores.foreign.samples import CLAUDE_ID, claude_folder, gave, lines, replied, said, text, use

MESSAGES = (
    user_message("fix add()"),
    Message(
        "assistant",
        (
            Reasoning("look first"),
            Text("I look."),
            ToolCall(CallId("t1"), "read_file", {"path": "/p/add.py"}),
            ToolCall(CallId("t2"), "bash", {"command": "pytest -q"}),
        ),
    ),
    Message(
        "tool",
        (
            ToolResult(CallId("t1"), "read_file", "def add(a, b): return a - b"),
            ToolResult(CallId("t2"), "bash", "1 failed", is_error=True),
        ),
    ),
    Message("assistant", (Text("It subtracts."),)),
    user_message("/review add.py"),
    Message("assistant", (Text("Good now."),)),
)


def test_a_session_is_told(tmp_path: Path):
    folder = claude_folder(tmp_path, "/p")

    found = sources(folder)
    session = read(found[0])

    assert {source.key for source in found} == {CLAUDE_ID, "00000000-0000-4000-8000-000000000000"}
    conversation = KontekstConversation(
        tuple(Counted(one, 0) for one in MESSAGES), "", {BRANCH: 2, SIDE: 1, NO_JSON: 1}
    )
    assert session == ForeignSession(CLAUDE_ID, conversation, "Fixing the adder", "/p")
    assert session.events(SessionId("s"), "/here", "coder")[0] == SessionCreated(
        SessionId("s"), "/here", "coder", "Fixing the adder"
    )
    assert read(found[1]) is None


def read_lines(tmp_path: Path, *items: dict[str, object]) -> ForeignSession | None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(lines(*items))
    return read(SourceFolder("x", file, tmp_path))


def test_what_was_said_keeps_its_time(tmp_path: Path):
    """A line without one was said when the line before it was, and nothing before what stands before it."""
    session = read_lines(
        tmp_path,
        said("u1", None, "look", timestamp="2026-01-18T02:01:28.500Z"),
        replied("a1", "u1", "m1", use("t1", "Bash", command="ls"), timestamp="2026-01-18T02:01:30Z"),
        said("u2", "a1", [gave("t1", "a.txt")], timestamp="2026-01-18T02:01:40Z"),
        replied("a2", "u2", "m2", text("One file."), timestamp="yesterday"),
        said("u3", "a2", "thanks", timestamp="2026-01-18T02:01:20Z"),
    )

    assert session is not None
    began = 1768701688500
    later = began + 11_500
    assert session.conversation.dates == (began, began, began + 1500, later, later, later)


def test_a_summary_counts_only_where_what_it_sums_up_is_gone(tmp_path: Path):
    summary = said("c", None, "what was before", isCompactSummary=True)

    alone = read_lines(tmp_path, summary)
    behind = read_lines(tmp_path, said("u", None, "hi"), summary)

    assert [one.message for one in alone.conversation.messages] == [user_message("what was before")]
    assert [one.message for one in behind.conversation.messages] == [user_message("hi")]


def test_pictures_come_along(tmp_path: Path):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    session = read_lines(
        tmp_path,
        said("u", None, [text("see"), picture]),
        replied(
            "a", "u", "m", {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "x.png"}}
        ),
        said("r", "a", [gave("t", [picture])]),
    )

    media = Media("image/png", "AAAA")
    assert [one.message for one in session.conversation.messages] == [
        Message("user", (Text("see"), media)),
        Message("assistant", (ToolCall(CallId("t"), "read_file", {"path": "x.png"}),)),
        Message("tool", (ToolResult(CallId("t"), "read_file", "", media=(media,)),)),
    ]


def test_the_name_that_a_person_gave_wins(tmp_path: Path):
    session = read_lines(
        tmp_path,
        {"type": "custom-title", "customTitle": "Mine"},
        {"type": "ai-title", "aiTitle": "Its"},
        said("u", None, "hi"),
        said("u", None, "hi"),
    )

    assert session == ForeignSession("x", KontekstConversation((Counted(user_message("hi"), 0),), ""), "Mine")
