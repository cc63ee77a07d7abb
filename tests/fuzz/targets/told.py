"""Targets: output of models, and input of their tools and hooks."""

import os
import tempfile
from contextlib import suppress

import msgspec

from bridle.comms import cbor
from bridle.comms.envelope import BadEnvelope, unseal
from bridle.core.codeact import as_text, read_reply
from bridle.core.codec import encode
from bridle.core.errors import HookError, ToolError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, Usage
from bridle.core.permission import judge, parse_rule
from bridle.core.protocol import Command
from bridle.core.tool import ToolSpec
from bridle.hooks.response import parse_response
from bridle.providers.reply_builder import ReplyBuilder
from bridle.surfaces.shared.export.html_items import render_markdown
from bridle.surfaces.tui.diffs import parse_diff, side_by_side
from bridle.tools.arguments import fit_arguments, json_error, validate_arguments
from bridle.tools.commands import shell_access
from bridle.tools.diff import new_file_diff, unified_diff
from bridle.tools.edits import Edit, edit_text, parse_document
from bridle.tools.glob_patterns import (
    expand_braces,
    is_plain,
    match_any_folder,
    parse_glob,
    path_expression,
    plain_name,
)
from bridle.tools.paths import clean_path, resolve
from bridle.tools.secrets import Masker
from bridle.tools.web.urls import parse_url, resolve_redirect
from tests.fuzz.target import Target, parts_of, text_of
from tests.surfaces.shared.export.reader import Reader

_RULES = (parse_rule("allow", "bash(echo:*)"), parse_rule("deny", "read_file(secret/**)"))


def run_shell(data: bytes) -> None:
    """Judge a command line: doubt hides no internal error, and always needs approval."""
    command = text_of(data)
    access = shell_access(command, "/nowhere", "/nowhere")
    assert "an error in Bridle" not in access.doubt, access.doubt
    verdict = judge(access, _RULES, "ask")
    encode(access)
    if access.doubt:
        assert verdict.action in ("ask", "deny")


def run_code(data: bytes) -> None:
    """Read the code blocks of a reply: a closed block survives being written and read again."""
    text = data.decode("utf-8", "replace")
    for stop in ("end_turn", "max_tokens"):
        read = read_reply(Message("assistant", (Text(text),)), stop)  # type: ignore[arg-type]
        assert read.parts[0] == Text(text)
        for call in read.calls:
            assert call.invalid or call.args["code"].strip()
            if not call.invalid:
                plain = ToolCall(CallId("c"), "python", call.args)
                told = as_text([Message("assistant", (plain,))])
                assert told[0].text.count(call.args["code"]) >= 1
    as_text([Message("assistant", (Text(text),)), Message("user", (Text(text),))])


def run_edit(data: bytes) -> None:
    """Edit a text: a ToolError, or a text that differs only as requested."""
    text, old, new = parts_of(data, 3)
    for occurrence in (0, 1, 2):
        try:
            edited = edit_text(text, Edit(old, new, occurrence), max_size=200_000)
        except ToolError:
            continue
        assert len(edited.text) <= 400_000
        if old and text.count(old) == 1 and "\r" not in text:
            assert edited.text == text.replace(old, new)
    with suppress(UnicodeDecodeError):
        assert parse_document(data).encode() == data


def run_diff(data: bytes) -> None:
    """Write a diff and read it: its removals and additions turn one text into the other."""
    old, new = parts_of(data, 2)
    made = unified_diff(old, new, "a.py") if old else new_file_diff(new, "a.py")
    if old and made and "too many" not in made:
        _check_patch(old, new, made)
    for text in (made, old):
        for file in parse_diff(text):
            assert file.added + file.removed <= len(file.lines)
            list(side_by_side(file.lines))


