"""Attack 6: patterns and paths that a search program might read as options or as several arguments."""

import os
from pathlib import Path
from typing import Any

import pytest

from bridle.tools.grep import Grep
from tests.attacks.stage import OUTSIDE, SECRET, Stage, rules

RULES = rules("deny read_file(secrets/**)", "deny read_file(**/*.pem)")

PATTERNS = [
    "--pre=./evil",
    "--pre ./evil",
    "--pre",
    "--hostname-bin=./evil",
    "-f/etc/passwd",
    "-f",
    "--file=/etc/passwd",
    "--files",
    "--no-ignore",
    "-uuu",
    "--hidden",
    "--follow",
    "-L",
    "-e",
    "-e root",
    "--",
    "-- root",
    "-",
    "--help",
    "--version",
    "--debug",
    "--type-list",
    "--passthru",
    "--json",
    "--replace=x",
    "--config",
    "@evil",
    "\n--files\n",
    "a\0--files",
]

PATHS = [
    "--files",
    "-uuu",
    "--pre=./evil",
    "-f",
    "--",
    "-",
    "../outside",
    "/etc",
    "a\0b",
    "a\nb",
    "~",
    "@list",
    "out",
]


@pytest.fixture
def stage(stage: Stage) -> Stage:
    """Give the stage with a program that leaves a trace when a search runs it, and a link to the outside."""
    evil = stage.project / "evil"
    evil.write_text("#!/bin/sh\ntouch pwned\necho pwned\n")
    evil.chmod(0o755)
    (stage.project / "out").symlink_to("../outside")
    (stage.home / ".ripgreprc").write_text("--pre=./evil\n--no-ignore\n")
    return stage


def is_clean(stage: Stage, text: str) -> bool:
    """Return whether nothing forbidden was run or shown."""
    shown = any(word in text for word in ("root:x:0", SECRET, OUTSIDE, "ripgrep 1", "USAGE"))
    return not shown and not (stage.project / "pwned").exists()


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_a_pattern_is_never_an_option_of_grep(stage: Stage, pattern: str):
    hits = [pattern] if "\0" not in pattern and "\n" not in pattern else []
    (stage.project / "options.txt").write_text("".join(f"{hit}\n" for hit in hits))

    for literal in (False, True):
        seen = await stage.call("grep", {"pattern": pattern, "literal": literal}, RULES)

        assert is_clean(stage, seen.everything)
        assert not hits or "options.txt" in seen.text


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_a_pattern_is_never_an_option_of_glob(stage: Stage, pattern: str):
    name = pattern.replace("/", "_").replace("\0", "_")
    (stage.project / name).write_text("")

    seen = await stage.call("glob", {"pattern": name}, RULES)

    assert is_clean(stage, seen.everything)
    assert "\n" in name or name in seen.text


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("tool", "key"),
    [("grep", "path"), ("grep", "include"), ("glob", "path"), ("list_files", "pattern"), ("ls", "path")],
)
async def test_no_path_leads_a_search_astray(stage: Stage, tool: str, key: str, path: str):
    args: dict[str, Any] = {"pattern": "."} if key != "pattern" and tool != "ls" else {}

    seen = await stage.call(tool, {**args, key: path}, RULES)

    assert is_clean(stage, seen.everything)


@pytest.mark.parametrize(
    "pattern",
    ["../*", "../../**", "/etc/*", "**/../../outside/*", "out/*", "{..,src}/*", "src/../../outside/*"],
)
async def test_no_glob_leaves_the_working_directory(stage: Stage, pattern: str):
    for tool in ("glob", "list_files"):
        seen = await stage.call(tool, {"pattern": pattern}, RULES)

        assert "plain.txt" not in seen.text
        assert "passwd" not in seen.text


@pytest.mark.parametrize(
    "pattern", ["**/*", "*", "secrets/*", "**/key.txt", "{secrets,src}/*", "s*/**", "[s]ecrets/*"]
)
async def test_no_glob_names_a_denied_file(stage: Stage, pattern: str):
    for tool, args in (("glob", {"pattern": pattern}), ("list_files", {"pattern": pattern}), ("ls", {})):
        guarded = await stage.call(tool, args, RULES)

        assert ("key.txt" in guarded.text, "server.pem" in guarded.text) == (False, False)


async def test_the_same_glob_names_it_without_a_rule(stage: Stage):
    """The control of the test above."""
    assert "key.txt" in (await stage.call("glob", {"pattern": "**/key.txt"})).text


async def test_nobodys_settings_of_ripgrep_are_read(stage: Stage):
    """They may name a program that is run for each file."""
    os.environ["RIPGREP_CONFIG_PATH"] = str(stage.home / ".ripgreprc")
    try:
        seen = await stage.call("grep", {"pattern": "nothing"}, RULES)
    finally:
        del os.environ["RIPGREP_CONFIG_PATH"]

    assert is_clean(stage, seen.everything)
    assert "notes.txt" in seen.text


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(" * 500, "\\", "[", "(?<=a)b", "(?P<n>", "*"])
async def test_a_pattern_that_is_no_good_is_an_error_or_quick(stage: Stage, pattern: str):
    (stage.project / "long.txt").write_text("a" * 100_000)

    seen = await stage.call("grep", {"pattern": pattern}, RULES)

    assert is_clean(stage, seen.everything)
    assert "did not finish" not in seen.text


async def test_a_pattern_that_explodes_ends_at_the_deadline(world: Path):
    stage = Stage(world, tools=[Grep(deadline_s=0.3)])
    (stage.project / "long.txt").write_text("a" * 100_000)

    seen = await stage.call("grep", {"pattern": "(a{100}{100}|b){100}"})

    assert "0.3 s" in seen.text
