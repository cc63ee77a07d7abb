import json
import re
from pathlib import Path

import apsw
import pytest

from bridle.core.ids import SessionId
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.session_list import _rows
from tests.surfaces.command import Bridle, Done, steady

READ = {"text": "I look.", "calls": [{"name": "read_file", "args": {"path": "a.txt"}}]}


@pytest.fixture
def model(bridle: Bridle) -> str:
    (bridle.project / "a.txt").write_text("one\n")
    return bridle.script(READ, {"text": "Done."})


def test_no_sessions_yet(bridle: Bridle):
    assert bridle("session", "list") == Done(0, "", "")
    assert bridle("session", "list", "--json") == Done(0, "[]\n", "")
    with bridle.terminal("session", "list") as terminal:
        terminal.finish()
    assert terminal.screen == 'no sessions yet\nhint: bridle run "what does this project do"\n'
    assert list(bridle.home.iterdir()) == []


def test_sessions_newest_first(bridle: Bridle, model: str):
    bridle("run", "--model", model, "the first")
    bridle("run", "--model", model, "the second\nand more")

    done = bridle("session", "list")

    assert (done.code, done.err) == (0, "")
    assert [line.split("  ") for line in squeezed(done.out)] == [
        ["SESSION", "UPDATED", "STATE", "TITLE", "DIRECTORY"],
        ["ID", "DATE", "done", "the second", str(bridle.project)],
        ["ID", "DATE", "done", "the first", str(bridle.project)],
    ]


def squeezed(text: str) -> list[str]:
    """Return the lines of a table with the same gap between all columns."""
    return [re.sub(" {2,}", "  ", line) for line in steady(text).splitlines()]


def test_a_list_for_programs(bridle: Bridle, model: str):
    bridle("run", "--model", model, "look")

    [session] = json.loads(bridle("session", "list", "--json").out)

    assert session == {
        "id": session["id"],
        "title": "look",
        "cwd": str(bridle.project),
        "agent": "default",
        "created_at": session["created_at"],
        "updated_at": session["updated_at"],
        "last_seq": session["last_seq"],
        "outcome": "completed",
    }


def test_archived_sessions_are_listed_only_if_asked(bridle: Bridle, model: str):
    bridle("run", "--model", model, "look")
    bridle("session", "archive", "0")

    assert bridle("session", "list").out == ""
    assert " archived " in bridle("session", "list", "--all").out


def test_a_narrow_screen_shows_the_title_before_the_directory(bridle: Bridle, model: str):
    bridle("run", "--model", model, "a title that takes some room on the screen")
    with bridle.terminal("session", "list") as terminal:
        terminal.finish()

    assert all(len(line) <= 100 for line in terminal.screen.splitlines())
    assert "a title that takes some room on th" in terminal.screen
    assert terminal.screen.endswith("/project\n")


def family(name: str, at: int, parent: str = "", updated_at: int = 0) -> SessionSummary:
    above = SessionId(parent) if parent else None
    return SessionSummary(
        SessionId(name), name, "/", "default", at, updated_at, 1, parent=above, sub_agent=bool(parent)
    )


def test_sub_agents_are_listed_below_their_parent():
    sessions = [
        family("a.1.1", 4, "a.1", 9),
        family("b", 7, updated_at=8),
        family("a.2", 3, "a", 7),
        family("a", 1, updated_at=6),
        family("a.1", 2, "a", 5),
        family("lost", 6, "gone", 4),
        family("x", 6, "y", 3),  # no one is his own grandfather, whatever a file says
        family("y", 5, "x", 2),
    ]

    assert [row[3] for row in _rows(sessions)] == [
        "a", "└ a.1", "  └ a.1.1", "└ a.2", "b", "└ lost", "└ y", "  └ x",
    ]  # fmt: skip


def test_sessions_whose_short_ids_are_the_same_are_listed_in_full():
    ids = [f"019a8536-2b7c-7000-8000-{number:012}" for number in range(2)] + [
        "019a8536-2b7d-7000-8000-000000000000"
    ]

    rows = _rows([SessionSummary(SessionId(name), "", "/", "default", 0, 0, 1) for name in ids])

    assert [row[0] for row in rows] == [ids[0], ids[1], "019a8536-2b7d"]


