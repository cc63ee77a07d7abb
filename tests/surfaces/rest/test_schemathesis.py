"""The service conforms to its own document for any request: schemathesis on every operation."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401  loaded by the service's thread it would be half there while hypothesis looks at it
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from bridle.core.ids import SessionId, is_session_id
from bridle.surfaces.rest.guard import Guard
from bridle.surfaces.rest.openapi import openapi
from bridle.surfaces.rest.operations import OPERATIONS
from bridle.surfaces.rest.server import serve_http
from bridle.surfaces.shared.session_calls import fork_session
from tests.surfaces.rest.house import House, built

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "8"))  # of each operation; 200 take some minutes
TOKEN = "sesame"
FORESEEN = ("AGENT_ERROR", "BUDGET_EXHAUSTED", "CAPABILITY_UNAVAILABLE", "PROVIDER_ERROR")
"""What a run may well come to, though its status is that of a server's error."""
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]

document = {**json.loads(json.dumps(openapi(OPERATIONS))), "security": []}  # the guard has separate tests
schema = schemathesis.openapi.from_dict(document)
operations = {found.ok().definition.raw["operationId"]: found.ok() for found in schema.get_all_operations()}


class Served:
    """The service in a separate thread, with its operations."""

    def __init__(self, home: Path, tmp_path: Path, env: dict[str, str]) -> None:
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=asyncio.run, args=[self._serve(home, tmp_path, env)])
        self.url = ""
        self.session = SessionId("")
        self._house: House | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(15)

    def stop(self) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(15)

    def fork(self) -> SessionId:
        """Return a session that may be spoiled."""
        assert self._loop is not None
        assert self._house is not None
        return asyncio.run_coroutine_threadsafe(
            fork_session(self._house.service, self.session), self._loop
        ).result(15)

    async def _serve(self, home: Path, tmp_path: Path, env: dict[str, str]) -> None:
        self._loop = asyncio.get_running_loop()
        async with built(home, tmp_path, env, [{"text": "Hello."}]) as (house, app):
            self._house = house
            self.session = await house.session("hello")
            async with serve_http(Guard(app, token=TOKEN)) as server:
                self.url = f"http://127.0.0.1:{server.port}"
                self._ready.set()
                await self._stop.wait()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    tmp_path = tmp_path_factory.mktemp("served")
    home = tmp_path / "home" / ".bridle"
    home.mkdir(parents=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "BRIDLE_HOME": str(home)}
    served = Served(home, tmp_path, env)
    served.start()
    yield served
    served.stop()


def _takes_something(definition: Mapping[str, Any]) -> bool:
    return bool(definition["parameters"]) or "requestBody" in definition


ASKED = [
    pytest.param(name, mode, id=f"{name}-{mode.name.lower()}")
    for name, operation in operations.items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or _takes_something(operation.definition.raw)
]


@pytest.mark.parametrize(("name", "mode"), ASKED)
def test_service_keeps_to_its_document(served: Served, name: str, mode: GenerationMode):
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operations[name].as_strategy(generation_mode=mode))
    def keeps(case: Case) -> None:
        _tame(case, served)
        response = case.call(base_url=served.url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=10)
        told = response.json() if "problem+json" in response.headers.get("content-type", [""])[0] else {}
        checks: list[Any] = [*CHECKS]
        if told.get("code") not in FORESEEN:
            checks.append(not_a_server_error)
        if mode is GenerationMode.NEGATIVE and name not in ("events", "stream", "news"):
            checks.append(negative_data_rejection)
        case.validate_response(response, checks=checks)

    keeps()


def _tame(case: Case, served: Served) -> None:
    """Make a case use an existing session, end on its own, and run no command."""
    if is_session_id(str(case.path_parameters.get("id", ""))):
        case.path_parameters["id"] = served.fork() if case.method == "DELETE" else served.session
    if case.operation.path.endswith(("/events", "/stream", "/news")):
        case.query["live"] = "false"
    if isinstance(case.body, dict) and isinstance(case.body.get("options"), dict):
        case.body["options"].pop("until", None)
