import pytest

from bridle.config.foreign.findings import FoundSkill, NotImported
from bridle.config.foreign.prompt_skills import NAMED, RUNS, skill_from_prompt, split_front_matter


def skill(*head: str, body: str) -> str:
    return "\n".join(["+++", *head, "disable_model_invocation = true", "+++", body, ""])


@pytest.mark.parametrize(
    ("body", "ours"),
    [
        ("Do $1, then $2.", "Do $0, then $1."),
        ("Do $0, then $1.", "Do $0, then $1."),
        ("Do $ARGUMENTS[1] of $ARGUMENTS.", "Do $1 of $ARGUMENTS."),
        ("It costs $10.", "It costs $10."),
    ],
)
def test_places_are_counted_from_zero(body: str, ours: str):
    assert skill_from_prompt("x", body) == FoundSkill("x", skill(body=ours))


def test_front_matter_need_not_be_yaml():
    text = "---\ndescription: 'Say: \"hi\"'\nargument-hint: [a] [b]\nmodel: opus\n---\n\nGo.\n"

    assert split_front_matter(text)[0] == {
        "description": 'Say: "hi"',
        "argument-hint": "[a] [b]",
        "model": "opus",
    }
    assert skill_from_prompt("x", text) == FoundSkill(
        "x", skill('description = "Say: \\"hi\\""', 'argument_hint = "[a] [b]"', body="Go.")
    )


def test_what_will_not_work_is_said():
    assert skill_from_prompt("x", "see !`git diff`").note == RUNS
    assert skill_from_prompt("x", "in $COUNTRY").note == NAMED


@pytest.mark.parametrize(
    ("name", "text"), [("../x", "a"), (".x", "a"), ("x", ""), ("x", "---\na: b\n---\n \n")]
)
def test_what_is_no_skill(name: str, text: str):
    assert isinstance(skill_from_prompt(name, text), NotImported)
