from pathlib import Path

import pytest

from bridle.config.foreign.record import RECORD_FILE, Record
from bridle.core.errors import ConfigError


def test_what_was_brought_is_known(tmp_path: Path):
    first = Record(tmp_path, "claude")
    first.add("rule x")
    assert first.note_of("rule x") == ""
    first.keep()
    other = Record(tmp_path, "codex")
    other.add("session 1", "12")
    other.keep()
    Record(tmp_path, "codex").keep()

    again = Record(tmp_path, "claude")
    assert (again.note_of("rule x"), again.note_of("session 1")) == ("", None)
    assert Record(tmp_path, "codex").note_of("session 1") == "12"


def test_a_record_that_is_broken_is_not_overwritten(tmp_path: Path):
    (tmp_path / RECORD_FILE).write_text("[]")

    with pytest.raises(ConfigError, match="is not the record"):
        Record(tmp_path, "claude")
