"""The OpenAPI document describes the service in a form that tools can read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
from msgspec import json

from bridle.surfaces.cli.parser import parse
from bridle.surfaces.cli.schema import SCHEMAS
from bridle.surfaces.rest.guard import OPEN_PATHS
from bridle.surfaces.rest.openapi import openapi
from bridle.surfaces.rest.operations import OPERATIONS
from bridle.surfaces.shared.error_codes import BUDGET_EXHAUSTED, HOOK_DENIED, PROVIDER_ERROR, SESSION_BUSY
from tests.surfaces.rest.house import opened

DOCUMENT: dict[str, Any] = json.decode(json.encode(openapi(OPERATIONS)))


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a document."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from nodes(item)
    if isinstance(value, list):
        for item in value:
            yield from nodes(item)


def described() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


async def test_the_service_gives_the_document(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        given = await house.get("/openapi.json")

    assert given.headers["content-type"] == "application/json"
    assert given.json() == DOCUMENT
    assert json.decode(json.encode(SCHEMAS[parse(["schema", "openapi"]).what]())) == DOCUMENT


def test_every_operation_is_described_once():
    assert sorted(name for name, _ in described()) == sorted(f"{one.method} {one.path}" for one in OPERATIONS)
    assert len({operation["operationId"] for _, operation in described()}) == len(OPERATIONS)


def test_meerkats_routes_are_there():
    wanted = [
        "GET /health",
        "POST /sessions",
        "GET /sessions",
        "GET /sessions/{id}",
        "POST /sessions/{id}/messages",
        "GET /sessions/{id}/events",
        "GET /sessions/{id}/history",
        "POST /sessions/{id}/interrupt",
        "GET /config",
        "PUT /config",
        "PATCH /config",
        "GET /capabilities",
    ]

    assert set(wanted) <= {name for name, _ in described()}


def test_every_schema_is_one_and_every_reference_leads_somewhere():
    schemas = DOCUMENT["components"]["schemas"]

    for schema in schemas.values():
        jsonschema_rs.meta.validate(schema)
    found = {node["$ref"] for node in nodes(DOCUMENT) if "$ref" in node}
    assert {ref.removeprefix("#/components/schemas/") for ref in found} <= set(schemas)
    assert not [
        node for node in nodes(DOCUMENT) if isinstance(node.get("items"), list) or "prefixItems" in node
    ]


def test_what_is_taken_has_no_further_fields():
    schemas = DOCUMENT["components"]["schemas"]

    for name in ("NewSession", "NewMessage", "Prompt", "Decide", "RunOptions", "Message", "Fork"):
        assert schemas[name]["additionalProperties"] is False, name
    assert "additionalProperties" not in schemas["ProblemDocument"]


def test_every_problem_has_its_status():
    run = DOCUMENT["paths"]["/sessions"]["post"]["responses"]

    for problem in (BUDGET_EXHAUSTED, HOOK_DENIED, PROVIDER_ERROR, SESSION_BUSY):
        assert problem.code in run[str(problem.http)]["description"]
    assert list(run) == sorted(run)
    for name, operation in described():
        assert {"400", "401", "421", "500", "503"} <= set(operation["responses"]), name
        assert ("413" in operation["responses"]) is ("requestBody" in operation), name
        may_miss = "{id}" in name or name in ("POST /sessions", "GET /metrics")
        assert ("404" in operation["responses"]) is may_miss, name


def test_only_what_is_open_needs_no_token():
    assert DOCUMENT["security"] == [{"token": []}]
    opened_up = {
        name.removeprefix("GET ") for name, operation in described() if operation.get("security") == []
    }
    assert opened_up == OPEN_PATHS


def test_parameters_are_described():
    sessions = {one["name"]: one for one in DOCUMENT["paths"]["/sessions"]["get"]["parameters"]}
    create = {one["name"]: one for one in DOCUMENT["paths"]["/sessions"]["post"]["parameters"]}

    assert sessions["limit"] == {
        "name": "limit",
        "in": "query",
        "required": False,
        "description": "",
        "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
    }
    assert {name: one["in"] for name, one in create.items()} == {
        "Idempotency-Key": "header",
        "Prefer": "header",
        "Traceparent": "header",
    }
