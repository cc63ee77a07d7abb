"""What a compaction keeps word for word, and how it describes the rest."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.context import estimate_tokens
from bridle.core.ids import SessionId
from bridle.core.kept_context import (
    FRAME_TOKENS,
    VerbatimText,
    select_verbatim,
    shorten_middle,
    shorten_to_line,
)
from bridle.core.messages import Media, Message, Text, user_message
from bridle.core.protocol import SessionCreated, SessionFacts, Todo

CREATED = SessionCreated(SessionId("s"), "/")
FACTS = SessionFacts(CREATED)
DIGEST = "0123456789abcdef" * 4


def test_everything_that_fits_stands_in_a_fixed_order():
    facts = SessionFacts(
        CREATED,
        todos=(Todo("plan", "completed"), Todo("build", "in_progress"), Todo("test")),
        seen={"a.py": DIGEST, "b\nc.py": DIGEST},
    )
    carried = select_verbatim(
        facts, ["never push", "be\nbrief"], ["no, blue"], user_message("paint it"), 1_000
    )

    assert carried == VerbatimText(
        """\
Pinned by the user, word for word. Keep to it:
<pinned>
never push
</pinned>
<pinned>
be
brief
</pinned>

Said by the user while you were working, word for word, the oldest first:
<said>
no, blue
</said>

What you are working on, in the user's words:
<prompt>
paint it
</prompt>

To do:
[x] plan
[>] build
[ ] test

Files you know, the newest first, with the beginning of their SHA-256. \
While a file has not changed you may edit it without reading it again:
0123456789ab 'b\\nc.py'
0123456789ab a.py""",
        corrections=("no, blue",),
    )


def test_nothing_to_carry_is_no_text():
    assert select_verbatim(FACTS, [], [], None, 1_000) == VerbatimText()


def test_what_does_not_fit_is_named():
    facts = SessionFacts(CREATED, todos=(Todo("x" * 400),), seen={f"{n}.py": DIGEST for n in range(9)})
    prompt = Message("user", (Text("p" * 1_000), Media("image/png", "AAAA")))

    carried = select_verbatim(facts, ["short", "long " * 100], ["old", "new"], prompt, 30)

    assert carried == VerbatimText(
        "Pinned by the user, word for word. Keep to it:\n<pinned>\nshort\n</pinned>",
        corrections=(),
        fallen=("old", "new"),
        left_out=(
            f'pinned: "{("long " * 100)[:59]}…"',
            "2 of 2 things said during runs, now part of the summary",
            "1 of the prompt's images or files",
            "the prompt",
            "the to-do list",
            "9 of 9 files known",
        ),
    )


def test_of_what_was_said_the_newest_stays():
    said = [f"{number} " + "x" * 400 for number in range(10)]

    carried = select_verbatim(FACTS, [], said, None, 1_000)

    assert (carried.corrections, carried.fallen) == (tuple(said[-2:]), tuple(said[:-2]))


def test_a_long_prompt_loses_its_middle_and_that_is_said():
    carried = select_verbatim(FACTS, [], [], user_message("begin " + "x" * 10_000 + " end"), 400)

    assert "<prompt>\nbegin xxx" in carried.text
    assert "xxx end\n</prompt>" in carried.text
    assert carried.left_out == ("the middle of the prompt",)


def test_of_many_files_the_newest_fifty_stay():
    seen = {f"{number}.py": DIGEST for number in range(60)}

    carried = select_verbatim(SessionFacts(CREATED, seen=seen), [], [], None, 10_000)

    assert carried.text.count("0123456789ab ") == 50
    assert " 59.py" in carried.text
    assert " 9.py" not in carried.text
    assert carried.left_out == ("10 of 60 files known",)


texts = st.text(max_size=300)


@given(st.lists(texts, max_size=8), st.lists(texts, max_size=8), st.none() | texts, st.integers(-10, 600))
def test_it_keeps_to_its_budget_and_every_pin_is_there_or_named(
    pins: list[str], said: list[str], prompt: str | None, tokens: int
):
    facts = SessionFacts(CREATED, todos=tuple(map(Todo, pins)), seen=dict.fromkeys(said, DIGEST))
    carried = select_verbatim(facts, pins, said, None if prompt is None else user_message(prompt), tokens)

    assert estimate_tokens(carried.text) <= max(0, tokens)
    missing = sum(f"<pinned>\n{pin}\n</pinned>" not in carried.text for pin in pins)
    assert missing <= sum(words.startswith("pinned: ") for words in carried.left_out)
    assert (*carried.fallen, *carried.corrections) == tuple(said)


@given(st.text(max_size=500), st.integers(0, 100))
def test_a_shortened_text_has_its_ends_and_fits(text: str, tokens: int):
    short = shorten_middle(text, tokens)

    assert short == text or estimate_tokens(short) <= max(tokens, FRAME_TOKENS)
    assert (short == text) == (estimate_tokens(text) <= tokens)


def test_a_name_is_one_short_line():
    assert shorten_to_line("a\n b") == "a b"
    assert len(shorten_to_line("word " * 100)) == 60
