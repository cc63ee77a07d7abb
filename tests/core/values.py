"""Examples of any core value, built from its type, so a new field is tested at once."""

from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

texts = st.text(max_size=6)
numbers = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | floats | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)

SCALARS = {
    str: texts,
    int: numbers,
    float: floats,
    bool: st.booleans(),
    Any: json_values,
    NoneType: st.none(),
}


@cache
def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for a scalar, literal, union, container or struct type."""
    if kind in SCALARS:
        return SCALARS[kind]
    if isinstance(kind, NewType):
        return values_of(kind.__supertype__)
    arguments = get_args(kind)
    match get_origin(kind):
        case origin if origin is Literal:
            return st.sampled_from(arguments)
        case origin if origin in (Union, UnionType):
            return st.one_of(*map(values_of, arguments))
        case origin if origin is tuple:
            return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
        case origin if origin is dict:
            return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=2)
    assert issubclass(kind, Struct), f"no examples for {kind}"
    return st.builds(kind, **{name: values_of(hint) for name, hint in get_type_hints(kind).items()})
