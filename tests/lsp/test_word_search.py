"""Searching a word in a project's files: which program does it."""

from pathlib import Path

import pytest

from bridle.lsp.word_search import find_word


@pytest.mark.parametrize("where", ["project/bin", "writable", "linked"])
async def test_a_ripgrep_that_agents_can_write_is_not_run(where: str, tmp_path: Path):
    project, folder = tmp_path / "project", tmp_path / where
    for one in (project, folder):
        one.mkdir(parents=True, exist_ok=True)
    planted = project / "rg" if where == "linked" else folder / "rg"
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    planted.chmod(0o755)
    if where == "linked":
        (folder / "rg").symlink_to(planted)
    (project / "a.py").write_text("hello\n")

    hits = await find_word("hello", str(project), (".py",), str(folder), (str(tmp_path / "writable"),))

    assert hits == [(str(project / "a.py"), 1)]
    assert not (tmp_path / "ran").exists()
