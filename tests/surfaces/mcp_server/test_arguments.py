"""The arguments of the tools, validated on arrival."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.budget import Limits
from bridle.core.errors import UsageError
from bridle.core.protocol import RunOptions
from bridle.surfaces.mcp_server.arguments import (
    RunArgs,
    SessionsArgs,
    given_fields,
    object_schema,
    read_arguments,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
NAMES = st.sampled_from([*RunArgs.__struct_fields__, "other"])
VALIDATOR = jsonschema_rs.validator_for(object_schema(RunArgs))


@given(st.dictionaries(NAMES, JSON | st.just("hi") | st.just(["read"]), max_size=4))
def test_what_is_taken_is_what_the_schema_allows(arguments: dict[str, Any]):
    try:
        read_arguments(arguments, RunArgs)
    except UsageError:
        return

    assert VALIDATOR.is_valid(arguments)


def test_options_are_those_of_a_run():
    args = read_arguments({"prompt": "hi", "mode": "plan", "max_cost": 1, "until": "make"}, RunArgs)

    assert args.options(system="Be brief.") == RunOptions(
        mode="plan", limits=Limits(cost=1.0), until="make", system="Be brief."
    )


def test_it_is_known_which_arguments_were_given():
    args = read_arguments({"action": "history", "after": 3, "answers": []}, SessionsArgs)

    assert given_fields(args) == {"action", "after"}


def test_nothing_is_an_object_without_fields():
    with pytest.raises(UsageError, match=r"^action: is missing$"):
        read_arguments(None, SessionsArgs)
