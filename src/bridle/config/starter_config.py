"""Write the first, commented `config.toml`, or set model and mode in an existing one.

`starter.toml` next to this module is the template of a new file: the common keys, each with a comment, and
unset ones commented out.
"""

from pathlib import Path

from msgspec import Struct

from bridle.config.edit import set_value
from bridle.config.textfile import locked, read_text, write_text
from bridle.core.errors import ConfigError
from bridle.core.permission import Mode

STARTER = Path(__file__).with_name("starter.toml")
MAX_COPIES = 50


class WrittenSettings(Struct, frozen=True):
    """The result of writing the settings."""

    file: Path
    copy: Path | None
    """The copy of the previous text; None if there was none."""


def starter_text(model: str, mode: Mode) -> str:
    """Return a commented `config.toml` with this model and this mode; raises ConfigError for a bad name."""
    text = STARTER.read_text(encoding="utf-8")
    return _with(text, model, mode, "config.toml")


def write_settings(file: Path, model: str, mode: Mode, *, anew: bool = False) -> WrittenSettings:
    """Write a commented `config.toml`, or set model and mode in an existing one and keep a copy of it.

    With `anew`, an existing file is replaced as a whole. On a ConfigError nothing has changed.
    """
    with locked(file):
        before = _broken_text(file) if anew else read_text(file)
        if before is None or anew:
            text = starter_text(model, mode)
        else:
            text = _with(before, model, mode, str(file))
        copy = _keep(file, before) if before is not None and before != text else None
        write_text(file, text)
    return WrittenSettings(file, copy)


def _with(text: str, model: str, mode: Mode, name: str) -> str:
    return set_value(set_value(text, "model", model, file=name), "rules.mode", mode, file=name)


def _broken_text(file: Path) -> str | None:
    """Return the text of a file that may be invalid TOML or UTF-8; raises ConfigError if it is no file."""
    try:
        return read_text(file)
    except ConfigError:
        if not file.is_file():
            raise
        return file.read_text(encoding="utf-8", errors="replace")


def _keep(file: Path, text: str) -> Path:
    """Write a copy next to the file, under a free name or one that already holds the same text."""
    for number in range(1, MAX_COPIES + 1):
        copy = file.with_name(f"{file.name}.bak{number if number > 1 else ''}")
        there = _broken_text(copy)
        if there is None:
            write_text(copy, text)
        if there in (None, text):
            return copy
    raise ConfigError(f"{file}: {MAX_COPIES} backups of it already exist", hint=f"rm {file}.bak*")
