"""Searching contents: matches, their display, and patterns or files that try to do harm."""

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import Rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, Subject
from bridle.tools.grep import Grep
from tests.tools.conftest import Swapping
from tests.tools.fake_ripgrep import fake_ripgrep, has_ended, told

LEFT_OUT = "[files protected by a rule are left out]"


def write(cwd: Path, **files: str) -> None:
    for name, text in files.items():
        put(cwd, name, text)


def put(cwd: Path, path: str, text: str | bytes) -> None:
    (cwd / path).parent.mkdir(parents=True, exist_ok=True)
    (cwd / path).write_bytes(text if isinstance(text, bytes) else text.encode())


async def grep(context: ToolContext, pattern: str, /, **args: Any) -> str:
    return (await Grep().run({"pattern": pattern, **args}, context)).text


async def refusal(context: ToolContext, pattern: str, /, **args: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await Grep().run({"pattern": pattern, **args}, context)
    return str(caught.value)


# ---------------------------------------------------------------------------- what is found


async def test_matches_stand_below_their_file_sorted_by_path(cwd: Path, context: ToolContext):
    for path in ("b.txt", "a/z.txt", "a/b/c.txt", "a.txt"):
        put(cwd, path, "no\nfoo 1\nno\nfoo 2\n")

    assert await Grep().run({"pattern": r"foo \d"}, context) == ToolOutput(
        "\n\n".join(f"{path}\n2: foo 1\n4: foo 2" for path in ("a.txt", "a/b/c.txt", "a/z.txt", "b.txt"))
    )


async def test_nothing_found_is_said(context: ToolContext):
    assert await grep(context, "foo") == "no matches"


async def test_context_is_marked(cwd: Path, context: ToolContext):
    put(cwd, "f", "a\nb\nfoo\nc\nd\ne\nf\nfoo\n")

    assert await grep(context, "foo", context=1) == "f\n2- b\n3: foo\n4- c\n7- f\n8: foo"
    assert await grep(context, "foo", context=1, limit=1) == (
        "f\n2- b\n3: foo\n4- c\n\n[more than 1 matching lines; narrow the search to see the others]"
    )


async def test_a_pattern_can_be_plain_text_and_blind_to_case(cwd: Path, context: ToolContext):
    put(cwd, "f", "a.b(\nA.B(\naxb(\n")

    assert await grep(context, "a.b(", literal=True) == "f\n1: a.b("
    assert await grep(context, "a.b(", literal=True, ignore_case=True) == "f\n1: a.b(\n2: A.B("
    assert await grep(context, r"a.b\(") == "f\n1: a.b(\n3: axb("


async def test_only_files_can_be_asked_for(cwd: Path, context: ToolContext):
    for path in ("b", "a", "c"):
        put(cwd, path, "foo\nfoo\n")

    assert await grep(context, "foo", files_only=True, context=3) == "a\nb\nc"
    assert (await grep(context, "foo", files_only=True, limit=2)).splitlines()[2:] == [
        "",
        "[more than 2 files; narrow the search to see the others]",
    ]


@pytest.mark.parametrize(
    ("include", "found"),
    [
        ("*.py", "a.py src/b.py src/deep/c.py"),
        ("src/*.py", "src/b.py"),
        ("**/*.{py,ts}", "a.py src/b.py src/d.ts src/deep/c.py"),
        ("src/**", "src/b.py src/d.ts src/deep/c.py"),
        ("[ab].py", "a.py src/b.py"),
        ("?.ts", "src/d.ts"),
        ("*.log", ""),
        ("*.PY", ""),
    ],
)
async def test_files_can_be_chosen_by_name(cwd: Path, context: ToolContext, include: str, found: str):
    for path in ("a.py", "src/b.py", "src/deep/c.py", "src/d.ts", "ignored.log"):
        put(cwd, path, "foo\n")
    put(cwd, ".gitignore", "*.log\n")

    assert await grep(context, "foo", include=include, files_only=True) == (
        found.replace(" ", "\n") or "no matches"
    )


async def test_a_folder_or_a_file_can_be_searched(cwd: Path, context: ToolContext):
    for path in ("a.py", "src/b.py", "src/c.py"):
        put(cwd, path, "foo\n")
    (cwd / "alias").symlink_to("src")

    assert await grep(context, "foo", path="src", files_only=True) == "src/b.py\nsrc/c.py"
    assert await grep(context, "foo", path="src", include="b*") == "src/b.py\n1: foo"
    assert await grep(context, "foo", path="./src/../src/c.py", include="*.md") == "src/c.py\n1: foo"
    assert await grep(context, "foo", path="alias", files_only=True) == "src/b.py\nsrc/c.py"
    assert await refusal(context, "foo", path="nowhere") == f"open {cwd}/nowhere: no such file or directory"


async def test_hidden_files_are_searched_and_ignored_ones_are_not(cwd: Path, context: ToolContext):
    for path in (".github/ci.yml", ".git/config", "sub/.git/config", "node_modules/x.js", "f"):
        put(cwd, path, "foo\n")
    put(cwd, ".gitignore", "node_modules\n")

    assert await grep(context, "foo", files_only=True) == ".github/ci.yml\nf"
    assert await grep(context, "foo", path="node_modules", files_only=True) == "node_modules/x.js"


async def test_what_is_ignored_above_a_repository_is_searched_in_it(cwd: Path, context: ToolContext):
    (cwd.parent / ".gitignore").write_text("*\n")
    put(cwd, "f", "foo\n")
    put(cwd, "built/g", "foo\n")
    put(cwd, ".gitignore", "built\n")
    (cwd / ".git").mkdir()

    assert await grep(context, "foo", files_only=True) == "f"


async def test_binary_files_are_not_searched(cwd: Path, context: ToolContext):
    put(cwd, "start", b"\0foo\n")
    put(cwd, "later", b"foo\n" + b"x" * 3000 + b"\0")

    assert await grep(context, "foo") == "no matches"
    assert await refusal(context, "foo", path="later") == "later is a binary file; only text can be searched"


async def test_line_ends_are_not_shown_and_do_not_hinder(cwd: Path, context: ToolContext):
    put(cwd, "crlf", b"\xef\xbb\xbffoo\r\nbar foo\r\n")

    assert await grep(context, "foo$") == "crlf\n1: \ufefffoo\n2: bar foo"


async def test_bytes_that_are_no_text_are_shown_as_escapes(cwd: Path, context: ToolContext):
    put(cwd, os.fsdecode(b"latin\xe9"), b"caf\xe9 foo\n")
    put(cwd, "two\nlines: 1", "foo\n")

    assert await grep(context, "foo") == "latin\\xe9\n1: caf\\xe9 foo\n\ntwo\\nlines: 1\n1: foo"


# ---------------------------------------------------------------------------- limits


async def test_a_long_line_is_cut_around_the_match(cwd: Path, context: ToolContext):
    put(cwd, "f", "é" * 1000 + "foo" + "é" * 1000 + "\n" + "foo" + "x" * 600 + "\n")

    first, second = (await grep(context, "foo")).splitlines()[1:]

    assert first == f"1: …{'é' * 75}foo{'é' * 173}…"
    assert second == f"2: foo{'x' * 497}…"


async def test_a_line_of_very_many_matches_is_bounded(cwd: Path, context: ToolContext):
    put(cwd, "f", "a" * 600_000 + "\n")
    put(cwd, "g", "a\n")

    assert await grep(context, "a") == "g\n1: a\n\n[matching lines that are too long to be shown: 1]"


async def test_very_many_matches_are_cut(cwd: Path, context: ToolContext):
    put(cwd, "f", "foo\n" * 100_000)

    begin = time.monotonic()
    lines = (await grep(context, "foo")).splitlines()
    most = (await grep(context, "foo", limit=1_000_000, context=100)).splitlines()

    assert time.monotonic() - begin < 5
    assert lines == [
        "f",
        *(f"{number}: foo" for number in range(1, 101)),
        "",
        "[more than 100 matching lines; narrow the search to see the others]",
    ]
    assert most[-1] == "[more than 1000 matching lines; narrow the search to see the others]"


async def test_a_limit_below_one_shows_one(cwd: Path, context: ToolContext):
    put(cwd, "f", "foo\n")

    assert await grep(context, "foo", limit=-5, context=-5) == "f\n1: foo"


async def test_a_search_that_takes_too_long_gives_what_it_has(
    cwd: Path, context: ToolContext, tmp_path: Path
):
    slow = fake_ripgrep(tmp_path, "")

    assert await Grep(slow, deadline_s=0.3).run({"pattern": "x"}, context) == ToolOutput(
        "no matches\n\n[the search was ended after 0.3 s; search a smaller folder]"
    )


async def test_a_cancelled_search_ends_ripgrep_at_once(context: ToolContext, tmp_path: Path):
    program = fake_ripgrep(tmp_path, "")
    task = asyncio.create_task(Grep(program).run({"pattern": "x"}, context))
    pid = await told(tmp_path)

    assert os.getpgid(pid) == pid
    begin = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert time.monotonic() - begin < 5
    assert await has_ended(pid)


async def test_a_search_that_has_enough_ends_ripgrep(context: ToolContext, tmp_path: Path, cwd: Path):
    put(cwd, "f", "foo\n" * 3)
    line = (
        '{"type":"match","data":{"path":{"text":"./f"},"lines":{"text":"foo"},'
        '"line_number":1,"absolute_offset":0,"submatches":[]}}'
    )
    program = fake_ripgrep(tmp_path, f"echo '{line}'\necho '{line}'")

    task = asyncio.create_task(Grep(program).run({"pattern": "foo", "limit": 1}, context))
    pid = await told(tmp_path)

    assert (await task).text == (
        "f\n1: foo\n\n[more than 1 matching lines; narrow the search to see the others]"
    )
    assert await has_ended(pid)


# ---------------------------------------------------------------------------- hostile patterns and trees


@pytest.mark.parametrize(
    "pattern",
    ["--pre={script}", "--pre", "-f/etc/passwd", "--files", "-e", "--", "-", "--hostname-bin={script}"],
)
@pytest.mark.parametrize("literal", [True, False])
async def test_a_pattern_is_never_an_option(
    cwd: Path, context: ToolContext, tmp_path: Path, pattern: str, literal: bool
):
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    pattern = pattern.format(script=script)
    put(cwd, "f", f"some\n{pattern}\n")

    assert await grep(context, pattern, literal=literal) == f"f\n2: {pattern}"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("path", ["-e", "--files", "-", "--pre=x", "-f", "!x", "*"])
async def test_a_path_or_an_include_is_never_an_option(cwd: Path, context: ToolContext, path: str):
    put(cwd, f"{path}/{path}", "foo\n")
    put(cwd, "other", "foo\n")

    assert await grep(context, "foo", path=path) == f"{path}/{path}\n1: foo"
    assert await grep(context, "foo", include=path.replace("*", "\\*")) == f"{path}/{path}\n1: foo"


async def test_no_configuration_is_read(cwd: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch):
    put(cwd, "rc", "--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(cwd / "rc"))

    assert await grep(context, "nothing") == "no matches"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(foo", "the pattern cannot be used as a regular expression: unclosed group"),
        ("*", "the pattern cannot be used as a regular expression: repetition operator missing expression"),
        (
            "(?=x)",
            "the pattern cannot be used as a regular expression: look-around, including look-ahead and",
        ),
        ("(x{1000}){1000}{1000}", "the pattern cannot be used as a regular expression: "),
        (r"a\nb", "the pattern cannot be used as a regular expression: the literal "),
        ("a\nb", "a pattern is matched inside one line: it cannot contain a line break or NUL"),
        ("", "the pattern is empty (hint: use glob to find files by name)"),
        ("a\0b", "a pattern is matched inside one line: it cannot contain a line break or NUL"),
        ("x" * 10_001, "the pattern has more than 10000 characters"),
        ("\ud800", "pattern is not valid Unicode: character 1 is half of a pair"),
    ],
)
async def test_a_bad_pattern_is_explained(cwd: Path, context: ToolContext, pattern: str, message: str):
    put(cwd, "f", "foo\n")

    said = await refusal(context, pattern)

    assert said.startswith(message)
    assert len(said) < 500
    if "regular expression" in said:
        assert said.endswith(" (hint: set literal to true to search for the text as it is)")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*b", "a{0,500}a{500}b"])
async def test_no_pattern_explodes(cwd: Path, context: ToolContext, pattern: str):
    put(cwd, "f", "a" * 50_000 + "!\n")

    await grep(context, pattern)


async def test_odd_things_in_the_tree_do_not_block(cwd: Path, context: ToolContext, outside: Path):
    put(cwd, "f", "secret\n")
    os.mkfifo(cwd / "fifo")
    (cwd / "loop").symlink_to("loop")
    (cwd / "ring").symlink_to(".")
    (cwd / "lnk").symlink_to(outside)
    (cwd / "file").symlink_to(outside / "secret.txt")
    (cwd / "dangling").symlink_to("nothing")

    assert await grep(context, "secret") == "f\n1: secret"
    assert await refusal(context, "x", path="fifo") == "fifo is a FIFO, not a file"
    assert await refusal(context, "x", path="lnk") == (
        "lnk leads outside the working directory through a symbolic link"
    )
    assert await refusal(context, "x", path="..") == "absolute or parent paths are not allowed"
    assert await refusal(context, "x", path=str(outside)) == "absolute or parent paths are not allowed"


async def test_a_race_of_links_never_shows_the_outside(
    cwd: Path, context: ToolContext, outside: Path, swapping: Swapping
):
    put(cwd, "sub/f", "secret of ours\n")
    answers = set()

    with swapping():
        for number in range(40):
            with suppress(ToolError):
                answers.add(await grep(context, "secret", path=("sub", ".")[number % 2]))

    assert answers <= {"no matches", "sub/f\n1: secret of ours", "lnk/f\n1: secret of ours"} | {
        "lnk/f\n1: secret of ours\n\nsub/f\n1: secret of ours"
    }


# ---------------------------------------------------------------------------- rules


def with_rules(context: ToolContext, *rules: Rule, mode: str = "ask") -> ToolContext:
    return replace(context, rules=rules, mode=mode)


@pytest.mark.parametrize(
    "rule",
    [
        Rule("deny", "read_file", "secrets/**"),
        Rule("deny", "read_file", "secrets"),
        Rule("deny", "grep", "secrets/**"),
        Rule("deny", "*", "**/key*"),
        Rule("deny", "read_file", "secrets/key?pem"),
        Rule("deny", "read_file", "s**m"),
        Rule("ask", "read_file", "secrets/**"),
    ],
)
async def test_what_may_not_be_read_is_not_searched(cwd: Path, context: ToolContext, rule: Rule):
    put(cwd, "secrets/key.pem", "foo\n")
    put(cwd, "open", "foo\n")
    (cwd / "link").symlink_to("secrets/key.pem")
    ruled = with_rules(context, rule)

    for args in ({}, {"include": "*.pem"}, {"ignore_case": True}, {"files_only": True}, {"limit": 1}):
        found = await grep(ruled, "foo", **args)
        assert "key" not in found
        assert found.endswith(f"\n\n{LEFT_OUT}")


async def test_the_note_does_not_tell_whether_a_denied_file_matches(cwd: Path, context: ToolContext):
    put(cwd, "secrets", "foo\n")
    ruled = with_rules(context, Rule("deny", "read_file", "secrets"))

    assert await grep(ruled, "foo") == await grep(ruled, "bar") == f"no matches\n\n{LEFT_OUT}"


async def test_a_denied_file_does_not_use_up_the_limit(cwd: Path, context: ToolContext):
    put(cwd, "a", "foo\n" * 50)
    put(cwd, "b", "foo\n")
    # ripgrep has no pattern for this rule, so it reads the file
    ruled = with_rules(context, Rule("deny", "read_file", "?"), Rule("allow", "grep"))
    odd = with_rules(context, Rule("deny", "read_file", "a**"))

    assert await grep(ruled, "foo", limit=1) == f"no matches\n\n{LEFT_OUT}"
    assert await grep(odd, "foo", limit=1) == f"b\n1: foo\n\n{LEFT_OUT}"


async def test_a_rule_means_its_own_case_and_its_own_place(cwd: Path, context: ToolContext):
    for path in (".env", ".ENV", "sub/.env"):
        put(cwd, path, "foo\n")
    ruled = with_rules(context, Rule("deny", "read_file", ".env"))

    assert await grep(ruled, "foo", files_only=True) == f".ENV\nsub/.env\n\n{LEFT_OUT}"


async def test_yolo_obeys_deny_and_does_not_ask(cwd: Path, context: ToolContext):
    put(cwd, "asked", "foo\n")
    put(cwd, "denied", "foo\n")
    ruled = with_rules(
        context, Rule("ask", "read_file", "asked"), Rule("deny", "read_file", "denied"), mode="yolo"
    )

    assert await grep(ruled, "foo", files_only=True) == f"asked\n\n{LEFT_OUT}"


async def test_the_outside_is_searched_where_a_rule_opens_it(cwd: Path, context: ToolContext, outside: Path):
    put(outside, "deep/f", "secret\n")
    put(outside, "denied", "secret\n")
    opened = with_rules(
        context, Rule("allow", "read_file", f"{outside}/**"), Rule("deny", "read_file", f"{outside}/denied")
    )
    shallow = with_rules(context, Rule("allow", "grep", f"{outside}/*"))

    for path in (str(outside), f"../{outside.name}"):
        assert await grep(opened, "secret", path=path, files_only=True) == (
            f"{outside}/deep/f\n{outside}/secret.txt\n\n{LEFT_OUT}"
        )
    assert await grep(shallow, "secret", path=str(outside), files_only=True) == (
        f"{outside}/denied\n{outside}/secret.txt"
    )
    assert await refusal(opened, "x", path=str(outside.parent)) == "absolute or parent paths are not allowed"


def test_access_names_what_is_searched(cwd: Path, context: ToolContext, outside: Path):
    (cwd / "data").mkdir()
    (cwd / "alias").symlink_to("data")
    opened = with_rules(context, Rule("allow", "read_file", f"{outside}/**"))

    assert Grep().access({"pattern": "x"}, context) == Access("grep", "read", (Subject("path", "."),))
    assert Grep().access({"pattern": "x", "path": "alias"}, context) == Access(
        "grep", "read", (Subject("path", "alias"), Subject("path", "data"))
    )
    assert Grep().access({"pattern": "x", "path": str(outside)}, opened) == Access(
        "grep", "read", (Subject("path", str(outside)),)
    )


async def test_it_only_reads_and_is_described(context: ToolContext):
    assert Grep().parallel
    assert await Grep().preview({"pattern": "x"}, context) == ""
    assert 100 < len(Grep().spec.description) < 600
    assert Grep().spec.parameters["required"] == ["pattern"]
