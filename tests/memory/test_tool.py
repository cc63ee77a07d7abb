import json
from pathlib import Path

import pytest
from msgspec.json import encode

from bridle.core.errors import StoreError, ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import ConditionalTool, ToolContext
from bridle.core.tool import Access
from bridle.memory.tool import MemorySearch
from tests.memory.stage import HERE, A, B, memory_of, said, started, store_of

CONTEXT = ToolContext(B, HERE, lambda text: None)
CAT = "The cat sleeps on the red sofa."


async def run(tool: MemorySearch, **args) -> object:
    return json.loads((await tool.run(args, CONTEXT)).text)


async def test_passages_come_back_as_json(tmp_path: Path):
    store = await store_of({A: [said(CAT)], B: [started(), said("Where is the cat?")]})
    memory = memory_of(tmp_path, store)

    assert await run(MemorySearch(memory), query="cat") == [
        {
            "content": CAT,
            "score": 1.0,
            "session_id": "a",
            "turn": 1,
            "seq": 2,
            "when": "2023-11-14T22:13:20+00:00",
        }
    ]
    assert await run(MemorySearch(memory), query="cat", limit=0) == []
    assert await run(MemorySearch(memory), query="zorgle") == []
    await memory.aclose()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, 'missing required field "query"'),
        ({"query": 3}, "Expected"),
        ({"query": " "}, "the query is empty"),
        ({"query": "x", "limit": 21}, "<= 20"),
        ({"query": "x", "limit": -1}, ">= 0"),
        ({"query": "x" * 2001}, "<= 2000"),
    ],
)
async def test_wrong_arguments_are_named(tmp_path: Path, args: dict, message: str):
    memory = memory_of(tmp_path, await store_of({}))
    with pytest.raises(ToolError, match=message):
        await MemorySearch(memory).run(args, CONTEXT)
    await memory.aclose()


async def test_trouble_with_memory_is_told_to_the_model():
    class Broken:
        async def search(self, query, *, cwd, limit=5, session=None):
            raise StoreError("memory.db: the disk is on fire", hint="wait")

    with pytest.raises(ToolError) as raised:
        await MemorySearch(Broken()).run({"query": "x"}, CONTEXT)  # type: ignore[arg-type]

    assert str(raised.value) == "memory cannot be searched: memory.db: the disk is on fire (hint: wait)"


async def test_without_memory_the_tool_is_of_no_use(tmp_path: Path):
    off, on = MemorySearch(None), MemorySearch(memory_of(tmp_path, await store_of({})))

    assert isinstance(off, ConditionalTool)
    assert (off.is_useful("/"), on.is_useful("/")) == (False, True)
    with pytest.raises(ToolError, match="memory is off"):
        await off.run({"query": "x"}, CONTEXT)


def test_it_only_reads_and_costs_little():
    tool = MemorySearch(None)

    assert tool.access({"query": "x"}, CONTEXT) == Access("memory_search", "read")
    assert len(encode(tool.spec)) < 220
    assert SessionId("b") == CONTEXT.session
