"""`bridle schema`: print the published JSON Schemas of inputs and outputs."""

import argparse
from typing import Any

from bridle.core.codec import command_schema
from bridle.hooks.schema import hook_schema
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.shared.output_format import line_schema, result_schema
from bridle.surfaces.shared.terminal import Console


def _openapi_document() -> dict[str, Any]:
    from bridle.surfaces.rest.openapi import openapi
    from bridle.surfaces.rest.operations import OPERATIONS

    return openapi(OPERATIONS)


SCHEMAS = {
    "events": line_schema,
    "commands": command_schema,
    "result": result_schema,
    "hooks": hook_schema,
    "openapi": _openapi_document,
}


def schema(args: argparse.Namespace, console: Console) -> int:
    """Print a JSON Schema, or the OpenAPI document."""
    print_json(console.out, SCHEMAS[args.what]())
    return 0
