"""Read the schema that `--output-schema` gives for a run's result."""

from pathlib import Path
from typing import Any

from bridle.core.errors import UsageError
from bridle.core.schema import MAX_SCHEMA_BYTES, Compat, with_compat
from bridle.sessions.structured_output import Extraction, parse

MAX_SCHEMA_FILE_BYTES = 4 * MAX_SCHEMA_BYTES  # most of a file may be white space


def read_schema(text: str, compat: Compat | None, tries: int) -> dict[str, Any]:
    """Read an inline schema or a schema file; raises UsageError if no run could satisfy it."""
    name, data = _named(text)
    try:
        schema = parse(data)
    except ValueError as error:
        raise UsageError(f"--output-schema: {name} is not JSON: {error}") from None
    if not isinstance(schema, dict):
        raise UsageError(f"--output-schema: {name} is not a JSON object")
    schema = schema if compat is None else with_compat(schema, compat)
    Extraction(schema, tries)  # raises for an invalid schema, before anything starts
    return schema


def _named(text: str) -> tuple[str, str]:
    """Return a schema's name for messages, and its text."""
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
