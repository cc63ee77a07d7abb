import msgspec
import pytest

from bridle.core.messages import Media, Message, Text, user_message
from bridle.core.protocol import RunOptions
from bridle.core.skill import Skill
from bridle.surfaces.meerkat.requests import RunRequest
from bridle.surfaces.meerkat.skills import add_skills, skill_list
from bridle.surfaces.meerkat.wire_format import SKILL_SOURCE
from bridle.surfaces.shared.error_codes import SKILL_NOT_FOUND, Refused

REVIEW = Skill("review", "Review $ARGUMENTS.", "/p/.bridle/skills/review.md", "project", "looks at code")


def test_the_list_names_a_skill_in_every_way_clients_know():
    [entry] = msgspec.to_builtins(skill_list([REVIEW]))["skills"]

    assert entry == {
        "id": "review",
        "key": {"skill_name": "review", "source_uuid": SKILL_SOURCE},
        "name": "review",
        "description": "looks at code",
        "scope": "project",
        "source": {
            "display_name": "project",
            "source_uuid": SKILL_SOURCE,
            "transport_kind": "filesystem",
            "fingerprint": "bridle",
        },
        "is_active": True,
    }


def test_named_skills_stand_before_the_message():
    order = RunRequest(user_message("now"), RunOptions(), skills=("review",))

    made = add_skills(order, [REVIEW], "/p")

    text = "[Skill: review]\nBase path: .bridle/skills\n\nReview ."
    assert made.message == Message("user", (Text(text), Text("now")))


def test_a_prompt_can_begin_with_a_skill():
    parts = (Text("/review a.py"), Media("image/png", "AA=="))

    made = add_skills(RunRequest(Message("user", parts), RunOptions()), [REVIEW], "/p")

    text = "[Skill: review]\nBase path: .bridle/skills\n\nReview a.py."
    assert made.message == Message("user", (Text(text), parts[1]))


def test_a_text_with_a_slash_is_a_text():
    order = RunRequest(user_message("/nothing like that"), RunOptions())

    assert add_skills(order, [REVIEW], "/p") == order


def test_a_skill_that_does_not_exist_is_refused():
    with pytest.raises(Refused, match="no skill is named reviev") as refusal:
        add_skills(RunRequest(user_message("x"), RunOptions(), skills=("reviev",)), [REVIEW], "/p")

    assert (refusal.value.problem, refusal.value.hint) == (SKILL_NOT_FOUND, "did you mean review?")
