import json
from typing import Any, get_args

import jsonschema_rs
import msgspec
import pytest

from bridle.core.hook import (
    PATCH_POINT,
    AssistantTextPatch,
    Deny,
    HookEntry,
    HookPoint,
    HookResponse,
    HttpRuntime,
    ModelRequestPatch,
    RunResultPatch,
    ToolArgsPatch,
    ToolResultPatch,
)
from bridle.hooks.schema import hook_schema, sample

POINTS: tuple[HookPoint, ...] = get_args(HookPoint)
PATCHES = (
    ToolArgsPatch({}),
    ToolResultPatch("x"),
    AssistantTextPatch("x"),
    ModelRequestPatch(1),
    RunResultPatch("x"),
)


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    whole = {**schema, "$defs": hook_schema()["$defs"]}
    return bool(jsonschema_rs.validator_for(whole).is_valid(json.loads(msgspec.json.encode(value))))


def test_there_is_a_schema_for_every_point():
    assert tuple(hook_schema()["points"]) == POINTS


@pytest.mark.parametrize("point", POINTS)
def test_the_example_of_a_point_fits_its_schema_and_no_other(point: HookPoint):
    points = hook_schema()["points"]

    assert [other for other in POINTS if is_valid(points[other]["invocation"], sample(point, "/w"))] == [
        point
    ]
    assert sample(point, "/w").point == point


@pytest.mark.parametrize("point", POINTS)
def test_only_what_may_be_said_at_a_point_fits_its_schema(point: HookPoint):
    schema = hook_schema()["points"][point]["response"]

    assert is_valid(schema, HookResponse())
    assert is_valid(schema, HookResponse(Deny("no")))
    assert not is_valid(schema, {"decison": None})
    assert [is_valid(schema, {"patches": [patch]}) for patch in PATCHES] == [
        PATCH_POINT[type(patch)] == point for patch in PATCHES
    ]


def test_an_entry_has_a_schema_too():
    entry = {"$ref": "#/$defs/HookEntry"}

    assert hook_schema()["entry"] == entry
    assert is_valid(entry, HookEntry(HttpRuntime("http://x")))
    assert not is_valid(entry, {"id": "a"})
    assert is_valid(hook_schema()["override"], {"disable": ["a"]})
