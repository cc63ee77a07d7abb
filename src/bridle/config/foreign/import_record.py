"""The import record: what was imported from which program, so that nothing is imported twice.

`BRIDLE_HOME/imported.json` holds `{"claude": {"session 84a7…": "12", "rule allow Bash(make)": "", …}}`. What
is in it is not imported again even if the user has removed it since: that was a decision.
"""

from pathlib import Path

import msgspec

from bridle.config.textfile import locked, read_text, write_text
from bridle.core.errors import ConfigError

RECORD_FILE = "imported.json"

_decoder = msgspec.json.Decoder(dict[str, dict[str, str]])


class ImportRecord:
    """What was imported from one program. Blocks; methods raise ConfigError."""

    def __init__(self, home: Path, program: str) -> None:
        self._file = home / RECORD_FILE
        self._program = program
        self._known = self._read().get(program, {})
        self._new: dict[str, str] = {}

    def get_note(self, key: str) -> str | None:
        """Return the note stored when an item was imported; None if it never was."""
        return self._new.get(key, self._known.get(key))

    def add(self, key: str, note: str = "") -> None:
        """Note that an item was imported."""
        self._new[key] = note

    def keep(self) -> None:
        """Write the new notes to the file."""
        if not self._new:
            return
        with locked(self._file):
            whole = self._read()
            whole[self._program] = whole.get(self._program, {}) | self._new
            text = msgspec.json.format(msgspec.json.encode(whole, order="sorted"), indent=1)
            write_text(self._file, text.decode() + "\n")

    def _read(self) -> dict[str, dict[str, str]]:
        text = read_text(self._file)
        try:
            return _decoder.decode(text) if text else {}
        except msgspec.DecodeError as error:
            raise ConfigError(
                f"{self._file}: is not a valid import record: {error}", hint="remove the file"
            ) from error
