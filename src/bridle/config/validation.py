"""Validate a parsed text against the structs that describe it; each problem names its key and a fix.

Msgspec alone would say `Expected int, got str - at $.providers[...].window_tokens`; this module walks the
same structs key by key, so that a message can name the key and suggest a similar one.
"""

import math
import types
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import fields

from bridle.config.duration import Delay, Duration, parse_duration
from bridle.config.rules import RuleTable, RuleText, read_rule
from bridle.config.toml_document import KeyPath, key_text, literal, parse_toml
from bridle.core.errors import ConfigError

PRIVATE_KEYS = frozenset({"api_key_env", "base_url", "env", "headers", "url"})
"""Keys whose values are not repeated in messages, because users paste secrets there."""

MAX_SHOWN_CHARS = 60

ShapeT = TypeVar("ShapeT", bound=Struct)


_WORDS: dict[Any, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Any: "text, a number, true, false, a list or a table",
    Duration: 'a duration such as "30m", longer than zero',
    Delay: 'a duration such as "500ms"',
}


class Problem(Struct, frozen=True):
    """Something wrong with one key."""

    path: KeyPath
    message: str
    """A complete phrase that names the key."""
    hint: str = ""


def build(tree: dict[str, Any], shape: type[ShapeT]) -> ShapeT:
    """Convert a tree without problems to its struct."""
    return msgspec.convert(_without_empty(tree, shape), shape, dec_hook=_decode)


def problems(value: Any, kind: Any, path: KeyPath = ()) -> Iterator[Problem]:
    """Yield the problems of a parsed value; `kind` is a struct or the type of a field."""
    kind = _without_none(kind)
    match _container(kind):
        case "struct" | "dict" | "choice" if not isinstance(value, dict):
            yield _wrong(path, "a table", value)
        case "choice":
            yield from _choice_problems(value, kind, path)
        case "struct":
            known = _field_types(kind)
            for key, item in value.items():
                if item == "" and key in _empty_by_default(kind):
                    continue
                if key in known:
                    yield from problems(item, known[key], (*path, key))
                else:
                    yield Problem((*path, key), *_unknown((*path, key), known))
            for field in fields(kind):
                if field.required and field.name not in value:
                    yield Problem(path, f"{key_text(path)} has no {field.name}")
        case "dict":
            key_kind, item_kind = get_args(kind)
            for key, item in value.items():
                yield from _leaf_problems(key, key_kind, (*path, key))
                yield from problems(item, item_kind, (*path, key))
        case "tuple" if not isinstance(value, list | tuple):
            yield _wrong(path, "a list", value)
        case "tuple":
            for index, item in enumerate(value):
                yield from problems(item, get_args(kind)[0], (*path, index))
        case "leaf" if isinstance(value, dict) and _is_rule(kind):
            yield from _rule_problems(value, kind, path)
        case "leaf":
            yield from _leaf_problems(value, kind, path)


def kind_at(shape: type[Struct], path: KeyPath) -> Any:
    """Return the type of the value at a path; raises ConfigError for a key that does not exist."""
    kind: Any = shape
    for index, part in enumerate(path):
        match _container(kind):
            case "struct" if part in (known := _field_types(kind)):
                kind = _without_none(known[str(part)])
            case "struct":
                message, hint = _unknown(path[: index + 1], known)
                raise ConfigError(message, hint=hint)
            case "dict":
                kind = get_args(kind)[1]
            case _ if kind is Any:
                return Any
            case _:
                raise ConfigError(f"{key_text(path[:index])} is not a table")
    return kind


def known_keys(shape: type[Struct]) -> list[str]:
    """Return every key; `NAME` stands for a name the user chooses."""
    found: list[str] = []
    for name, kind in _field_types(shape).items():
        inner = _without_none(kind)
        if _container(inner) == "struct":
            found += [f"{name}.{key}" for key in known_keys(inner)]
        elif _container(inner) == "dict" and _container(get_args(inner)[1]) == "struct":
            found += [f"{name}.NAME.{key}" for key in known_keys(get_args(inner)[1])]
        else:
            found.append(name)
    return found