def test_a_session_as_text(bridle: Bridle, model: str):
    bridle("run", "--model", model, "look")

    done = bridle("session", "show", "0")

    assert (done.code, done.err) == (0, "")
    assert steady(done.out).splitlines() == [
        "look",
        "session ID",
        f"agent default in {bridle.project}",
        "from DATE to DATE",
        done.out.splitlines()[4],
        "",
        "you",
        "  look",
        "",
        "assistant",
        "  I look.",
        "  » read_file a.txt",
        "    1: one",
        "  Done.",
    ]
    assert done.out.splitlines()[4].startswith("1 run · 2 turns · 1 tool call · ")


def test_a_session_for_programs(bridle: Bridle, model: str):
    bridle("run", "--model", model, "look")

    shown = json.loads(bridle("session", "show", "0", "--json").out)

    assert shown.keys() == {"session", "totals", "granted", "queue", "last_run", "messages", "cells"}
    assert [message["role"] for message in shown["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert shown["last_run"]["outcome"] == "completed"


@pytest.mark.parametrize("command", ["show", "export", "fork", "archive", "verify"])
def test_an_unknown_session(bridle: Bridle, command: str):
    assert bridle("session", command, "nope") == Done(
        1, "", 'error: no session "nope"\nhint: bridle session list --all\n'
    )


@pytest.mark.parametrize("fill", ["ones", "empty"])
def test_an_overwritten_page_hides_no_session_and_is_said(bridle: Bridle, fill: str):
    """`session list` and `doctor` forgot sessions without a word when a page of the file was overwritten."""
    for prompt in ("the first", "the second", "the third"):
        bridle("run", "--model", bridle.script({"text": "one"}), prompt)
    database = bridle.home / "bridle.db"
    whole = database.read_bytes()
    roots = rootpages(database)
    for table, page in roots.items():
        kind = b"\x0d" if table == "records" else b"\x0a"
        data = b"\xff" * 4096 if fill == "ones" else (kind + b"\0\0\0\0\x10\0\0").ljust(4096, b"\0")
        database.write_bytes(whole[: (page - 1) * 4096] + data + whole[page * 4096 :])

        done, doctor = bridle("session", "list"), bridle("doctor")
        listed = bridle("session", "list", "--json")

        assert (done.code, listed.code, doctor.code) == (1, 1, 1)
        assert f"error: {database}: it is damaged" in done.err
        assert "hint: run bridle session fsck for details; restore the file from a backup" in done.err
        assert f"fail  store     {database}" in doctor.out
        titles = {session["title"] for session in json.loads(listed.out)}
        assert len(json.loads(listed.out)) == 3
        assert titles == {"the first", "the second", "the third"}


def test_of_a_damaged_file_a_session_that_can_be_read_is_shown(bridle: Bridle):
    bridle("run", "--model", bridle.script({"text": "one"}), "the first")
    session = bridle.sessions()[0]["id"]
    database = bridle.home / "bridle.db"
    page = rootpages(database)["sessions"]
    whole = database.read_bytes()
    database.write_bytes(whole[: (page - 1) * 4096] + b"\xff" * 4096 + whole[page * 4096 :])

    done = bridle("session", "show", session)

    assert done.code == 0
    assert "the first" in done.out
    assert f"warning: {database}: it is damaged" in done.err


def rootpages(database: Path) -> dict[str, int]:
    connection = apsw.Connection(str(database))
    found = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema"))
    connection.close()
    return found


@pytest.mark.parametrize("backend", ["sqlite", "jsonl"])
def test_sessions_can_be_kept_in_another_folder(bridle: Bridle, backend: str):
    bridle("config", "set", "store.backend", backend)
    bridle("config", "set", "store.directory", "~/kept")
    kept = Path(bridle.env["HOME"], "kept")
    look = {"calls": [{"name": "bash", "args": {"command": f"ls {kept}/* | cat"}}]}
    model = bridle.script({"text": "hello"}, look, {"text": "{last_tool_result}"})

    bridle("run", "-p", "--model", model, "hi")
    (session,) = bridle.sessions()
    done = bridle("run", "-p", "--session", session["id"], "--model", model, "--allow", "bash", "look")

    assert (kept / {"sqlite": "bridle.db", "jsonl": "sessions"}[backend]).exists()
    assert not (bridle.home / "bridle.db").exists()
    assert not (bridle.home / "sessions").exists()
    assert done.code == 0
    assert "bridle.db" not in done.out  # hidden from commands, like BRIDLE_HOME
    assert session["id"] not in done.out
    assert bridle("session", "verify").code == 0
