import os
from pathlib import Path

import pytest

from bridle.core.errors import UsageError
from bridle.surfaces.shared.folder_info import (
    Folders,
    agent_rows,
    filter_by_name,
    filter_usable,
    known_models,
    model_view,
    rule_list,
)


def test_a_folder_is_found_by_its_real_path(tmp_path: Path):
    os.symlink(tmp_path, tmp_path / "link")
    folders = Folders({}, "/usual")

    assert folders.path() == "/usual"
    assert folders.path(str(tmp_path / "link")) == os.path.realpath(tmp_path)


def test_who_has_no_folder_does_not_get_that_of_the_process():
    with pytest.raises(UsageError, match="no folder"):
        Folders({}, "", within=()).path()


@pytest.mark.parametrize("cwd", [".", "relative", "~", "/nowhere at all", "/a\0b", "/" + "x" * 5_000])
def test_what_is_no_folder_is_refused(cwd: str):
    with pytest.raises(UsageError, match="is not a folder"):
        Folders({}, "/usual").path(cwd)


def test_a_file_is_no_folder(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("")

    with pytest.raises(UsageError, match="is not a folder"):
        Folders({}, "/usual").path(str(file))


def test_a_folder_says_who_may_do_what_with_which_model(home: Path, tmp_path: Path, env: dict[str, str]):
    (home / "config.toml").write_text('agent = "planner"\n[rules]\ndeny = ["bash"]\n')
    (home / "agents" / "broken").mkdir(parents=True)
    (home / "agents" / "broken" / "config.toml").write_text("moddel = 1\n")
    settings = Folders(env, str(tmp_path)).settings()

    rows = {row.agent: row for row in agent_rows(settings)}
    assert (rows["planner"].mode, rows["planner"].problem) == ("plan", "")
    assert "moddel" in rows["broken"].problem
    rules = rule_list(settings)
    assert (rules.agent, rules.mode, [(rule.action, rule.rule) for rule in rules.rules]) == (
        "planner",
        "plan",
        [("deny", "bash")],
    )
    assert rule_list(settings, "default").mode == "ask"
    known = known_models(settings)
    assert "scripted" not in {facts.kind for facts in filter_usable(known)}
    assert all(facts.has_key for facts in filter_usable(known))
    [found] = [
        facts
        for facts in filter_by_name(known, "CLAUDE-sonnet-4-5")
        if facts.model.name == "claude-sonnet-4-5"
    ]
    view = model_view(found)
    assert (view.ref, view.has_key, view.is_listed) == ("anthropic/claude-sonnet-4-5", False, True)
