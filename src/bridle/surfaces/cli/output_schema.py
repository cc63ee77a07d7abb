"""The schema of the value that a run is to end with, as `--output-schema` names it."""

from pathlib import Path
from typing import Any

from bridle.core.errors import UsageError
from bridle.core.schema import MAX_SCHEMA_BYTES, Compat, with_compat
from bridle.sessions.structured import Extraction, parse

MAX_SCHEMA_FILE_BYTES = 4 * MAX_SCHEMA_BYTES  # of which most may be white space


def read_schema(text: str, compat: Compat | None, tries: int) -> dict[str, Any]:
    """Read a schema or the file of one; raises UsageError for what no run could be held to."""
    name, data = _named(text)
    try:
        schema = parse(data)
    except ValueError as error:
        raise UsageError(f"--output-schema: {name} is not JSON: {error}") from None
    if not isinstance(schema, dict):
        raise UsageError(f"--output-schema: {name} is not a JSON object")
    schema = schema if compat is None else with_compat(schema, compat)
    Extraction(schema, tries)  # refuses what is wrong with it before anything starts
    return schema


def _named(text: str) -> tuple[str, str]:
    """Return what a schema is called and what it says."""
    if text.lstrip().startswith("{"):
        return "the schema", text
    try:
        with Path(text).open("rb") as file:
            data = file.read(MAX_SCHEMA_FILE_BYTES + 1)
        if len(data) > MAX_SCHEMA_FILE_BYTES:
            raise UsageError(f"--output-schema: {text} is larger than {MAX_SCHEMA_FILE_BYTES // 1024} KiB")
        return text, data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"--output-schema: {text} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--output-schema: {text} is not UTF-8 text") from None
