"""Texts, thoughts and notices."""

from bridle.core.ids import RunId
from bridle.surfaces.shared.view_model.view_types import Attached, Note, Said
from bridle.surfaces.tui.conversation.rows import note_flows, said_flows, thought_head
from tests.surfaces.tui.conversation.samples import said, wrapped


def test_what_is_said_has_a_bar_its_source_and_its_files():
    one = Said(
        key="a",
        seq=1,
        at=1,
        text="do it\nnow",
        source="steer",
        attached=(Attached("text/plain", "a\x1b.txt"),),
    )

    assert wrapped(said_flows(one, is_open=False)) == [
        "▌ sent to the active run",
        "▌ do it",
        "▌ now",
        "▌ [a\\x1b.txt · text/plain]",
    ]


def test_a_long_text_is_folded():
    long = said(1, "\n".join(map(str, range(100))))

    assert wrapped(said_flows(long, is_open=False))[-2:] == ["▌ 19", "▌ ▸ 80 more lines"]
    assert wrapped(said_flows(long, is_open=True))[-2:] == ["▌ 99", "▌ ▾ fold"]


def test_thoughts_are_one_line():
    assert wrapped([thought_head(120, 3, is_live=False, is_open=False)]) == ["▸ thought for 3 s · 120 words"]
    assert wrapped([thought_head(1, 0, is_live=True, is_open=True)]) == ["▾ thinking… · 1 word"]


def test_notes_and_the_end_of_a_run():
    note = Note(key="n", seq=1, at=1, text="retried\nonce", weight="warning")
    end = Note(key="e", seq=2, at=2, text="completed · 2 turns", weight="done", run_id=RunId("r"))

    assert wrapped(note_flows(note)) == ["! retried once"]
    assert wrapped(note_flows(end), 32) == ["── ✓ completed · 2 turns ───────"]
