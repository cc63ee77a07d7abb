"""Structured output: extracts the value that a run ends with from the model's text, and validates it.

```
final answer ── read ──▶ fits: the run is over
                    └──▶ does not fit: `ask` is the next message, the next request has the schema and no tools
                                   └──▶ until it fits, or the attempts are used up
```

Everything is bounded: the schema, the answer, its depth, the numbers in it, what errors quote.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec
from jsonschema_rs import ValidationError, Validator, validator_for

from bridle.core.errors import UsageError
from bridle.core.ports import Provider, SchemaEnforcer, implements
from bridle.core.schema import OutputSchema, depth_of, is_deeper
from bridle.core.schema_effort import SchemaEffort, count_values, has_choices

MAX_RETRIES = 10
MAX_ANSWER_BYTES = 1024 * 1024
MAX_VALUE_DEPTH = 64  # the validator recurses in native code, where too deep a value would crash the process
MAX_NUMBER_CHARS = 400
MAX_OPENINGS = 256  # brackets in prose that are tried as JSON
MAX_SHOWN = 3  # items that an error names
MAX_PROBLEM_CHARS = 300
MAX_QUOTED_CHARS = 500
MAX_REPEATED_CHARS = 4_000  # up to this size it is repeated: a compaction may have removed the first copy
MAX_STEPS = 200_000  # steps to explain why a value fits none of several choices: a quarter of a second
MAX_WARNINGS = 20

_FENCE = "```"
_OPENING = re.compile(r"[{\[]")

_FIRST = """\
Now give the answer as JSON that fits this JSON Schema. Write nothing but the one JSON value: no \
explanation, no code fence.

{schema}"""
_AGAIN = """\
{error}

Answer again with nothing but one JSON value that fits the JSON Schema{which}: no explanation, no code \
fence.{schema}"""


class Extraction:
    """Extracts one value that fits a schema from a model's answers."""

    params: ClassVar[dict[str, Any]] = {"temperature": 0.0}
    """Extra request parameters; providers drop those that their vendor does not accept."""

    def __init__(self, schema: dict[str, Any], retries: int, provider: Provider | None = None) -> None:
        """Check a schema; raises UsageError, also if it is strict and `provider` cannot enforce it."""
        if not 0 <= retries <= MAX_RETRIES:
            raise UsageError(f"structured output: {retries} retries must be between 0 and {MAX_RETRIES}")
        read = OutputSchema.of(schema)
        self.schema = read.schema
        """The schema that models and vendors get."""
        self._attempts = retries + 1
        self._validator = _compiled(read.schema)
        self._has_choices = has_choices(read.schema)
        self._effort = SchemaEffort(read.schema, MAX_STEPS)
        self.warnings = _unenforced(read.schema, provider)
        """What the vendor cannot enforce; the answer is validated against it all the same."""
        if read.compat == "strict" and self.warnings:
            raise UsageError(
                f"output schema: {'; '.join(self.warnings[:MAX_SHOWN])}",
                hint="remove it from the schema, or accept the loss with compat lossy",
            )

    def read(self, text: str, *, asked: bool = True) -> tuple[bool, Any, str]:
        """Find the value in an answer: return whether one fits, the value, and otherwise why not.

        Text around the value is ignored if it was `asked` for and exactly one value fits.
        """
        if len(text) > MAX_ANSWER_BYTES or len(text.encode("utf-8", "replace")) > MAX_ANSWER_BYTES:
            return False, None, f"Invalid JSON: the answer is longer than {MAX_ANSWER_BYTES:,} bytes"
        try:
            value = parse(_unfenced(text))
        except ValueError as error:
            found = _candidates(text) if asked else []
            return self._choose(found, f"Invalid JSON: {error}")
        return self._choose([value], "")

    def ask(self, error: str, attempts: int) -> str | None:
        """Return the message to the model after this many attempts; None if there are no more."""
        if attempts >= self._attempts:
            return None
        schema = msgspec.json.encode(self.schema).decode()
        if attempts == 0:
            return _FIRST.format(schema=schema)
        if len(schema) > MAX_REPEATED_CHARS:
            return _AGAIN.format(error=error, which=" above", schema="")
        return _AGAIN.format(error=error, which="", schema=f"\n\n{schema}")

    def failure(self, error: str, answer: str) -> str:
        """Return why the run has failed, with the beginning of the last answer."""
        tries = "1 attempt" if self._attempts == 1 else f"{self._attempts} attempts"
        last = _cut(" ".join(answer.split()), MAX_QUOTED_CHARS) or "nothing"
        return f"structured output: no answer fits the schema after {tries}: {error}; the last answer: {last}"

    def _choose(self, found: Sequence[Any], why_none: str) -> tuple[bool, Any, str]:
        valid = [value for value in found if self._validator.is_valid(value)]
        if len(valid) == 1:
            return True, valid[0], ""
        if valid:
            return False, None, f"Invalid JSON: {len(valid)} values fit, and one is wanted"
        if len(found) == 1:
            return False, None, f"Schema validation failed: {self._explain(found[0])}"
        return False, None, why_none

    def _explain(self, value: Any) -> str:
        """Return the first reason why a value does not fit."""
        if self._has_choices:
            values = count_values(value, MAX_STEPS)
            if values * self._effort.at(depth_of(value)) > MAX_STEPS:
                return "the value does not fit, and it is too large to say where"
        try:
            self._validator.validate(value)
        except ValidationError as error:
            return _problem(error)
        raise AssertionError("a value that does not fit has a reason")


