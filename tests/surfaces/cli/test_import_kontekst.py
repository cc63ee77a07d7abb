"""`bridle import kontekst`, and its results."""

import json
import os
from pathlib import Path

import pytest

from tests.stores.test_kontekst_reader import ID, WRITTEN, line
from tests.surfaces.command import Bridle, Done


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory as Kontekst leaves it."""
    folder = tmp_path / "kontekst"
    (folder / "sessions").mkdir(parents=True)
    (folder / "sessions" / f"{ID}.jsonl").write_bytes(WRITTEN + b"garbage\n")
    (folder / "sessions" / f"{ID}.meta.json").write_bytes(b'{"default_agent":"default"}')
    (folder / "sessions" / "empty.jsonl").touch()
    (folder / "sessions" / "..evil.jsonl").write_bytes(WRITTEN)
    (folder / "agents/default").mkdir(parents=True)
    (folder / "agents/default/agent.md").write_text("Be kind.")
    (folder / "skills").mkdir()
    (folder / "skills/short.md").write_text("Be short.")
    (folder / "active_session").write_text(ID)
    return folder


SUMMARY = f"""\
agents    1 imported
skills    1 imported
sessions  1 imported, 2 left out, 4 messages
  session empty: it has no messages
  session ..evil: its name is not valid for a session
  session {ID}: 1 line left out: not a line of JSON as Kontekst writes it
"""


def test_it_comes_once(bridle: Bridle, data: Path):
    dry = bridle("import", "kontekst", str(data), "--dry-run")
    assert sorted(dry.out.splitlines()) == sorted(["dry run: nothing was changed", *SUMMARY.splitlines()])
    assert bridle.sessions() == []

    first = bridle("import", "kontekst", str(data))
    shown = bridle("session", "show", ID, "--json")
    again = bridle("import", "kontekst", str(data))

    assert sorted(first.out.splitlines()) == sorted(SUMMARY.splitlines())
    assert (first.code, first.err, again.code) == (0, "", 0)
    assert again.out.splitlines()[:3] == [
        "agents    1 already there",
        "skills    1 already there",
        "sessions  1 already there, 2 left out",
    ]
    assert [(one["id"], one["agent"], one["cwd"]) for one in bridle.sessions()] == [
        (ID, "kontekst", str(bridle.project))
    ]
    assert [message["role"] for message in json.loads(shown.out)["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert bridle("session", "show", ID, "--json").out == shown.out


def test_a_session_is_as_old_as_its_file(bridle: Bridle, data: Path):
    os.utime(data / "sessions" / f"{ID}.jsonl", (1768701688, 1768701688))

    bridle("import", "kontekst", str(data))

    [session] = bridle.sessions()
    assert (session["created_at"], session["updated_at"]) == (1768701688000, 1768701688000)


def test_a_session_goes_on_where_it_came_to(bridle: Bridle, data: Path):
    bridle("import", "kontekst", str(data))

    done = bridle(
        "run", "--continue", "--model", bridle.script({"text": "{last_user}"}, repeat=True), "and now"
    )

    assert done == Done(0, "and now\n", "")
    assert bridle.sessions()[0]["id"] == ID


def test_as_json(bridle: Bridle, data: Path):
    done = bridle("import", "kontekst", str(data), "--json", "--cwd", str(data))

    told = {(one["kind"], one["name"]): one for one in json.loads(done.out)}
    assert told["session", ID] == {
        "kind": "session",
        "name": ID,
        "messages": 4,
        "skipped": {"not a line of JSON as Kontekst writes it": 1},
    }
    assert bridle.sessions()[0]["cwd"] == str(data)


def test_commands_are_left_out_and_said_to_be(bridle: Bridle, data: Path):
    (data / "commands").mkdir()

    assert bridle("import", "kontekst", str(data)).err == (
        "warning: commands are skipped: Bridle has none; a skill can say what to run\n"
    )


def test_a_folder_that_is_something_else(bridle: Bridle):
    assert bridle("import", "kontekst", "nowhere") == Done(
        64,
        "",
        "error: nowhere is not a data directory of Kontekst: it has no agents, skills, sessions\n"
        "hint: it is usually ~/.kontekst\n",
    )


def test_a_home_that_lies_beside_it_needs_no_import(bridle: Bridle, data: Path):
    (data / "config.toml").write_text(f'data_dir = "{data}"\n')
    (data / "bridle").mkdir()
    (data / "bridle/kontekst").write_text(str(data / "config.toml"))

    done = bridle("import", "kontekst", str(data), BRIDLE_HOME=str(data / "bridle"))

    assert done == Done(64, "", f"error: {data}/bridle lies beside {data} and uses it already\n")


def test_runs_in_a_home_beside_it_are_seen_by_kontekst(bridle: Bridle, data: Path):
    (data / "config.toml").write_text(f'data_dir = "{data}"\n')
    (data / "bridle").mkdir()
    (data / "bridle/kontekst").write_text(str(data / "config.toml"))
    file = data / "sessions" / f"{ID}.jsonl"
    file.write_bytes(line("user", "hi"))

    model = bridle.script({"text": "<ok>"})
    done = bridle("run", "--session", ID, "--model", model, "go on", BRIDLE_HOME=str(data / "bridle"))

    assert done == Done(0, "<ok>\n", "")
    assert [json.loads(one)["content"] for one in file.read_bytes().splitlines()] == ["hi", "go on", "<ok>"]
    assert b'"content":"\\u003cok\\u003e"' in file.read_bytes()
    assert (data / "active_session").read_text() == ID
