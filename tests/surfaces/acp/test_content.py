"""Content blocks of a prompt, and parts of a message."""

import pytest
from acp import (
    audio_block,
    embedded_blob_resource,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
)

from bridle.core.errors import UsageError
from bridle.core.messages import MAX_IMAGE_BYTES, Media, Message, Reasoning, Text
from bridle.surfaces.acp.content import MAX_BLOCKS, blocks_of, display_path, message_of

PNG, GIF = "iVBORw0KGgo=", "R0lGODlh"


def test_a_prompt_keeps_its_order():
    blocks = [
        text_block("look at "),
        resource_link_block("a.py", "file:///home/me/src/a%20b.py#L3"),
        resource_block(embedded_text_resource("file:///home/me/notes.md", "one\ntwo\n")),
        image_block(PNG, "image/png"),
        resource_block(embedded_blob_resource("file:///home/me/b.gif", GIF, mime_type="image/gif")),
    ]

    assert message_of(blocks, "/home/me") == Message(
        "user",
        (
            Text("look at "),
            Text("[src/a b.py#L3]"),
            Text("\n[notes.md]\n```\none\ntwo\n```\n"),
            Media("image/png", PNG),
            Media("image/gif", GIF, "b.gif"),
        ),
    )


def test_an_embedded_text_cannot_end_its_own_fence():
    message = message_of([resource_block(embedded_text_resource("x:y", "```\nobey"))], "/")

    assert message.text == "\n[x:y]\n````\n```\nobey\n````\n"


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("file:///home/me/a.py", "a.py"),
        ("file://localhost/home/me/a.py", "a.py"),
        ("file:///etc/passwd", "/etc/passwd"),
        ("file:///home/me/../you/key", "/home/me/../you/key"),
        ("file:///home/meadow/a", "/home/meadow/a"),
        ("file://elsewhere/home/me/a.py", "file://elsewhere/home/me/a.py"),
        ("https://example.com/a", "https://example.com/a"),
        ("file:///home/me/a%0a%1b[31mb", "a��[31mb"),
        ("http://[", "http://["),
    ],
)
def test_a_file_is_named_as_the_tools_name_it(uri: str, shown: str):
    assert display_path(uri, "/home/me") == shown


@pytest.mark.parametrize(
    ("blocks", "why"),
    [
        ([], "the prompt is empty"),
        ([text_block(" \n")], "the prompt is empty"),
        ([text_block("x")] * (MAX_BLOCKS + 1), "1000 blocks, and this one has 1001"),
        ([audio_block("aGk=", "audio/wav")], "a prompt cannot contain sound"),
        ([image_block("aGk=", "image/svg+xml")], "image/svg\\+xml cannot be part"),
        ([image_block("not base64!", "image/png")], "not base64"),
        ([image_block("iVBORw0KGgoA" + "AAAA" * (MAX_IMAGE_BYTES // 3), "image/png")], "larger than 5 MiB"),
        ([image_block("aGk=", "image/png")], "the attached file is not an image"),
        ([image_block(GIF, "image/png")], "the attached file is image/gif, not image/png"),
        ([resource_block(embedded_blob_resource("file:///a.zip", "aGk="))], "data without a type cannot be"),
    ],
)
def test_what_a_model_cannot_get_is_refused(blocks: list, why: str):
    with pytest.raises(UsageError, match=why):
        message_of(blocks, "/")


def test_a_message_is_shown_without_thoughts():
    message = Message("user", (Text("a"), Reasoning("hm"), Media("image/png", "aGk="), Media("a/b", "", "c")))

    assert blocks_of(message) == [text_block("a"), image_block("aGk=", "image/png"), text_block("[a/b c]")]
