"""The OpenAPI 3.1 document of the REST service, generated from the table of its operations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

import bridle
from bridle.surfaces.rest.operation import Operation
from bridle.surfaces.rest.problem_document import (
    HEADERS_TOO_LARGE,
    HOST_REFUSED,
    MEDIA_TYPE,
    ORIGIN_REFUSED,
    REQUEST_TIMEOUT,
    STOPPING,
    TOO_LARGE,
    TOO_MANY_ATTEMPTS,
    TOO_MANY_CONNECTIONS,
    UNAUTHORIZED,
    UNSUPPORTED_MEDIA_TYPE,
    ProblemDocument,
)
from bridle.surfaces.shared.error_codes import INTERNAL_ERROR, INVALID_PARAMS, SESSION_NOT_FOUND, ErrorKind

REF = "#/components/schemas/{name}"
EVERYWHERE = (
    INVALID_PARAMS,
    UNAUTHORIZED,
    ORIGIN_REFUSED,
    REQUEST_TIMEOUT,
    HOST_REFUSED,
    TOO_MANY_ATTEMPTS,
    HEADERS_TOO_LARGE,
    INTERNAL_ERROR,
    TOO_MANY_CONNECTIONS,
    STOPPING,
)
WITH_BODY = (TOO_LARGE, UNSUPPORTED_MEDIA_TYPE)
SESSION_ID = r"^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
NO_CONTENT = 204
OPEN = ("health", "ready", "openapi")
"""The operations that need no token."""


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the document."""
    schemas = _Schemas(operations)
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Bridle",
            "version": bridle.__version__,
            "description": "Sessions of agents: run them, watch them, answer them.",
        },
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "schemas": schemas.components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


class _Schemas:
    """The schemas of all request and response types; request types forbid additional properties."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        taken = [kind for operation in operations if (kind := operation.body) is not None]
        kinds = [
            ProblemDocument,
            *taken,
            *(kind for operation in operations for kind in _answered(operation)),
        ]
        references, self.components = msgspec.json.schema_components(kinds, ref_template=REF)
        self._references = {id(kind): schema for kind, schema in zip(kinds, references, strict=True)}
        for name in msgspec.json.schema_components(taken)[1]:
            self.components[name]["additionalProperties"] = False

    def of(self, kind: Any) -> dict[str, Any]:
        """Return the reference to a type's schema."""
        return self._references[id(kind)]


def _answered(operation: Operation) -> Iterator[Any]:
    for kind in (
        operation.answers,
        *operation.streams,
        *operation.also.values(),
        *operation.media_also.values(),
    ):
        if kind is not None:
            yield kind


def _described(operation: Operation, schemas: _Schemas) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": list(_parameters(operation)),
        "responses": _responses(operation, schemas),
    }
    if operation.body is not None:
        content = {"application/json": {"schema": schemas.of(operation.body)}}
        described["requestBody"] = {"required": True, "content": content}
    if operation.name in OPEN:
        described["security"] = []
    return described


def _parameters(operation: Operation) -> Iterator[dict[str, Any]]:
    if "{id}" in operation.path:
        schema = {"type": "string", "pattern": SESSION_ID}
        yield {"name": "id", "in": "path", "required": True, "description": "The session.", "schema": schema}
    yield from _fields("query", operation.query)
    yield from _fields("header", operation.headers)


def _fields(where: str, kind: type[Struct]) -> Iterator[dict[str, Any]]:
    _, components = msgspec.json.schema_components([kind], ref_template=REF)
    shape = components[kind.__name__]
    for name, schema in shape["properties"].items():
        shown = name.title() if where == "header" else name
        description = schema.pop("description", "")
        required = name in shape["required"]
        yield {"name": shown, "in": where, "required": required, "description": description, "schema": schema}


def _responses(operation: Operation, schemas: _Schemas) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, kind in {operation.status: operation.answers, **operation.also}.items():
        media = {operation.media: _schema(kind, schemas)}
        if operation.streams:
            media = {operation.media: _event_schema(operation.streams, schemas)}
        if status == operation.status:
            media |= {name: _schema(kind, schemas) for name, kind in operation.media_also.items()}
        content = {} if status == NO_CONTENT else {"content": _content(media)}
        responses[str(status)] = {"description": operation.summary, **content}
    for problem in _problems(operation):
        content = {"content": _content({MEDIA_TYPE: schemas.of(ProblemDocument)})}
        known = responses.setdefault(str(problem.http), {"description": "", **content})
        known["description"] = f"{known['description']} {problem.title} ({problem.code}).".strip()
    return dict(sorted(responses.items()))


def _content(media: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"schema": schema} for name, schema in media.items()}


def _schema(kind: Any, schemas: _Schemas) -> dict[str, Any]:
    return {"type": "string"} if kind is None else schemas.of(kind)


def _event_schema(kinds: Sequence[Any], schemas: _Schemas) -> dict[str, Any]:
    """Return the schema of one event of a stream."""
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"anyOf": [schemas.of(kind) for kind in kinds]},
    }
    text = {"type": "string"}
    properties = {"event": text, "data": data, "id": text, "retry": text}
    return {"type": "object", "properties": properties, "required": ["event", "data"]}


def _problems(operation: Operation) -> list[ErrorKind]:
    found = [*EVERYWHERE, *operation.problems]
    if operation.body is not None:
        found += WITH_BODY
    if "{id}" in operation.path:
        found.append(SESSION_NOT_FOUND)
    return list({problem.code: problem for problem in found}.values())
