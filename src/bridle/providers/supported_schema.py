"""JSON Schemas for structured output: reduces a schema to the subset that a vendor can enforce.

```
schema ── dialect ──▶ a looser schema and the list of dropped keywords; Bridle checks the reply afterwards
                  └─▶ nothing: the subset would forbid replies that the schema allows
```

Dropping a keyword makes a schema looser, which does no harm. A schema is never made tighter in a way that
matters (a map without free keys, an optional property made required): the vendor then enforces nothing, and
the model sees the schema only in its prompt.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

_SAID = frozenset({"title", "description"})
_SILENT = frozenset(
    "$anchor $comment $defs $dynamicAnchor $id $schema contentEncoding contentMediaType contentSchema "
    "default definitions deprecated discriminator examples format readOnly writeOnly".split()
)
"""Keywords that validate nothing, so dropping them loses nothing."""
_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
_KEYS_OF = {
    "object": "properties required additionalProperties patternProperties propertyNames minProperties "
    "maxProperties dependentRequired dependentSchemas unevaluatedProperties",
    "array": "items prefixItems additionalItems minItems maxItems uniqueItems contains minContains "
    "maxContains unevaluatedItems",
    "string": "minLength maxLength pattern",
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
}
"""Keywords that apply only to values of one type."""
_FORMATS = frozenset("date-time time date duration email hostname uri ipv4 ipv6 uuid".split())
_WHOLE = "_whole"
_HOPS = 16


class Dialect(Struct, frozen=True):
    """The subset of JSON Schema that a vendor's structured output supports."""

    keywords: frozenset[str] = frozenset()
    """Supported keywords beyond those that every vendor supports."""
    formats: frozenset[str] = frozenset()
    most: dict[str, int] = {}
    """The largest value of a keyword."""
    is_closed: bool = False
    """Every object must forbid additional properties."""
    is_complete: bool = False
    """Every property must be required."""
    is_typed: bool = False
    """Every subschema must have a type."""
    has_kinds: bool = True
    """`type` may be a list."""
    has_typed_enums: bool = True
    has_const: bool = False
    has_all: bool = False
    """`allOf` is supported."""
    has_recursion: bool = True
    is_object: bool = False
    """The root must be an object."""


ANTHROPIC = Dialect(
    frozenset({"minItems"}),
    _FORMATS,
    {"minItems": 1},
    is_closed=True,
    is_typed=True,
    has_kinds=False,
    has_typed_enums=False,
    has_const=True,
    has_all=True,
    has_recursion=False,
)
OPENAI = Dialect(
    frozenset(
        "pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems".split()
    ),
    _FORMATS - {"uri"},
    is_closed=True,
    is_complete=True,
    is_typed=True,
    has_const=True,
    is_object=True,
)
"""OpenAI's strict mode; without it the model sees the schema but nothing enforces it."""
GEMINI = Dialect(
    frozenset("additionalProperties prefixItems minItems maxItems minimum maximum".split()),
    _FORMATS,
)
LLAMA = Dialect(
    frozenset(
        "additionalProperties prefixItems minItems maxItems minLength maxLength minimum maximum".split()
    ),
    frozenset({"date", "time", "date-time", "uuid"}),
    dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"), 1_000),
    has_const=True,
)
"""llama.cpp turns a schema into a grammar, which repeats a rule as often as a bound says."""


class EnforcedSchema(Struct, frozen=True):
    """The schema to send to a vendor, and what it loses."""

    schema: dict[str, Any] | None
    """None if every schema the vendor supports would forbid valid replies."""
    lost: tuple[str, ...] = ()
    """The paths of the dropped keywords."""
    why_not: str = ""

    def said_of(self, who: str) -> tuple[str, ...]:
        """Return one sentence for each part of the schema that `who` cannot enforce."""
        if self.schema is None:
            return (f"{who} cannot enforce the schema; the model only sees it: {self.why_not}",)
        return tuple(f"{who} cannot enforce {where}; it is only checked afterwards" for where in self.lost)


def reduce_schema(schema: dict[str, Any], dialect: Dialect) -> EnforcedSchema:
    """Return the closest schema that a dialect supports."""
    lowering = _SchemaReducer(schema, dialect)
    try:
        made = lowering.whole()
    except _Inexpressible as reason:
        return EnforcedSchema(None, why_not=str(reason))
    return EnforcedSchema(made, tuple(lowering.lost))


def openai_format(schema: dict[str, Any], *, takes_any: bool) -> dict[str, Any] | None:
    """Return OpenAI's `json_schema` format: strict if the schema allows it, otherwise not enforced.

    None if the root must be an object (`takes_any` is False) and is not.
    """
    strict = reduce_schema(schema, OPENAI)
    shown = strict.schema or _resolve_root(schema, _definitions(schema))
    if not takes_any and shown.get("type") != "object":
        return None
    name = re.sub(r"[^A-Za-z0-9_-]", "_", str(shown.get("title") or "output"))[:64]
    return {"name": name, "schema": shown, "strict": strict.schema is not None}


