"""A denied file is denied under all its names."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.permission import parse_rule
from bridle.core.ports import ToolContext
from bridle.tools import hard_links
from bridle.tools.hard_links import has_denied_name

RULES = (parse_rule("deny", "read_file(secrets/**)"),)


@pytest.fixture
def secret(cwd: Path) -> Path:
    (cwd / "secrets").mkdir()
    (cwd / "secrets" / "key").write_text("hunter2")
    return cwd / "secrets" / "key"


def denied(path: Path, context: ToolContext) -> bool:
    return has_denied_name(os.lstat(path), replace(context, rules=RULES))


def test_another_name_of_a_denied_file_is_denied(cwd: Path, secret: Path, context: ToolContext):
    os.link(secret, cwd / "harmless")

    assert denied(cwd / "harmless", context)


def test_a_file_with_two_names_that_no_rule_denies_is_not(cwd: Path, secret: Path, context: ToolContext):
    (cwd / "a").write_text("a")
    os.link(cwd / "a", cwd / "b")

    assert not denied(cwd / "a", context)


def test_without_a_rule_nothing_is_looked_for(cwd: Path, secret: Path, context: ToolContext):
    os.link(secret, cwd / "harmless")

    assert not has_denied_name(os.lstat(cwd / "harmless"), context)


def test_a_tree_that_is_too_large_to_look_through_hides_what_has_two_names(
    cwd: Path, secret: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hard_links, "MAX_ENTRIES", 2)
    (cwd / "a").write_text("a")
    os.link(cwd / "a", cwd / "b")
    os.link(cwd / "a", cwd.parent / "outside")

    assert denied(cwd / "a", context)


def test_a_file_of_another_device_is_another_file(cwd: Path, secret: Path, context: ToolContext):
    os.link(secret, cwd / "harmless")
    found = os.lstat(cwd / "harmless")
    fields = list(found)
    fields[2] += 1  # the device: as below a mount, which has its own inode numbers

    assert not has_denied_name(os.stat_result(fields), replace(context, rules=RULES))
