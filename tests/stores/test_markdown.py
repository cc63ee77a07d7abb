"""Pieces of Markdown stay separate whatever the texts contain."""

import pytest

from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.core.protocol import Compacted, Pinned, Record, RunEnded, SessionTitled
from bridle.stores.projector import event_markdown, message_markdown
from tests.stores.sample import RUN, S, created

HEADING = f"""\
# Session {S}

- agent: default
- directory: /home/me/project
- started: 1970-01-01 00:00:01 UTC
- forked from: {S}

"""


@pytest.mark.parametrize(
    ("output", "fence"),
    [("plain", "```"), ("a ``` b", "````"), ("`````\ncode\n`````", "``````"), ("`` two", "```")],
)
def test_a_fence_is_longer_than_any_inside(output: str, fence: str):
    message = Message("tool", (ToolResult("c1", "grep", output, is_error=True),))

    shown = f"## Results\n\n**grep** (c1, failed)\n\n{fence}\n{output}\n{fence}\n\n"
    assert message_markdown(message) == shown


def test_every_part_is_shown_in_order():
    parts = (
        Reasoning("first\nsecond"),
        Text("words"),
        Text(""),
        Media("image/png", "AAAA", "cat.png"),
        ToolCall("c1", "grep", {}, invalid="{broken"),
    )

    assert message_markdown(Message("assistant", parts)) == (
        "## Assistant\n\n> first\n> second\n\nwords\n\n*cat.png (image/png)*\n\n"
        "**grep** (c1)\n\n```json\n{broken\n```\n\n"
    )


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (SessionTitled("New name"), "*Title: New name*\n\n"),
        (RunEnded(RUN, "completed"), ""),
        (RunEnded(RUN, "cancelled"), "*Run ended: cancelled*\n\n"),
        (created(parent=S), HEADING),
    ],
)
def test_an_event_says_what_no_message_does(event: SessionTitled | RunEnded, shown: str):
    assert event_markdown(Record(1, 1000, event, "")) == shown


def test_what_is_done_for_the_model_is_a_note():
    compacted = Compacted(user_message("sum"), 1, 5, 40, 2, 9_000, 800, "m/x")

    def shown(event: Compacted | Pinned) -> str:
        return event_markdown(Record(1, 0, event, ""))

    assert shown(compacted) == "*Compacted for the model: 40 messages to 2*\n\n"
    assert shown(Pinned("be brief")) == "*Pinned:* be brief\n\n"
    assert shown(Pinned("be brief", pinned=False)) == "*No longer pinned:* be brief\n\n"
