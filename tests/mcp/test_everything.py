"""Every feature of the reference server, through Bridle's client, over each of its three transports.

What the server offers is written down in tables: a new feature of it makes a test fail, until there is one
for it.
"""

import asyncio
import base64
import gzip
import json
import os
import socket
import subprocess
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from bridle.core.errors import ToolError
from bridle.core.messages import Media, Message, Text
from bridle.core.ports import Tool, ToolOutput
from bridle.core.protocol import Question
from bridle.core.sampling_request import SampleReply, SampleRequest
from bridle.core.server_views import PromptView, ServerView
from bridle.mcp.server import Timing
from bridle.mcp.settings import ServerSettings
from tests.mcp.players import ONE, Keep, eventually, kept
from tests.node_servers import node, script
from tests.patience import PATIENCE_S

TRANSPORTS = ["stdio", "http", "sse"]
MODES = {"stdio": "stdio", "http": "streamableHttp", "sse": "sse"}
SCRIPT = "@modelcontextprotocol/server-everything"
STATIC = "demo://resource/static/document"
DYNAMIC = "demo://resource/dynamic"

PLAIN_CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "echo": ({"message": "hi"}, "Echo: hi"),
    "get-sum": ({"a": 1, "b": 2.5}, "The sum of 1 and 2.5 is 3.5."),
    "get-structured-content": (
        {"location": "New York"},
        '{"temperature":33,"conditions":"Cloudy","humidity":82}',
    ),
    "get-resource-links": (
        {"count": 2},
        (
            "Here are 2 resource links to resources available in this server:\n"
            f"[resource {DYNAMIC}/blob/1 (text/plain): Blob Resource 1 Resource 1: plaintext resource]\n"
            f"[resource {DYNAMIC}/text/2 (text/plain): Text Resource 2 Resource 2: plaintext resource]"
        ),
    ),
}
OTHER_TOOLS = {
    "get-annotated-message",
    "get-env",
    "get-resource-reference",
    "get-roots-list",
    "get-tiny-image",
    "gzip-file-as-resource",
    "simulate-research-query",
    "toggle-simulated-logging",
    "toggle-subscriber-updates",
    "trigger-elicitation-request",
    "trigger-long-running-operation",
    "trigger-sampling-request",
    "trigger-url-elicitation",
}
PROMPTS = {
    "args-prompt": ("city", "state?"),
    "completable-prompt": ("department", "name"),
    "resource-prompt": ("resourceType", "resourceId"),
    "simple-prompt": (),
}
DOCUMENTS = ["architecture", "extension", "features", "how-it-works", "instructions", "startup", "structure"]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module", params=TRANSPORTS)
def place(request: pytest.FixtureRequest) -> Iterator[ServerSettings]:
    """Return how the server is reached; one that is reached by an address runs meanwhile."""
    mode = MODES[request.param]
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "TOLD": "a-word"}
    if request.param == "stdio":
        yield ServerSettings("all", "stdio", argv=(node(), script(SCRIPT), mode), env=env, sampling="allow")
        return
    port = free_port()
    with running(mode, port, env):
        path = "mcp" if request.param == "http" else "sse"
        yield ServerSettings("all", request.param, url=f"http://127.0.0.1:{port}/{path}", sampling="allow")


