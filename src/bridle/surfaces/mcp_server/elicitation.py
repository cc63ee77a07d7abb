"""Approvals and questions as MCP elicitation forms, and forms as answers."""

from collections.abc import Mapping
from typing import Any, get_args

from mcp_types import ElicitRequestFormParams, ElicitResult

from bridle.core.protocol import Answer as Verdict
from bridle.core.protocol import ApprovalRequested, Decide, QuestionAsked, Reply
from bridle.surfaces.shared.run_driver import Answer, Asked
from bridle.surfaces.shared.terminal import visible
from bridle.surfaces.shared.text_format import describe_args

MAX_PREVIEW_CHARS = 8_000
MAX_CHOICES = 50
ANSWERS: dict[Verdict, str] = {
    "once": "Allow it once",
    "session": "Allow similar calls for this session",
    "always": "Always allow similar calls",
    "deny": "No",
    "stop": "No, and stop the run",
}
DISMISSED = "the question was closed without an answer"


def form_of(asked: Asked) -> ElicitRequestFormParams:
    """Return the form for an approval or question."""
    text, schema = _approval(asked) if isinstance(asked, ApprovalRequested) else _question(asked)
    return ElicitRequestFormParams(message=text, requested_schema=schema)


def answer_of(asked: Asked, given: ElicitResult) -> Answer:
    """Return the answer in a form; an approval is denied if the form's content is invalid."""
    content: Mapping[str, Any] = given.content or {}
    if isinstance(asked, QuestionAsked):
        return Reply(asked.call_id, _chosen(asked, content) if given.action == "accept" else ())
    if given.action == "cancel":
        return Decide(asked.call_id, "stop", DISMISSED)
    verdict = content.get("answer")
    if given.action == "decline" or verdict not in _answers(asked):
        return Decide(asked.call_id, "deny")
    return Decide(asked.call_id, verdict, str(content.get("reason") or ""))


def _approval(asked: ApprovalRequested) -> tuple[str, dict[str, Any]]:
    lines = [f"Bridle wants to use {asked.tool}: {describe_args(asked.args)}", asked.why]
    if asked.preview:
        lines.append(_cut(asked.preview))
    if asked.suggestions:
        lines.append(f"Similar calls: {', '.join(asked.suggestions)}")
    answers = _answers(asked)
    schema = {
        "type": "object",
        "properties": {
            "answer": {
                "type": "string",
                "title": "Answer",
                "enum": list(answers),
                "enumNames": list(answers.values()),
            },
            "reason": {
                "type": "string",
                "title": "Reason",
                "description": "The reason, which the model receives",
            },
        },
        "required": ["answer"],
    }
    return visible("\n\n".join(lines)), schema


def _answers(asked: ApprovalRequested) -> dict[Verdict, str]:
    """Return the possible answers: without suggested rules, no answer can apply to later calls."""
    assert set(ANSWERS) == set(get_args(Verdict))
    if asked.suggestions:
        return ANSWERS
    return {name: text for name, text in ANSWERS.items() if name not in ("session", "always")}


def _question(asked: QuestionAsked) -> tuple[str, dict[str, Any]]:
    question = asked.question
    choices = question.choices[:MAX_CHOICES]
    fields: dict[str, Any] = {}
    if question.several:
        for number, choice in enumerate(choices):
            fields[f"choice_{number}"] = {"type": "boolean", "title": choice, "default": False}
    elif choices:
        fields["answer"] = {"type": "string", "title": "Answer", "enum": list(choices)}
    other = "Something else" if choices else "Answer"
    fields["other"] = {"type": "string", "title": other}
    return visible(_cut(question.text)), {"type": "object", "properties": fields}


def _chosen(asked: QuestionAsked, content: Mapping[str, Any]) -> tuple[str, ...]:
    choices = asked.question.choices[:MAX_CHOICES]
    chosen = [choice for number, choice in enumerate(choices) if content.get(f"choice_{number}") is True]
    if content.get("answer") in choices:
        chosen.append(str(content["answer"]))
    if isinstance(other := content.get("other"), str) and other.strip():
        chosen.append(other)
    return tuple(dict.fromkeys(chosen))


def _cut(text: str) -> str:
    if len(text) <= MAX_PREVIEW_CHARS:
        return text
    return f"{text[:MAX_PREVIEW_CHARS]}\n… {len(text) - MAX_PREVIEW_CHARS} more characters"
