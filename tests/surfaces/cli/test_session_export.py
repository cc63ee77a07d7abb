import json
from pathlib import Path

import pytest

from bridle.core.codec import decode_record
from bridle.surfaces.shared.export import to_html, to_markdown
from tests.surfaces.command import Bridle, Done


@pytest.fixture(autouse=True)
def session(bridle: Bridle) -> str:
    bridle("run", "--model", bridle.script({"text": "<b>ż</b>"}), "<script>")
    return str(bridle.sessions()[0]["id"])


def test_the_formats_are_those_of_the_library(bridle: Bridle, session: str):
    document = json.loads(bridle("session", "export", session, "--format", "json").out)
    records = [decode_record(json.dumps(record).encode()) for record in document["records"]]

    assert bridle("session", "export", session) == Done(0, to_markdown(records), "")
    assert bridle("session", "export", session, "--format", "html") == Done(0, to_html(records), "")
    assert bridle("session", "export", session, "--html") == Done(0, to_html(records), "")


def test_only_one_format_can_be_chosen(bridle: Bridle, session: str):
    done = bridle("session", "export", session, "--html", "--format", "json")

    assert (done.code, done.out) == (64, "")
    assert "argument --format: not allowed with argument --html" in done.err


def test_a_file_instead_of_stdout(bridle: Bridle, session: str):
    done = bridle("session", "export", session, "--html", "-o", "talk.html")

    assert done == Done(0, "", "")
    page = (bridle.project / "talk.html").read_text()
    assert page == bridle("session", "export", session, "--format", "html").out
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("path", "why"), [("no/such/file", "No such file or directory"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_written(bridle: Bridle, session: str, path: str, why: str):
    assert bridle("session", "export", session, "-o", path) == Done(
        1, "", f"error: {path} cannot be written: {why}\n"
    )


def test_utf8_whatever_the_locale_is(bridle: Bridle, session: str):
    bridle(
        "session", "export", session, "--format", "html", "-o", "talk.html", LC_ALL="POSIX", PYTHONUTF8="0"
    )

    assert "ż" in Path(bridle.project / "talk.html").read_text(encoding="utf-8")


def test_a_folder_of_files_is_kept_up_to_date(bridle: Bridle, session: str):
    first = bridle("session", "export", session, "--format", "files", "-o", "out")
    names = sorted(path.name for path in (bridle.project / "out" / session).iterdir())
    bridle("session", "rename", session, "a title")

    again = bridle("session", "export", session, "--format", "files", "-o", "out")

    assert (first.code, again.code) == (0, 0)
    assert names == sorted(
        [
            "checkpoint.json",
            "events.jsonl",
            "summary.txt",
            "transcript.md",
            f"{session}.jsonl",
            f"{session}.meta.json",
        ]
    )
    events = (bridle.project / "out" / session / "events.jsonl").read_text().splitlines()
    assert '"type":"session_titled","title":"a title"' in events[-1]


def test_a_folder_must_be_named(bridle: Bridle, session: str):
    assert bridle("session", "export", session, "--format", "files") == Done(
        64, "", "error: --format files needs a folder to write into\nhint: add -o DIR\n"
    )