def _check_patch(old: str, new: str, diff: str) -> None:
    """Apply a diff to the old lines and compare with the new ones."""
    before, after, at = _lines(old), [], 0
    for line in _lines(diff)[2:]:
        if line.startswith("@@ "):
            start = max(0, int(line.split()[1].split(",")[0][1:]) - 1)
            after += before[at:start]
            at = start
        elif line[:1] == "+":
            after.append(line[1:])
        else:
            assert before[at] == line[1:]
            at += 1
            if line[:1] == " ":
                after.append(line[1:])
    assert after + before[at:] == _lines(new)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def run_glob(data: bytes) -> None:
    """Read a pattern: ToolError, or one that matches a path in bounded time, whichever way it is asked."""
    pattern, path = parts_of(data, 2)
    pattern, path = pattern[:500], path[:2_000]
    with suppress(ToolError):
        for one in expand_braces(pattern):
            parse_glob(one)
            found = path_expression((match_any_folder(one),)).fullmatch(path)
            if found and is_plain(match_any_folder(one)):
                assert parse_glob(plain_name(match_any_folder(one)))[0].fullmatch(path.rpartition("/")[2])  # type: ignore[union-attr]


_SPEC = ToolSpec(
    "t",
    "",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "count": {"type": "integer", "minimum": 0},
            "ratio": {"type": ["number", "null"]},
            "flag": {"type": "boolean"},
            "items": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


def run_arguments(data: bytes) -> None:
    """Correct arguments: a ToolError with a reason, or valid arguments; twice is the same as once."""
    builder = ReplyBuilder("vendor", 0)
    builder.call(0, call_id="c", name="t", args=data.decode("utf-8", "surrogateescape"))
    [call] = builder.finish("tool_use", Usage(), "").message.calls
    if call.invalid:
        error = json_error(call)
        str(error).encode()
        return
    try:
        fitted = fit_arguments(_SPEC, call.args)
    except ToolError as error:
        str(error).encode()
        return
    validate_arguments(_SPEC, fitted)
    assert fit_arguments(_SPEC, fitted) == fitted
    encode(ToolCall(call.id, call.name, fitted))


def run_markup(data: bytes) -> None:
    Reader(render_markdown(text_of(data)))


def run_path(data: bytes) -> None:
    """Find where a path leads: nothing outside of the working directory is ever taken for inside."""
    path = text_of(data)
    with suppress(ToolError), tempfile.TemporaryDirectory() as folder:
        clean_path(path)
        os.symlink("/", os.path.join(folder, "out"))
        os.symlink(".", os.path.join(folder, "here"))
        place = resolve(folder, path)
        root = os.path.realpath(folder)
        whole = os.path.realpath(os.path.join(root, place.real))
        assert whole == root or whole.startswith(f"{root}/")


def run_url(data: bytes) -> None:
    text = text_of(data)
    with suppress(ToolError):
        url = parse_url(text)
        assert parse_url(str(url)) == url
        assert str(url).isascii()
    with suppress(ToolError):
        resolve_redirect(parse_url("https://example.com/a/b"), data.decode("utf-8", "surrogateescape"))


_MASKER = Masker({"KEY": "hunter2-hunter2", "OTHER": "p/ss w\u00f6rd+=\u00e9\u00e8", "LONG": "abcdabcdabce"})


def run_mask(data: bytes) -> None:
    """Mask secrets: none is left, and pieces give the same result as the whole."""
    text = text_of(data)
    masked = _MASKER.mask(text)
    assert "hunter2-hunter2" not in masked
    stream = _MASKER.stream()
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    assert "".join([*map(stream.feed, pieces), stream.flush()]) == masked


def run_envelope(data: bytes) -> None:
    with suppress(ValueError):
        value = cbor.decode(data)
        assert cbor.decode(cbor.encode(value)) == value or value != value
    with suppress(BadEnvelope):
        assert not unseal(data).is_genuine


def run_hook_answer(data: bytes) -> None:
    with suppress(HookError):
        encode(parse_response(data))


def run_command(data: bytes) -> None:
    with suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        command = msgspec.json.decode(data, type=Command)
        assert msgspec.json.decode(encode(command), type=Command) == command


_FENCES = (b"```python\n", b"```\n", b"~~~py\n", b"~~~\n", b'"""', b"'''", b"[Output]\n", b"\\\n", b"    ")
_SHELL = tuple(
    word.encode()
    for word in (
        " | ~ && ~ > out~ < in~$(~)~`~${a:-~}~<<EOF\n~\nEOF\n~<(~((~if ~; then ~; fi~for a in ~; do ~"
        "; done~case a in ~esac~f() {~eval ~xargs ~sudo ~env A=1 ~find . -exec ~{} \\;~"
        "bash -c '~cd ~$'\\x41'~*~?[a-z]"
    ).split("~")
)
_MARKS = tuple(
    word.encode()
    for word in "# ~**~](http://a)~![~<script>~`~```html\n~|a|b|\n|-|-|\n~> ~- ~&lt;~javascript:".split("~")
)
_SHELL_MODULES = "access building fields flags general parse places touched unwrap variables words".split()
TARGETS = (
    Target(
        name="shell",
        run=run_shell,
        modules=tuple(f"bridle.tools.commands.{name}" for name in _SHELL_MODULES),
        tokens=_SHELL,
    ),
    Target(
        name="codeact",
        run=run_code,
        modules=("bridle.core.codeact",),
        tokens=_FENCES,
    ),
    Target(
        name="edit",
        run=run_edit,
        modules=(
            "bridle.tools.edits",
            "bridle.tools.fuzzy_edit",
            "bridle.tools.hints",
            "bridle.tools.fuzzy_edit",
        ),
        tokens=(b"\n%%\n", b"    ", b"\t", b"\r\n", b"\xe2\x80\x99", b"def f():\n", b"}\n"),
    ),
    Target(
        name="diff",
        run=run_diff,
        modules=("bridle.tools.diff", "bridle.surfaces.tui.diffs"),
        tokens=(
            b"\n%%\n",
            b"--- a\n",
            b"+++ b\n",
            b"@@ -1,2 +1,2 @@\n",
            b"diff --git a/x b/x\n",
            b"+",
            b"-",
            b" ",
        ),
    ),
    Target(
        name="glob",
        run=run_glob,
        modules=("bridle.tools.glob_patterns",),
        tokens=(b"**/", b"*", b"?", b"[a-", b"]", b"{a,b}", b"\\", b"\n%%\n", b"[!", b"/"),
    ),
    Target(
        name="arguments",
        run=run_arguments,
        modules=("bridle.tools.arguments", "bridle.providers.reply_builder", "bridle.core.schema"),
        tokens=(b'"path":"a"', b'"count":"2"', b'"items":"[{}]"', b"null", b"true", b"Infinity", b"\\ud800"),
        is_json=True,
    ),
    Target(
        name="markup",
        run=run_markup,
        modules=(
            "bridle.surfaces.shared.export.html_items",
            "bridle.surfaces.shared.export.html_code",
            "bridle.surfaces.shared.highlight",
        ),
        tokens=_MARKS,
    ),
    Target(
        name="path",
        run=run_path,
        modules=("bridle.tools.paths",),
        tokens=(b"../", b"out/", b"here/", b"./", b"//", b"~", b"etc/passwd"),
    ),
    Target(
        name="url",
        run=run_url,
        modules=("bridle.tools.web.urls",),
        tokens=(
            b"http://",
            b"https://",
            b"@",
            b":80",
            b"[::1]",
            b"0x7f",
            b"%41",
            b"?a=b",
            b"#x",
            b"xn--",
            b"\xef\xbc\x8e",
        ),
    ),
    Target(
        name="mask",
        run=run_mask,
        modules=("bridle.tools.secrets",),
        tokens=(
            b"hunter2-",
            b"hunter2-hunter2",
            b"abcdabcd",
            b"abcdabcdabce",
            b"p%2Fss",
            b"p/ss w\xc3\xb6rd+=\xc3\xa9\xc3\xa8",
        ),
    ),
    Target(
        name="envelope",
        run=run_envelope,
        modules=("bridle.comms.cbor", "bridle.comms.envelope"),
        tokens=(
            b"\xa5",
            b"\x62id",
            b"\x9f",
            b"\xff",
            b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\xf9\x7e\x00",
            b"\xfb",
        ),
    ),
    Target(
        name="hook_answer",
        run=run_hook_answer,
        modules=("bridle.hooks.response",),
        tokens=(b'"decision":', b'"patches":[', b'"patch_type":"tool_args"', b"null"),
        is_json=True,
    ),
    Target(
        name="command",
        run=run_command,
        modules=("bridle.core.codec",),
        tokens=(b'"type":"prompt"', b'"type":"decide"', b'"message":', b'"options":{'),
        is_json=True,
    ),
)
