import json

import pytest

from tests.surfaces.command import Bridle, Done, steady

LONG = "word " * 200


@pytest.fixture
def session(bridle: Bridle) -> str:
    """Two long prompts, of which no turn is to be kept as it is."""
    (bridle.home / "config.toml").write_text("[compaction]\nkeep_turns = 0\n")
    model = bridle.script({"text": "so far, so good"}, {"text": "two"})
    bridle("run", "--model", model, f"the first {LONG}")
    made = str(bridle.sessions()[0]["id"])
    bridle("run", "--session", made, f"the second {LONG}")
    return made


@pytest.fixture
def short(bridle: Bridle) -> str:
    """One short prompt."""
    bridle("run", "--model", bridle.script({"text": "one"}, {"text": "two"}), "hi")
    return str(bridle.sessions()[0]["id"])


def sent(bridle: Bridle, session: str) -> list[str]:
    """Return the texts that the next turn would send."""
    context = json.loads(bridle("context", session, "--json").out)
    return ["".join(part.get("text", "") for part in one["parts"]) for one in context["messages"]]


def events(bridle: Bridle, session: str, kind: str) -> list[dict[str, object]]:
    records = json.loads(bridle("session", "export", session, "--format", "json").out)["records"]
    return [record["event"] for record in records if record["event"]["type"] == kind]


def test_a_session_is_compacted_and_people_still_see_all_of_it(bridle: Bridle, session: str):
    before = bridle("session", "show", session).out

    assert bridle("session", "compact", session, "--keep", "the second thing") == Done(0, "", "")

    [compacted] = events(bridle, session, "compacted")
    assert compacted["summary"] == "so far, so good"
    assert (compacted["messages_before"], compacted["messages_after"], compacted["kept"]) == (4, 1, 0)
    shown = bridle("session", "show", session).out
    notes = [line for line in shown.splitlines() if line.startswith("  · ")]
    assert notes[0] == "  · pinned: the second thing"
    assert notes[1].startswith("  · compacted: 4 messages to 1, ")
    assert [line for line in shown.splitlines()[5:] if line not in notes] == before.splitlines()[5:]
    [told] = sent(bridle, session)
    assert "\n\nso far, so good\n\n" in told
    assert "<pinned>\nthe second thing\n</pinned>" in told


def test_what_happened_is_said_on_a_terminal(bridle: Bridle, session: str):
    with bridle.terminal("session", "compact", session) as terminal:
        terminal.expect("compacted: 4 messages to 1, ")
        assert terminal.finish() == 0


def test_there_may_be_nothing_to_compact(bridle: Bridle, short: str):
    done = bridle("session", "compact", short)

    assert (done.code, done.out, steady(done.err)) == (
        64,
        "",
        "error: session ID has nothing to compact\n",
    )


def test_a_failed_compaction_says_why_and_changes_nothing(bridle: Bridle, session: str):
    model = bridle.script({"text": " "}, {"text": "two"}, {"text": "three"})
    bridle("run", "--session", session, "--model", model, "the third")

    done = bridle("session", "compact", session)

    assert (done.code, done.out) == (1, "")
    assert steady(done.err).startswith("error: session ID was not compacted: scripted/")
    assert done.err.endswith("the model sent an empty answer\nhint: try it again, or with another model\n")
    assert len(events(bridle, session, "compaction_failed")) == 1
    assert events(bridle, session, "compacted") == []


def test_pins_are_kept_and_listed(bridle: Bridle, short: str):
    assert bridle("session", "pin", short, "never push") == Done(0, "", "")
    assert bridle("session", "pin", short, "two\nlines") == Done(0, "", "")

    assert bridle("session", "pin", short, "--list") == Done(0, "never push\n\ntwo\nlines\n", "")
    assert json.loads(bridle("session", "pin", short, "--list", "--json").out) == ["never push", "two\nlines"]


def test_the_model_is_told_of_a_pin_with_the_next_message(bridle: Bridle, short: str):
    bridle("session", "pin", short, "never push")
    bridle("run", "--session", short, "go on")

    assert sent(bridle, short)[2] == "go on\n\n[Pinned by the user, to be kept to from now on]\nnever push"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((), "no text given\nhint: bridle session pin SESSION TEXT, --list or --remove TEXT"),
        (("x", "--list"), "no text given\nhint: bridle session pin SESSION TEXT, --list or --remove TEXT"),
        ((" ",), "nothing to pin: the text is empty"),
        (("--remove", "z"), "no such text is pinned\nhint: bridle session pin SESSION --list"),
    ],
)
def test_wrong_pins_are_refused(bridle: Bridle, short: str, args: tuple[str, ...], expected: str):
    assert bridle("session", "pin", short, *args) == Done(64, "", f"error: {expected}\n")


def test_a_pin_is_taken_back_by_how_it_begins(bridle: Bridle, short: str):
    bridle("session", "pin", short, "a b")
    bridle("session", "pin", short, "a c")

    unclear = bridle("session", "pin", short, "--remove", "a")
    done = bridle("session", "pin", short, "--remove", "a b")

    assert unclear == Done(
        64, "", 'error: 2 pinned texts begin with "a"\nhint: bridle session pin SESSION --list\n'
    )
    assert (done, bridle("session", "pin", short, "--list")) == (Done(0, "", ""), Done(0, "a c\n", ""))
