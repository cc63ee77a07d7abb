"""Forms for approvals and questions, and their answers."""

from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st
from mcp_types import ElicitResult
from mcp_types._v2025_11_25 import ElicitRequestFormParams as Checked

from bridle.core.ids import CallId
from bridle.core.protocol import Answer, ApprovalRequested, Decide, Question, QuestionAsked, Reply
from bridle.surfaces.mcp_server.elicitation import ANSWERS, MAX_PREVIEW_CHARS, answer_of, form_of

APPROVAL = ApprovalRequested(
    CallId("c1"), "bash", {"command": "rm x"}, "no rule allows it", "- x", ("bash(rm *)",)
)
ONE = QuestionAsked(CallId("c1"), Question("Which?", ("red", "blue")))
SEVERAL = QuestionAsked(CallId("c1"), Question("Which?", ("red", "blue"), several=True))
FREE = QuestionAsked(CallId("c1"), Question("Why?"))

CONTENT = st.dictionaries(
    st.sampled_from(["answer", "reason", "other", "choice_0", "choice_1", "x"]),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=8),
        st.sampled_from(["once", "always", "red"]),
    ),
)
FORMS = st.builds(
    ElicitResult,
    action=st.sampled_from(["accept", "decline", "cancel"]),
    content=st.one_of(st.none(), CONTENT),
)


def accepted(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


def test_every_answer_has_words():
    assert set(ANSWERS) == set(get_args(Answer))


def test_the_forms_are_what_the_protocol_allows():
    for asked in (APPROVAL, ONE, SEVERAL, FREE):
        form = form_of(asked).model_dump(by_alias=True, mode="json", exclude_none=True)

        assert Checked.model_validate(form).message == form["message"]


def test_an_approval_says_what_would_happen():
    form = form_of(APPROVAL)

    assert form.message == (
        "Bridle wants to use bash: rm x\n\nno rule allows it\n\n- x\n\nSimilar calls: bash(rm *)"
    )
    assert form.requested_schema["properties"]["answer"]["enum"] == [
        "once",
        "session",
        "always",
        "deny",
        "stop",
    ]


def test_without_a_rule_for_the_like_of_it_nothing_can_hold_for_longer():
    once = ApprovalRequested(CallId("c1"), "bash", {}, "why")

    assert form_of(once).requested_schema["properties"]["answer"]["enum"] == ["once", "deny", "stop"]
    assert answer_of(once, accepted(answer="always")) == Decide(CallId("c1"), "deny")


def test_a_preview_cannot_hide_anything_or_fill_the_screen():
    long = ApprovalRequested(CallId("c1"), "bash", {}, "why", "\x1b[2J" + "x" * 100_000)

    message = form_of(long).message

    assert "\x1b" not in message
    assert len(message) < MAX_PREVIEW_CHARS + 200
    assert message.endswith("more characters")


@given(FORMS)
def test_nothing_but_a_clear_yes_allows_a_call(form: ElicitResult):
    answer = answer_of(APPROVAL, form)

    assert isinstance(answer, Decide)
    said = (form.content or {}).get("answer")
    allows = form.action == "accept" and said in ("once", "session", "always")
    assert answer.answer in ((said,) if allows else ("deny", "stop"))


@given(FORMS)
def test_any_form_answers_a_question(form: ElicitResult):
    for asked in (ONE, SEVERAL, FREE):
        answer = answer_of(asked, form)

        assert isinstance(answer, Reply)
        assert form.action == "accept" or answer.answers == ()


def test_questions_take_choices_and_words():
    assert answer_of(ONE, accepted(answer="red")) == Reply(CallId("c1"), ("red",))
    assert answer_of(ONE, accepted(answer="green")) == Reply(CallId("c1"))
    assert answer_of(ONE, accepted(other="green")) == Reply(CallId("c1"), ("green",))
    assert answer_of(SEVERAL, accepted(choice_0=True, choice_1=True, other=" ")) == Reply(
        CallId("c1"), ("red", "blue")
    )
    assert answer_of(FREE, accepted(other="because")) == Reply(CallId("c1"), ("because",))
