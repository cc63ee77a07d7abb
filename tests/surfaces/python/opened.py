"""A Bridle with a test model and nothing on disk."""

from pathlib import Path
from typing import Any

import bridle
from bridle.core.ports import Provider
from bridle.core.protocol import Event, Record

ENVIRON = {"PATH": "/usr/bin:/bin"}


def opened(provider: Provider, tmp_path: Path, **keywords: Any) -> bridle.Bridle:
    """Open it with no tools but those that are given."""
    usual: dict[str, Any] = {"builtins": False, "cwd": tmp_path, "environ": ENVIRON, "ephemeral": True}
    return bridle.open(providers={"play": provider}, model="play/a", **{**usual, **keywords})


def kinds(records: list[Record]) -> list[str]:
    return [type(record.event).__name__ for record in records]


def events(records: list[Record], kind: type[Event]) -> list[Any]:
    return [record.event for record in records if isinstance(record.event, kind)]
