"""Reading as a tool: what the session learns of a file, images, stored output, and helpful errors."""

import os
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import StoreError, ToolError
from bridle.core.messages import Media
from bridle.core.permission import Rule, judge
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import FilesSeen, SeenFile
from bridle.core.tool import Access, Subject
from bridle.tools.read_file import MAX_IMAGE_BYTES, ReadFile

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def seen(path: str, data: bytes) -> tuple[FilesSeen]:
    return (FilesSeen((SeenFile(path, sha256(data).hexdigest()),)),)


async def read(context: ToolContext, path: str, /, **args: Any) -> ToolOutput:
    return await ReadFile().run({"path": path, **args}, context)


async def refusal(context: ToolContext, path: str, /, tool: ReadFile | None = None, **args: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await (tool or ReadFile()).run({"path": path, **args}, context)
    return str(caught.value)


# ---------------------------------------------------------------------------- what the session learns


async def test_a_read_file_is_known_by_the_digest_of_all_its_bytes(cwd: Path, context: ToolContext):
    data = b"\xef\xbb\xbfone\r\ntwo\r\n"
    (cwd / "f").write_bytes(data)

    assert await read(context, "./f") == ToolOutput("1: one\n2: two", notes=seen("f", data))
    assert await read(context, "f", start_line=2) == ToolOutput("2: two", notes=seen("f", data))
    assert await read(context, "f", start_line=1, end_line=1) == ToolOutput("1: one", notes=seen("f", data))


async def test_a_file_is_known_by_its_real_path(cwd: Path, context: ToolContext):
    (cwd / "sub").mkdir()
    (cwd / "sub" / "f").write_text("x\n")
    (cwd / "lnk").symlink_to("sub/f")
    (cwd / os.fsdecode(b"latin\xe9")).write_text("x\n")
    (cwd / "odd").symlink_to(os.fsdecode(b"latin\xe9"))

    assert (await read(context, "lnk")).notes == seen("sub/f", b"x\n")
    assert (await read(context, "odd")).notes == seen("latin\\xe9", b"x\n")


async def test_a_file_too_large_to_be_edited_is_not_known(cwd: Path, context: ToolContext):
    (cwd / "f").write_bytes(b"0123456789abcde\n" * (1 + 10 * 65_536))

    assert await read(context, "f", start_line=600_000, end_line=600_000) == ToolOutput(
        "600000: 0123456789abcde"
    )


class Disturbed(ReadFile):
    """A file that another process changes at the end of some reads."""

    def __init__(self, path: Path, *texts: str) -> None:
        super().__init__()
        self._path = path
        self._texts = list(texts)

    def _shown(self, request: Any, file: Any, stop: Any) -> ToolOutput:
        output = super()._shown(request, file, stop)
        if self._texts:
            self._path.write_text(self._texts.pop(0))
        return output


async def test_a_file_that_settles_is_read_again_and_known(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("old\n")

    assert await Disturbed(cwd / "f", "newer\n").run({"path": "f"}, context) == ToolOutput(
        "1: newer", notes=seen("f", b"newer\n")
    )


async def test_a_file_that_is_being_written_to_is_not_known(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("old\n")

    assert await Disturbed(cwd / "f", "newer\n", "newest!\n").run({"path": "f"}, context) == ToolOutput(
        "1: newer\n"
        "[the file was written to while it was read: this may be neither its old nor its new content]"
    )


# ---------------------------------------------------------------------------- images


@pytest.mark.parametrize(
    ("start", "mime"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"GIF89a\1\0", "image/gif"),
        (b"GIF87a\1\0", "image/gif"),
        (b"RIFF\x1a\n\0\0WEBPVP8 ", "image/webp"),
    ],
)
async def test_an_image_is_shown_to_a_model_that_sees(
    cwd: Path, context: ToolContext, start: bytes, mime: str
):
    (cwd / "sub").mkdir()
    (cwd / "sub" / "picture.txt").write_bytes(start)
    sees = replace(context, sees_images=True)

    assert await read(sees, "sub/picture.txt") == ToolOutput(
        f"sub/picture.txt: {mime}, {len(start)} bytes",
        media=(Media(mime, b64encode(start).decode(), "picture.txt"),),
        notes=seen("sub/picture.txt", start),
    )
    assert await refusal(context, "sub/picture.txt") == (
        f"sub/picture.txt is an image ({mime}), which this model cannot see"
    )


async def test_an_image_that_is_too_large_is_refused(cwd: Path, context: ToolContext):
    sees = replace(context, sees_images=True)
    (cwd / "f").write_bytes(PNG.ljust(MAX_IMAGE_BYTES, b"\0"))
    (cwd / "g").write_bytes(PNG.ljust(MAX_IMAGE_BYTES + 1, b"\0"))

    assert len((await read(sees, "f")).media) == 1
    assert await refusal(sees, "g") == "g is an image of more than 5242880 bytes, too large to be shown"


async def test_what_only_looks_like_an_image_by_name_is_text(cwd: Path, context: ToolContext):
    (cwd / "f.png").write_bytes(b"RIFF text WEB\n")

    assert (await read(context, "f.png")).text == "1: RIFF text WEB"


# ---------------------------------------------------------------------------- kept output


class Kept:
    """Blobs in memory."""

    def __init__(self, *blobs: bytes) -> None:
        self._blobs = {sha256(data).hexdigest(): data for data in blobs}

    def put(self, data: bytes) -> str:
        raise AssertionError("reading keeps nothing")

    def get(self, digest: str) -> bytes:
        try:
            return self._blobs[digest]
        except KeyError as error:
            raise StoreError("there is no such blob") from error


async def test_kept_output_is_shown_like_a_file(context: ToolContext):
    data = b"one\ntwo\xff\nthree\n"
    path = f"blob:{sha256(data).hexdigest()}"
    tool = ReadFile(blobs=Kept(data))

    assert await tool.run({"path": path}, context) == ToolOutput("1: one\n2: two\ufffd\n3: three")
    assert await tool.run({"path": path, "start_line": 2, "end_line": 2}, context) == ToolOutput(
        "2: two\ufffd"
    )


async def test_a_long_line_of_kept_output_can_be_seen_to_its_end(context: ToolContext):
    data = ("日" * 500 + "b" * 500 + "c" * 200 + "\nend\n" + "d" * 500).encode()
    tool = ReadFile(blobs=Kept(data))

    assert await tool.run({"path": f"blob:{sha256(data).hexdigest()}"}, context) == ToolOutput(
        f"1: {'日' * 500}\n2: {'b' * 500}\n3: {'c' * 200}\n4: end\n5: {'d' * 500}"
    )


async def test_what_is_not_kept_is_an_error(context: ToolContext):
    digest = "0" * 64

    assert await refusal(context, f"blob:{digest}", tool=ReadFile(blobs=Kept())) == (
        f"no output is stored under blob:{digest}: there is no such blob"
    )
    assert await refusal(context, f"blob:{digest}") == "no output is stored here"


@pytest.mark.parametrize("name", ["", "x", "../../etc/passwd", "0" * 63, "0" * 65, "A" * 64, "0" * 64 + "\n"])
async def test_only_a_digest_names_kept_output(context: ToolContext, name: str):
    assert await refusal(context, f"blob:{name}", tool=ReadFile(blobs=Kept(b"x"))) == (
        "blob: is followed by 64 hexadecimal digits (hint: copy them from the note)"
    )


def test_kept_output_is_no_path_to_the_rules(context: ToolContext):
    access = ReadFile().access({"path": "blob:x"}, context)

    assert access == Access("read_file", "read", (Subject("text", "blob:x"),))
    assert judge(access, [Rule("deny", "read_file")], "yolo").action == "deny"
    assert judge(access, [Rule("deny", "read_file", "secrets/**")], "ask").action == "allow"


# ---------------------------------------------------------------------------- misses


async def test_a_missing_file_brings_up_similar_names(cwd: Path, context: ToolContext):
    (cwd / "src").mkdir()
    (cwd / "src" / "parser.py").touch()

    assert await refusal(context, "src/parsr.py") == (
        f"open {cwd}/src/parsr.py: no such file or directory (hint: did you mean src/parser.py?)"
    )
    assert await refusal(context, "parser.py") == (
        f"open {cwd}/parser.py: no such file or directory (hint: did you mean src/parser.py?)"
    )
    assert await refusal(context, "zzz") == f"open {cwd}/zzz: no such file or directory"


async def test_a_denied_name_is_not_brought_up(cwd: Path, context: ToolContext):
    (cwd / "secret.txt").touch()
    ruled = replace(context, rules=(Rule("deny", "read_file", "secret.txt"),))

    assert await refusal(ruled, "secrets.txt") == f"open {cwd}/secrets.txt: no such file or directory"


async def test_a_folder_is_not_read(cwd: Path, context: ToolContext):
    (cwd / "sub").mkdir()

    assert await refusal(context, "sub") == (
        f"read {cwd}/sub: is a directory (hint: list_files shows what is in it)"
    )
    assert await refusal(context, ".") == (
        f"read {cwd}: is a directory (hint: list_files shows what is in it)"
    )


# ---------------------------------------------------------------------------- outside


async def test_a_file_outside_is_read_where_a_rule_opens_it(cwd: Path, context: ToolContext, outside: Path):
    secret = outside / "secret.txt"
    (cwd / "lnk").symlink_to(secret)
    opened = replace(context, rules=(Rule("allow", "read_file", f"{outside}/*.txt"),))

    for path in (str(secret), "lnk", f"../{outside.name}/secret.txt"):
        assert await read(opened, path) == ToolOutput("1: secret", notes=seen(str(secret), b"secret\n"))
    assert ReadFile().access({"path": "lnk"}, opened) == Access(
        "read_file", "read", (Subject("path", "lnk"), Subject("path", str(secret)))
    )
    assert ReadFile().access({"path": f"../{outside.name}/secret.txt"}, opened) == Access(
        "read_file", "read", (Subject("path", str(secret)),)
    )


@pytest.mark.parametrize(
    "rule",
    [
        Rule("allow", "read_file"),
        Rule("allow", "read_file", "**"),
        Rule("allow", "read_file", "../**"),
        Rule("allow", "grep", "/**"),
        Rule("allow", "bash", "/**"),
        Rule("ask", "read_file", "/**"),
    ],
)
async def test_other_rules_do_not_open_the_outside(context: ToolContext, outside: Path, rule: Rule):
    ruled = replace(context, rules=(rule,), mode="yolo")

    assert await refusal(ruled, f"{outside}/secret.txt") == "absolute or parent paths are not allowed"


async def test_a_link_in_an_open_place_does_not_open_another(context: ToolContext, outside: Path):
    (outside / "open").mkdir()
    (outside / "open" / "lnk").symlink_to(outside / "secret.txt")
    opened = replace(context, rules=(Rule("allow", "read_file", f"{outside}/open/**"),))

    assert await refusal(opened, f"{outside}/open/lnk") == "absolute or parent paths are not allowed"


async def test_relative_denials_hold_for_absolute_names(cwd: Path, context: ToolContext):
    (cwd / "secrets").write_text("x")
    ruled = replace(context, rules=(Rule("allow", "read_file", "/**"), Rule("deny", "read_file", "secrets")))
    access = ReadFile().access({"path": f"{cwd}/secrets"}, ruled)

    assert access == Access("read_file", "read", (Subject("path", "secrets"),))
    assert judge(access, ruled.rules, "ask").action == "deny"
