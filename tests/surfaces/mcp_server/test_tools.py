"""The table of tools, as clients see it."""

from pathlib import Path

import jsonschema_rs
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation

from bridle import __version__
from bridle.surfaces.mcp_server.tools import OFFERS, input_schema, list_tools
from tests.sessions.stage import Play, Stage, says
from tests.surfaces.mcp_server.connecting import ERAS, Era, connected, serving

NAMES = [
    "bridle_run",
    "bridle_resume",
    "bridle_sessions",
    "bridle_folder",
    "bridle_config",
    "meerkat_run",
    "meerkat_resume",
    "meerkat_config",
    "meerkat_capabilities",
]


def test_every_schema_is_one_and_refuses_unknown_arguments():
    for tool in list_tools():
        for schema in filter(None, (tool.input_schema, tool.output_schema)):
            jsonschema_rs.meta.validate(schema)
            assert schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False, tool.name
        assert tool.input_schema == input_schema(tool.name)


def test_tools_of_ours_answer_with_structure():
    assert [name for name, offer in OFFERS.items() if offer.answers is not None] == NAMES[:5]


@pytest.mark.parametrize("era", ERAS)
async def test_clients_of_both_eras_find_the_same(home: Path, era: Era):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server, era) as client,
    ):
        tools = (await client.list_tools()).tools
        with pytest.raises(MCPError, match="Unknown tool: bridle_fly"):
            await client.call_tool("bridle_fly", {})

        assert [tool.name for tool in tools] == NAMES


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_a_client_learns_what_there_is(home: Path, mode: Era, version: str):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server, mode) as client,
    ):
        capabilities = client.server_capabilities

        assert client.protocol_version == version
        assert client.server_info == Implementation(
            name="bridle",
            version=__version__,
            title="Bridle",
            description="A local-first agent runtime",
        )
        assert None not in (capabilities.tools, capabilities.resources, capabilities.prompts)