@contextmanager
def running(mode: str, port: int, env: dict[str, str]) -> Iterator[None]:
    """Run the server at a port of loopback."""
    with subprocess.Popen(
        [node(), script(SCRIPT), mode],
        env={**env, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert any(f"port {port}" in line for line in process.stderr)
            yield
        finally:
            process.kill()


@asynccontextmanager
async def everything(place: ServerSettings, cwd: Path) -> AsyncIterator[Keep]:
    async with kept(cwd, place) as keep:
        offer = await keep.offer()
        assert offer.notes == ()
        while (
            "mcp__all__trigger-sampling-request" not in await keep.tools()
        ):  # they come with news of the server
            await keep.server("all")._moved.wait()
        yield keep


async def call(keep: Keep, tool: str, args: dict[str, Any] | None = None, **more: Any) -> ToolOutput:
    return await keep.call(f"mcp__all__{tool}", args, **more)


async def test_what_the_server_offers_is_all_in_these_tests(place: ServerSettings, tmp_path: Path) -> None:
    async with everything(place, tmp_path) as keep:
        offer = await keep.offer()
        prompts = await keep.servers.prompts(keep.cwd)
        (view,) = await keep.servers.views(keep.cwd)
        capabilities = keep.server("all")._connection._client.server_capabilities  # type: ignore[union-attr]

    tools = [tool.spec.name.removeprefix("mcp__all__") for tool in offer.tools]
    assert set(tools) == PLAIN_CALLS.keys() | OTHER_TOOLS | {"list_resources", "read_resource"}
    assert {prompt.name.removeprefix("mcp__all__"): prompt.arguments for prompt in prompts} == PROMPTS
    assert all(isinstance(prompt, PromptView) and prompt.description for prompt in prompts)
    assert view == ServerView(
        "mcp",
        "all",
        "ready",
        "mcp-servers/everything 2.0.0, protocol 2025-11-25",
        str(tmp_path),
        tools=17,
        prompts=4,
        resources=9,
        pid=view.pid,
    )
    assert bool(view.pid) == (place.transport == "stdio")
    assert "# Everything Server" in offer.instructions
    assert sorted(capabilities.model_dump(exclude_none=True)) == [
        "completions",
        "logging",
        "prompts",
        "resources",
        "tasks",
        "tools",
    ]


async def test_tools_that_answer_with_text(place: ServerSettings, tmp_path: Path) -> None:
    async with everything(place, tmp_path) as keep:
        said = {tool: (await call(keep, tool, args)).text for tool, (args, _) in PLAIN_CALLS.items()}
        wrong = await call(keep, "get-sum", {"a": "one"})

    assert said == {tool: text for tool, (_, text) in PLAIN_CALLS.items()}
    assert wrong.is_error
    assert "Input validation error" in wrong.text


async def test_tools_that_answer_with_more_than_text(place: ServerSettings, tmp_path: Path) -> None:
    async with everything(place, tmp_path) as keep:
        tiny = await call(keep, "get-tiny-image")
        noted = await call(keep, "get-annotated-message", {"messageType": "error", "includeImage": True})
        text = await call(keep, "get-resource-reference", {"resourceType": "Text", "resourceId": 3})
        blob = await call(keep, "get-resource-reference", {"resourceType": "Blob", "resourceId": 3})
        packed = {"name": "hi.gz", "data": "data:text/plain,hello", "outputType": "resource"}
        zipped = await call(keep, "gzip-file-as-resource", packed)
        linked = await call(keep, "gzip-file-as-resource", {**packed, "outputType": "resourceLink"})
        read = await keep.call("read_resource", {"server": "all", "uri": "demo://resource/session/hi.gz"})
        env = await call(keep, "get-env")

    (image,) = tiny.media
    assert image.mime == "image/png"
    assert base64.b64decode(image.data).startswith(b"\x89PNG")
    assert tiny.text == "Here's the image you requested:\nThe image above is the MCP logo."
    assert (noted.text, noted.media) == ("Error: Operation failed", (image,))
    assert f"[resource {DYNAMIC}/text/3]\nResource 3: This is a plaintext resource" in text.text
    assert [base64.b64decode(one.data)[:35] for one in blob.media] == [b"Resource 3: This is a base64 blob c"]
    assert [gzip.decompress(base64.b64decode(one.data)) for one in zipped.media] == [b"hello"]
    assert linked.text == "[resource demo://resource/session/hi.gz (application/gzip): hi.gz]"
    assert [unpacked(one) for one in read.media] == [b"hello"]
    assert place.transport != "stdio" or json.loads(env.text)["TOLD"] == "a-word"


def unpacked(media: Media) -> bytes:
    assert media.mime == "application/gzip"
    return zlib.decompress(base64.b64decode(media.data), wbits=31)


async def test_progress_and_cancellation(place: ServerSettings, tmp_path: Path) -> None:
    async with everything(place, tmp_path) as keep:
        done = await call(keep, "trigger-long-running-operation", {"duration": 0.4, "steps": 2})
        shown = list(keep.emitted)
        endless = asyncio.create_task(
            call(keep, "trigger-long-running-operation", {"duration": 600, "steps": 6000})
        )
        await eventually(lambda: len(keep.emitted) > len(shown))
        endless.cancel()
        await asyncio.wait([endless], timeout=5)
        after = await call(keep, "echo", {"message": "still there"})

    assert done.text == "Long running operation completed. Duration: 0.4 seconds, Steps: 2."
    assert shown[0] == "50 %\n"
    assert shown[1:] in ([], ["100 %\n"])  # two that come at once are shown as one
    assert endless.cancelled()
    assert after.text == "Echo: still there"


async def test_a_tool_that_works_in_the_background(place: ServerSettings, tmp_path: Path) -> None:
    async with everything(place, tmp_path) as keep:
        report = await call(keep, "simulate-research-query", {"topic": "bees"})
        shown = list(keep.emitted)
        dropped = asyncio.create_task(call(keep, "simulate-research-query", {"topic": "wasps"}))
        await eventually(lambda: len(keep.emitted) > len(shown))
        dropped.cancel()
        await asyncio.wait([dropped], timeout=5)
        tasks = keep.server("all")._connection._client.session  # type: ignore[union-attr]
        statuses: list[str] = []
        async with asyncio.timeout(PATIENCE_S):
            while statuses[-2:] != ["completed", "cancelled"]:
                listed = await tasks.send_request(types.ListTasksRequest(), types.ListTasksResult)
                statuses = [task.status for task in listed.tasks]

    assert not report.is_error
    assert "bees" in report.text
    assert shown != []
    assert dropped.cancelled()


FORM_ANSWERS = {
    "String": ("Ada",),
    "Boolean": ("yes",),
    "String with default": ("",),
    "String with email format": ("ada@math.example",),
    "String with uri format": ("https://math.example",),
    "String with date format": ("1815-12-10",),
    "Integer": ("7",),
    "Number in range 1-1000": ("2.5",),
    "Untitled Single Select Enum": ("Joey",),
    "Untitled Multiple Select Enum": ("Piano", "Drums"),
    "Titled Single Select Enum": ("Wonder Woman",),
    "Titled Multiple Select Enum": ("Tuna", "Trout"),
    "Legacy Titled Single Select Enum": ("Dogs",),
}


async def test_questions_to_the_user(place: ServerSettings, tmp_path: Path) -> None:
    asked: list[Question] = []

    async def answer(question: Question) -> tuple[str, ...]:
        asked.append(question)
        return FORM_ANSWERS[question.text.split("\n")[1].partition(":")[0]]

    async def decline(question: Question) -> tuple[str, ...]:
        return ("decline",)

    async with everything(place, tmp_path) as keep:
        filled = await call(keep, "trigger-elicitation-request", ask=answer)
        declined = await call(keep, "trigger-elicitation-request", ask=decline)
        alone = await call(keep, "trigger-elicitation-request")

    raw = json.loads(filled.text.partition("Raw result: ")[2])
    assert raw == {
        "action": "accept",
        "content": {
            "name": "Ada",
            "check": True,
            "firstLine": "It was a dark and stormy night.",
            "email": "ada@math.example",
            "homepage": "https://math.example",
            "birthdate": "1815-12-10",
            "integer": 7,
            "number": 2.5,
            "untitledSingleSelectEnum": "Joey",
            "untitledMultipleSelectEnum": ["Piano", "Drums"],
            "titledSingleSelectEnum": "hero-3",
            "titledMultipleSelectEnum": ["fish-1", "fish-3"],
            "legacyTitledEnum": "pet-2",
        },
    }
    assert len(asked) == 13
    assert asked[0].text.startswith("MCP server all asks: Please provide inputs for the following fields:\n")
    assert [question.several for question in asked].count(True) == 2
    for output in (declined, alone):
        assert json.loads(output.text.partition("Raw result: ")[2]) == {"action": "decline"}


async def test_pages_to_open(place: ServerSettings, tmp_path: Path) -> None:
    asked: list[Question] = []

    async def opened(question: Question) -> tuple[str, ...]:
        asked.append(question)
        return (question.choices[0],)

    async with everything(place, tmp_path) as keep:
        done = await call(
            keep, "trigger-url-elicitation", {"url": "https://pay.example/x", "message": "Pay"}, ask=opened
        )

    assert done.text.startswith("✅ User completed the URL elicitation flow.")
    opening = "MCP server all asks you to open a page of pay.example in your browser:"
    assert [question.text for question in asked] == [f"{opening}\nhttps://pay.example/x\nIt says: Pay"]


async def test_requests_to_the_model(place: ServerSettings, tmp_path: Path) -> None:
    wanted: list[SampleRequest] = []

    async def sample(one: SampleRequest) -> SampleReply:
        wanted.append(one)
        return SampleReply("bees hum", "fake-1", "max_tokens")

    async with everything(place, tmp_path) as keep:
        done = await call(keep, "trigger-sampling-request", {"prompt": "bees", "maxTokens": 9}, sample=sample)

    assert wanted == [
        SampleRequest(
            "all",
            (Message("user", (Text("Resource trigger-sampling-request context: bees"),)),),
            "You are a helpful test server.",
            9,
            0.7,
        )
    ]
    assert json.loads(done.text.partition("LLM sampling result: ")[2]) == {
        "role": "assistant",
        "content": {"type": "text", "text": "bees hum"},
        "model": "fake-1",
        "stopReason": "maxTokens",
    }


async def test_the_folder(place: ServerSettings, tmp_path: Path) -> None:
    async with everything(place, tmp_path) as keep:
        roots = await call(keep, "get-roots-list")

    assert f"1. {tmp_path.name}\n   URI: {tmp_path.as_uri()}" in roots.text


async def test_prompts_and_what_completes_their_arguments(place: ServerSettings, tmp_path: Path) -> None:
    async with everything(place, tmp_path) as keep:

        async def expanded(text: str) -> Any:
            return await keep.servers.expand(ONE, keep.cwd, f"/mcp__all__{text}")

        async def completed(prompt: str, argument: str, value: str, **given: str) -> Any:
            name = f"mcp__all__{prompt}"
            return await keep.servers.complete(ONE, keep.cwd, name, argument, value, given)

        simple = await expanded("simple-prompt")
        given = await expanded("args-prompt Berlin")
        named = await expanded("args-prompt state=Texas city='San Antonio'")
        resource = await expanded("resource-prompt Text 7")
        teams = await completed("completable-prompt", "department", "S")
        names = await completed("completable-prompt", "name", "", department="Sales")
        kinds = await completed("resource-prompt", "resourceType", "")

    assert simple == (Text("This is a simple prompt without arguments."),)
    assert given == (Text("What's weather in Berlin?"),)
    assert named == (Text("What's weather in San Antonio, Texas?"),)
    assert resource[0] == Text(
        "This prompt includes the Text resource with id: 7. Please analyze the following resource:"
    )
    assert resource[1].text.startswith(f"[resource {DYNAMIC}/text/7]\nResource 7: This is a plaintext")
    assert (teams, names, kinds) == (("Sales", "Support"), ("David", "Eve", "Frank"), ("Text", "Blob"))


async def test_resources_patterns_and_subscriptions(place: ServerSettings, tmp_path: Path) -> None:
    uri = f"{DYNAMIC}/text/5"
    async with everything(place, tmp_path) as keep:
        listed = (await keep.call("list_resources")).text.split("\n")
        document = await keep.call("read_resource", {"server": "all", "uri": f"{STATIC}/features.md"})
        text = await keep.call("read_resource", {"server": "all", "uri": uri})
        blob = await keep.call("read_resource", {"server": "all", "uri": f"{DYNAMIC}/blob/5"})
        with pytest.raises(ToolError, match="demo://resource/dynamic/text/none"):
            await keep.call("read_resource", {"server": "all", "uri": f"{DYNAMIC}/text/none"})
        started = await call(keep, "toggle-subscriber-updates")
        await eventually(lambda: keep.server("all").has_changed(uri))
        again = await keep.call("read_resource", {"server": "all", "uri": uri})
        stopped = await call(keep, "toggle-subscriber-updates")

    assert [line.split(" ")[1] for line in listed] == [
        *(f"{STATIC}/{name}.md" for name in DOCUMENTS),
        f"{DYNAMIC}/text/{{resourceId}}",
        f"{DYNAMIC}/blob/{{resourceId}}",
    ]
    assert "Everything Server" in document.text
    assert text.text.startswith("Resource 5: This is a plaintext resource created at ")
    assert [base64.b64decode(one.data)[:33] for one in blob.media] == [b"Resource 5: This is a base64 blob"]
    assert again.text.startswith("[changed since it was read]\nResource 5: ")
    assert started.text.startswith("Started simulated resource updated notifications")
    assert stopped.text.startswith("Stopped simulated resource updates")


async def test_its_log_is_kept(place: ServerSettings, tmp_path: Path) -> None:
    """Its first line is of a random level; that of the subscription is of level info."""
    async with everything(place, tmp_path) as keep:
        await keep.call("read_resource", {"server": "all", "uri": f"{DYNAMIC}/text/9"})
        started = await call(keep, "toggle-simulated-logging")
        stopped = await call(keep, "toggle-simulated-logging")
        await eventually(lambda: any("Subscribe Resource" in line for line in keep.server("all").words.lines))

    assert started.text.startswith("Started simulated, random-leveled logging")
    assert stopped.text.startswith("Stopped simulated logging")


@pytest.mark.parametrize(("transport", "path"), [("http", "mcp"), ("sse", "sse")])
async def test_a_server_that_was_started_anew_is_found_again(
    transport: Any, path: str, tmp_path: Path
) -> None:
    port = free_port()
    settings = ServerSettings("all", transport, url=f"http://127.0.0.1:{port}/{path}")
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"}
    async with kept(tmp_path, settings, timing=Timing(delays_s=(0.1,) * 100)) as keep:
        with running(MODES[transport], port, env):
            echo = (await keep.tools())["mcp__all__echo"]
            said = [await said_by(echo, keep, "one")]
        with running(MODES[transport], port, env):
            async with asyncio.timeout(PATIENCE_S):
                while said[-1] != "Echo: two":
                    said.append(await said_by(echo, keep, "two"))

    forgotten = "it lost the session and was reconnected; make the call again"
    assert (said[0], said[-1]) == ("Echo: one", "Echo: two")
    assert len(said) <= 3
    assert transport == "sse" or forgotten in said[1]


async def said_by(tool: Tool, keep: Keep, message: str) -> str:
    try:
        return (await tool.run({"message": message}, keep.context())).text
    except ToolError as error:
        return str(error)
