"""Prompts are text, files and images, in the given order."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import bridle
from bridle.core.messages import MAX_MEDIA_BYTES, Media, Message, Text
from bridle.surfaces.python.prompts import to_message

PNG = "iVBORw0KGgo="


async def test_words_and_messages_are_taken_as_they_are():
    message = Message("user", (Text("a"), Text("b")))

    assert await to_message("hello") == Message("user", (Text("hello"),))
    assert await to_message(message) is message


async def test_files_are_told_as_text_and_pictures_as_pictures(tmp_path: Path):
    note, picture = tmp_path / "note.py", tmp_path / "a.png"
    note.write_text("x = 1")
    picture.write_bytes(b64decode(PNG))

    message = await to_message(["look", note, picture, bridle.media(b"pdf", "application/pdf", "b.pdf")])

    assert message.parts == (
        Text("look"),
        Text(f'\n<file path="{note}">\nx = 1\n</file>\n'),
        Media("image/png", PNG, "a.png"),
        Media("application/pdf", "cGRm", "b.pdf"),
    )
    assert await to_message(picture) == Message("user", (Media("image/png", PNG, "a.png"),))


async def test_a_file_that_cannot_be_told_is_refused(tmp_path: Path):
    binary, long = tmp_path / "a.bin", tmp_path / "b.txt"
    binary.write_bytes(b"\xff\xfe")
    with long.open("wb") as file:
        file.truncate(MAX_MEDIA_BYTES + 1)

    for prompt, problem in [
        (tmp_path / "none", "none cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
        (binary, "a.bin is neither text nor a picture"),
        (long, "b.txt is larger than 32 MiB"),
        ([3], "a prompt cannot hold a int"),
    ]:
        with pytest.raises(bridle.UsageError, match=problem):
            await to_message(prompt)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [("", "is empty"), (" \n", "is empty"), (3, "hold a int"), (None, "hold a NoneType")],
)
async def test_what_is_no_prompt_is_refused(prompt: Any, problem: str):
    with pytest.raises(bridle.UsageError, match=problem):
        await to_message(prompt)
