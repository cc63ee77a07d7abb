"""The text of the lines around the conversation."""

import pytest
from msgspec.structs import replace

from bridle.core.context import ContextUsage
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Usage, user_message
from bridle.core.protocol import QueuedPrompt, Totals
from bridle.surfaces.shared.view_model.view_types import Head, RunHead
from bridle.surfaces.tui.open_sessions import FolderDefaults, OpenSessions, PromptOptions
from bridle.surfaces.tui.status_lines import (
    LinkStatus,
    format_count,
    format_duration,
    format_header,
    format_status,
)

READY = LinkStatus(link="ready")
HEAD = Head(SessionId("s"), 1, "my title", "/", "coder", model="openai/gpt-5")
RUN = RunHead(RunId("r"), "openai/gpt-5", "ask", started_at=1_000, turn=3, doing="bash ls\x1b[2J")


@pytest.mark.parametrize(
    ("head", "situation", "words"),
    [
        (None, LinkStatus(), "connecting "),
        (None, READY, "· ready"),
        (None, LinkStatus(link="ready", in_process=True), "no daemon · · ready"),
        (None, LinkStatus("reconnecting", "it ended"), "! no connection (it ended), trying again "),
        (HEAD, READY, "· ready"),
        (replace(HEAD, outcome="completed"), READY, "✓ done"),
        (replace(HEAD, outcome="failed"), READY, "✗ failed"),
        (replace(HEAD, state="cut_off"), READY, "! cut off"),
        (replace(HEAD, state="running", run=RUN), READY, "+ running · turn 3 · 4s · bash ls\\x1b[2J"),
        (replace(HEAD, state="waiting", run=RUN), READY, "? waits for you · turn 3"),
        (
            replace(
                HEAD,
                context=ContextUsage(window=100, system=25, run=25),
                totals=Totals(usage=Usage(input=12_000, output=345), cost=0.5),
                queue=(QueuedPrompt("q", user_message("x")),),
            ),
            LinkStatus(link="ready", waiting=2, running=1),
            "· ready · 1 queued · ? 2 elsewhere · … 1 elsewhere · ████···· 50% · 12.3k tokens · $0.5000",
        ),
    ],
)
def test_the_status(head: Head | None, situation: LinkStatus, words: str):
    assert format_status(head, situation, "+", now_ms=5_000).plain == words


def test_the_header():
    front = OpenSessions("/")
    front.usual = FolderDefaults("default", "embedded/small", "ask")
    assert format_header(front, 80).plain == "new session · default · embedded/small · ask"

    front.show(SessionId("s"))
    front.show(SessionId("t"))
    front.head = replace(HEAD, is_sub_agent=True)
    front.choose(PromptOptions(model="anthropic/x", mode="yolo"))
    assert format_header(front, 80).plain == "2/2 my title (sub-agent) · coder · anthropic/x · yolo"
    assert format_header(front, 40).plain == "2/2 my title (sub-agent) · coder · anthropic/x · yolo"
    front.head = replace(HEAD, title="a title that is long")
    assert format_header(front, 44).plain == "2/2 a title th… · coder · anthropic/x · yolo"


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (950, "950"), (1_000, "1k"), (12_340, "12.3k"), (4_500_000, "4.5M")]
)
def test_a_number_in_a_few_letters(number: int, text: str):
    assert format_count(number) == text


@pytest.mark.parametrize(
    ("duration_ms", "text"), [(-5, "0s"), (42_900, "42s"), (185_000, "3m 05s"), (7_260_000, "2h 01m")]
)
def test_a_time_that_passes(duration_ms: int, text: str):
    assert format_duration(duration_ms) == text
