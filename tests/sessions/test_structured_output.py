"""A value that fits a schema, extracted from any text of a model."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import UsageError
from bridle.core.model import ModelRequest
from bridle.sessions.structured_output import MAX_ANSWER_BYTES, MAX_VALUE_DEPTH, Extraction, parse

AGE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
TREE = {
    "$defs": {"tree": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/tree"}}]}},
    "$ref": "#/$defs/tree",
}
ANYTHING: dict[str, Any] = {}


class Holder:
    """A provider whose vendor cannot enforce a list of things."""

    def __init__(self, *lost: str) -> None:
        self.lost = lost

    def unenforced(self, schema: dict[str, Any]) -> tuple[str, ...]:
        return self.lost

    async def stream(self, request: ModelRequest) -> Any:
        yield request

    async def aclose(self) -> None:
        """Release nothing."""


def read(text: str, schema: dict[str, Any] = AGE, **how: bool) -> tuple[bool, Any, str]:
    return Extraction(schema, 2).read(text, **how)


def error_of(text: str, schema: dict[str, Any] = AGE) -> str:
    fits, value, error = read(text, schema)
    assert (fits, value) == (False, None)
    return error


# ---------------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    "text",
    [
        '{"age": 3}',
        ' \n{"age": 3}\n\n',
        '\ufeff{"age": 3}',
        '```json\n{"age": 3}\n```',
        '```\n{"age": 3}\n```\n',
        '  ```JSON\r\n{"age": 3}\r\n```  ',
    ],
)
def test_a_value_alone_is_read_whether_it_was_asked_for_or_not(text: str):
    assert read(text) == read(text, asked=False) == (True, {"age": 3}, "")


@pytest.mark.parametrize(
    "text",
    [
        'Sure:\n```json\n{"age": 3}\n```\nThat is all.',
        'Sure: {"age": 3}. Anything else?',
        'It [1] says so (see [the page](x)): {"age": 3}',
        'With {placeholders} left alone: {"age": 3}',
        'As code:\n```python\nprint({"age": 4})\n```\nand so\n```json\n{"age": 3}\n```',
        '{"age": 3}\n```',
        '```json\n{"age": 3}',
        '{"age": 3} and, again, {"age": 3}',
        'not {"name": "x"} but {"age": 3}',
    ],
)
def test_words_around_it_are_overlooked_only_if_it_was_asked_for(text: str):
    """An answer that shows some JSON on its way is no answer in JSON."""
    assert read(text) == (True, {"age": 3}, "")
    assert read(text, asked=False)[:2] == (False, None)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "Invalid JSON: the answer is empty"),
        (" \n", "Invalid JSON: the answer is empty"),
        ("I do not know", "Invalid JSON: Expecting value at line 1 column 1, near 'I do not know'"),
        ('{"age": 3} or {"age": 4}', "Invalid JSON: 2 values fit, and one is wanted"),
        ('```\n{"age": 3}\n```\n```\n{"age": 4}\n```', "Invalid JSON: 2 values fit, and one is wanted"),
        ('{"age": "x"}', 'Schema validation failed: #/age: "x" is not of type "integer"'),
        ('so: {"age": "x"}', 'Schema validation failed: #/age: "x" is not of type "integer"'),
        ("{}", 'Schema validation failed: #: "age" is a required property'),
        ('"three"', 'Schema validation failed: #: "three" is not of type "object"'),
        ('{"age": NaN}', "Invalid JSON: NaN is not a JSON value"),
        ('{"age": -Infinity}', "Invalid JSON: -Infinity is not a JSON value"),
        ('{"age": 3, "age": 4}', "Invalid JSON: the key 'age' comes twice in one object"),
        ('{"age": 1e999}', "Invalid JSON: the number 1e999 is too large"),
        ('{"age": 18446744073709551616}', "Invalid JSON: the number 18446744073709551616 is too large"),
        ('{"age": -9223372036854775809}', "Invalid JSON: the number -9223372036854775809 is too large"),
        (
            '{"age": 3, "name": "\\ud800"}',
            "Invalid JSON: the text contains half a character (a lone surrogate)",
        ),
        ("[" * 99, "Invalid JSON: Expecting value at line 1 column 100, near '[[[[[[[[[[[[[[[[[[[['"),
    ],
)
def test_what_does_not_fit_is_told_with_its_reason(text: str, error: str):
    assert error_of(text) == error


@pytest.mark.parametrize(
    "text", ['{"v": 1, "rest": [{"v": 2, "rest": []}', '```\n{"a": 1\n```\n```\n[]\n```']
)
def test_a_part_of_a_broken_value_is_not_taken_for_the_value(text: str):
    """An answer that was cut off within a tree ends in trees that would fit."""
    assert error_of(text, ANYTHING).startswith("Invalid JSON: Expecting")


@pytest.mark.parametrize(
    ("form", "asked"), [("{}", False), ("```\n{}\n```", False), ("So:\n```json\n{}\n```\nDone.", True)]
)
def test_a_line_end_within_a_text_is_part_of_it(form: str, *, asked: bool):
    value = {"age": 3, "note": "a\u2028b\x85c\x1cd"}
    written = json.dumps(value, ensure_ascii=False)

    assert read(form.replace("{}", written), asked=asked) == (True, value, "")


def test_numbers_up_to_64_bits_are_taken():
    assert read('{"age": 18446744073709551615}') == (True, {"age": 2**64 - 1}, "")
    assert read('{"age": -9223372036854775808}') == (True, {"age": -(2**63)}, "")


def test_a_value_may_be_deep_but_not_deeper_than_the_checker_can_bear():
    deepest = "[" * MAX_VALUE_DEPTH + "1" + "]" * MAX_VALUE_DEPTH

    assert read(deepest, TREE)[0]
    assert error_of(f"[{deepest}]", TREE) == "Invalid JSON: it is nested deeper than 64 levels"
    assert error_of(f"so: [{deepest}]", TREE).startswith("Invalid JSON: ")
    assert error_of("[" * 200_000 + "]" * 200_000, TREE).startswith("Invalid JSON: it is nested deeper")


def test_an_answer_is_bounded_in_bytes():
    assert read(json.dumps("x" * (MAX_ANSWER_BYTES - 2)), ANYTHING)[0]
    assert error_of(json.dumps("x" * MAX_ANSWER_BYTES), ANYTHING) == (
        "Invalid JSON: the answer is longer than 1,048,576 bytes"
    )
    assert error_of("ä" * (MAX_ANSWER_BYTES // 2 + 1), ANYTHING).startswith(
        "Invalid JSON: the answer is longer"
    )


@pytest.mark.parametrize("piece", ["[", "[a", "```x\n", "```\n", "{}", "[{", '{"a":', "[[]", "{} ``` "])
def test_a_flood_is_read_in_no_time(piece: str):
    text = "x " + piece * (MAX_ANSWER_BYTES // len(piece) - 1)
    began = time.process_time()

    assert not read(text)[0]

    assert time.process_time() - began < 5


def test_an_error_is_bounded():
    wide = {"properties": {f"{'k' * 500}{n}": {"type": "integer"} for n in range(9)}}
    value = {f"{'k' * 500}{n}": "v" * 5000 for n in range(9)}

    assert len(error_of(json.dumps(value), wide)) < 700
    assert len(error_of("x" * 100_000)) < 200


def test_a_deep_value_that_fits_no_variant_is_refused_in_no_time():
    variants = [{"type": "array", "items": {"$ref": "#"}, "minItems": n} for n in (0, 1)]
    began = time.process_time()

    error = error_of("[" * 40 + '"x"' + "]" * 40, {"anyOf": variants})

    assert error == "Schema validation failed: the value does not fit, and it is too large to say where"
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"type": "integer"}},
        {"items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
    ],
    ids=str,
)
def test_many_mistakes_are_told_in_no_time(schema: dict[str, Any]):
    began = time.process_time()

    assert error_of(json.dumps(["x"] * 200_000), schema).startswith("Schema validation failed: ")

    assert time.process_time() - began < 5


def test_a_mistake_in_a_small_tree_is_found():
    node = {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/next"}}}
    schema = {"$defs": {"next": {"anyOf": [{"type": "null"}, node]}}, **node, "required": ["value", "next"]}

    assert error_of('{"value": 1, "next": {"value": "x", "next": null}}', schema) == (
        'Schema validation failed: #/next/value: "x" is not of type "integer"'
    )
    assert error_of('{"value": 1, "next": 3}', schema) == (
        'Schema validation failed: #/next: 3 is not of type "null"; 3 is not of type "object"'
    )


def test_of_several_kinds_the_nearest_is_explained():
    def kind(name: str) -> dict[str, Any]:
        sides = {"kind": {"const": name}, "left": {"$ref": "#"}, "right": {"$ref": "#"}}
        return {"type": "object", "properties": sides, "required": ["kind", "left", "right"]}

    schema = {"anyOf": [{"type": "integer"}, *map(kind, ("add", "mul", "div"))]}
    value = {"kind": "mul", "left": {"kind": "div", "left": 1, "right": "x"}, "right": 2}

    assert error_of(json.dumps(value), schema) == (
        'Schema validation failed: #/left/right: "x" is not of type "integer"; "x" is not of type "object"'
    )


def test_a_recursive_schema_is_followed():
    assert read("[1, [2, [3, []]]]", TREE) == (True, [1, [2, [3, []]]], "")
    assert error_of('[1, ["x"]]', TREE) == (
        'Schema validation failed: #/1/0: "x" is not of type "integer"; "x" is not of type "array"'
    )


# ---------------------------------------------------------------------------- any value comes through

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
PROSE = st.text(st.characters(exclude_characters="{[`", exclude_categories=["Cs"]), max_size=60)


def schema_for(value: Any) -> dict[str, Any]:
    """Describe one value and no other."""
    if isinstance(value, dict):
        return {
            "type": "object",
            "properties": {name: schema_for(inner) for name, inner in value.items()},
            "required": list(value),
            "additionalProperties": False,
        }
    if isinstance(value, list):
        whole = {"type": "array", "minItems": len(value), "maxItems": len(value)}
        return whole | ({"prefixItems": [schema_for(inner) for inner in value]} if value else {})
    return {"const": value}


@given(VALUES, PROSE, PROSE, st.sampled_from(["alone", "fenced", "between"]), st.sampled_from([None, 2]))
def test_any_value_is_read_back_from_messy_text(value: Any, before: str, after: str, form: str, indent: Any):
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    text = {
        "alone": f"\n {written} ",
        "fenced": f"{before}\n```json\n{written}\n```\n{after}",
        "between": f"{before} {written} {after}",
    }[form if isinstance(value, dict | list) else "fenced"]

    fits, found, error = Extraction(schema_for(value), 2).read(text)

    assert (fits, json.dumps(found), error) == (True, json.dumps(value), "")


@given(st.text())
def test_any_text_is_read_without_a_crash(text: str):
    fits, value, error = read(text, ANYTHING)

    assert fits == (error == "")
    assert fits or value is None


@given(VALUES)
def test_strict_json_is_parsed_as_python_parses_it(value: Any):
    assert json.dumps(parse(json.dumps(value))) == json.dumps(value)


# ---------------------------------------------------------------------------- schemas


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "strin"}, 'output schema: #/type: there is no type "strin"'),
        ({"properties": []}, 'output schema: #/properties: [] is not of type "object"'),
        ({"pattern": "("}, "output schema: #/pattern: "),
        ({"$ref": "#/$defs/none"}, "output schema: #: Pointer '/$defs/none' does not exist"),
        ({"$schema": "https://example.com/own"}, "output schema: #: Unknown meta-schema"),
        ({"x": {"$ref": "http://127.0.0.1:9/a"}, "$ref": "#/x"}, "output schema: #: Resource 'http://127"),
        ({"$ref": "file:///etc/passwd"}, "output schema: #/$ref is 'file:///etc/passwd'"),
        ({"enum": []}, "output schema: no value can match it"),
    ],
    ids=str,
)
def test_an_invalid_schema_is_refused(schema: dict[str, Any], message: str):
    with pytest.raises(UsageError) as caught:
        Extraction(schema, 2)

    assert str(caught.value).startswith(message)


def test_nothing_is_fetched_for_a_schema(tmp_path: Path):
    """A reference in a place that is no schema by itself is found only when it is followed."""
    (tmp_path / "secret.json").write_text("{}")
    hidden = {"x": {"$ref": (tmp_path / "secret.json").as_uri()}, "$ref": "#/x"}

    with pytest.raises(UsageError, match="is not present in a registry"):
        Extraction(hidden, 2)


def test_older_drafts_are_understood():
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {
            "pair": {"items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False}
        },
        "$ref": "#/definitions/pair",
    }

    assert read('[1, "a"]', schema)[0]
    assert not read('[1, "a", 2]', schema)[0]


def test_an_unsatisfiable_schema_ends_with_its_attempts():
    extraction = Extraction({"type": "string", "minLength": 2, "maxLength": 1}, 1)

    fits, _, error = extraction.read('"ab"')

    assert (fits, error) == (False, 'Schema validation failed: #: "ab" is longer than 1 character')
    assert extraction.ask(error, 2) is None


def test_a_value_of_two_kinds_at_once_is_told_so():
    schema = {"oneOf": [{"type": "integer"}, {"minimum": 0}]}

    assert error_of("1", schema).startswith("Schema validation failed: #: 1 is valid under more than one of")


@pytest.mark.parametrize("retries", [-1, 11])
def test_retries_are_bounded(retries: int):
    with pytest.raises(UsageError, match="must be between 0 and 10"):
        Extraction(AGE, retries)


# ---------------------------------------------------------------------------- asking


def test_the_first_request_shows_the_schema_and_the_next_ones_the_error():
    extraction = Extraction(AGE, 2)
    schema = '{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}'

    first = extraction.ask("Invalid JSON: the answer is empty", 0)
    second = extraction.ask("Schema validation failed: #: too old", 1)

    assert first is not None
    assert first.startswith("Now give the answer as JSON that fits this JSON Schema.")
    assert first.endswith(f"\n\n{schema}")
    assert second is not None
    assert second.startswith("Schema validation failed: #: too old\n\nAnswer again")
    assert second.endswith(f"\n\n{schema}")


def test_a_long_schema_is_shown_once():
    extraction = Extraction({"description": "x" * 4_000}, 2)

    assert (extraction.ask("", 0) or "").count("xxx") > 1_000
    assert (extraction.ask("no", 1) or "").endswith(
        "that fits the JSON Schema above: no explanation, no code fence."
    )


@pytest.mark.parametrize(("retries", "attempts"), [(0, 1), (2, 3)])
def test_there_is_one_attempt_more_than_retries(retries: int, attempts: int):
    extraction = Extraction(AGE, retries)

    assert [extraction.ask("no", tried) is None for tried in range(attempts + 2)] == [
        *[False] * attempts,
        True,
        True,
    ]


def test_a_failure_says_how_often_why_and_what_came_last():
    assert Extraction(AGE, 0).failure("Invalid JSON: no", " I\n do not\tknow ") == (
        "structured output: no answer fits the schema after 1 attempt: Invalid JSON: no; "
        "the last answer: I do not know"
    )
    long = Extraction(AGE, 2).failure("Invalid JSON: no", "x" * 10_000)
    assert long.startswith("structured output: no answer fits the schema after 3 attempts: Invalid JSON: no;")
    assert long.endswith("xxx…")
    assert len(long) < 700


def test_braces_in_a_schema_or_an_error_mean_nothing():
    extraction = Extraction({"description": "{schema} {error}"}, 2)

    assert (extraction.ask("", 0) or "").endswith('\n\n{"description":"{schema} {error}"}')
    assert (extraction.ask("{schema} {0}", 1) or "").startswith("{schema} {0}\n")


# ---------------------------------------------------------------------------- vendors


def test_what_a_vendor_cannot_enforce_is_a_warning():
    extraction = Extraction(AGE, 2, Holder("x cannot enforce #/a", "x cannot enforce #/b"))

    assert extraction.warnings == ("x cannot enforce #/a", "x cannot enforce #/b")
    assert Extraction(AGE, 2).warnings == Extraction(AGE, 2, Holder()).warnings == ()


def test_warnings_are_bounded():
    warnings = Extraction(AGE, 2, Holder(*map(str, range(100)))).warnings

    assert warnings == (*map(str, range(20)), "and 80 more")


def test_or_an_error_where_it_matters():
    strict = {"schema": AGE, "compat": "strict"}

    with pytest.raises(
        UsageError, match=r"output schema: x cannot enforce #/a \(hint: remove it from the schema"
    ):
        Extraction(strict, 2, Holder("x cannot enforce #/a"))
    assert Extraction(strict, 2, Holder()).schema == AGE
