import base64
import hashlib
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import (
    Media,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    user_message,
)
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    ChildStarted,
    Event,
    MessageAdded,
    ModelReplied,
    Pinned,
    Record,
    Rewound,
    RunEnded,
    RunStarted,
    SessionCreated,
    SessionTitled,
    ToolFinished,
    ToolStarted,
)
from bridle.surfaces.shared.export import to_html, to_json, to_markdown
from bridle.surfaces.shared.transcript import local_time
from tests.stores.sample import SAMPLES
from tests.surfaces.records import AT, CALL, RUN, SESSION, code_session, edit_session, records
from tests.surfaces.shared.export.reader import Reader

HOSTILE = (
    "</pre></div></style></title><script>alert(1)</script><img src=x onerror=alert(2)>"
    "\x1b[2J\x00\u202e&amp;\"'"
)
PIXEL = base64.b64encode(b"GIF89a").decode()


def hostile_events(text: str) -> list[Event]:
    """Put a text into every field that others can write."""
    call = ToolCall(CALL, text, {text: text, "command": text})
    media = (
        Media("image/png", text, text),
        Media(f"image/png{text}", PIXEL, text),
        Media("text/html", PIXEL, text),
    )
    said = Message("user", (Text(text), *media))
    reply = Message("assistant", (Reasoning(text), Text(text), *media, call))
    return [
        SessionCreated(SESSION, f"/tmp/{text}", text, text),
        SessionTitled(text),
        Pinned(text),
        RunStarted(RUN, text),
        MessageAdded(said),
        MessageAdded(said, "steer"),
        ModelReplied(RUN, 1, reply, "tool_use", Usage(100, 10)),
        ApprovalRequested(CALL, text, {text: text}, text, text, (text,)),
        ApprovalDecided(CALL, "deny", text, (text,)),
        ToolStarted(CallId("nested"), text, {"x": text}, parent=CALL),
        ToolFinished(ToolResult(CALL, text, text, True, media), 3, diff=text, answer=text),
        ChildStarted(SessionId(text), text, text, CALL),
        RunEnded(RUN, "failed", text, text),
    ]


def events_with(text: str) -> list[Record]:
    return records(hostile_events(text))


def test_nothing_hostile_becomes_markup():
    page = Reader(to_html(events_with(HOSTILE)))

    assert page.links == ["#said-5", "#said-6"]
    assert "img" not in page.tags
    assert page.text.count("<script>alert(1)</script>") >= 15


TEXTS = st.text() | st.lists(
    st.sampled_from(
        [
            *(
                "<",
                ">",
                '"',
                "'",
                "&",
                "`",
                "[x](",
                "javascript:a",
                "http://b.c",
                ")",
                "![",
                "]",
                "\n",
                "\n\n",
                "```",
            ),
            *(
                "<script>",
                "</script>",
                "<!--",
                "-->",
                "<![CDATA[",
                "<?",
                "<svg onload=a>",
                "{title}",
                "{",
                "}",
                "%s",
            ),
            *(
                "--- ",
                "+++ ",
                "@@",
                "\x1b]0;a\x07",
                "\x00",
                "\u202e",
                "\x85",
                "\u2028",
                "&#60;",
                "#",
                "|",
                "- ",
                "    ",
            ),
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=60)
@given(TEXTS)
def test_whatever_is_written_anywhere_nothing_but_known_tags_comes_out(text: str):
    Reader(to_html(events_with(text)))


def test_every_kind_of_event_can_be_part_of_a_page():
    Reader(to_html(records(event for event in SAMPLES if not isinstance(event, Rewound))))


def test_the_page_forbids_everything_but_its_own_style_and_pictures():
    page = to_html(edit_session())

    style = re.search("<style>(.*)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    assert "url(" not in style
    assert "@import" not in style


def test_a_page_reads_like_the_conversation():
    page = Reader(to_html(edit_session("It says **<hello>** now.")))

    now = local_time(AT)
    assert page.text.partition(" Written by Bridle")[0] == (
        "fix the greeting fix the greeting session 019a8536-2b7c-7000-8000-000000000001"
        f" folder /work agent default model scripted/x time {now} to {now}"
        " used 1 run · 2 turns · 1 tool call · 235 tokens · price unknown"
        " Tokens: 235 in 2 turns, at most 125 in one turn"
        " turn 1: 100 input turn 1: 10 output turn 2: 120 input turn 2: 5 output"
        " read from a cache input output"
        f" You {now} fix the greeting I change it."
        " ✓ edit_file greet.py allowed by hand · 3 ms"
        ' { "path": "greet.py", "old_str": "helo", "new_str": "hello" }'
        " Needs approval: writes a file (mode ask); allowed by hand Replaced 1 occurrence(s) in greet.py"
        " It says <hello> now. done · 2 turns · 1 tool call · 235 tokens · price unknown · 0 ms"
    )


def test_a_page_has_the_calls_of_code_below_it_and_its_answer():
    page = Reader(to_html(code_session()))

    assert (
        '✓ python text = await read_file("a.txt") 30 ms text = await read_file("a.txt") print(text) 1: hello'
        ' It says hello. ✓ read_file a.txt 2 ms { "path": "a.txt" } 1: hello'
        ' ⊘ edit_file b.txt refused · refused by hand { "path": "b.txt" }'
    ) in page.text


def test_what_was_rewound_is_gone():
    talk = records(
        [SessionCreated(SESSION, "/w", title="x"), MessageAdded(user_message("never said")), Rewound(1)]
    )

    assert "never said" not in Reader(to_html(talk)).text


def test_pictures_are_in_the_page_and_other_files_are_named():
    media = (Media("image/gif", PIXEL, "a dot"), Media("image/svg+xml", PIXEL, "a drawing"))
    page = to_html(records([SessionCreated(SESSION, "/w"), MessageAdded(Message("user", media))]))

    assert f'<img alt="a dot" src="data:image/gif;base64,{PIXEL}">' in page
    assert '<p class="media">[a drawing]</p>' in page


@pytest.mark.parametrize("export", [to_markdown, to_html, to_json])
def test_a_session_without_a_prompt_can_be_exported(export: Any):
    created = records([SessionCreated(SESSION, "/work"), SessionTitled("# *x*")])

    assert "x" in export(created)


def test_a_long_session_is_bounded_where_outputs_are_long():
    many: list[Event] = [SessionCreated(SESSION, "/work"), RunStarted(RUN, "m/x")]
    for number in range(300):
        call = ToolCall(CallId(f"c{number}"), "bash", {"command": "make"})
        many += [
            MessageAdded(user_message(f"prompt {number}")),
            ModelReplied(
                RUN, number, Message("assistant", (Text("I look."), call)), "tool_use", Usage(10, 2)
            ),
            ToolStarted(call.id, "bash", call.args),
            ToolFinished(ToolResult(call.id, "bash", "a line of output\n" * 20_000), 7),
        ]

    page = to_html(records(many))

    assert page.count("more lines, which the JSON export has") == 300
    assert len(page) < 300 * 12_000
    assert page.count('<li><a href="#said-') == 300


def test_a_call_of_a_run_that_was_cut_off_is_not_said_to_run():
    reply = Message("assistant", (ToolCall(CALL, "bash", {"command": "make"}),))
    page = to_html(
        records(
            [
                SessionCreated(SESSION, "/"),
                RunStarted(RUN, "scripted/x"),
                ModelReplied(RUN, 1, reply, "tool_use", Usage()),
                ToolStarted(CALL, "bash", {"command": "make"}),
            ]
        )
    )

    assert '<span class="facts">not finished</span>' in page
