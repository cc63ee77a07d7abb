import os
from pathlib import Path

import pytest

from bridle.config.settings import Settings, load_settings
from bridle.config.skills import MAX_ENTRIES, MAX_SKILL_BYTES, MAX_SKILLS, allow_skill_folders, load_skills
from bridle.core.permission import Rule


@pytest.fixture
def project(home: Path) -> Path:
    """Return a project with a repository around it."""
    path = home.parent / "repo" / "project"
    (path / ".bridle").mkdir(parents=True)
    (path.parent / ".git").mkdir()
    return path


def settings(home: Path, cwd: Path) -> Settings:
    return load_settings({"HOME": str(home.parent), "BRIDLE_HOME": str(home)}, cwd)


def write(folder: Path, name: str, body: str = "x") -> Path:
    """Write a skill with a folder and return its file."""
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\ndescription: d\n---\n{body}\n")
    return file


def told(home: Path, cwd: Path) -> list[str]:
    return [str(problem) for problem in load_skills(settings(home, cwd)).problems]


# ---------------------------------------------------------------------------- where they are found


def test_the_first_of_the_places_wins(home: Path, project: Path):
    user = home.parent
    places = [
        project / ".bridle/skills",
        project / ".agents/skills",
        project.parent / ".agents/skills",
        project / ".claude/skills",
        project.parent / ".claude/skills",
        home / "skills",
        user / ".agents/skills",
        user / ".claude/skills",
    ]
    for number, place in enumerate(places):
        for skill in range(number + 1):
            write(place, f"s{skill}")

    loaded = load_skills(settings(home, project))

    assert [(skill.name, skill.file, skill.level) for skill in loaded.skills] == [
        (f"s{number}", str(place / f"s{number}/SKILL.md"), "project" if number < 5 else "user")
        for number, place in enumerate(places)
    ]
    assert loaded.problems == ()


def test_a_file_alone_is_a_skill_in_the_folders_of_bridle_only(home: Path, project: Path):
    for folder in (home / "skills", project / ".bridle/skills", project / ".claude/skills"):
        folder.mkdir(parents=True)
        (folder / f"{folder.parent.name.strip('.')}-{folder.parent.parent.name}.md").write_text("x")

    loaded = load_skills(settings(home, project))

    assert [(skill.name, skill.has_folder, skill.folder) for skill in loaded.skills] == [
        ("bridle-home", False, str(home / "skills")),
        ("bridle-project", False, str(project / ".bridle/skills")),
    ]


def test_a_home_that_is_worked_in_is_still_the_users_own(home: Path):
    write(home.parent / ".claude/skills", "mine")

    [skill] = load_skills(settings(home, home.parent)).skills

    assert (skill.name, skill.level) == ("mine", "user")


def test_what_is_no_skill_is_passed_over(home: Path, project: Path):
    folder = home / "skills"
    write(folder, ".hidden")
    (folder / "empty").mkdir()
    (folder / "folder.md").mkdir()
    (folder / "notes.txt").write_text("x")
    (project / ".agents").mkdir()
    (project / ".agents/skills").write_text("not a folder")

    loaded = load_skills(settings(home, project))

    assert (loaded.skills, loaded.problems) == ((), ())


# ---------------------------------------------------------------------------- what is wrong with some


def test_a_broken_one_is_told_and_the_rest_load(home: Path, project: Path):
    folder = project / ".bridle/skills"
    write(folder, "good")
    broken = write(folder, "broken")
    broken.write_text("---\nname: [\n---\nx")
    binary = write(folder, "binary")
    binary.write_bytes(b"one\ntwo \xff\n")
    large = write(folder, "large")
    large.write_text("x" * (MAX_SKILL_BYTES + 1))
    os.mkfifo(folder / "pipe.md")

    loaded = load_skills(settings(home, project))

    assert [skill.name for skill in loaded.skills] == ["good"]
    assert list(map(str, loaded.problems)) == [
        f"{binary}:2: it is not UTF-8 text",
        f"{broken}:3: not valid YAML: did not find expected node content",
        f"{large}: it is larger than 128 KiB",
        f"{folder / 'pipe.md'}: is not a regular file",
    ]


