"""Types become schemas, payloads become values, and mismatches are reported in one line."""

import dataclasses
import datetime
import enum
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import jsonschema_rs
import msgspec
import pydantic
import pytest

from bridle.core.errors import UsageError
from bridle.sessions.structured_output import Extraction
from bridle.typed import schema_of, value_as


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int | None = None


class Label(TypedDict):
    text: str
    size: NotRequired[Literal["s", "l"]]


class Pair(NamedTuple):
    left: str
    right: float


class Shape(msgspec.Struct):
    at: Point
    label: Label
    colours: list[Colour] = []
    counts: dict[str, int] = {}


class Circle(msgspec.Struct, tag=True):
    radius: Annotated[float, msgspec.Meta(gt=0)]


class Square(msgspec.Struct, tag=True):
    side: float


class Node(pydantic.BaseModel):
    """A model that contains itself."""

    size: int = pydantic.Field(ge=0)
    inner: list["Node"] = []


class Order(pydantic.BaseModel):
    """A model with another one in it."""

    day: datetime.date
    node: Node


class Mixed(msgspec.Struct):
    nodes: list[Node]
    order: Order | None = None


VALUES: list[tuple[Any, Any, Any]] = [
    (Point, {"x": 1}, Point(1)),
    (Label, {"text": "a", "size": "s"}, {"text": "a", "size": "s"}),
    (Pair, ["a", 2], Pair("a", 2.0)),
    (
        Shape,
        {"at": {"x": 1, "y": 2}, "label": {"text": "a"}, "colours": ["red"], "counts": {"a": 1}},
        Shape(Point(1, 2), {"text": "a"}, [Colour.RED], {"a": 1}),
    ),
    (Circle | Square, {"type": "Circle", "radius": 2.5}, Circle(2.5)),
    (Node, {"size": 1, "inner": [{"size": 2}]}, Node(size=1, inner=[Node(size=2)])),
    (
        Order,
        {"day": "2026-11-15", "node": {"size": 1}},
        Order(day=datetime.date(2026, 11, 15), node=Node(size=1)),
    ),
    (
        Mixed,
        {"nodes": [{"size": 1}], "order": {"day": "2026-11-15", "node": {"size": 3, "inner": [{"size": 4}]}}},
        Mixed(
            [Node(size=1)],
            Order(day=datetime.date(2026, 11, 15), node=Node(size=3, inner=[Node(size=4)])),
        ),
    ),
    (list[Node], [{"size": 1}], [Node(size=1)]),
    (dict[str, Node], {"a": {"size": 1}}, {"a": Node(size=1)}),
    (tuple[int, str], [1, "a"], (1, "a")),
    (int | None, None, None),
    (Literal["a", 1], 1, 1),
    (Colour, "blue", Colour.BLUE),
    (Annotated[int, msgspec.Meta(ge=1)], 2, 2),
    (datetime.date, "2026-11-15", datetime.date(2026, 11, 15)),
]


@pytest.mark.parametrize(("kind", "payload", "value"), VALUES, ids=lambda value: str(value)[:30])
def test_a_payload_that_fits_the_schema_is_a_value_of_the_type(kind: Any, payload: Any, value: Any):
    fits, read, _ = Extraction(schema_of(kind), 0).read(json.dumps(payload))

    assert fits
    assert value_as(kind, read) == value


def test_objects_are_closed_and_defaults_are_optional():
    assert schema_of(Shape) == {
        "$ref": "#/$defs/Shape",
        "$defs": {
            "Shape": {
                "title": "Shape",
                "type": "object",
                "properties": {
                    "at": {"$ref": "#/$defs/Point"},
                    "label": {"$ref": "#/$defs/Label"},
                    "colours": {"type": "array", "items": {"$ref": "#/$defs/Colour"}, "default": []},
                    "counts": {
                        "type": "object",
                        "additionalProperties": {"type": "integer"},
                        "default": {},
                    },
                },
                "required": ["at", "label"],
                "additionalProperties": False,
            },
            "Point": {
                "title": "Point",
                "type": "object",
                "properties": {
                    "x": {"type": "integer"},
                    "y": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                },
                "required": ["x"],
                "additionalProperties": False,
            },
            "Label": {
                "title": "Label",
                "type": "object",
                "properties": {"text": {"type": "string"}, "size": {"enum": ["l", "s"]}},
                "required": ["text"],
                "additionalProperties": False,
            },
            "Colour": {"title": "Colour", "enum": ["blue", "red"]},
        },
    }


def test_the_definitions_of_models_stand_beside_the_others():
    schema = schema_of(Mixed)

    assert sorted(schema["$defs"]) == ["Mixed", "Node.Node", "Order.Node"]
    assert jsonschema_rs.is_valid(schema, {"nodes": [{"size": 1, "inner": []}]})
    assert not jsonschema_rs.is_valid(schema, {"nodes": [{"size": -1}]})
    assert not jsonschema_rs.is_valid(schema, {"nodes": [{"size": 1, "more": 1}]})


@pytest.mark.parametrize(
    ("kind", "payload", "message"),
    [
        (Point, {"x": "a"}, "the value is no Point: Expected `int`, got `str` - at `$.x`"),
        (Label, {}, "the value is no Label: Object missing required field `text`"),
        (Colour, "green", "the value is no Colour: Invalid enum value 'green'"),
        (list[int], {}, "the value is no list: Expected `array`, got `object`"),
        (int | str, None, "the value is no int | str: Expected `int | str`, got `null`"),
        (
            Order,
            {"node": {"size": -1}},
            "no Order: day: Field required; node.size: Input should be greater than or equal to 0",
        ),
        (
            Mixed,
            {"nodes": [{"size": 1}, {"size": -1}]},
            "the value is no Mixed: size: Input should be greater than or equal to 0 - at `$.nodes[1]`",
        ),
        (object(), 1, "cannot be made of JSON"),
    ],
    ids=["dataclass", "TypedDict", "Enum", "list", "union", "pydantic", "nested pydantic", "no type"],
)
def test_what_does_not_fit_is_said_with_its_place(kind: Any, payload: Any, message: str):
    with pytest.raises(UsageError) as caught:
        value_as(kind, payload)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_problems_of_a_model_are_bounded():
    kind = pydantic.create_model("Wide", **{f"field{n}": (int, ...) for n in range(99)})

    with pytest.raises(UsageError) as caught:
        value_as(kind, {})

    assert str(caught.value).count("Field required") == 5


@pytest.mark.parametrize("kind", [object, complex, Callable[[], int], list[complex], "Point"])
def test_a_type_without_a_schema_is_refused(kind: Any):
    with pytest.raises(UsageError, match="has no JSON Schema: ") as caught:
        schema_of(kind)

    assert "\n" not in str(caught.value)


def test_models_of_one_name_with_different_parts_are_refused():
    def model(part: Any) -> Any:
        inner = pydantic.create_model("Inner", x=(part, ...))
        return pydantic.create_model("Outer", inner=(inner, ...))

    with pytest.raises(UsageError, match=r"two models are called Outer\.Inner"):
        schema_of(tuple[model(int), model(str)])


def test_pydantic_is_never_imported():
    code = "import sys, bridle.typed; bridle.typed.schema_of(list[int]); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
