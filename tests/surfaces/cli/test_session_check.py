import json

import apsw
import pytest

from tests.surfaces.command import Bridle, Done, steady


@pytest.fixture
def session(bridle: Bridle) -> str:
    bridle("run", "--model", bridle.script({"text": "one"}), "the first")
    return str(bridle.sessions()[0]["id"])


def edit_one_byte(bridle: Bridle) -> None:
    connection = apsw.Connection(str(bridle.home / "bridle.db"))
    edited = "CAST(replace(CAST(line AS TEXT), 'the first', 'the worst') AS BLOB)"
    connection.execute(f"UPDATE records SET line = {edited} WHERE seq = 3")
    connection.close()


def test_an_untouched_record_is_proven(bridle: Bridle, session: str):
    proven = Done(0, f"{session}  ok      {bridle.sessions()[0]['last_seq']} events\n", "")

    assert bridle("session", "verify") == proven
    assert bridle("session", "verify", session[:13]) == proven
    assert bridle("session", "fsck") == Done(0, "no problems found\n", "")


def test_an_edited_record_is_noticed(bridle: Bridle, session: str):
    edit_one_byte(bridle)

    assert bridle("session", "verify") == Done(
        1,
        f"{session}  broken  event 3: it differs from what was recorded\n",
        "error: 1 session of 1 modified since recorded\n",
    )
    checked = bridle("session", "fsck")
    assert (checked.code, steady(checked.out)) == (
        1,
        "broken    ID  event 3: it differs from what was recorded\n",
    )
    assert checked.err == "error: 1 problem left\n"  # no hint: what was edited cannot be repaired


def test_verdicts_for_programs(bridle: Bridle, session: str):
    last = bridle.sessions()[0]["last_seq"]
    [fine] = json.loads(bridle("session", "verify", "--json").out)
    edit_one_byte(bridle)
    [broken] = json.loads(bridle("session", "verify", "--json").out)
    [flaw] = json.loads(bridle("session", "fsck", "--json").out)

    assert (fine["records"], fine["flaw"]) == (last, None)
    assert (broken["records"], broken["flaw"]["seq"]) == (2, 3)
    assert flaw == broken["flaw"]


def test_what_can_be_repaired_is(bridle: Bridle):
    (bridle.home / "config.toml").write_text('[store]\nbackend = "jsonl"\n')
    bridle("run", "--model", bridle.script({"text": "one"}), "the first")
    [file] = (bridle.home / "sessions").glob("**/*.jsonl")
    file.write_bytes(file.read_bytes() + b'{"seq":999,"at":17')

    found = bridle("session", "fsck")
    repaired = bridle("session", "fsck", "--repair")
    after = bridle("session", "fsck")

    assert (found.code, found.out.split()[0]) == (1, "broken")
    assert (repaired.code, repaired.out.split()[0], repaired.err) == (0, "repaired", "")
    assert after == Done(0, "no problems found\n", "")


def test_a_truncated_blob_is_noticed(bridle: Bridle):
    """What a file was before an edit was cut off on the disk, and the session was proven all the same."""
    (bridle.project / "greet.py").write_text("helo\n" * 1000)
    edit = {"name": "write_file", "args": {"path": "greet.py", "content": "hello\n"}}
    look = {"name": "read_file", "args": {"path": "greet.py"}}
    model = bridle.script({"calls": [look]}, {"calls": [edit]}, {"text": "done"})
    bridle("run", "--yolo", "--model", model, "write it")
    session = bridle.sessions()[0]["id"]
    assert bridle("session", "verify").code == 0
    blob = max((bridle.home / "blobs").glob("*/*"), key=lambda path: path.stat().st_size)
    blob.write_bytes(blob.read_bytes()[:-5])

    done = bridle("session", "verify")

    assert (done.code, done.err) == (1, "error: 1 session of 1 modified since recorded\n")
    assert done.out.startswith(f"{session}  broken  1 blob damaged\n  event ")
    assert f"greet.py before it was changed: blob {blob.parent.name}{blob.name} is damaged" in done.out
    assert bridle("session", "fsck").code == 1
    blob.unlink()
    assert f"blob {blob.parent.name}{blob.name} cannot be read" in bridle("session", "verify", session).out
