"""Finding a tool among thousands."""

import pytest
from msgspec.json import encode
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import ToolContext
from bridle.core.tool import ToolSpec
from bridle.tools.tool_search import MAX_LISTED, MAX_SHOWN_BYTES, ToolCaller, ToolSearch
from bridle.tools.toolbox import describe_tool

CONTEXT = ToolContext(SessionId("s"), "/", emit=lambda text: None)


def spec(name: str, text: str, *arguments: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in arguments}
    return ToolSpec(name, text, {"type": "object", "properties": properties})


WORDS = "alpha beta gamma delta omega sigma kappa lambda theta zeta".split()
NOISE = [
    spec(
        f"mcp__noise{n % 7}__{WORDS[n % 10]}_{WORDS[n // 10 % 10]}_{n}",
        f"Handles {WORDS[n // 100 % 10]} things.",
    )
    for n in range(3_000)
]
REAL = [
    spec("mcp__github__create_issue", "Open a new issue in a repository.", "owner", "repo", "title"),
    spec("mcp__github__list_issues", "List the issues of a repository.", "owner", "repo"),
    spec("mcp__mail__send_message", "Sends an e-mail to somebody.", "to", "subject", "body"),
    spec("mcp__time__convertTimezone", "Converts a time between zones.", "time", "from", "to"),
    spec("mcp__weather__forecast", "The weather of the next days for a city.", "city"),
]
SEARCH = ToolSearch([*NOISE, *REAL])
SAVING = spec("download", "Save a file.", "url")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("create a github issue", "mcp__github__create_issue"),
        ("listing issues", "mcp__github__list_issues"),
        ("email somebody", "mcp__mail__send_message"),
        ("timezone conversion: convert timezones", "mcp__time__convertTimezone"),
        ("weather in a city", "mcp__weather__forecast"),
        ("mcp__weather__forecast", "mcp__weather__forecast"),
        ("select mcp__noise3__delta_alpha_3, please", "mcp__noise3__delta_alpha_3"),
    ],
)
def test_the_right_one_comes_first(query: str, name: str):
    assert SEARCH.find(query, 5)[0].name == name


async def test_what_is_found_can_be_called():
    output = await SEARCH.run({"query": "send mail", "limit": 1}, CONTEXT)

    assert output.text == (
        "mcp__mail__send_message: Sends an e-mail to somebody.\n"
        'parameters: {"type":"object","properties":{"to":{"type":"string"},"subject":{"type":"string"},'
        '"body":{"type":"string"}}}'
    )


async def test_nothing_found_says_so():
    with pytest.raises(ToolError, match="no tool matches 'zzzz'"):
        await SEARCH.run({"query": "zzzz"}, CONTEXT)


async def test_a_result_is_kept_to_a_size():
    large = [spec(f"mcp__s__look_{n}", "look " * 2_000) for n in range(20)]
    output = await ToolSearch(large).run({"query": "look", "limit": 20}, CONTEXT)

    assert len(output.text) < MAX_SHOWN_BYTES + 1_000
    assert "Also: mcp__s__look_" in output.text


def test_what_is_sent_of_thousands_is_short_and_always_the_same():
    first, second = ToolSearch([*NOISE, *REAL]), ToolSearch([*REAL, *reversed(NOISE)])

    assert encode(first.spec) == encode(second.spec)
    assert len(encode(first.spec)) + len(encode(ToolCaller().spec)) < 1_000
    assert "github (2)" in first.spec.description


async def test_a_call_of_nothing_is_refused():
    with pytest.raises(ToolError, match="no tool is named 'mcp__x__y'"):
        ToolCaller().access({"name": "mcp__x__y", "arguments": {}}, CONTEXT)
    with pytest.raises(ToolError, match="tool_search finds"):
        await ToolCaller().run({"name": ""}, CONTEXT)


def test_tools_of_our_own_are_named_in_a_fixed_order_unless_they_are_too_many():
    specs = [spec("wait", "Wait."), SAVING]

    caller = ToolCaller(specs)
    assert caller.spec == ToolCaller(specs[::-1]).spec
    assert caller.spec.description == f"{ToolCaller().spec.description} There are download, wait."
    assert ToolCaller([spec(f"t{n}", "") for n in range(MAX_LISTED + 1)]).spec == ToolCaller().spec


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        (
            "save files",
            f"no tool is named 'save files'; these come near:\n{describe_tool(SAVING)}",
        ),
        ("zzz", "no tool is named 'zzz' (hint: there are download, wait)"),
        ("bash", "bash cannot be called through tool_call (hint: call it by itself)"),
    ],
)
def test_a_wrong_name_is_answered_with_what_comes_near(name: str, refusal: str):
    caller = ToolCaller([spec("wait", "Wait."), SAVING])
    context = replace(CONTEXT, tools=(spec("bash", "Run."),))

    with pytest.raises(ToolError) as caught:
        caller.access({"name": name}, context)
    assert str(caught.value) == refusal


def test_our_own_tools_are_found_beside_those_of_servers():
    search = ToolSearch([*REAL, spec("rename_symbol", "Rename a symbol and all its uses.")])

    assert search.find("rename a function", 1)[0].name == "rename_symbol"
    assert "There are github (2), mail (1), time (1), weather (1)." in search.spec.description
