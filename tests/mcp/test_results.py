"""From a server's result to what the model sees."""

import json
import time
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    PromptMessage,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from bridle.core.messages import Media, Text
from bridle.core.ports import ToolOutput
from bridle.mcp.results import MAX_MEDIA_BYTES, convert_call_result, convert_prompt, convert_resource

PICTURE = b64encode(b"picture").decode()
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def text(said: str) -> TextContent:
    return TextContent(type="text", text=said)


def result(*content: Any, **more: Any) -> CallToolResult:
    return CallToolResult(content=list(content), **more)


def test_every_kind_of_content_is_kept_in_order():
    found = result(
        text("one"),
        ImageContent(type="image", data=PICTURE, mime_type="image/PNG; q=1"),
        ResourceLink(
            type="resource_link", uri="file:///a", name="a", description="an A", mime_type="text/plain"
        ),
        AudioContent(type="audio", data=PICTURE, mime_type="audio/wav"),
        EmbeddedResource(type="resource", resource=TextResourceContents(uri="memo://x", text="inside")),
        EmbeddedResource(
            type="resource",
            resource=BlobResourceContents(uri="memo://y/z.bin", blob=PICTURE, mime_type="odd"),
        ),
        text("two"),
        is_error=True,
        _meta={"secret": "dropped"},
    )

    assert convert_call_result(found) == ToolOutput(
        "one\n[resource file:///a (text/plain): a an A]\n[resource memo://x]\ninside\ntwo",
        is_error=True,
        media=(
            Media("image/png", PICTURE),
            Media("audio/wav", PICTURE),
            Media("application/octet-stream", PICTURE, "z.bin"),
        ),
    )


def test_media_that_cannot_be_used_is_named():
    large = "A" * (MAX_MEDIA_BYTES * 4 // 3 + 8)
    found = result(
        ImageContent(type="image", data="no base64!", mime_type="image/png"),
        AudioContent(type="audio", data=large, mime_type="audio/wav"),
    )

    assert convert_call_result(found) == ToolOutput(
        "[image left out: it is not base64]\n[audio left out: it is larger than 20 MiB]"
    )


@pytest.mark.parametrize(
    ("lines", "structured"),
    [
        (['{"n": 1}'], {"n": 1}),
        (["3"], {"result": 3}),
        (["hello"], {"result": "hello"}),
        (['{"a": 1}', '{"a": 2}'], {"result": [{"a": 1}, {"a": 2}]}),
        (["see:", '{"n": 1}'], {"n": 1}),
    ],
)
def test_structured_content_that_the_text_says_is_not_said_twice(lines: list[str], structured: object):
    found = result(*map(text, lines), structured_content=structured)

    assert convert_call_result(found).text == "\n".join(lines)


@pytest.mark.parametrize("structured", [{"n": 2}, {"n": True}, {"result": 1, "more": 2}])
def test_structured_content_that_says_more_is_added(structured: object):
    found = result(text('{"n": 1}'), structured_content=structured)

    assert convert_call_result(found).text == '{"n": 1}\n' + json.dumps(structured)


def test_a_result_that_breaks_its_own_schema_is_an_error_that_loses_nothing():
    found = result(text("seven"), structured_content={"n": "seven"})

    assert convert_call_result(found, NUMBER) == ToolOutput(
        "seven\n[the server broke its own schema: its result does not fit the schema it "
        'announced at n: "seven" is not of type "integer"]',
        is_error=True,
    )


def test_a_schema_that_is_kept_is_not_spoken_of():
    assert convert_call_result(result(text('{"n":7}'), structured_content={"n": 7}), NUMBER) == ToolOutput(
        '{"n":7}'
    )


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (NUMBER, "it announced structured content but sent none"),
        ({"$ref": "http://127.0.0.1/x"}, "the schema of its results is broken"),
        ({"type": 3}, "the schema of its results is broken"),
    ],
)
def test_schemas_that_cannot_hold_are_named(schema: dict[str, Any], why: str):
    structured = None if schema is NUMBER else {"n": 1}
    found = convert_call_result(result(text("words"), structured_content=structured), schema)

    assert found.is_error
    assert found.text.startswith("words\n")
    assert f"[the server broke its own schema: {why}" in found.text


def test_an_error_need_not_fit_the_schema():
    assert convert_call_result(result(text("bad"), is_error=True), NUMBER) == ToolOutput("bad", is_error=True)


def test_a_resource_is_read_with_heads_only_if_there_are_several():
    one = TextResourceContents(uri="memo://1", text="first")
    blob = BlobResourceContents(uri="memo://2", blob=PICTURE, mime_type="image/png")

    assert convert_resource(ReadResourceResult(contents=[one])) == ToolOutput("first")
    assert convert_resource(ReadResourceResult(contents=[one, blob])) == ToolOutput(
        "[resource memo://1]\nfirst", media=(Media("image/png", PICTURE, "2"),)
    )


def test_a_prompt_keeps_the_order_of_its_messages_and_marks_other_speakers():
    image = ImageContent(type="image", data=PICTURE, mime_type="image/png")
    found = GetPromptResult(
        messages=[
            PromptMessage(role="user", content=text("look")),
            PromptMessage(role="user", content=image),
            PromptMessage(role="assistant", content=text("nice")),
            PromptMessage(role="assistant", content=image),
        ]
    )

    picture = Media("image/png", PICTURE)
    assert convert_prompt(found) == (
        Text("look"),
        picture,
        Text("[assistant]\nnice"),
        Text("[assistant]\n"),
        picture,
    )


TEXTS = st.text(max_size=30)
CONTENT = (
    st.builds(text, TEXTS)
    | st.builds(lambda data, mime: ImageContent(type="image", data=data, mime_type=mime), TEXTS, TEXTS)
    | st.builds(lambda uri, name: ResourceLink(type="resource_link", uri=uri, name=name), TEXTS, TEXTS)
    | st.builds(
        lambda uri, said: EmbeddedResource(
            type="resource", resource=TextResourceContents(uri=uri, text=said)
        ),
        TEXTS,
        TEXTS,
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(CONTENT, max_size=5), st.dictionaries(TEXTS, VALUES, max_size=3) | st.none(), st.booleans())
def test_no_text_is_ever_lost(content: list[Any], structured: Any, is_error: bool):
    found = convert_call_result(result(*content, structured_content=structured, is_error=is_error))

    said = [part.text for part in content if isinstance(part, TextContent)]
    said += [part.resource.text for part in content if isinstance(part, EmbeddedResource)]
    assert all(one in found.text for one in said)
    assert found.is_error == is_error
    if structured is not None and not content:
        assert json.loads(found.text) == structured


@pytest.mark.parametrize(
    ("schema", "structured"),
    [
        (
            {
                "$ref": "#/$defs/d0",
                "$defs": {
                    **{f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)},
                    "d40": {"required": ["never"]},
                },
            },
            {"a": 1},
        ),
        (
            {"properties": {"a": {"items": {"anyOf": [{"pattern": r"^(?:(a+)(?!c))+\1$"}, True]}}}},
            {"a": ["a" * 40 + "!"] * 5000},
        ),
    ],
    ids=["references", "patterns"],
)
def test_a_server_cannot_keep_us_busy_with_its_own_schema(schema: dict[str, Any], structured: dict[str, Any]):
    began_s = time.monotonic()

    assert not convert_call_result(result(structured_content=structured), schema).is_error
    assert time.monotonic() - began_s < 10