def set_keys(tree: dict[str, Any], shape: type[Struct], path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield the path of every key that a valid tree sets, and its name as in `known_keys`.

    An entry under a name that the user chooses is one key, and so is each table of a list.
    """
    for key, value in tree.items():
        here, kind = (*path, key), _without_none(_field_types(shape)[key])
        name = ".".join(map(str, here))
        match _container(kind):
            case "struct":
                yield from set_keys(value, kind, here)
            case "dict" if _container(get_args(kind)[1]) == "struct":
                yield from (((*here, entry), f"{name}.NAME") for entry in value)
            case "tuple" if any(isinstance(item, dict) for item in value) and not _is_rule(get_args(kind)[0]):
                yield from (((*here, index), name) for index in range(len(value)))
            case _:
                yield here, name


def value_from_text(text: str, kind: Any) -> Any:
    """Convert a text that the user typed to a value of a kind; a text that does not fit stays a string."""
    kind = _without_none(kind)
    try:
        match _container(kind):
            case "tuple" if text.lstrip().startswith("["):
                return _parse_value(text)
            case "tuple":
                return [text]
            case _ if kind is Any:
                return _parse_value(text)
            case _ if _plain(kind) is bool:
                return {"true": True, "false": False}.get(text, text)
            case _ if _plain(kind) in (int, float):
                return _plain(kind)(text)
    except (ValueError, ConfigError):
        return text
    return text


def is_unicode(text: str) -> bool:
    """Return True if a text can be encoded as UTF-8; an argument with stray bytes cannot."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that differs least or contains the word; empty if none is near."""
    word, known = word[:MAX_SHOWN_CHARS], list(known)
    best = min(known, key=lambda candidate: _distance(word, candidate), default="")
    if best and _distance(word, best) <= min(len(best) // 2, 3):
        return best
    return next((candidate for candidate in known if len(word) > 3 and word in candidate), "")


def one_line(text: str) -> str:
    """Make a text from a file safe to print: escape control characters."""
    return text if text.isprintable() else literal(text)[1:-1].replace('\\"', '"')


def _parse_value(text: str) -> Any:
    tree = parse_toml(f"v = {text}", "")
    if len(tree) != 1:
        raise ValueError("more than one value")
    return tree["v"]


def _leaf_problems(value: Any, kind: Any, path: KeyPath) -> Iterator[Problem]:
    if kind is Any:
        yield from _json_problems(value, path)
        return
    try:
        msgspec.convert(value, kind, dec_hook=_decode)
    except msgspec.ValidationError:
        yield _wrong(path, _words(kind), value)
    except ConfigError as error:
        yield Problem(path, f"{key_text(path)}: {one_line(error.message)}", error.hint)


def _choice_problems(value: dict[str, Any], kind: Any, path: KeyPath) -> Iterator[Problem]:
    """Check a table against the one of several structs that its tag names."""
    configs = {part.__struct_config__.tag: part for part in get_args(kind)}
    tag_field = next(iter(configs.values())).__struct_config__.tag_field
    if tag_field not in value:
        yield Problem(path, f"{key_text(path)} has no {tag_field}", f"one of {', '.join(configs)}")
        return
    tag = value[tag_field]
    if not isinstance(tag, str) or tag not in configs:
        yield _wrong((*path, tag_field), f"one of {', '.join(configs)}", tag)
        return
    rest = {key: item for key, item in value.items() if key != tag_field}
    yield from problems(rest, configs[tag], path)


def _rule_problems(value: dict[str, Any], kind: Any, path: KeyPath) -> Iterator[Problem]:
    wrong = list(problems(value, RuleTable, path))
    if not wrong and "rule" not in value:
        wrong = [
            Problem(path, f"{key_text(path)} has no rule", 'write { rule = "bash(ls:*)", match = ["ls -l"] }')
        ]
    yield from wrong or _leaf_problems(value, kind, path)


def _wrong(path: KeyPath, wanted: str, value: Any) -> Problem:
    message = f"{key_text(path)} must be {wanted}"
    if PRIVATE_KEYS.isdisjoint(path):
        shown = "a table" if isinstance(value, dict) else literal(value)
        message += f", not {shown if len(shown) <= MAX_SHOWN_CHARS else shown[:MAX_SHOWN_CHARS] + '…'}"
    return Problem(path, message)


def _unknown(path: KeyPath, known: dict[str, Any]) -> tuple[str, str]:
    key = str(path[-1])
    tables = [name for name, kind in known.items() if _container(kind) == "struct"]
    table = next((name for name in tables if key in _field_types(known[name])), None)
    near = (table, key) if table else (nearest(key, known),)
    hint = f"did you mean {key_text((*path[:-1], *near))}?" if near[0] else f"known here: {', '.join(known)}"
    return f"unknown key {key_text(path)}", hint


def _decode(kind: type, value: Any) -> Any:
    """Convert to the types that msgspec does not support."""
    if issubclass(kind, Duration):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise TypeError
        seconds = parse_duration(value)
        if seconds == 0 and kind is Duration:
            raise ValueError
        return kind(seconds)
    if not isinstance(value, str | dict) or not issubclass(kind, RuleText):
        raise TypeError
    table = RuleTable(value) if isinstance(value, str) else msgspec.convert(value, RuleTable)
    return read_rule(kind, table)


def _json_problems(value: Any, path: KeyPath) -> Iterator[Problem]:
    """Find values that JSON cannot hold: dates and non-finite numbers."""
    match value:
        case dict():
            for key, item in value.items():
                yield from _json_problems(item, (*path, key))
        case list():
            for index, item in enumerate(value):
                yield from _json_problems(item, (*path, index))
        case float() if not math.isfinite(value):
            yield _wrong(path, _WORDS[Any], value)
        case str() | int() | float():
            return
        case _:
            yield _wrong(path, _WORDS[Any], value)


def _without_empty(value: Any, kind: Any) -> Any:
    """Leave out the empty texts that are the default of their key: the pattern of its type refuses them."""
    kind = _without_none(kind)
    match _container(kind):
        case "struct" if isinstance(value, dict):
            known, empty = _field_types(kind), _empty_by_default(kind)
            return {
                key: _without_empty(item, known.get(key, Any))
                for key, item in value.items()
                if item != "" or key not in empty
            }
        case "dict" if isinstance(value, dict):
            return {key: _without_empty(item, get_args(kind)[1]) for key, item in value.items()}
        case "tuple" if isinstance(value, list | tuple):
            return [_without_empty(item, get_args(kind)[0]) for item in value]
    return value


@lru_cache(maxsize=32)
def _empty_by_default(shape: type[Struct]) -> frozenset[str]:
    return frozenset(field.name for field in fields(shape) if field.default == "")


@lru_cache(maxsize=32)
def _field_types(shape: type[Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in fields(shape)}


def _container(kind: Any) -> Literal["struct", "choice", "dict", "tuple", "leaf"]:
    if isinstance(kind, type) and issubclass(kind, Struct):
        return "struct"
    if get_origin(kind) in (Union, types.UnionType):
        return "choice"
    if get_origin(kind) is dict:
        return "dict"
    return "tuple" if get_origin(kind) is tuple else "leaf"


def _is_rule(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, RuleText)


def _without_none(kind: Any) -> Any:
    """Return X of `X | None`: a text cannot hold None."""
    if get_origin(kind) in (Union, types.UnionType):
        parts = [part for part in get_args(kind) if part is not type(None)]
        return parts[0] if len(parts) == 1 else kind
    return kind


def _plain(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if get_origin(kind) is Annotated:
        for note in get_args(kind)[1:]:
            if isinstance(note, Meta) and note.description:
                return note.description
    if _is_rule(kind):
        return 'a rule such as "edit_file(src/**)"'
    return _WORDS.get(_plain(kind), "something else")


def _distance(left: str, right: str) -> int:
    """Return the edit distance: letters to add, drop, change or swap."""
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        here = [row]
        for column, other in enumerate(right, 1):
            cost = min(above[column] + 1, here[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 < column and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        before, above = above, here
    return above[-1]
