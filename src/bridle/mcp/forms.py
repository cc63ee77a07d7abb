"""Forms of servers: parsed from their schemas, shown as questions, and the answers parsed.

| schema of a field                                        | becomes                                     |
|----------------------------------------------------------|---------------------------------------------|
| `string` (length, `email`, `uri`, `date`, `date-time`)   | free text                                   |
| `number`, `integer` (`minimum`, `maximum`)               | free text, checked                          |
| `boolean`                                                | yes or no                                   |
| `string` with `enum` (`enumNames`) or `oneOf` of `const` | one of several choices                      |
| `array` of one of these (`minItems`, `maxItems`)         | any of several choices                      |

Everything invalid raises ValueError with a reason that can be shown to the user.
"""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from bridle.core.protocol import Question
from bridle.mcp.server_log import clean, clean_line

MAX_FIELDS = 20
MAX_CHOICES = 100
MAX_TITLE_CHARS = 200
MAX_TEXT_CHARS = 1000
MAX_ANSWER_CHARS = 10_000

DECLINE = "decline"
SKIP = "skip"
NONE_OF_THEM = "none of them"
YES, NO = "yes", "no"
_TRUE, _FALSE = frozenset({"yes", "y", "true"}), frozenset({"no", "n", "false"})
_MAX_NUMBER = 1e300
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

_FORMATS = {
    "email": "an e-mail address",
    "uri": "an address with its scheme",
    "date": "a date such as 2026-02-28",
    "date-time": "a time such as 2026-02-28T10:00:00Z",
}

Value = str | int | float | bool | list[str]
Kind = Literal["text", "number", "integer", "boolean", "one", "many"]


class Field(Struct, frozen=True):
    """One field of a form."""

    name: str
    kind: Kind
    title: str
    about: str = ""
    required: bool = False
    default: Value | None = None
    options: tuple[tuple[str, str], ...] = ()
    """The values to choose from, each with its label."""
    low: float | None = None
    """The minimum value, length or number of choices."""
    high: float | None = None
    format: str = ""


