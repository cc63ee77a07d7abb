"""Servers' forms become questions, and answers become values."""

import math
import re
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.protocol import Question
from bridle.mcp.forms import Field, Value, build_question, get_decline_answer, parse_answer, read_form

WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=12)


def form(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def field(schema: dict[str, Any], required: bool = True) -> Field:
    (found,) = read_form({**form(it=schema), "required": ["it"] if required else []})
    return found


def test_each_kind_of_field_is_read_with_its_terms() -> None:
    fields = read_form(
        {
            "type": "object",
            "properties": {
                "name": {
                    "type": "string",
                    "title": "Your name",
                    "description": "As others\x1b[31m call you",
                    "minLength": 2,
                    "maxLength": 9,
                    "default": "Ada",
                },
                "age": {"type": "integer", "minimum": 0, "maximum": 150},
                "share": {"type": "number", "default": 0.5},
                "agreed": {"type": "boolean", "default": True},
                "plain": {"type": "string", "enum": ["a", "b"], "default": "b"},
                "named": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
                "titled": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g"}]},
                "many": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 1},
                "titles": {
                    "type": "array",
                    "items": {"anyOf": [{"const": "x", "title": "Ex"}, {"const": "y", "title": "Why"}]},
                    "minItems": 1,
                    "default": ["y"],
                },
            },
            "required": ["name", "many"],
        }
    )

    assert fields == (
        Field("name", "text", "Your name", "As others call you", True, "Ada", low=2, high=9),
        Field("age", "integer", "age", low=0, high=150),
        Field("share", "number", "share", default=0.5),
        Field("agreed", "boolean", "agreed", default=True),
        Field("plain", "one", "plain", default="b", options=(("a", "a"), ("b", "b"))),
        Field("named", "one", "named", options=(("a", "First"), ("b", "Second"))),
        Field("titled", "one", "titled", options=(("r", "Red"), ("g", "g"))),
        Field("many", "many", "many", required=True, options=(("x", "x"), ("y", "y")), high=1),
        Field("titles", "many", "titles", default=["y"], options=(("x", "Ex"), ("y", "Why")), low=1),
    )


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "array"}, "its form is not an object with properties"),
        ({"type": "object", "properties": []}, "its form is not an object with properties"),
        ({"type": "object", "properties": {"a": 1}}, "field a has no schema"),
        (form(a={"type": "object"}), "field a has an unsupported type: object"),
        (form(a={"type": "array"}), "field a has an unsupported type: array"),
        (form(a={"type": "array", "items": {"type": "string"}}), "field a has no choices"),
        (form(a={"type": "string", "enum": "ab"}), "field a does not list its choices"),
        (form(a={"type": "string", "enum": []}), "field a has choices that are not text"),
        (form(a={"type": "string", "enum": [1]}), "field a has choices that are not text"),
        (form(a={"type": "string", "oneOf": ["x"]}), "field a has choices that are not text"),
        (form(a={"type": "string", "enum": ["x", "x"]}), "field a offers the same choice twice"),
        (
            form(a={"type": "string", "enum": [str(n) for n in range(101)]}),
            "field a offers 101 choices, more than 100",
        ),
        (form(**{f"f{n}": {"type": "string"} for n in range(21)}), "its form has 21 fields, more than 20"),
        (
            {"type": "object", "properties": {}, "required": 3},
            "its form has an invalid list of required fields",
        ),
    ],
)
def test_what_is_no_form_is_refused_with_a_reason(schema: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        read_form(schema)


@pytest.mark.parametrize(
    ("schema", "required", "asked"),
    [
        (
            {"type": "string", "title": "Name", "description": "Yours", "minLength": 2, "default": "Ada"},
            True,
            Question("head\nName: Yours\n(at least 2 characters, default: Ada)", ("Ada", "decline")),
        ),
        (
            {"type": "string", "format": "email"},
            False,
            Question("head\nit\n(an e-mail address)", ("skip", "decline")),
        ),
        (
            {"type": "integer", "maximum": 9},
            True,
            Question("head\nit\n(a whole number, at most 9)", ("decline",)),
        ),
        (
            {"type": "boolean", "default": False},
            True,
            Question("head\nit\n(default: no)", ("yes", "no", "decline")),
        ),
        (
            {"type": "string", "enum": ["decline", "skip"]},
            False,
            Question("head\nit", ("decline", "skip", "skip this", "decline to answer")),
        ),
        (
            {
                "type": "array",
                "items": {"anyOf": [{"const": "x", "title": "Same"}, {"const": "y", "title": "Same"}]},
            },
            True,
            Question("head\nit", ("1. Same", "2. Same", "none of them", "decline"), several=True),
        ),
    ],
)
def test_a_field_is_put_as_a_question(schema: dict[str, Any], required: bool, asked: Question) -> None:
    assert build_question(field(schema, required), "head") == asked


COLOURS = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "R", "title": "Rose"}]}
PICKS = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2}


