from pathlib import Path

from bridle.core.context import Counted
from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.stores.foreign.codex import OWN_WORDS, read, sources
from bridle.stores.foreign.json_files import ForeignSession, SourceFolder
from bridle.stores.kontekst_reader import KontekstConversation
from tests.stores.foreign.samples import CODEX_ID, codex_folder, item, lines

MESSAGES = (
    user_message("list the files"),
    Message("assistant", (Reasoning("ls it is"), ToolCall(CallId("c1"), "bash", {"command": "ls -a"}))),
    Message("tool", (ToolResult(CallId("c1"), "bash", "a.txt\n"),)),
    Message("assistant", (ToolCall(CallId("c2"), "apply_patch", {"input": "*** Begin Patch"}),)),
    Message("tool", (ToolResult(CallId("c2"), "apply_patch", "Success"),)),
    Message("assistant", (ToolCall(CallId("c3"), "bash", {"command": "false"}),)),
    Message("tool", (ToolResult(CallId("c3"), "bash", "no", is_error=True),)),
    Message("assistant", (Text("There is a.txt."),)),
    user_message("thanks"),
)


BEGAN = 1768701688000  # what the first line says; the others say nothing


def test_a_session_is_told(tmp_path: Path):
    folder = codex_folder(tmp_path, "/p")
    (folder / "sessions/2026/01/18/notes.jsonl").touch()

    found = sources(folder)

    assert [source.key for source in found] == [CODEX_ID]
    conversation = KontekstConversation(
        tuple(Counted(one, 0) for one in MESSAGES), "", {OWN_WORDS: 2}, (BEGAN,) * (1 + len(MESSAGES))
    )
    assert read(found[0]) == ForeignSession(CODEX_ID, conversation, "", "/p")


def test_the_oldest_files_have_items_alone(tmp_path: Path):
    file = tmp_path / "x.jsonl"
    file.write_bytes(
        lines(
            {"id": "x", "timestamp": "2025-05-01T00:00:00Z"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"record_type": "state"},
            item("function_call", name="view_image", arguments="{nonsense", call_id="c")["payload"],
            item(
                "function_call_output",
                call_id="c",
                output=[{"type": "input_text", "text": "here"}, {"image_url": "data:image/png;base64,AAAA"}],
            )["payload"],
        )
    )

    session = read(SourceFolder("x", file, tmp_path))

    assert session is not None
    assert [one.message for one in session.conversation.messages] == [
        user_message("hi"),
        Message("assistant", (ToolCall(CallId("c"), "view_image", {"input": ""}),)),
        Message(
            "tool", (ToolResult(CallId("c"), "view_image", "here", media=(Media("image/png", "AAAA"),)),)
        ),
    ]
