import sys
from pathlib import Path

from bridle.config.system_prompt import (
    MAX_LISTED_SKILLS,
    MAX_SKILL_CHARS,
    insert_text,
    list_skills,
    system_prompt,
)
from bridle.core.skill import Skill


def test_the_stable_parts_come_first_and_the_date_last():
    day_ms = 20_000 * 86_400_000

    assert system_prompt("Agent.", "Context.", Path("/w"), day_ms + 5) == (
        f"Agent.\n\nContext.\n\nWorking directory: /w\nOperating system: {sys.platform}\nDate: 2024-10-04"
    )


def test_more_is_said_before_the_place():
    told = system_prompt("Agent.", "Context.", Path("/w"), 0)

    assert insert_text(told, "More.") == told.replace("Context.", "Context.\n\nMore.")
    assert insert_text("Own words.\n\nOf somebody.", "More.") == "Own words.\n\nOf somebody.\n\nMore."


def test_an_empty_part_leaves_no_gap():
    assert system_prompt("", "", Path("/w"), 0).startswith("Working directory: /w\n")


def test_skills_stand_before_the_place():
    assert "Context.\n\nSkills.\n\nWorking directory: /w" in system_prompt(
        "Agent.", "Context.", Path("/w"), 0, skills="Skills."
    )


def skill(name: str, description: str = "", *, hidden: bool = False) -> Skill:
    return Skill(name, "x", f"/{name}.md", "user", description, disable_model_invocation=hidden)


def test_the_catalogue_has_a_line_for_each_skill_that_a_model_may_load():
    skills = [skill("a", "Does a."), skill("b"), skill("c", "Secret.", hidden=True), skill("d", "d" * 500)]

    assert list_skills(skills) == (
        "Skills are instructions for special tasks. When one fits, first load it with the tool `skill`:\n"
        f"- a: Does a.\n- b\n- d: {'d' * (MAX_SKILL_CHARS - 6)}…"
    )


def test_without_skills_there_is_no_catalogue():
    assert [list_skills([]), list_skills([skill("a", hidden=True)])] == ["", ""]


def test_the_catalogue_is_bounded():
    lines = list_skills([skill(f"s{number:03}") for number in range(MAX_LISTED_SKILLS + 5)]).split("\n")

    assert len(lines) == MAX_LISTED_SKILLS + 2
    assert lines[-2:] == ["- s039", "… and 5 more"]
