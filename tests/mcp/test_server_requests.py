"""Requests of servers reach only the right session; real SDK servers of both generations send them."""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError as ServerToolError
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, Message, Text
from bridle.core.ports import ToolContext
from bridle.core.protocol import Question
from bridle.core.sampling_request import SampleReply, SampleRequest
from bridle.mcp.server_requests import MAX_REQUESTS, RequestHandler
from bridle.mcp.settings import ServerSettings
from tests.patience import PATIENCE_S

ERAS = ["auto", "legacy"]
SETTINGS = ServerSettings("tracker", "stdio", sampling="allow")
FORM = {
    "type": "object",
    "properties": {"size": {"type": "integer", "maximum": 9}, "sure": {"type": "boolean"}},
    "required": ["size", "sure"],
}
NONE = object()
OUTSIDE = contextvars.Context()


class People:
    """A user with prepared answers, who records the questions."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []
        self.samples: list[SampleRequest] = []
        self.is_asked = asyncio.Event()
        self.is_dropped = asyncio.Event()

    async def ask(self, question: Question) -> tuple[str, ...]:
        self.asked.append(question)
        self.is_asked.set()
        if not self.answers:
            try:
                await asyncio.Event().wait()
            finally:
                self.is_dropped.set()
        return self.answers.pop(0)

    async def sample(self, wanted: SampleRequest) -> SampleReply:
        self.samples.append(wanted)
        return SampleReply("it is blue", "fake-1", "end_turn")

    def context(self, session: str = "s1") -> ToolContext:
        return ToolContext(
            SessionId(session), "/there", print, CallId("c1"), ask=self.ask, sample=self.sample
        )


class Server:
    """A real server whose one tool asks something, as its era has it."""

    def __init__(self, *requests: Any) -> None:
        self.answers: list[Any] = []
        self.requests = requests
        self.server = MCPServer("tracker")
        self.server.add_tool(self.work, "work", structured_output=False)

    async def work(self, ctx: Context) -> types.InputRequiredResult | str:
        if ctx.request_context.protocol_version == "2026-07-28":
            if ctx.input_responses is None:
                wanted = {f"r{index}": one for index, one in enumerate(self.requests)}
                return types.InputRequiredResult(input_requests=wanted)
            self.answers = [ctx.input_responses[f"r{index}"] for index in range(len(self.requests))]
            return "done"
        for request in self.requests:
            kind = {
                types.ElicitRequest: types.ElicitResult,
                types.CreateMessageRequest: types.CreateMessageResult,
                types.ListRootsRequest: types.ListRootsResult,
            }[type(request)]
            try:
                self.answers.append(await ctx.session.send_request(request, kind))
            except MCPError as error:
                self.answers.append(error.error)
                raise ServerToolError(error.message) from error
        return "done"


@asynccontextmanager
async def connected(server: Server, desk: RequestHandler, era: str) -> AsyncIterator[Client]:
    async with Client(server.server, mode=era, **desk.callbacks()) as client:
        yield client


async def work(server: Server, desk: RequestHandler, context: ToolContext, era: str) -> str:
    """Make one call, and return its text."""
    async with connected(server, desk, era) as client:
        with desk.calling(context):
            try:
                result = await client.call_tool("work", {})
            except MCPError as error:
                return error.message
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def form(message: str = "How big?", schema: dict[str, Any] = FORM) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def page(url: str) -> types.ElicitRequest:
    params = types.ElicitRequestURLParams(message="Please pay", url=url, elicitation_id="e1")
    return types.ElicitRequest(params=params)


def sampling(**more: Any) -> types.CreateMessageRequest:
    messages = [types.SamplingMessage(role="user", content=types.TextContent(text="Which colour?"))]
    params = types.CreateMessageRequestParams(**{"messages": messages, "max_tokens": 50, **more})
    return types.CreateMessageRequest(params=params)


# ---------------------------------------------------------------------- forms


@pytest.mark.parametrize("era", ERAS)
async def test_a_form_is_asked_field_by_field_until_each_answer_fits(era: str) -> None:
    people = People(("many",), ("12",), ("7",), ("yes",))
    server = Server(form("How big?\x1b[2J"))

    said = await work(server, RequestHandler(SETTINGS, "/there"), people.context(), era)

    terms = "size\n(a whole number, at most 9)"
    assert said == "done"
    assert people.asked == [
        Question(f"MCP server tracker asks: How big?\n{terms}", ("decline",)),
        Question(f"That does not fit: it must be a whole number.\n{terms}", ("decline",)),
        Question(f"That does not fit: at most 9.\n{terms}", ("decline",)),
        Question("MCP server tracker also asks:\nsure", ("yes", "no", "decline")),
    ]
    assert server.answers == [types.ElicitResult(action="accept", content={"size": 7, "sure": True})]


@pytest.mark.parametrize(
    ("answers", "action"),
    [
        ([("decline",)], "decline"),
        ([("3",), ("Decline",)], "decline"),
        ([("cancel",)], "cancel"),
        ([()], "cancel"),
        ([("x",), ("y",), ("z",)], "cancel"),
    ],
)
async def test_a_user_may_refuse(answers: list[tuple[str, ...]], action: Any) -> None:
    server = Server(form())

    await work(server, RequestHandler(SETTINGS, ""), People(*answers).context(), "legacy")

    assert server.answers == [types.ElicitResult(action=action)]


async def test_a_long_message_is_cut() -> None:
    people = People(("decline",))

    await work(Server(form("a" * 5000)), RequestHandler(SETTINGS, ""), people.context(), "legacy")

    assert len(people.asked[0].text) < 1100


async def test_a_form_without_fields_is_a_yes_or_no() -> None:
    people = People(("allow",))
    server = Server(form("Delete all?", {"type": "object", "properties": {}}))

    await work(server, RequestHandler(SETTINGS, ""), people.context(), "legacy")

    assert people.asked == [Question("MCP server tracker asks: Delete all?", ("allow", "decline"))]
    assert server.answers == [types.ElicitResult(action="accept", content={})]


@pytest.mark.parametrize("era", ERAS)
async def test_where_nobody_can_answer_the_server_is_declined(era: str) -> None:
    notes: list[str] = []
    server = Server(form())
    alone = replace(People().context(), ask=None)

    said = await work(server, RequestHandler(SETTINGS, "", notes.append), alone, era)

    assert (said, server.answers) == ("done", [types.ElicitResult(action="decline")])
    assert notes == ["a question of it was declined: no one is available to answer"]


async def test_a_form_that_makes_no_sense_reaches_nobody() -> None:
    people = People()
    desk = RequestHandler(SETTINGS, "")
    params = types.ElicitRequestFormParams(message="?", requested_schema={"type": "array"})

    with desk.calling(people.context()):
        answer = await desk.elicit(None, params)

    assert (answer, people.asked) == (
        types.ErrorData(code=types.INVALID_PARAMS, message="its form is not an object with properties"),
        [],
    )


# ---------------------------------------------------------------------- pages


async def test_a_page_is_shown_with_its_true_host_and_never_opened() -> None:
    people = People(("I have opened it",))
    url = "https://bank.example@evil.example:8443/pay?x=1"
    server = Server(page(url))

    await work(server, RequestHandler(SETTINGS, ""), people.context(), "legacy")

    text = (
        "MCP server tracker asks you to open a page of evil.example:8443 in your browser:\n"
        f"{url}\nIt says: Please pay"
    )
    assert people.asked == [Question(text, ("I have opened it", "decline"))]
    assert server.answers == [types.ElicitResult(action="accept")]


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://x/\x1b[2J",
        "https://evil.example\\@bank.example/pay",
        "https://x/" + "a" * 3000,
    ],
)
async def test_what_is_no_web_page_is_not_shown(url: str) -> None:
    people = People()
    desk = RequestHandler(SETTINGS, "")

    with desk.calling(people.context()):
        answer = await desk.elicit(None, types.ElicitRequestURLParams(message="go", url=url))

    refused = types.ErrorData(code=types.INVALID_PARAMS, message="its address is no http(s) address")
    assert (answer, people.asked) == (refused, [])


def required(*urls: str) -> MCPError:
    pages = [types.ElicitRequestURLParams(message="first", url=url, elicitation_id=url) for url in urls]
    data = types.ElicitationRequiredErrorData(elicitations=pages).model_dump(by_alias=True, mode="json")
    return MCPError(types.URL_ELICITATION_REQUIRED, "go there first", data)


@pytest.mark.parametrize(
    ("error", "answers", "is_open"),
    [
        (required("https://a.example", "https://b.example"), [("I have opened it",)] * 2, True),
        (required("https://a.example", "https://b.example"), [("I have opened it",), ("decline",)], False),
        (required("javascript:alert(1)"), [], False),
        (required(), [], False),
        (MCPError(types.URL_ELICITATION_REQUIRED, "?", {"elicitations": 1}), [], False),
        (MCPError(types.INTERNAL_ERROR, "?"), [], False),
    ],
)
async def test_pages_without_which_a_call_fails_are_shown(
    error: MCPError, answers: list[tuple[str, ...]], is_open: bool
) -> None:
    people = People(*answers)
    desk = RequestHandler(SETTINGS, "")

    with desk.calling(people.context()):
        assert await desk.opens(error) == is_open

    assert len(people.asked) == len(answers)
    assert not await desk.opens(error)


# ---------------------------------------------------------------------- whose question it is


async def test_with_two_sessions_at_work_an_unclear_question_is_shown_to_none() -> None:
    notes: list[str] = []
    desk = RequestHandler(SETTINGS, "", notes.append)
    first, second = People(), People()

    async def ask_from_outside() -> Any:
        with desk.calling(first.context("s1")), desk.calling(second.context("s2")):
            return await in_fresh_context(lambda: desk.elicit(None, form().params))

    unclear = "declined: it is unclear which session this is for"
    assert await ask_from_outside() == types.ErrorData(code=-1, message=unclear)
    assert (first.asked, second.asked) == ([], [])
    assert notes == [f"a question of it was declined: {unclear}"]


async def test_with_no_call_at_work_nobody_is_asked() -> None:
    answer = await RequestHandler(SETTINGS, "").elicit(None, form().params)

    assert isinstance(answer, types.ErrorData)


async def test_with_one_session_at_work_the_newest_call_has_the_question() -> None:
    desk = RequestHandler(SETTINGS, "")
    older, newer = People(), People(("decline",))

    with desk.calling(older.context()), desk.calling(newer.context()):
        await in_fresh_context(lambda: desk.elicit(None, form().params))

    assert (older.asked, len(newer.asked)) == ([], 1)


async def test_a_question_within_a_call_is_that_calls_whoever_else_is_at_work() -> None:
    desk = RequestHandler(SETTINGS, "")
    asker, other = People(("decline",)), People()

    async def call() -> Any:
        with desk.calling(asker.context("s1")):
            await other_began.wait()
            return await desk.elicit(None, form().params)

    other_began = asyncio.Event()
    calling = asyncio.create_task(call())
    with desk.calling(other.context("s2")):
        other_began.set()
        answer = await calling

    assert answer == types.ElicitResult(action="decline")
    assert (len(asker.asked), other.asked) == (1, [])


async def test_questions_of_one_call_come_one_after_the_other() -> None:
    people = People()
    desk = RequestHandler(SETTINGS, "")
    with desk.calling(people.context()):
        first = asyncio.create_task(desk.elicit(None, form("one").params))
        await people.is_asked.wait()
        second = asyncio.create_task(desk.elicit(None, form("two").params))
        for _ in range(10):
            await asyncio.sleep(0)
        asked = len(people.asked)

    assert asked == 1
    assert [await first, await second] == [types.ElicitResult(action="cancel")] * 2


@pytest.mark.parametrize("era", ERAS)
async def test_when_the_call_is_cancelled_its_question_is_dropped(era: str) -> None:
    people = People()
    server = Server(form())
    desk = RequestHandler(SETTINGS, "")
    async with connected(server, desk, era) as client:

        async def call() -> None:
            with desk.calling(people.context()):
                await client.call_tool("work", {})

        calling = asyncio.create_task(call())
        await people.is_asked.wait()
        calling.cancel()
        await asyncio.wait([calling])

        assert calling.cancelled()
        async with asyncio.timeout(PATIENCE_S):
            await people.is_dropped.wait()


async def test_a_server_that_asks_without_end_is_not_listened_to() -> None:
    people = People(*[("decline",)] * 1000)
    desk = RequestHandler(SETTINGS, "")

    with desk.calling(people.context()):
        answers = [await desk.elicit(None, form().params) for _ in range(MAX_REQUESTS + 1)]

    assert len(people.asked) == MAX_REQUESTS
    assert isinstance(answers[-1], types.ErrorData)


# ---------------------------------------------------------------------- the model


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_asks_the_model(era: str) -> None:
    people = People()
    image = types.ImageContent(data="aGk=", mime_type="image/png")
    messages = [
        types.SamplingMessage(role="user", content=[types.TextContent(text="What is this?"), image]),
        types.SamplingMessage(role="assistant", content=types.TextContent(text="Hm")),
    ]
    request = sampling(
        messages=messages, system_prompt="Be short", max_tokens=99_999, temperature=0.5, stop_sequences=["."]
    )
    server = Server(request)

    await work(server, RequestHandler(SETTINGS, ""), people.context(), era)

    wanted = SampleRequest(
        by="tracker",
        messages=(
            Message("user", (Text("What is this?"), Media("image/png", "aGk="))),
            Message("assistant", (Text("Hm"),)),
        ),
        system="Be short",
        max_tokens=16_384,
        temperature=0.5,
        stop=(".",),
    )
    content = types.TextContent(text="it is blue")
    answer = types.CreateMessageResult(
        role="assistant", content=content, model="fake-1", stop_reason="endTurn"
    )
    assert (people.samples, server.answers, people.asked) == ([wanted], [answer], [])


async def test_where_the_user_wants_to_be_asked_the_request_is_shown_first() -> None:
    people = People(("allow",))
    server = Server(sampling(system_prompt="Be short"))

    await work(server, RequestHandler(replace(SETTINGS, sampling="ask"), ""), people.context(), "legacy")

    text = "MCP server tracker wants to ask the model (at most 50 tokens):\nBe short\nuser: Which colour?"
    assert people.asked == [Question(text, ("allow", "decline"))]
    assert len(people.samples) == 1


@pytest.mark.parametrize(
    ("sampling_setting", "answers", "can_ask"),
    [("ask", [("decline",)], True), ("ask", [("sure",)], True), ("ask", [], False)],
)
async def test_a_request_that_the_user_does_not_allow_is_refused(
    sampling_setting: Any, answers: list[tuple[str, ...]], can_ask: bool
) -> None:
    people = People(*answers)
    context = people.context() if can_ask else replace(people.context(), ask=None)
    server = Server(sampling())

    await work(server, RequestHandler(replace(SETTINGS, sampling=sampling_setting), ""), context, "legacy")

    assert server.answers == [types.ErrorData(code=-1, message="the user declined it")]
    assert people.samples == []


async def test_a_server_that_may_not_ask_the_model_does_not_hear_of_it() -> None:
    server = Server(sampling())

    said = await work(
        server, RequestHandler(replace(SETTINGS, sampling="deny"), ""), People().context(), "legacy"
    )

    assert "sampling" in said.lower()
    assert "sampling_callback" not in RequestHandler(replace(SETTINGS, sampling="deny"), "").callbacks()


async def failing(wanted: SampleRequest) -> SampleReply:
    raise ToolError("the run has no budget left")


@pytest.mark.parametrize(
    ("request_", "sample", "code", "why"),
    [
        (sampling(max_tokens=0), None, types.INVALID_PARAMS, "max_tokens must be at least 1"),
        (sampling(messages=[]), None, types.INVALID_PARAMS, "a request has 1 to 100 messages"),
        (
            sampling(tools=[types.Tool(name="t", input_schema={"type": "object"})]),
            None,
            types.INVALID_PARAMS,
            "tools are not offered to requests of servers",
        ),
        (
            sampling(
                messages=[
                    types.SamplingMessage(
                        role="assistant", content=types.ToolUseContent(id="1", name="t", input={})
                    )
                ]
            ),
            None,
            types.INVALID_PARAMS,
            "tool calls and results are not taken in requests of servers",
        ),
        (sampling(), failing, types.INTERNAL_ERROR, "the run has no budget left"),
        (sampling(), NONE, -1, "servers may not ask the model here"),
    ],
)
async def test_a_request_that_cannot_be_made_says_why(
    request_: Any, sample: Any, code: int, why: str
) -> None:
    context = People().context()
    if sample is not None:
        context = replace(context, sample=None if sample is NONE else sample)
    desk = RequestHandler(SETTINGS, "")

    with desk.calling(context):
        answer = await desk.sample(None, request_.params)

    assert answer == types.ErrorData(code=code, message=why)


# ---------------------------------------------------------------------- the folder


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("root", "uri", "name"),
    [
        ("/work here/über", "file:///work%20here/%C3%BCber", "über"),
        ("", "file:///there", "there"),
        ("/", "file:///", "/"),
    ],
)
async def test_a_server_learns_the_folder(root: str, uri: str, name: str, era: str) -> None:
    server = Server(types.ListRootsRequest())

    await work(server, RequestHandler(SETTINGS, root), People().context(), era)

    assert [one.model_dump(mode="json", exclude_none=True)["roots"] for one in server.answers] == [
        [{"uri": uri, "name": name}]
    ]


async def test_with_no_folder_and_no_call_there_is_no_root() -> None:
    assert await RequestHandler(SETTINGS, "").roots(None) == types.ListRootsResult(roots=[])


async def in_fresh_context(doing: Callable[[], Awaitable[Any]]) -> Any:
    """Do something in a context that has never heard of a call, as the reader of a pipe has."""

    async def run() -> Any:
        return await doing()

    return await asyncio.create_task(run(), context=OUTSIDE.copy())
