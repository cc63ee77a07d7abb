import json
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle, Done


@pytest.fixture
def skills(bridle: Bridle) -> Path:
    """Return a folder of skills of the project, with two of them."""
    folder = bridle.project / ".bridle/skills"
    (folder / "review").mkdir(parents=True)
    (folder / "review/SKILL.md").write_text(
        '---\nname: review\ndescription: Looks at a change.\nargument-hint: "[file]"\n---\nLook at $0.\n'
    )
    (folder / "deploy.md").write_text("+++\ndisable_model_invocation = true\n+++\nDeploy.\n")
    return folder


def test_every_skill_is_listed_with_who_may_use_it(bridle: Bridle, skills: Path):
    mine = bridle.home / "skills"
    mine.mkdir()
    (mine / "inner.md").write_text('+++\ndescription = "Thinks."\nuser_invocable = false\n+++\nThink.\n')
    (mine / "none.md").write_text("+++\ndisable_model_invocation=true\nuser_invocable=false\n+++\nx\n")

    assert bridle("skills", "list") == Done(
        0,
        "SKILL          FOR         WHERE                           DESCRIPTION\n"
        "deploy         you         .bridle/skills/deploy.md\n"
        "inner          model       ~/.bridle/skills/inner.md       Thinks.\n"
        "none           nobody      ~/.bridle/skills/none.md\n"
        "review [file]  you, model  .bridle/skills/review/SKILL.md  Looks at a change.\n",
        "",
    )


def test_the_list_is_also_json(bridle: Bridle, skills: Path):
    listed = json.loads(bridle("skills", "list", "--json").out)

    assert listed[0] == {
        "name": "deploy",
        "body": "Deploy.",
        "file": str(skills / "deploy.md"),
        "level": "project",
        "description": "",
        "argument_hint": "",
        "user_invocable": True,
        "disable_model_invocation": True,
        "has_folder": False,
    }
    assert [skill["name"] for skill in listed] == ["deploy", "review"]


def test_without_skills_the_list_says_what_to_do(bridle: Bridle):
    assert bridle("skills", "list") == Done(0, "", "no skills yet\nhint: bridle skills new NAME\n")


def test_a_skill_is_shown_as_a_model_reads_it(bridle: Bridle, skills: Path):
    shown = "[Skill: review]\nBase path: .bridle/skills/review\n\nLook at a b.\n"

    assert bridle("skills", "show", "review", "'a b'") == Done(0, shown, "")
    assert bridle("skills", "show", "/review", "'a b'").out == shown
    assert bridle("skills", "show", "review", "a b", "c").out == shown
    assert bridle("skills", "show", "reviw") == Done(
        1, "", "error: no skill is named reviw\nhint: did you mean review?\n"
    )


def test_what_is_wrong_is_told_and_the_exit_code_says_it(bridle: Bridle, skills: Path):
    good = bridle("skills", "check")
    (skills / "bad.md").write_text("---\nname: [\n---\nx")
    (skills / "review/SKILL.md").write_text("---\nname: look\ndescription: d\n---\nx")

    assert good == Done(0, "2 skills, no problems\n", "")
    assert bridle("skills", "check") == Done(
        1,
        f"broken   {skills}/bad.md:3: not valid YAML: did not find expected node content\n"
        f'warning  {skills}/review/SKILL.md:2: its name "look" differs from its folder\'s\n'
        "         hint: rename one of them; until then it is called review\n",
        "",
    )
    assert bridle("skills", "list").err == "warning: 1 skill cannot be used\nhint: bridle skills check\n"
    assert [problem["is_left_out"] for problem in json.loads(bridle("skills", "check", "--json").out)] == [
        True,
        False,
    ]


@pytest.mark.parametrize("flags", [(), ("--project",)])
def test_a_new_skill_is_in_order(bridle: Bridle, flags: tuple[str, ...]):
    folder = (bridle.project / ".bridle" if flags else bridle.home) / "skills"

    made = bridle("skills", "new", "release-notes", *flags)

    assert made == Done(0, f"{folder}/release-notes/SKILL.md\n", "")
    assert bridle("skills", "check") == Done(0, "1 skill, no problems\n", "")
    assert "what to do with v2." in bridle("skills", "show", "release-notes", "v2").out
    assert bridle("skills", "new", "release-notes", *flags) == Done(
        1,
        "",
        f"error: {folder}/release-notes is already there\nhint: bridle skills show release-notes\n",
    )


@pytest.mark.parametrize("name", ["../x", "Big", "a--b", "a b", "x" * 65, ""])
def test_a_new_skill_needs_a_name_that_all_programs_take(bridle: Bridle, name: str):
    done = bridle("skills", "new", name)

    assert (done.code, list(bridle.home.iterdir())) == (64, [])
    assert done.err == (
        f'error: "{name}" is not a valid name for a skill\n'
        "hint: lowercase letters, digits and single dashes\n"
    )


# ---------------------------------------------------------------------------- in a run


def test_a_model_loads_a_skill_and_reads_what_comes_with_it(bridle: Bridle):
    folder = bridle.home.parent / ".claude/skills/pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: PDF files\n---\nRead forms.md, then $0.\n")
    (folder / "forms.md").write_text("Fill them in.\n")
    secret = folder.parent.parent / "secret"
    secret.write_text("secret")
    calls = [
        {"name": "skill", "args": {"name": "pdf", "arguments": "a.pdf"}},
        {"name": "read_file", "args": {"path": str(folder / "forms.md")}},
        {"name": "read_file", "args": {"path": str(secret)}},
        {"name": "write_file", "args": {"path": str(folder / "forms.md"), "content": "x"}},
    ]
    model = bridle.script({"calls": calls}, {"text": "done"})

    done = bridle("run", "-p", "--yolo", "--output", "stream-json", "--model", model, "go")
    records = [json.loads(line) for line in done.out.splitlines()]
    results = [record["event"]["result"] for record in records if "result" in record.get("event", {})]

    assert done.code == 0
    assert {result["output"] for result in results} == {
        f"[Skill: pdf]\nBase path: {folder}\n\nRead forms.md, then a.pdf.",
        "1: Fill them in.",
        "absolute or parent paths are not allowed",
    }
    assert (folder / "forms.md").read_text() == "Fill them in.\n"


def test_the_model_is_told_which_skills_there_are(bridle: Bridle, skills: Path):
    model = bridle.script({"text": "done"})
    bridle("run", "-p", "--model", model, "go")

    context = json.loads(bridle("context", "--json").out)

    assert "with the tool `skill`:\n- review: Looks at a change.\n\nWorking directory:" in context["system"]
