"""Shows approvals and questions in the editor.

An approval is a permission request. A question from the model is a form if the editor supports forms, else a
permission request whose options are the suggested answers.
"""

from typing import Any, Protocol

from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    CreateFormSessionElicitationRequest,
    ElicitationMultiSelectPropertySchema,
    ElicitationSchema,
    ElicitationStringPropertySchema,
    PermissionOption,
    PermissionOptionKind,
    RequestPermissionRequest,
    RequestPermissionResponse,
    StringMultiSelectItems,
    ToolCallUpdate,
)
from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.protocol import Answer, ApprovalRequested, Decide, Question, QuestionAsked, Reply
from bridle.surfaces.acp.tool_calls import ToolCallView, shorten_title

OPTIONS: dict[Answer, tuple[str, PermissionOptionKind]] = {
    "once": ("Allow", "allow_once"),
    "session": ("Allow {rules} for this session", "allow_always"),
    "always": ("Always allow {rules}", "allow_always"),
    "deny": ("Reject", "reject_once"),
    "stop": ("Reject and stop", "reject_once"),
}
LASTING: tuple[Answer, ...] = ("session", "always")
"""Answers that add rules; offered only if the request suggests rules."""

NOT_OFFERED = "the editor sent an answer that was not offered"
DISMISSED = "the question was dismissed in the editor"
NO_ANSWER = "no-answer"
MAX_ANSWER_CHARS = 100_000

CHOICE, OWN_WORDS = "choice", "answer"
"""The fields of a form: the suggested answers, and the user's own."""


class Editor(Protocol):
    """An editor that can be asked."""

    capabilities: ClientCapabilities

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request; raises RequestError, ConnectionError. Cancelling this withdraws the request."""
        ...


class PermissionRequests(Struct, frozen=True):
    """Sends a session's approvals and questions to the editor."""

    editor: Editor
    session: SessionId

    async def decide(self, asked: ApprovalRequested, call: ToolCallView) -> Decide:
        """Ask whether a call is allowed; raises RequestError, ConnectionError, ValidationError."""
        rules = shorten_title(", ".join(asked.suggestions))
        offered = [answer for answer in OPTIONS if asked.suggestions or answer not in LASTING]
        options = [
            PermissionOption(
                option_id=answer, name=OPTIONS[answer][0].format(rules=rules), kind=OPTIONS[answer][1]
            )
            for answer in offered
        ]
        chosen = await self._permission(call.asked(asked), options)
        if chosen is None:
            return Decide(asked.call_id, "stop", DISMISSED)
        for answer in offered:
            if answer == chosen:
                return Decide(asked.call_id, answer, "stopped by the user" if answer == "stop" else "")
        return Decide(asked.call_id, "deny", NOT_OFFERED)

    async def reply(self, asked: QuestionAsked, who: str) -> Reply:
        """Ask the model's question; raises as `decide` does."""
        form = self.editor.capabilities.elicitation
        if form is not None and form.form is not None:
            return Reply(asked.call_id, await self._fill_in(asked, who))
        question = asked.question
        if not question.choices:  # a permission request has no text field
            return Reply(asked.call_id)
        options = [
            PermissionOption(option_id=str(number), name=choice, kind="allow_once")
            for number, choice in enumerate(question.choices, 1)
        ]
        options.append(PermissionOption(option_id=NO_ANSWER, name="No answer", kind="reject_once"))
        title = shorten_title(f"{who} asks: {question.text}" if who else question.text)
        chosen = await self._permission(
            ToolCallUpdate(tool_call_id=asked.call_id, title=title, kind="other"), options
        )
        picked = [choice for number, choice in enumerate(question.choices, 1) if str(number) == chosen]
        return Reply(asked.call_id, tuple(picked))

    async def _permission(self, call: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        """Return the chosen option; None if the request was dismissed."""
        request = RequestPermissionRequest(session_id=self.session, tool_call=call, options=options)
        answer = await self.editor.request("session/request_permission", to_json_values(request))
        outcome = RequestPermissionResponse.model_validate(answer).outcome
        return outcome.option_id if isinstance(outcome, AllowedOutcome) else None

    async def _fill_in(self, asked: QuestionAsked, who: str) -> tuple[str, ...]:
        question = asked.question
        request = CreateFormSessionElicitationRequest(
            session_id=self.session,
            tool_call_id=asked.call_id,
            message=f"{who} asks: {question.text}" if who else question.text,
            mode="form",
            requested_schema=_form(question),
        )
        answer = await self.editor.request("elicitation/create", to_json_values(request))
        if not isinstance(answer, dict) or answer.get("action") != "accept":
            return ()
        return _answers(answer.get("content"))


def to_json_values(request: Any) -> dict[str, Any]:
    """Return a request as JSON values."""
    dumped: dict[str, Any] = request.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def _form(question: Question) -> ElicitationSchema:
    """Return the form of a question; the user can always type another answer."""
    own = ElicitationStringPropertySchema(
        type="string",
        title="Something else" if question.choices else "Answer",
        max_length=MAX_ANSWER_CHARS,
    )
    choices = list(question.choices)
    if not choices:
        return ElicitationSchema(type="object", properties={OWN_WORDS: own}, required=[OWN_WORDS])
    suggested: ElicitationMultiSelectPropertySchema | ElicitationStringPropertySchema
    if question.several:
        items = StringMultiSelectItems(type="string", enum=choices)
        suggested = ElicitationMultiSelectPropertySchema(type="array", title="Suggested", items=items)
    else:
        suggested = ElicitationStringPropertySchema(type="string", title="Suggested", enum=choices)
    return ElicitationSchema(type="object", properties={CHOICE: suggested, OWN_WORDS: own})


def _answers(content: object) -> tuple[str, ...]:
    """Return the answers in a form, ignoring anything else the editor sends."""
    if not isinstance(content, dict):
        return ()
    found: list[str] = []
    for name in (CHOICE, OWN_WORDS):
        value = content.get(name)
        texts = value if isinstance(value, list) else [value]
        found += [text[:MAX_ANSWER_CHARS] for text in texts if isinstance(text, str) and text.strip()]
    return tuple(found)
