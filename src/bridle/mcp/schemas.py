"""Checks the schemas of untrusted servers before a model sees them."""

from typing import Any

import msgspec

from bridle.core.schema import REFERENCES, References, is_costly, is_deeper, subschemas

MAX_SCHEMA_BYTES = 64 * 1024
MAX_SCHEMA_DEPTH = 64


def find_schema_problem(schema: Any) -> str:
    """Return why a schema cannot be the parameters of a tool; empty if it can."""
    if not isinstance(schema, dict):
        return "its schema is no object"
    if schema.get("type", "object") != "object":
        return f"its schema is of type {str(schema['type'])[:40]!r}, not of type object"
    if is_deeper(schema, MAX_SCHEMA_DEPTH):
        return f"its schema is nested deeper than {MAX_SCHEMA_DEPTH} levels"
    try:
        size = len(msgspec.json.encode(schema))
    except (ValueError, OverflowError) as error:
        return f"its schema is not JSON: {error}"
    if size > MAX_SCHEMA_BYTES:
        return f"its schema has {size:,} bytes, {MAX_SCHEMA_BYTES:,} are allowed"
    references = References(schema)
    for where, part in subschemas(schema):
        for key in REFERENCES:
            ref = part.get(key)
            if ref is not None and references.find(ref) is None:
                return f"in its schema {where}/{key} points nowhere: {str(ref)[:100]!r}"
    if is_costly(schema, {}):
        return "its schema is too complex to check"
    return ""