def read_form(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the fields of a form in order; raises ValueError."""
    properties = schema.get("properties", {})
    required = schema.get("required") or ()
    if schema.get("type") != "object" or not isinstance(properties, dict):
        raise ValueError("its form is not an object with properties")
    if len(properties) > MAX_FIELDS:
        raise ValueError(f"its form has {len(properties)} fields, more than {MAX_FIELDS}")
    if not isinstance(required, list | tuple):
        raise ValueError("its form has an invalid list of required fields")
    return tuple(_field(str(name), field, name in required) for name, field in properties.items())


def _field(name: str, schema: Any, required: bool) -> Field:  # noqa: FBT001 - one caller, two lines above
    shown = clean_line(name, MAX_TITLE_CHARS)
    if not isinstance(schema, dict):
        raise ValueError(f"field {shown} has no schema")
    kind, options = _kind(schema, shown)
    bounds = {"text": ("minLength", "maxLength"), "many": ("minItems", "maxItems")}
    low, high = bounds.get(kind, ("minimum", "maximum"))
    made = Field(
        name=name,
        kind=kind,
        title=clean_line(str(schema.get("title") or name), MAX_TITLE_CHARS),
        about=clean(str(schema.get("description") or ""), MAX_TEXT_CHARS),
        required=required,
        options=options,
        low=_bound(schema.get(low)),
        high=_bound(schema.get(high)),
        format=clean_line(str(schema.get("format") or ""), MAX_TITLE_CHARS) if kind == "text" else "",
    )
    return _with_default(made, schema.get("default"))


def _kind(schema: dict[str, Any], shown: str) -> tuple[Kind, tuple[tuple[str, str], ...]]:
    items = schema.get("items")
    match schema.get("type"):
        case "boolean":
            return "boolean", ()
        case "number":
            return "number", ()
        case "integer":
            return "integer", ()
        case "string":
            options = _options(schema, shown)
            return ("text", ()) if options is None else ("one", options)
        case "array" if isinstance(items, dict):
            options = _options(items, shown)
            if options is None:
                raise ValueError(f"field {shown} has no choices")
            return "many", options
        case other:
            raise ValueError(f"field {shown} has an unsupported type: {clean(str(other), 40)}")


def _options(schema: dict[str, Any], shown: str) -> tuple[tuple[str, str], ...] | None:
    """Return the choices, each value with a distinct label; None if any text is allowed."""
    titled = schema.get("oneOf", schema.get("anyOf"))
    values = schema.get("enum")
    if titled is None and values is None:
        return None
    if titled is not None:
        entries = [entry if isinstance(entry, dict) else {} for entry in _list(titled, shown)]
        pairs = [(entry.get("const"), entry.get("title")) for entry in entries]
    else:
        names = schema.get("enumNames")
        values = _list(values, shown)
        names = names if isinstance(names, list) and len(names) == len(values) else values
        pairs = list(zip(values, names, strict=True))
    if not pairs or not all(isinstance(value, str) for value, _ in pairs):
        raise ValueError(f"field {shown} has choices that are not text")
    if len({value for value, _ in pairs}) < len(pairs):
        raise ValueError(f"field {shown} offers the same choice twice")
    words = [clean_line(str(title or value), MAX_TITLE_CHARS) for value, title in pairs]
    return tuple(
        (str(value), word if words.count(word) == 1 and word else f"{index}. {word}")
        for index, ((value, _), word) in enumerate(zip(pairs, words, strict=True), 1)
    )


def _list(value: Any, shown: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"field {shown} does not list its choices")
    if len(value) > MAX_CHOICES:
        raise ValueError(f"field {shown} offers {len(value)} choices, more than {MAX_CHOICES}")
    return value


def _bound(value: Any) -> float | None:
    """Return a bound if it is a number that can be compared and shown; None otherwise."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) <= _MAX_NUMBER else None


def _with_default(field: Field, default: Any) -> Field:
    """Return the field with its default, if the form itself would accept that."""
    if default is None:
        return field
    try:
        _check(field, default)
    except ValueError:
        return field
    return Field(**{name: getattr(field, name) for name in field.__struct_fields__} | {"default": default})


# ---------------------------------------------------------------------- questions and answers


def build_question(field: Field, head: str = "") -> Question:
    """Return a field as a question; `head` goes before it."""
    lines = [head, f"{field.title}: {field.about}" if field.about else field.title, _terms(field)]
    text = "\n".join(line for line in lines if line)
    return Question(text, _choices(field), several=field.kind == "many")


def get_decline_answer(field: Field) -> str:
    """Return the answer that declines a field's question."""
    taken = {words.casefold() for pair in field.options for words in pair}
    return f"{DECLINE} to answer" if DECLINE in taken else DECLINE


def parse_answer(field: Field, answers: Sequence[str]) -> Value | None:
    """Parse an answer; None if the field is left out. Raises ValueError with the reason."""
    given = [answer.strip()[:MAX_ANSWER_CHARS] for answer in answers]
    if given == [_skip(field)] and not field.required:
        return None
    if given in ([], [""]) and (field.default is not None or not field.required):
        return field.default
    if given in ([], [""]):
        raise ValueError("an answer is needed")
    value = _read(field, given)
    _check(field, value)
    return value


def _terms(field: Field) -> str:
    """Return the conditions for an answer, in parentheses; empty if there are none."""
    found = [{"number": "a number", "integer": "a whole number"}.get(field.kind, "")]
    unit = {"text": " characters", "many": " choices"}.get(field.kind, "")
    if field.low is not None and field.kind in ("text", "many", "number", "integer"):
        found.append(f"at least {field.low:g}{unit}")
    if field.high is not None and field.kind in ("text", "many", "number", "integer"):
        found.append(f"at most {field.high:g}{unit}")
    if field.format in _FORMATS:
        found.append(_FORMATS[field.format])
    if field.default is not None:
        found.append(f"default: {_shown(field, field.default)}")
    terms = ", ".join(part for part in found if part)
    return f"({terms})" if terms else ""


def _choices(field: Field) -> tuple[str, ...]:
    own = tuple(words for _, words in field.options)
    if field.kind == "boolean":
        own = (YES, NO)
    elif not own and field.default is not None:
        own = (_shown(field, field.default),)
    if _takes_none(field):
        own = (*own, NONE_OF_THEM)
    return (*own, *(() if field.required else (_skip(field),)), get_decline_answer(field))


def _takes_none(field: Field) -> bool:
    is_taken = any(NONE_OF_THEM in pair for pair in field.options)
    return field.kind == "many" and field.required and not field.low and not is_taken


def _skip(field: Field) -> str:
    taken = {words.casefold() for pair in field.options for words in pair}
    return f"{SKIP} this" if SKIP in taken else SKIP


def _shown(field: Field, value: Value) -> str:
    words = dict(field.options)
    match value:
        case bool():
            return YES if value else NO
        case list():
            return ", ".join(words.get(one, one) for one in value) or NONE_OF_THEM
        case str():
            return words.get(value, clean_line(value, MAX_TITLE_CHARS))
        case _:
            return f"{value:g}" if isinstance(value, float) else str(value)


def _read(field: Field, given: list[str]) -> Value:
    text = given[0] if given else ""
    match field.kind:
        case "text":
            return text
        case "boolean":
            if text.casefold() not in _TRUE | _FALSE:
                raise ValueError("answer yes or no")
            return text.casefold() in _TRUE
        case "integer":
            return _integer(text)
        case "number":
            return _number(text)
        case "one":
            return _value(field, text)
        case "many":
            if given == [NONE_OF_THEM] and _takes_none(field):
                return []
            return list(dict.fromkeys(_value(field, one) for one in given))


def _integer(text: str) -> int:
    if len(text) > 40 or not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError("it must be a whole number")
    return int(text)


def _number(text: str) -> int | float:
    try:
        number = float(text) if text.isascii() else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("it must be a number")
    return number


def _value(field: Field, answer: str) -> str:
    """Return the value for an answer: by label or by value, ignoring case only if neither matches exactly."""
    for part in (1, 0):
        for pair in field.options:
            if pair[part] == answer:
                return pair[0]
    alike = {
        pair[0] for pair in field.options if answer.casefold() in (pair[0].casefold(), pair[1].casefold())
    }
    if len(alike) == 1:
        return alike.pop()
    raise ValueError(f"{clean(answer, 60) or 'nothing'} is not one of the choices")


def _check(field: Field, value: Any) -> None:
    """Raise ValueError if a value does not fit the field."""
    match field.kind:
        case "boolean":
            _must(isinstance(value, bool), "answer yes or no")
        case "number" | "integer":
            kinds = int if field.kind == "integer" else int | float
            _must(isinstance(value, kinds) and not isinstance(value, bool), "it must be a number")
            _must(abs(value) <= _MAX_NUMBER, "it must be a number")
            _check_bounds(field, value, "")
        case "text":
            _must(isinstance(value, str), "it must be a text")
            _check_bounds(field, len(value), " characters")
            _must(_is_format(field.format, value), f"it must be {_FORMATS.get(field.format)}")
        case "one":
            _must(value in dict(field.options), "it is not one of the choices")
        case "many":
            _must(isinstance(value, list), "it is not a list of choices")
            _must(
                all(isinstance(one, str) and one in dict(field.options) for one in value),
                "not one of the choices",
            )
            _check_bounds(field, len(value), " choices")


def _must(holds: bool, words: str) -> None:  # noqa: FBT001 - reads like the rule it states
    if not holds:
        raise ValueError(words)


def _check_bounds(field: Field, number: float, unit: str) -> None:
    _must(field.low is None or number >= field.low, f"at least {field.low}{unit}")
    _must(field.high is None or number <= field.high, f"at most {field.high}{unit}")


def _is_format(name: str, text: str) -> bool:
    try:
        match name:
            case "email":
                return _EMAIL.fullmatch(text) is not None
            case "uri":
                parts = urlsplit(text)
                return bool(parts.scheme and (parts.netloc or parts.path)) and not re.search(r"\s", text)
            case "date":
                return len(text) == 10 and date.fromisoformat(text) is not None
            case "date-time":
                return "T" in text.upper() and datetime.fromisoformat(text).tzinfo is not None
            case _:
                return True
    except ValueError:
        return False
