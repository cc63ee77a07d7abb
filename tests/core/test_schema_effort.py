"""The cost of explaining a mistake is known before it is explained."""

from typing import Any

import pytest

from bridle.core.schema_effort import SchemaEffort, count_values, has_choices

MOST = 1_000_000
LEAF = {"type": "integer"}


def effort(schema: dict[str, Any], depth: int) -> int:
    return SchemaEffort(schema, MOST).at(depth)


@pytest.mark.parametrize(
    ("schema", "depth", "steps"),
    [
        ({}, 5, 1),
        ({"items": LEAF}, 0, 1),
        ({"items": LEAF}, 1, 2),
        ({"anyOf": [LEAF, LEAF, True]}, 0, 3),
        ({"properties": {"a": LEAF, "b": {"anyOf": [LEAF, LEAF]}}}, 1, 4),
        ({"properties": {"a": LEAF}, "patternProperties": {"a": LEAF}, "additionalProperties": LEAF}, 1, 4),
        ({"prefixItems": [LEAF, LEAF], "items": LEAF}, 1, 3),
        ({"items": [LEAF, LEAF]}, 1, 2),
        ({"not": LEAF, "if": LEAF, "then": LEAF, "else": LEAF, "allOf": [LEAF], "oneOf": [LEAF]}, 0, 7),
        ({"dependentSchemas": {"a": LEAF}}, 0, 2),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": LEAF}}, 0, 2),
        ({"$ref": "#/x/1", "x": [{}, LEAF]}, 0, 2),
        ({"$ref": "#/$defs/all", "$defs": {"all": True}}, 0, 1),
        ({"items": {"$ref": "#"}}, 3, 7),
        ({"$ref": "#"}, 3, 1),
        ({"allOf": [{"$ref": "#"}]}, 3, 2),
    ],
    ids=str,
)
def test_the_parts_that_one_path_meets(schema: dict[str, Any], depth: int, steps: int):
    assert effort(schema, depth) == steps


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#anchor"},
        {"$ref": "#/$defs/none"},
        {"$ref": "#/x/9", "x": []},
        {"$ref": 3},
        {"$dynamicRef": "#x"},
        {"$recursiveRef": "#"},
    ],
    ids=str,
)
def test_what_cannot_be_known_is_too_much(schema: dict[str, Any]):
    assert effort(schema, 0) == MOST


def test_choices_that_repeat_themselves_multiply():
    twice = {"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}

    assert [effort(twice, depth) for depth in range(4)] == [3, 11, 27, 59]
    assert effort(twice, 40) == MOST


def test_choices_in_a_chain_multiply_too():
    chain = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}

    assert effort({"$ref": "#/$defs/d0", "$defs": {**chain, "d30": LEAF}}, 0) == MOST


def test_a_chain_without_an_end_in_sight_is_too_much():
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(3_000)}

    assert effort({"$ref": "#/$defs/d0", "$defs": {**chain, "d3000": LEAF}}, 0) == MOST


def test_choices_are_found_wherever_they_are():
    assert has_choices({"properties": {"a": {"items": {"oneOf": []}}}})
    assert has_choices({"$defs": {"a": {"anyOf": []}}})
    assert not has_choices({"properties": {"anyOf": {}}, "enum": [{"oneOf": 1}], "allOf": [{}]})


def test_values_are_counted_up_to_a_bound():
    assert count_values({"a": [1, 2, {}], "b": None}, 100) == 6
    assert count_values([0] * 1000, 100) == 100
    assert count_values(3, 100) == 1