@pytest.mark.parametrize(
    ("schema", "answers", "value"),
    [
        ({"type": "string"}, ("  words of mine ",), "words of mine"),
        ({"type": "string", "default": "x"}, ("",), "x"),
        ({"type": "string", "format": "email"}, ("a@b.c",), "a@b.c"),
        ({"type": "string", "format": "uri"}, ("mailto:a@b.c",), "mailto:a@b.c"),
        ({"type": "string", "format": "date"}, ("2026-02-28",), "2026-02-28"),
        ({"type": "string", "format": "date-time"}, ("2026-02-28T10:00:00Z",), "2026-02-28T10:00:00Z"),
        ({"type": "string", "format": "unheard-of"}, ("x",), "x"),
        ({"type": "integer"}, ("-7",), -7),
        ({"type": "number"}, ("1e3",), 1000.0),
        ({"type": "boolean"}, ("Yes",), True),
        ({"type": "boolean"}, ("false",), False),
        (COLOURS, ("Red",), "r"),
        (COLOURS, ("R",), "R"),
        (COLOURS, ("rose",), "R"),
        (PICKS, ("a", "b", "a"), ["a", "b"]),
        ({**PICKS, "minItems": 0}, ("none of them",), []),
    ],
)
def test_an_answer_becomes_a_value(schema: dict[str, Any], answers: tuple[str, ...], value: Value) -> None:
    assert parse_answer(field(schema), answers) == value


@pytest.mark.parametrize(
    ("schema", "answers", "reason"),
    [
        ({"type": "string"}, ("",), "an answer is needed"),
        ({"type": "string"}, (), "an answer is needed"),
        ({"type": "string", "minLength": 3}, ("ab",), "at least 3 characters"),
        ({"type": "string", "maxLength": 3}, ("abcd",), "at most 3 characters"),
        ({"type": "string", "format": "email"}, ("a b@c.d",), "it must be an e-mail address"),
        ({"type": "string", "format": "uri"}, ("no address",), "it must be an address with its scheme"),
        ({"type": "string", "format": "date"}, ("2026-02-30",), "it must be a date such as 2026-02-28"),
        (
            {"type": "string", "format": "date-time"},
            ("2026-02-28T10:00:00",),
            "it must be a time such as 2026-02-28T10:00:00Z",
        ),
        ({"type": "integer"}, ("1.5",), "it must be a whole number"),
        ({"type": "integer"}, ("9" * 5000,), "it must be a whole number"),
        ({"type": "integer", "minimum": 2}, ("1",), "at least 2"),
        ({"type": "number"}, ("nan",), "it must be a number"),
        ({"type": "number"}, ("much",), "it must be a number"),
        ({"type": "number", "maximum": 0.5}, ("0.6",), "at most 0.5"),
        ({"type": "boolean"}, ("maybe",), "answer yes or no"),
        (COLOURS, ("blue",), "blue is not one of the choices"),
        (PICKS, ("a", "b", "c"), "at most 2 choices"),
        (PICKS, ("none of them",), "none of them is not one of the choices"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    schema: dict[str, Any], answers: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        parse_answer(field(schema), answers)


def test_what_need_not_be_answered_can_be_left_out() -> None:
    optional = field({"type": "integer"}, required=False)

    assert (
        parse_answer(optional, ("skip",)),
        parse_answer(optional, ("",)),
        parse_answer(optional, ("3",)),
    ) == (None, None, 3)


def test_a_default_that_the_form_would_not_take_is_no_default() -> None:
    assert field({"type": "integer", "minimum": 3, "default": 2}).default is None


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    options = draw(st.lists(WORDS, min_size=1, max_size=5, unique=True))
    low, high = sorted(draw(st.tuples(st.integers(0, 5), st.integers(0, 5))))
    return draw(
        st.sampled_from(
            [
                {"type": "string", "minLength": low, "maxLength": high},
                {"type": "integer", "minimum": low, "maximum": high},
                {"type": "number", "minimum": low},
                {"type": "boolean"},
                {"type": "string", "enum": options},
                {"type": "string", "oneOf": [{"const": one, "title": f"The {one}"} for one in options]},
                {"type": "array", "items": {"type": "string", "enum": options}, "maxItems": high},
            ]
        )
    )


@given(
    schemas(), st.lists(st.one_of(WORDS, st.sampled_from(["0", "3", "1.5", "yes"])), max_size=4), st.data()
)
def test_every_value_that_is_taken_fits_the_schema(
    schema: dict[str, Any], written: list[str], data: st.DataObject
) -> None:
    asked = field(schema)
    choices = [one for one in build_question(asked).choices if one != get_decline_answer(asked)]
    answers = data.draw(st.lists(st.sampled_from(choices), max_size=3)) if choices else written

    for given_ in (written, answers):
        try:
            value = parse_answer(asked, given_)
        except ValueError:
            continue

        assert jsonschema_rs.is_valid(schema, value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "properties", "enum", "oneOf", "items", "default", "x", "required"])
                | st.text(max_size=3),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_no_schema_breaks_the_reader(schema: Any) -> None:
    for tried in (schema, {"type": "object", "properties": schema}, form(a=schema)):
        said = reason_against(tried) if isinstance(tried, dict) else ""

        assert not re.search(r"[\x00-\x1f\x7f]", said)


def reason_against(schema: dict[str, Any]) -> str:
    try:
        read_form(schema)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("number", [10**400, -(10**400), math.nan, math.inf])
def test_numbers_that_nobody_can_compare_are_no_bounds(number: float):
    whole = {"type": "integer", "minimum": number, "maximum": number, "default": number}
    text = {"type": "string", "minLength": number}

    fields = read_form({"type": "object", "properties": {"n": whole, "t": text}})

    assert fields == (Field("n", "integer", "n"), Field("t", "text", "t"))
    assert [build_question(field).text for field in fields] == ["n\n(a whole number)", "t"]
