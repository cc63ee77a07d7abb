"""Decides whether the calls of a run may run: by rules, by hooks, by the user.

```
prepare ─▶ vet ─▶ foresee ─▶ allow ────────────────────────────────▶ execute
                          ─▶ deny ─▶ refuse                             │
                          ─▶ ask ─▶ preview ─▶ ApprovalRequested ─▶ decide
```

Hooks see a call before it is judged. Calls made by code take the same path (`nested_calls.py`).
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from bridle.core.errors import BridleError, ToolError
from bridle.core.hook import ToolArgsPatch, ToolCallView
from bridle.core.ids import CallId
from bridle.core.loop import Decided, Input, Prepared, Returned
from bridle.core.messages import ToolCall
from bridle.core.ports import HookRound
from bridle.core.protocol import ApprovalDecided, ApprovalRequested, Decide, Notice
from bridle.core.tool import INSTRUCTION_TOOLS
from bridle.sessions.dispatch import CheckedCall
from bridle.sessions.run.context import EffectOutcome, RunContext, refusal_for_model
from bridle.sessions.run.tool_calls import ToolCalls

_AGAIN = "make the call again, on its own"


class CallVetted(EffectOutcome, frozen=True):
    """Hooks have answered about a call."""

    call: ToolCall
    round: HookRound


class CallForeseen(EffectOutcome, frozen=True):
    """A tool has worked out what a call would touch."""

    call: ToolCall
    failure: str = ""
    """Why it would fail; empty if it would not."""


class CallPreviewed(EffectOutcome, frozen=True):
    """The preview of a call that needs an approval is ready."""

    checked: CheckedCall
    preview: str
    failure: str = ""
    """Why it would fail anyway, so that no approval is needed."""


class Approvals:
    """Takes each call of a run from the model's request to its start or its refusal."""

    def __init__(self, kit: RunContext, calls: ToolCalls) -> None:
        self._kit = kit
        self._calls = calls
        self._engine = kit.engine
        self._journal = kit.journal
        self._run = kit.run
        self._setup = kit.setup
        self._given: dict[CallId, dict[str, Any]] = {}
        """Arguments that hooks put in place of the model's."""
        self._foreseen: set[CallId] = set()
        self._judged: dict[CallId, CheckedCall] = {}
        """Verdicts of the current step, during which nothing can have changed."""
        self._to_ask: list[CheckedCall] = []
        self._shows = asyncio.Lock()
        """Serializes previews, so that approvals are requested in the order of the calls."""

    def prepare(self, call: ToolCall) -> list[Input]:
        """Judge a call; one that needs an approval waits for its preview."""
        if finished := self._run.finished.get(call.id):
            return [Returned(finished.result)]  # it ran before the crash
        if self._kit.hooks.has_hook_at("pre_tool_execution"):
            self._kit.later(self._vet(call))
            return []
        return self._judge(call)

    async def _vet(self, call: ToolCall) -> None:
        seen = ToolCallView(call.id, call.name, self._check(call).call.args)  # as the tool would get them
        self._kit.post(CallVetted(call, await self._kit.hooks.ask("pre_tool_execution", tool_call=seen)))

    def vetted(self, vetted: CallVetted) -> list[Input]:
        """Record the hooks' answers about a call, and judge the call as they changed it."""
        call, outcome = vetted.call, vetted.round.outcome
        self._journal.stage(*vetted.round.events)
        if self._calls.nested.is_over(call.id):  # the code that made it has ended meanwhile
            return []
        if outcome.deny is not None:
            return self._calls.refuse(call, refusal_for_model(outcome.deny), denied=True)
        args = [patch.args for patch in outcome.patches if isinstance(patch, ToolArgsPatch)]
        if args:
            self._given[call.id] = args[-1]
        return self._judge(call)

    async def _foresee(self, call: ToolCall) -> None:
        failure = ""
        try:
            await self._setup.dispatcher.foresee(self._as_given(call), self._calls.context(call))
        except ToolError as error:
            failure = str(error)
        self._kit.post(CallForeseen(call, failure))

    def foreseen(self, foreseen: CallForeseen) -> list[Input]:
        """Judge a call now that it is known what it would touch."""
        call = foreseen.call
        if self._calls.nested.is_over(call.id):  # the code that made it has ended meanwhile
            return []
        self._foreseen.add(call.id)
        return self._calls.refuse(call, foreseen.failure) if foreseen.failure else self._judge(call)

    def _judge(self, call: ToolCall) -> list[Input]:
        if self._setup.dispatcher.foresees(call) and call.id not in self._foreseen:
            self._kit.later(self._foresee(call))
            return []
        checked = self._check(call)
        if checked.action == "deny" and not self._always_asks(call):
            return self._calls.refuse(call, checked.why, denied=checked.denied)
        if checked.action == "allow" and not self._always_asks(call):
            self._judged[call.id] = checked
            return [Prepared(call.id, "allow", parallel=checked.parallel)]
        if decided := self._decision_on(checked.call):
            asked = Prepared(call.id, "ask", parallel=checked.parallel)
            return [asked, Decided(call.id, decided.answer, decided.reason)]
        self._to_ask.append(checked)
        return []

    def _always_asks(self, call: ToolCall) -> bool:
        return self._run.options.approve_each and call.name not in INSTRUCTION_TOOLS

    def _decision_on(self, call: ToolCall) -> ApprovalDecided | None:
        """Return the decision made before a crash, unless hooks have changed the call since."""
        request = self._run.requested.get(call.id)
        is_same = request is None or request.args == call.args
        return self._run.decided.get(call.id) if is_same else None

    def end_step(self) -> None:
        """Schedule the previews of this step's approvals, and discard its verdicts."""
        self._judged.clear()
        if self._to_ask:
            self._kit.later(self._preview(self._to_ask))
            self._to_ask = []

    def drop_previews(self) -> None:
        """Request none of the approvals that this step prepared."""
        self._to_ask = []

    async def _preview(self, to_ask: list[CheckedCall]) -> None:
        async with self._shows:
            for checked in to_ask:
                call = checked.call
                try:
                    preview = await self._setup.dispatcher.preview(call, self._calls.context(call))
                except ToolError as error:
                    self._kit.post(CallPreviewed(checked, "", str(error)))
                else:
                    self._kit.post(CallPreviewed(checked, preview))

    def ask(self, asked: CallPreviewed) -> list[Input]:
        """Request an approval."""
        call, checked = asked.checked.call, asked.checked
        if self._calls.nested.is_over(call.id):  # the code that made it has ended meanwhile
            return []
        if asked.failure and checked.action != "deny":  # with approve_each, a denied call waits as well
            return self._calls.refuse(call, asked.failure)
        if decided := self._decision_on(call):  # the approval from before the crash was decided meanwhile
            waiting = Prepared(call.id, "ask", parallel=checked.parallel)
            return [waiting, Decided(call.id, decided.answer, decided.reason)]
        is_allowed = self._check(call).action == "allow" and not self._always_asks(call)
        if is_allowed:  # a rule was granted during the preview
            return [Prepared(call.id, "allow", parallel=checked.parallel)]
        self._journal.stage(
            ApprovalRequested(
                call.id,
                call.name,
                call.args,
                checked.why,
                asked.preview,
                checked.suggestions,
                self._calls.nested.parent_of(call.id),
            )
        )
        return [Prepared(call.id, "ask", parallel=checked.parallel)]

    def decide(self, decision: Decide) -> list[Input]:
        """Record the first answer to an approval; ignore unknown calls and later answers."""
        request = self._run.requested.get(decision.call_id)
        if request is None or decision.call_id in self._run.decided:
            return []
        lasts = decision.answer in ("session", "always")
        rules = (decision.rules or request.suggestions) if lasts else ()
        self._journal.stage(ApprovalDecided(decision.call_id, decision.answer, decision.reason, rules))
        if decision.answer == "always" and rules:
            self._kit.later(self._remember(rules))
        decided: list[Input] = [Decided(decision.call_id, decision.answer, decision.reason)]
        return decided + (self._answer_by_rules(rules) if rules else [])

    def _answer_by_rules(self, rules: Sequence[str]) -> list[Input]:
        """Approve the other pending calls that the newly granted rules cover."""
        own = [request for request in self._run.pending if request.child is None]
        calls = [ToolCall(request.call_id, request.tool, request.args) for request in own]
        covered = [call for call in calls if self._check(call).action == "allow"]
        for call in covered:
            self._journal.stage(ApprovalDecided(call.id, "once", f"rule {', '.join(rules)}"))
        return [Decided(call.id, "once") for call in covered]

    async def _remember(self, rules: Sequence[str]) -> None:
        try:
            await asyncio.to_thread(self._engine.remember, rules)
        except BridleError as error:
            self._journal.show(Notice(f"the rule applies to this session only: {error}"))

    def _check(self, call: ToolCall) -> CheckedCall:
        return self._setup.dispatcher.check(self._as_given(call), self._calls.context(call))

    def _as_given(self, call: ToolCall) -> ToolCall:
        """Return a call with the arguments that hooks gave it, if any."""
        given = self._given.get(call.id)
        return call if given is None else replace(call, args=given, invalid="")

    def execute(self, call: ToolCall) -> list[Input]:
        """Run a call, unless it is no longer allowed."""
        checked = self._judged.get(call.id)
        if checked is None:  # a link, folder or variable may have changed since it was prepared
            checked = self._check(call)
        if checked.action == "deny":
            return self._calls.refuse(call, checked.why, denied=checked.denied)
        if checked.action == "ask" and call.id not in self._run.decided:
            return self._calls.refuse(
                call, f"not run: after the calls before it, it needs approval: {checked.why}; {_AGAIN}"
            )
        return self._calls.execute(checked)
