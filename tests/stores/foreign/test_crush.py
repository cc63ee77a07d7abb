from pathlib import Path

import apsw
import pytest

from bridle.core.context import Counted
from bridle.core.errors import StoreError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.stores.foreign import crush
from bridle.stores.foreign.crush import DATABASE, read, sources
from bridle.stores.foreign.json_files import NO_JSON, ForeignSession
from bridle.stores.kontekst_reader import KontekstConversation
from tests.stores.foreign.samples import CRUSH_ID, crush_project

MESSAGES = (
    user_message("count the lines"),
    Message("assistant", (Reasoning("view it"), ToolCall(CallId("k1"), "read_file", {"path": "a.txt"}))),
    Message("tool", (ToolResult(CallId("k1"), "read_file", "1| x"),)),
    Message("assistant", (Text("One."),)),
)


def test_a_session_is_told(tmp_path: Path):
    project = crush_project(tmp_path / "p")

    found = sources(project)

    assert [source.key for source in found] == [CRUSH_ID]
    messages = tuple(Counted(one, 0) for one in MESSAGES)
    dates = (1768701688000, *(1768701688000 + number * 1000 for number in range(4)))
    conversation = KontekstConversation(messages, "", {NO_JSON: 1}, dates)
    assert read(found[0]) == ForeignSession(CRUSH_ID, conversation, "Count lines")


def test_no_database(tmp_path: Path):
    assert sources(tmp_path) == []


def test_a_database_that_is_something_else(tmp_path: Path):
    (tmp_path / ".crush").mkdir()
    (tmp_path / DATABASE).write_bytes(b"SQLite format 3\0" + b"x" * 4000)

    with pytest.raises(StoreError, match="cannot be read as a database of Crush"):
        sources(tmp_path)


def test_a_database_that_leads_out_is_not_opened(tmp_path: Path):
    project = crush_project(tmp_path / "p")
    (tmp_path / "q/.crush").mkdir(parents=True)
    (tmp_path / "q" / DATABASE).symlink_to(project / DATABASE)

    with pytest.raises(StoreError, match="leads out"):
        sources(tmp_path / "q")


def test_a_table_that_never_ends_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(crush, "MAX_STEPS", 10)
    (tmp_path / ".crush").mkdir()
    database = apsw.Connection(str(tmp_path / DATABASE))
    database.execute(
        "CREATE VIEW sessions AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
        " SELECT x AS id, NULL AS parent_session_id, 1 AS updated_at FROM n"
    )
    database.close()

    with pytest.raises(StoreError, match="interrupted"):
        sources(tmp_path)