def test_two_of_one_name_in_one_place_are_told(home: Path, project: Path):
    folder = project / ".bridle/skills"
    file = write(folder, "review")
    (folder / "review.md").write_text("y")

    assert told(home, project) == [f"{folder / 'review.md'}: review is already the name of {file}"]


def test_a_link_of_a_project_may_not_lead_out_of_it(home: Path, project: Path):
    secret = home.parent / "secret.md"
    secret.write_text("secret")
    folder = project / ".bridle/skills"
    folder.mkdir()
    (folder / "leak.md").symlink_to(secret)
    (folder / "inside.md").symlink_to(project / "inside.txt")
    (project / "inside.txt").write_text("fine")
    write(home.parent / "elsewhere", "far")
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to(home.parent / "elsewhere")
    (project / ".agents").mkdir()
    (project / ".agents/skills").symlink_to("/nowhere/at/all")

    loaded = load_skills(settings(home, project))

    assert [(skill.name, skill.body) for skill in loaded.skills] == [("inside", "fine")]
    assert list(map(str, loaded.problems)) == [
        f"{folder / 'leak.md'}: points outside the project, to {secret}",
        f"{project / '.claude/skills'}: it points outside the project, to {home.parent / 'elsewhere'}",
    ]


def test_a_link_of_the_user_may_lead_anywhere(home: Path, project: Path):
    write(home.parent / "dotfiles", "far")
    (home / "skills").symlink_to(home.parent / "dotfiles")

    assert [skill.name for skill in load_skills(settings(home, project)).skills] == ["far"]


def test_there_are_never_too_many(home: Path, project: Path):
    folder = home / "skills"
    folder.mkdir()
    for number in range(MAX_ENTRIES + 1):
        (folder / f"s{number:04}.md").write_text("x")

    loaded = load_skills(settings(home, project))

    assert len(loaded.skills) == MAX_SKILLS
    assert list(map(str, loaded.problems)) == [
        f"{folder}: it has more than 1,000 entries",
        f"{folder / f's{MAX_SKILLS:04}.md'}: more than 200 skills",
    ]


def test_names_that_are_no_text_are_passed_over(home: Path, project: Path):
    folder = os.fsencode(home / "skills")
    os.mkdir(folder)
    with open(folder + b"/\xff.md", "w") as file:
        file.write("x")

    assert load_skills(settings(home, project)).skills == ()


# ---------------------------------------------------------------------------- what is opened for reading


def test_what_comes_with_a_skill_outside_of_the_directory_can_be_read(home: Path, project: Path):
    write(home / "skills", "own")
    write(project / ".bridle/skills", "inside")
    write(project.parent / ".claude/skills", "above")
    (home / "skills/flat.md").write_text("x")
    here = settings(home, project)

    assert allow_skill_folders(load_skills(here).skills, here) == (
        Rule("allow", "read_file", f"{project.parent}/.claude/skills/above/**"),
        Rule("allow", "read_file", f"{home}/skills/own/**"),
    )


def test_a_linked_folder_is_opened_where_it_really_is_and_never_a_whole_home(home: Path, project: Path):
    folder = home / "skills"
    folder.mkdir()
    write(home.parent / "dotfiles", "far")
    (folder / "far").symlink_to(home.parent / "dotfiles/far")
    (folder / "home").symlink_to(home.parent)
    (home.parent / "SKILL.md").write_text("x")
    write(folder / "st*r", "odd")
    (folder / "odd").symlink_to(folder / "st*r/odd")
    here = settings(home, project)
    skills = load_skills(here).skills

    assert [skill.name for skill in skills] == ["far", "home", "odd"]
    assert allow_skill_folders(skills, here) == (
        Rule("allow", "read_file", f"{home.parent}/dotfiles/far/**"),
    )
