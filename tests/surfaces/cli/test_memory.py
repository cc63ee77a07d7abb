import json
import re
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle, Done, steady

CAT = "The cat sleeps on the red sofa."
HERON = "The staging database is called heron."


@pytest.fixture
def talked(bridle: Bridle) -> Bridle:
    """Return a project with two sessions; memory has the light embedder, as a user without weights has."""
    for text in (CAT, HERON):
        assert bridle("run", "-p", "--model", "scripted/demo", text).code == 0
    return bridle


def test_a_passage_is_found(talked: Bridle):
    done = talked("memory", "search", "where", "is", "the", "cat", "--limit", "1")

    assert (done.code, done.err) == (0, "")
    assert re.sub(r"\d\.\d\d", "SCORE", steady(done.out)) == (
        f"SCORE  DATE  session ID  turn 1  user\n  {CAT}\n"
    )


def test_passages_are_also_json(talked: Bridle):
    (found,) = json.loads(talked("memory", "search", "heron database", "--limit", "1", "--json").out)

    assert found.pop("score") > 0.6
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found.pop("when"))
    assert len(found.pop("session_id")) == 36
    assert found == {"content": HERON, "turn": 1, "seq": found["seq"], "role": "user"}


def test_nothing_is_made_up(talked: Bridle):
    assert talked("memory", "search", "zorgle") == Done(0, "", "no matches\n")
    assert talked("memory", "search", "zorgle", "--json") == Done(0, "[]\n", "")
    assert talked("memory", "search", "cat", "--limit", "0") == Done(0, "", "no matches\n")


@pytest.mark.parametrize("limit", ["21", "-1"])
def test_a_limit_out_of_range_is_wrong_usage(bridle: Bridle, limit: str):
    error = f"error: --limit must be a whole number from 0 to 20, not {limit}\n"

    assert bridle("memory", "search", "cat", f"--limit={limit}") == Done(64, "", error)


def test_what_memory_holds_is_shown(talked: Bridle):
    before = talked("memory", "stats")
    talked("memory", "search", "cat")
    after = talked("memory", "stats")

    assert "pending        2 sessions\n" in before.out
    assert re.sub(r"\d\.\d MB", "SIZE", after.out) == (
        "passages       4\n"
        "sessions       2\n"
        "size           SIZE\n"
        "embedder       wordllama/l2_supercat_256\n"
        "pending        nothing\n"
        "\n"
        "SESSIONS  PASSAGES  VECTORS  INDEX  PROJECT\n"
        f"2         4         4        exact  {talked.project}\n"
    )
    assert json.loads(talked("memory", "stats", "--json").out)["passages"] == 4


def test_memory_is_made_anew(talked: Bridle):
    assert talked("memory", "rebuild") == Done(0, "4 passages of 2 sessions\n", "")
    with talked.terminal("memory", "rebuild") as terminal:
        terminal.expect("sessions ░")
        terminal.expect("\r\x1b[K4 passages of 2 sessions\n")
        assert terminal.finish() == 0


def test_forgetting_needs_a_yes(talked: Bridle):
    refused = talked("memory", "forget", "--all")
    with talked.terminal("memory", "forget", "--project") as terminal:
        terminal.expect("remove 2 sessions from memory? [y/N] ")
        terminal.send("n\n")
        terminal.expect("nothing was forgotten")
        terminal.finish()

    assert refused == Done(
        64, "", "error: forgetting needs confirmation\nhint: bridle memory forget --all --yes\n"
    )
    assert talked("memory", "search", "cat").out != ""


def test_a_session_is_forgotten_by_the_start_of_its_id(talked: Bridle):
    (found,) = json.loads(talked("memory", "search", "cat", "--limit", "1", "--json").out)

    assert talked("memory", "forget", found["session_id"][:15], "--yes").code == 0
    assert talked("memory", "search", "cat").err == "no matches\n"
    assert HERON in talked("memory", "search", "heron").out


def test_everything_is_forgotten_and_stays_so(talked: Bridle):
    assert talked("memory", "forget", "--all", "--yes") == Done(0, "", "")
    assert talked("memory", "rebuild").out == "0 passages of 0 sessions\n"
    assert talked("memory", "search", "cat").err == "no matches\n"


def test_a_session_that_is_unknown_is_an_error(bridle: Bridle):
    done = bridle("memory", "forget", "nope", "--yes")

    assert done == Done(1, "", 'error: no session "nope"\nhint: bridle session list --all\n')
    assert bridle("memory", "forget", "--all", "--yes") == Done(0, "", "nothing to forget\n")


def test_memory_that_is_off_says_so(bridle: Bridle):
    (bridle.home / "config.toml").write_text("[memory]\nenabled = false\n")

    done = bridle("memory", "stats")

    assert (done.code, done.out) == (64, "")
    assert done.err.startswith("error: memory is off\n")


def test_a_damaged_file_is_told_and_made_anew(talked: Bridle):
    talked("memory", "search", "cat")
    (talked.home / "memory/memory.db").write_bytes(b"nothing of use")

    done = talked("memory", "search", "cat", "--limit", "1")

    assert CAT in done.out
    assert re.fullmatch(
        r"warning: \S+/memory\.db: it is not a SQLite database; it was moved to memory\.db\.damaged-\d+,"
        r" and memory is rebuilt\n",
        done.err,
    )


def test_a_project_cannot_send_memory_elsewhere(bridle: Bridle):
    folder = bridle.project / ".bridle"
    folder.mkdir()
    (folder / "config.toml").write_text('[memory]\nembedder = "server"\nbase_url = "http://127.0.0.1:9"\n')

    shown = json.loads(bridle("config", "show", "--json").out)

    assert '"http://127.0.0.1:9"' not in json.dumps(shown)
    assert bridle("memory", "stats").out.count("wordllama") == 1


def test_nothing_heavy_is_loaded_for_help(bridle: Bridle, tmp_path: Path):
    done = bridle("memory", "--help")

    assert done.code == 0
    assert "search past sessions" in done.out.lower()