def _definitions(schema: dict[str, Any]) -> dict[str, Any]:
    whole = {key: value for key, value in schema.items() if key not in ("definitions", "$defs")}
    return {**_table(schema.get("definitions")), **_table(schema.get("$defs")), _WHOLE: whole}


def _resolve_root(schema: dict[str, Any], defined: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with a `$ref` at its root resolved, because vendors want a type there."""
    kept = {key: schema[key] for key in ("definitions", "$defs") if key in schema}
    for _ in range(_HOPS):
        name = _name_of(schema.get("$ref"))
        target = defined.get(name) if name else None
        if not isinstance(target, dict) or set(schema) - {"$ref"} - _SAID - _SILENT:
            break
        schema = target
    return schema | kept


def _name_of(ref: Any) -> str | None:
    """Return the name of the definition that a `$ref` points to; None if it points elsewhere."""
    if ref == "#":
        return _WHOLE
    if not isinstance(ref, str):
        return None
    for start in ("#/$defs/", "#/definitions/"):
        if ref.startswith(start) and "/" not in ref[len(start) :]:
            return ref[len(start) :].replace("~1", "/").replace("~0", "~")
    return None


class _Inexpressible(Exception):
    """The dialect cannot express the schema."""


class _SchemaReducer:
    def __init__(self, schema: dict[str, Any], dialect: Dialect) -> None:
        self.lost: list[str] = []
        self._schema = schema
        self._dialect = dialect
        self._defined = _definitions(schema)
        self._made: dict[str, Any] = {}
        self._refers: dict[str, set[str]] = {}
        """For each definition, the definitions it refers to."""
        self._at = _WHOLE

    def whole(self) -> dict[str, Any]:
        made = self._part(_resolve_root(self._schema, self._defined), "#")
        if self._dialect.is_object and made.get("type") != "object":
            raise _Inexpressible("# is not an object")
        waiting = sorted(self._refers.get(_WHOLE, ()))
        while waiting:
            name = waiting.pop()
            if name not in self._made:
                self._at = name
                self._made[name] = {}
                self._made[name] = self._part(self._target(name, "#"), f"#/$defs/{name}")
                waiting += sorted(self._refers.get(name, ()))
        if not self._dialect.has_recursion:
            self._refuse_recursion()
        return made | ({"$defs": self._made} if self._made else {})

    # ------------------------------------------------------------------ references

    def _target(self, name: str, where: str) -> dict[str, Any]:
        found = self._defined.get(name)
        if not isinstance(found, dict):
            raise _Inexpressible(f'{where} refers to "{name}"')
        return found

    def _reference(self, schema: dict[str, Any], where: str) -> dict[str, Any]:
        name = _name_of(schema["$ref"])
        if name is None:
            raise _Inexpressible(f"{where} refers to a place that is no definition")
        self._lose(where, set(schema) - {"$ref"})
        self._refers.setdefault(self._at, set()).add(name)
        return {"$ref": f"#/$defs/{name.replace('~', '~0').replace('/', '~1')}"}

    def _refuse_recursion(self) -> None:
        for start in self._refers:
            seen: set[str] = set()
            waiting = list(self._refers[start])
            while waiting:
                name = waiting.pop()
                if name == start:
                    raise _Inexpressible(f"{start} refers to itself")
                if name not in seen:
                    seen.add(name)
                    waiting += self._refers.get(name, ())

    # ------------------------------------------------------------------ one part

    def _part(self, schema: Any, where: str) -> dict[str, Any]:
        if schema is False:
            raise _Inexpressible(f"{where} allows nothing")
        schema = _table(schema)
        if "$ref" in schema:
            return self._reference(schema, where)
        made = {key: schema[key] for key in ("title", "description") if isinstance(schema.get(key), str)}
        if "enum" in schema or "const" in schema:
            return made | self._values(schema, where)
        for key in ("anyOf", "oneOf", "allOf"):
            if schema.get(key) and "properties" not in schema and "items" not in schema:
                return made | self._choice(schema, key, where)
        kind = _kind_of(schema)
        if isinstance(kind, list) and not self._dialect.has_kinds:
            return made | {"anyOf": [self._plain(schema, one, where) for one in kind]}
        return made | self._plain(schema, kind, where)

    def _values(self, schema: dict[str, Any], where: str) -> dict[str, Any]:
        values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema.get("const")]
        if not values or not all(type(value) in _KINDS for value in values):
            raise _Inexpressible(f"{where} is one of values that are not texts or numbers")
        self._lose(where, set(schema) - {"enum", "const", "type"})
        is_const = "enum" not in schema and self._dialect.has_const
        made = {"const": values[0]} if is_const else {"enum": values}
        kinds = sorted({_KINDS[type(value)] for value in values})
        if self._dialect.has_typed_enums:
            made["type"] = kinds[0] if len(kinds) == 1 else kinds
        return made

    def _choice(self, schema: dict[str, Any], key: str, where: str) -> dict[str, Any]:
        """Return an `anyOf` or `allOf` alone, because no vendor supports other keywords beside it."""
        parts = [self._part(part, f"{where}/{key}/{place}") for place, part in enumerate(schema[key])]
        self._lose(where, set(schema) - {key, "type"})
        if key == "allOf" and len(parts) == 1:
            return parts[0]
        if key == "allOf" and not self._dialect.has_all:
            raise _Inexpressible(f"{where} has to be several things at once")
        return {"allOf" if key == "allOf" else "anyOf": parts}

    def _plain(self, schema: dict[str, Any], kind: Any, where: str) -> dict[str, Any]:
        if kind is None and self._dialect.is_typed:
            raise _Inexpressible(f"{where} has no type")
        made: dict[str, Any] = {} if kind is None else {"type": kind}
        kinds = kind if isinstance(kind, list) else [kind]
        taken = {"type"}
        if "object" in kinds:
            made |= self._object(schema, where)
            taken |= {"properties", "required", "additionalProperties"}
        if "array" in kinds:
            made |= self._array(schema, where)
            taken |= {"items", "prefixItems"}
        if "string" in kinds and schema.get("format") in self._dialect.formats:
            made["format"] = schema["format"]
        for key in sorted(set(schema) - taken - _inapplicable_keywords(kinds) - _SAID - _SILENT):
            if key in self._dialect.keywords and self._is_small(key, schema[key]):
                made[key] = schema[key]
            else:
                self._lose(where, {key})
        return made

    def _object(self, schema: dict[str, Any], where: str) -> dict[str, Any]:
        properties, dialect = _table(schema.get("properties")), self._dialect
        given = schema.get("required")
        required = [name for name in properties if name in given] if isinstance(given, list) else []
        if isinstance(given, list) and len(required) < len(given):
            self._lose(where, {"required"})
        others = schema.get("additionalProperties", None if properties else True)
        if dialect.is_closed and (others not in (None, False) or "patternProperties" in schema):
            raise _Inexpressible(f"{where} takes keys that are not named")
        if dialect.is_complete and (missing := [name for name in properties if name not in required]):
            raise _Inexpressible(f'{where} has the optional property "{missing[0]}"')
        made: dict[str, Any] = {}
        if properties or dialect.is_closed:  # llama.cpp treats an object without properties as empty
            inner = f"{where}/properties"
            parts = {name: self._part(part, f"{inner}/{name}") for name, part in properties.items()}
            made = {"properties": parts, "required": required}
        if dialect.is_closed or others is False:
            made["additionalProperties"] = False
        elif isinstance(others, dict) and others:
            made["additionalProperties"] = self._part(others, f"{where}/additionalProperties")
        return made

    def _array(self, schema: dict[str, Any], where: str) -> dict[str, Any]:
        made: dict[str, Any] = {}
        first, items = schema.get("prefixItems"), schema.get("items")
        if isinstance(items, list):
            first, items = items, None
        if isinstance(first, list) and "prefixItems" in self._dialect.keywords:
            made["prefixItems"] = list(self._parts(first, f"{where}/prefixItems"))
        elif first is not None:
            raise _Inexpressible(f"{where} has items of different kinds")
        if isinstance(items, dict) and items:
            made["items"] = self._part(items, f"{where}/items")
        elif self._dialect.is_typed:
            raise _Inexpressible(f"{where} has items of any kind")
        return made

    def _parts(self, schemas: list[Any], where: str) -> Iterator[dict[str, Any]]:
        return (self._part(part, f"{where}/{place}") for place, part in enumerate(schemas))

    def _is_small(self, key: str, value: Any) -> bool:
        most = self._dialect.most.get(key)
        return most is None or (isinstance(value, int) and abs(value) <= most)

    def _lose(self, where: str, keys: set[str]) -> None:
        self.lost += [f"{where}/{key}" for key in sorted(keys - _SAID - _SILENT)]


def _kind_of(schema: dict[str, Any]) -> Any:
    """Return the type of a schema, or the type that its other keywords imply."""
    kind = schema.get("type")
    if isinstance(kind, list) and len(kind) == 1:
        return kind[0]
    if kind is None and "properties" in schema:
        return "object"
    return "array" if kind is None and ("items" in schema or "prefixItems" in schema) else kind


def _inapplicable_keywords(kinds: list[Any]) -> set[str]:
    """Return the keywords that do not apply to values of these types."""
    if None in kinds:
        return set()
    types = {"number" if kind == "integer" else kind for kind in kinds}
    return {key for kind, keys in _KEYS_OF.items() if kind not in types for key in keys.split()}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
