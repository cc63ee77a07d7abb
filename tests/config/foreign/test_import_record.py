from pathlib import Path

import pytest

from bridle.config.foreign.importer import RECORD_FILE, ImportRecord
from bridle.core.errors import ConfigError


def test_what_was_brought_is_known(tmp_path: Path):
    first = ImportRecord(tmp_path, "claude")
    first.add("rule x")
    assert first.get_note("rule x") == ""
    first.keep()
    other = ImportRecord(tmp_path, "codex")
    other.add("session 1", "12")
    other.keep()
    ImportRecord(tmp_path, "codex").keep()

    again = ImportRecord(tmp_path, "claude")
    assert (again.get_note("rule x"), again.get_note("session 1")) == ("", None)
    assert ImportRecord(tmp_path, "codex").get_note("session 1") == "12"


def test_a_record_that_is_broken_is_not_overwritten(tmp_path: Path):
    (tmp_path / RECORD_FILE).write_text("[]")

    with pytest.raises(ConfigError, match="is not a valid import record"):
        ImportRecord(tmp_path, "claude")
