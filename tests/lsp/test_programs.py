"""Where servers are looked up, and whose programs are not run."""

from pathlib import Path
from typing import Any

import pytest

from bridle.lsp.project import Program, find_program
from bridle.lsp.settings import FolderLanguages, LanguageServer


def install(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def find(project: Path, command: str, **more: Any) -> Program:
    server = LanguageServer("toy", (command,), (".toy",))
    return find_program(server, FolderLanguages(str(project), (server,), **more))


def test_the_first_on_the_path_is_taken(project: Path, tmp_path: Path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one/toy").write_text("not executable")
    (tmp_path / "two/toy").mkdir(parents=True)
    found = install(tmp_path / "three/toy")
    install(tmp_path / "four/toy")
    path = ":".join(str(tmp_path / name) for name in ("none", "one", "two", "three", "four"))

    assert find(project, "toy", environ={"PATH": path}) == Program(found)
    assert find(project, "other", environ={"PATH": path}) == Program()


@pytest.mark.parametrize("folder", [".venv/bin", "venv/bin", "node_modules/.bin"])
def test_a_program_of_the_project_needs_trust(project: Path, tmp_path: Path, folder: str):
    own = install(project / folder / "toy")
    path = {"PATH": f"{project / folder}:{tmp_path / 'usual'}"}

    assert find(project, "toy", environ=path) == Program(is_untrusted=True)
    usual = install(tmp_path / "usual/toy")
    assert find(project, "toy", environ=path) == Program(usual)
    assert find(project, "toy", environ=path, trusted=True) == Program(own)


def test_links_do_not_lead_around_trust(project: Path, tmp_path: Path):
    own = install(project / "toy")
    (tmp_path / "usual").mkdir()
    (tmp_path / "usual/toy").symlink_to(own)
    (project / "bin").symlink_to(tmp_path / "usual")
    path = {"PATH": f"{project / 'bin'}:{tmp_path / 'usual'}"}

    assert find(project, "toy", environ=path) == Program(is_untrusted=True)


def test_a_link_of_the_project_to_a_program_outside_needs_trust(project: Path, tmp_path: Path):
    (project / "toy").symlink_to(install(tmp_path / "usual/toy"))

    assert find(project, "toy", environ={"PATH": str(project)}) == Program(is_untrusted=True)


def test_relative_entries_of_the_path_do_not_count(project: Path, monkeypatch: pytest.MonkeyPatch):
    install(project / "toy")
    monkeypatch.chdir(project)

    assert find(project, "toy", environ={"PATH": ".:"}) == Program()


def test_a_command_may_be_a_path(project: Path, tmp_path: Path):
    own, usual = install(project / "bin/toy"), install(tmp_path / "usual/toy")

    assert find(project, usual) == Program(usual)
    assert find(project, "bin/toy") == find(project, own) == Program(is_untrusted=True)
    assert find(project, "bin/toy", trusted=True) == Program(own)
    assert find(project, "bin/none", trusted=True) == Program()


@pytest.mark.parametrize("command", ["", "a\0b"])
def test_a_command_that_is_none_is_not_found(project: Path, command: str):
    assert find(project, command) == Program()