# ---------------------------------------------------------------------------- schemas


def _compiled(schema: dict[str, Any]) -> Validator:
    try:
        return validator_for(schema, offline=True)
    except ValidationError as error:
        where = "/".join(["#", *map(str, error.instance_path)])
        is_type = error.instance_path[-1:] == ["type"] and isinstance(error.instance, str)
        said = f'there is no type "{error.instance}"' if is_type else error.message
        raise UsageError(f"output schema: {where}: {_cut(said, MAX_PROBLEM_CHARS)}") from None
    except ValueError as error:
        raise UsageError(
            f"output schema: {_cut(str(error).partition(chr(10))[0], MAX_PROBLEM_CHARS)}"
        ) from None


def _problem(error: ValidationError) -> str:
    """Return where and why a value is wrong; among several choices, in the nearest one."""
    said = [error]
    while choices := [choice for choice in getattr(error.kind, "context", ()) if choice]:
        here = len(error.instance_path)
        nearest = min(choices, key=lambda choice: (_furthest(choice) <= here, len(choice)))
        if _furthest(nearest) <= here:
            said = [choice[0] for choice in choices[:MAX_SHOWN]]
            break
        error = max(nearest, key=lambda inner: len(inner.instance_path))
        said = [error]
    where = "/".join(["#", *map(str, error.instance_path)])
    why = "; ".join(dict.fromkeys(_cut(inner.message, MAX_PROBLEM_CHARS) for inner in said))
    return f"{_cut(where, MAX_PROBLEM_CHARS)}: {why}"


def _furthest(errors: Sequence[ValidationError]) -> int:
    return max(len(error.instance_path) for error in errors)


def _unenforced(schema: dict[str, Any], provider: object) -> tuple[str, ...]:
    if not implements(provider, SchemaEnforcer):
        return ()
    lost = provider.unenforced(schema)
    more = len(lost) - MAX_WARNINGS
    return lost if more <= 0 else (*lost[:MAX_WARNINGS], f"and {more} more")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


# ---------------------------------------------------------------------------- JSON in text


def parse(text: str) -> Any:
    """Parse strict JSON that can be stored; raises ValueError with the reason."""
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(_located(error)) from None
    except RecursionError:
        raise ValueError(f"it is nested deeper than {MAX_VALUE_DEPTH} levels") from None
    _check(value)
    return value


def _located(error: json.JSONDecodeError) -> str:
    if not error.doc.strip():
        return "the answer is empty"
    near = error.doc[max(0, error.pos - 20) : error.pos + 20]
    return f"{error.msg} at line {error.lineno} column {error.colno}, near {near!r}"


def _check(value: Any) -> None:
    if is_deeper(value, MAX_VALUE_DEPTH):
        raise ValueError(f"it is nested deeper than {MAX_VALUE_DEPTH} levels")
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        raise ValueError("the text contains half a character (a lone surrogate)") from None


def _whole(text: str) -> int:
    if len(text) > MAX_NUMBER_CHARS or not -(2**63) <= (number := int(text)) < 2**64:
        raise ValueError(f"the number {_cut(text, 40)} is too large")
    return number


def _real(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {_cut(text, 40)} is too large")
    return number


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"the key {_cut(name, 60)!r} comes twice in one object")
        members[name] = value
    return members


_decoder = json.JSONDecoder(
    parse_int=_whole, parse_float=_real, parse_constant=_constant, object_pairs_hook=_members
)


def _unfenced(text: str) -> str:
    """Return the content of the code fence if the answer is a single one, otherwise the answer."""
    text = text.strip().removeprefix("\ufeff").strip()
    lines = text.split("\n")  # splitlines() would also split inside JSON strings
    is_fenced = len(lines) > 1 and lines[0].startswith(_FENCE) and lines[-1].strip() == _FENCE
    return "\n".join(lines[1:-1]).strip() if is_fenced else text


def _candidates(text: str) -> list[Any]:
    """Return the distinct values in fences, otherwise those between words; none if one is invalid."""
    fenced = _fenced(text)
    try:
        values = [parse(block.strip()) for block in fenced] if fenced else list(_embedded(text))
    except ValueError:
        return []
    return list({msgspec.json.encode(value): value for value in values}.values())


def _fenced(text: str) -> list[str]:
    """Return the content of the fences marked as JSON or not marked at all."""
    blocks: list[str] = []
    opened: list[str] | None = None
    for line in text.split("\n"):
        mark = line.strip()
        if opened is None and mark.startswith(_FENCE):
            opened = [mark.removeprefix(_FENCE).strip().lower()]
        elif opened is not None and mark == _FENCE:
            if not opened[0] or opened[0].startswith("json"):
                blocks.append("\n".join(opened[1:]))
            opened = None
        elif opened is not None:
            opened.append(line)
    return blocks


def _embedded(text: str) -> Iterator[Any]:
    """Yield the objects and arrays between words; raises ValueError for one that begins and is broken.

    A bracket that no JSON follows is part of the prose. Nothing inside a broken value is taken for the value.
    """
    start = 0
    for _ in range(MAX_OPENINGS):
        if (found := _OPENING.search(text, start)) is None:
            return
        try:
            value, start = _decoder.raw_decode(text, found.start())
            _check(value)
            yield value
        except json.JSONDecodeError as error:
            start = found.end()
            if text[start : error.pos].strip():
                raise
        except RecursionError:
            raise ValueError("too deep") from None
    raise ValueError("too many brackets")
