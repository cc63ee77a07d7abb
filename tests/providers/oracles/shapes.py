"""Check a value against a vendor's request type, more strictly than the vendor: unknown keys fail.

Pydantic reads an `Iterable` lazily and lets a TypedDict have extra keys, so the SDKs' types are walked here.
"""

import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import BaseModel

_WRAPPERS = (Annotated, Required, NotRequired, typing_extensions.Required, typing_extensions.NotRequired)
_PLAIN = (str, int, float, bool, type(None))


def misfits(kind: Any, value: Any, path: str = "$") -> list[str]:
    """Return what is wrong with a value, as sentences with a path; nothing if it fits."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (
        Annotated,
        Required,
        NotRequired,
        typing_extensions.Required,
        typing_extensions.NotRequired,
    ):
        return misfits(args[0], value, path)
    if origin is Literal:
        return [] if value in args else [f"{path}: {value!r} is none of {args}"]
    if origin in (Union, types.UnionType):
        return min((misfits(arg, value, path) for arg in args), key=len, default=[])
    if typing_extensions.is_typeddict(kind):
        return _dict_misfits(kind, value, path)
    if kind in (object, Any):
        return []
    if kind in _PLAIN or kind is None:
        fits = type(value) is (type(None) if kind is None else kind) or (kind is float and type(value) is int)
        return [] if fits else [f"{path}: {value!r} is no {kind}"]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            return [f"{path}: {value!r} is no object"]
        return [wrong for key, item in value.items() for wrong in misfits(args[1], item, f"{path}.{key}")]
    if getattr(kind, "__name__", "") == "SequenceNotStr" or (
        isinstance(origin, type) and issubclass(origin, Iterable | Sequence)
    ):
        if not isinstance(value, list):
            return [f"{path}: {value!r} is no list"]
        return [wrong for n, item in enumerate(value) for wrong in misfits(args[0], item, f"{path}[{n}]")]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [f"{path}: a request is made of plain objects"] * 99  # the worst of any union
    return [f"{path}: {value!r} is no {kind}"]


def _dict_misfits(kind: Any, value: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: {value!r} is no object"]
    hints = get_type_hints(kind, include_extras=True)
    may_have_more = getattr(kind, "__pydantic_config__", {}).get("extra") == "allow"
    wrong = [f"{path}: {key} is missing" for key in kind.__required_keys__ if key not in value]
    for key, item in value.items():
        if key in hints:
            wrong += misfits(hints[key], item, f"{path}.{key}")
        elif not may_have_more:
            wrong.append(f"{path}: {kind.__name__} has no {key}")
    return wrong
