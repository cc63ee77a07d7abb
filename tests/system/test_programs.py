"""Programs on PATH: which are used, and which are where a session can write."""

import os
from pathlib import Path

import pytest

from bridle.system.programs import (
    SYSTEM_PATH,
    find_program,
    is_within,
    unsandboxed_environment,
    unsandboxed_path,
    why_not_found,
    working_folders,
)


def program(place: Path) -> str:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    return str(place)


def test_the_first_one_on_the_path_is_found(tmp_path: Path) -> None:
    first, second = program(tmp_path / "a/tool"), program(tmp_path / "b/tool")
    path = f"{tmp_path}/none:{tmp_path}/a:{tmp_path}/b"
    assert find_program("tool", path, outside=()) == first
    assert find_program("tool", path, outside=[f"{tmp_path}/a"]) == second
    assert find_program("other", path, outside=()) is None


def test_folders_and_files_that_cannot_run_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a/tool").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b/tool").write_text("")
    wanted = program(tmp_path / "c/tool")
    assert find_program("tool", f"{tmp_path}/a:{tmp_path}/b:{tmp_path}/c", outside=()) == wanted


@pytest.mark.parametrize("entry", [".", "", "bin", "../project/bin"])
def test_a_relative_entry_never_counts(entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "project/tool")
    program(tmp_path / "project/bin/tool")
    monkeypatch.chdir(tmp_path / "project")
    assert find_program("tool", f"{entry}:/usr/bin", outside=()) is None
    assert unsandboxed_path(f"{entry}:/usr/bin", ()) == "/usr/bin"


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param("project/.venv/bin", id="in it"),
        pytest.param("elsewhere/../project/.venv/bin", id="by way of .."),
        pytest.param("linked/.venv/bin", id="a link to the project"),
        pytest.param("into", id="a link into the project"),
        pytest.param("project/out", id="a link of the project that leads elsewhere"),
        pytest.param("twice", id="a link to a link of the project"),
        pytest.param("files", id="a folder whose file is a link into the project"),
    ],
)
def test_what_a_session_can_write_never_counts(entry: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    inside, elsewhere = program(project / ".venv/bin/tool"), program(tmp_path / "elsewhere/tool")
    (tmp_path / "linked").symlink_to(project)
    (tmp_path / "into").symlink_to(project / ".venv/bin")
    (project / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "twice").symlink_to("project/out")
    (tmp_path / "files").mkdir()
    (tmp_path / "files/tool").symlink_to(inside)
    path = f"{tmp_path}/{entry}:{tmp_path}/elsewhere"
    for outside in (project, tmp_path / "linked"):
        assert find_program("tool", path, outside=[str(outside)]) == elsewhere
    if entry != "files":
        assert unsandboxed_path(path, [str(project)]) == f"{tmp_path}/elsewhere"


def test_the_repository_around_the_folder_counts_as_the_session_s(tmp_path: Path) -> None:
    bin_folder = tmp_path / "clone/.venv/bin"
    program(bin_folder / "tool")
    (tmp_path / "clone/.git").mkdir()
    (tmp_path / "clone/sub/.git").mkdir(parents=True)  # which must not make the folder above another one's
    (tmp_path / "clone/sub/deep").mkdir()
    assert find_program("tool", str(bin_folder), outside=[str(tmp_path / "clone/sub/deep")]) is None


def test_a_home_that_is_a_repository_does_not_shut_out_all_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").mkdir()
    wanted = program(tmp_path / ".local/bin/tool")
    assert find_program("tool", f"{tmp_path}/.local/bin", outside=[f"{tmp_path}/notes"]) == wanted


@pytest.mark.parametrize("folder", ["/", "/usr"])
def test_the_system_s_own_programs_count_also_where_all_of_it_is_the_project(
    folder: str, tmp_path: Path
) -> None:
    assert os.path.basename(find_program("sh", "/usr/bin:/bin", outside=[folder]) or "") == "sh"
    program(tmp_path / "sh")
    assert (find_program("sh", str(tmp_path), outside=[folder]) is None) == (folder == "/")


def test_an_absolute_path_is_the_user_s_word(tmp_path: Path) -> None:
    inside = program(tmp_path / "tool")
    assert find_program(inside, "/usr/bin", outside=[str(tmp_path)]) == inside
    assert find_program("./tool", str(tmp_path), outside=()) is None
    assert find_program(f"{tmp_path}/none", "/usr/bin", outside=()) is None


def test_it_is_said_where_a_program_lies_that_is_not_used(tmp_path: Path) -> None:
    inside = program(tmp_path / "tool")
    said = f"is not used: {inside} is in a folder that agents can write to"
    assert why_not_found("tool", str(tmp_path)) == said
    assert why_not_found("none", str(tmp_path)) == "is not on PATH"
    assert why_not_found("/none", str(tmp_path)) == "does not exist"
    assert why_not_found("./tool", str(tmp_path)) == "is not used: it is a relative path"


def test_programs_outside_look_for_no_code_in_the_project(tmp_path: Path) -> None:
    environ = {
        "PATH": f"{tmp_path}/.venv/bin:.::/usr/bin",
        "PYTHONPATH": f".:{tmp_path}/src:/opt/lib",
        "NODE_PATH": "node_modules",
        "VIRTUAL_ENV": f"{tmp_path}/.venv",
        "CONDA_PREFIX": "/opt/conda",
        "WORKSPACE": str(tmp_path),
    }
    assert unsandboxed_environment(environ, [str(tmp_path)]) == {
        "PATH": "/usr/bin",
        "PYTHONPATH": "/opt/lib",
        "CONDA_PREFIX": "/opt/conda",
        "WORKSPACE": str(tmp_path),
    }
    assert unsandboxed_environment({}, ()) == {"PATH": SYSTEM_PATH}


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert not is_within(f"{tmp_path}/a", ["/nowhere"])
    assert is_within(f"{tmp_path}/a", [str(tmp_path)])


def test_a_process_works_in_its_folder_if_it_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    assert working_folders() == (str(gone),)
    gone.rmdir()
    assert working_folders() == ()
    monkeypatch.chdir("/")
    assert working_folders() == ()
