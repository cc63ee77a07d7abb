"""The tool calls of a run: judged, asked about, run, and recorded in the order of the reply.

```
prepare ─▶ vet ─▶ foresee ─▶ allow ────────────────────────────────▶ execute ─▶ finish
                          ─▶ deny ─▶ refuse                             │
                          ─▶ ask ─▶ preview ─▶ ApprovalRequested ─▶ decide
```

Hooks see a call before it is judged, and its result before it is recorded. A call that code makes goes
the same way (`nested.py`).
"""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec.structs import replace

from bridle.core.budget import Spend
from bridle.core.context import MESSAGE_FRAME_TOKENS, estimate_message
from bridle.core.deferred import named_call
from bridle.core.errors import BridleError, ToolError
from bridle.core.hook import ToolArgsPatch, ToolCallSeen, ToolResultPatch, ToolResultSeen
from bridle.core.ids import CallId
from bridle.core.loop import Decided, Input, Prepared, Returned
from bridle.core.messages import Message, ToolCall, ToolResult
from bridle.core.ports import HookEvent, HookRound, Keeper, ToolContext, ToolOutput
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Decide,
    Notice,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Reply,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
)
from bridle.core.recovery import close_calls, failed
from bridle.core.revision import FileChange
from bridle.core.turns import changed_files
from bridle.sessions.dispatch import Checked
from bridle.sessions.kit import Happening, RunKit, refusal_for_model
from bridle.sessions.nested import Abandoned, NestedCalls
from bridle.sessions.sampling import sample

MAX_PRINTED_CHARS = 4_000
STOP_S = 1.0
_AGAIN = "make the call again, on its own"


class Vetted(Happening, frozen=True):
    """Hooks were asked about a call."""

    call: ToolCall
    round: HookRound


class Foreseen(Happening, frozen=True):
    """It is known what a call would touch."""

    call: ToolCall
    failure: str = ""
    """Why it would fail."""


class Previewed(Happening, frozen=True):
    """A call that must be asked about can now be shown."""

    checked: Checked
    preview: str
    failure: str = ""
    """Why it would fail anyway, so that nobody needs to be asked."""


class Finished(Happening, frozen=True):
    """A call has run."""

    result: ToolResult
    output: ToolOutput
    changes: tuple[FileChange, ...]
    duration_ms: int
    tokens: int
    events: tuple[HookEvent, ...] = ()
    """What hooks said of its result."""


class Left(Happening, frozen=True):
    """Calls that were cut off have changed something."""

    changes: tuple[FileChange, ...]


class Calls:
    """Takes each call of a run from the model's wish to its recorded result."""

    def __init__(self, kit: RunKit) -> None:
        self._kit = kit
        self._engine = kit.engine
        self._journal = kit.journal
        self._run = kit.run
        self._setup = kit.setup
        self._nested = NestedCalls(kit.run, kit.post)
        self._given: dict[CallId, dict[str, Any]] = {}
        """Arguments that hooks have put in the place of the model's."""
        self._foreseen: set[CallId] = set()
        self._judged: dict[CallId, Checked] = {}
        """What was found out in this step, in which nothing else can have happened."""
        self._to_ask: list[Checked] = []
        self._shows = asyncio.Lock()
        """One preview is made at a time, so that questions come in the order of the calls."""
        self._questions: dict[CallId, asyncio.Future[tuple[str, ...]]] = {}
        self._replied: dict[CallId, Reply] = {}
        """Answers that came after a crash, before the question was put again."""
        self._printed: dict[CallId, str] = {}
        """The end of what running calls have shown."""
        self._recorded: set[FileChange] = set()
        """Changes that the keeper does not know to be recorded."""

    # ------------------------------------------------------------------ may it run?

    def prepare(self, call: ToolCall) -> list[Input]:
        """Judge a call; what must be asked about waits for its preview."""
        if finished := self._run.finished.get(call.id):
            return [Returned(finished.result)]  # it ran before this process took over
        if self._kit.hooks.listen_at("pre_tool_execution"):
            self._kit.later(self._vet(call))
            return []
        return self._judge(call)

    async def _vet(self, call: ToolCall) -> None:
        seen = ToolCallSeen(call.id, call.name, self._check(call).call.args)  # as they would be used
        self._kit.post(Vetted(call, await self._kit.hooks.ask("pre_tool_execution", tool_call=seen)))

    def vetted(self, vetted: Vetted) -> list[Input]:
        """Record what hooks said of a call, and judge it as they left it."""
        call, outcome = vetted.call, vetted.round.outcome
        self._journal.stage(*vetted.round.events)
        if self._nested.is_over(call.id):  # the code that made it has ended meanwhile
            return []
        if outcome.deny is not None:
            return self.refuse(call, refusal_for_model(outcome.deny), denied=True)
        args = [patch.args for patch in outcome.patches if isinstance(patch, ToolArgsPatch)]
        if args:
            self._given[call.id] = args[-1]
        return self._judge(call)

    async def _foresee(self, call: ToolCall) -> None:
        failure = ""
        try:
            await self._setup.dispatcher.foresee(self._as_given(call), self._context(call))
        except ToolError as error:
            failure = str(error)
        self._kit.post(Foreseen(call, failure))

    def foreseen(self, foreseen: Foreseen) -> list[Input]:
        """Judge a call of which it is now known what it would touch."""
        call = foreseen.call
        if self._nested.is_over(call.id):  # the code that made it has ended meanwhile
            return []
        self._foreseen.add(call.id)
        return self.refuse(call, foreseen.failure) if foreseen.failure else self._judge(call)

    def _judge(self, call: ToolCall) -> list[Input]:
        if self._setup.dispatcher.foresees(call) and call.id not in self._foreseen:
            self._kit.later(self._foresee(call))
            return []
        checked = self._check(call)
        if checked.action == "deny" and not self._run.options.approve_each:
            return self.refuse(call, checked.why, denied=checked.denied)
        if checked.action == "allow" and not self._run.options.approve_each:
            self._judged[call.id] = checked
            return [Prepared(call.id, "allow", parallel=checked.parallel)]
        if decided := self._decision_on(checked.call):
            asked = Prepared(call.id, "ask", parallel=checked.parallel)
            return [asked, Decided(call.id, decided.answer, decided.reason)]
        self._to_ask.append(checked)
        return []

    def _decision_on(self, call: ToolCall) -> ApprovalDecided | None:
        """Return the answer to a question of before a crash, unless hooks have made another call of it."""
        request = self._run.requested.get(call.id)
        is_same = request is None or request.args == call.args
        return self._run.decided.get(call.id) if is_same else None

    @property
    def was_one_denied(self) -> bool:
        """Tell whether somebody has said no to a call of this turn."""
        asked = self._run.requested
        return any(
            decided.answer == "deny" and (call_id not in asked or asked[call_id].child is None)
            for call_id, decided in self._run.decided.items()
        )

    def end_step(self) -> None:
        """Line up the previews of this step's questions, and forget what it has found out."""
        self._judged.clear()
        if self._to_ask:
            self._kit.later(self._preview(self._to_ask))
            self._to_ask = []

    def drop_previews(self) -> None:
        """Ask nothing of what this step prepared."""
        self._to_ask = []

    async def _preview(self, to_ask: list[Checked]) -> None:
        async with self._shows:
            for checked in to_ask:
                try:
                    preview = await self._setup.dispatcher.preview(checked.call, self._context(checked.call))
                except ToolError as error:
                    self._kit.post(Previewed(checked, "", str(error)))
                else:
                    self._kit.post(Previewed(checked, preview))

    def ask(self, asked: Previewed) -> list[Input]:
        """Put the question to whoever watches."""
        call, checked = asked.checked.call, asked.checked
        if self._nested.is_over(call.id):  # the code that made it has ended meanwhile
            return []
        if asked.failure and not self._run.options.approve_each:
            return self.refuse(call, asked.failure)
        if decided := self._decision_on(call):  # the question of before a crash was answered meanwhile
            waiting = Prepared(call.id, "ask", parallel=checked.parallel)
            return [waiting, Decided(call.id, decided.answer, decided.reason)]
        is_allowed = self._check(call).action == "allow" and not self._run.options.approve_each
        if is_allowed:  # a rule was granted while the preview was made
            return [Prepared(call.id, "allow", parallel=checked.parallel)]
        self._journal.stage(
            ApprovalRequested(
                call.id,
                call.name,
                call.args,
                checked.why,
                asked.preview,
                checked.suggestions,
                self._nested.parent_of(call.id),
            )
        )
        return [Prepared(call.id, "ask", parallel=checked.parallel)]

    def decide(self, decision: Decide) -> list[Input]:
        """Record the first answer to an approval; unknown calls and later answers are ignored."""
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
        """Rules granted for the session also answer the other open questions they cover."""
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
            self._journal.show(Notice(f"the rule holds for this session only: {error}"))

    def _check(self, call: ToolCall) -> Checked:
        return self._setup.dispatcher.check(self._as_given(call), self._context(call))

    def _as_given(self, call: ToolCall) -> ToolCall:
        """Return a call with the arguments that hooks have left it."""
        given = self._given.get(call.id)
        return call if given is None else replace(call, args=given, invalid="")

    def _context(self, call: ToolCall) -> ToolContext:
        facts = self._journal.session.known
        keeper = self._setup.keeper
        is_nested = self._nested.parent_of(call.id) is not None

        def make(name: str, args: dict[str, Any]) -> Awaitable[ToolResult]:
            made = named_call(ToolCall(call.id, name, args), self._setup.dispatcher.deferred)
            return self._nested.call(call.id, made.name, made.args, self._perform)

        context = ToolContext(
            session=self._journal.id,
            cwd=self._setup.cwd,
            emit=lambda text: self._show(call.id, self._engine.mask(text)),
            call_id=call.id,
            rules=self._setup.rules_with(facts.granted),
            mode=self._setup.mode,
            seen=facts.seen,
            ask=lambda question: self._put(call.id, question),
            todos=facts.todos,
            sees_images=self._setup.backend.model.images,
            env=self._kit.env_of(call.id),
            tools=self._setup.dispatcher.functions,
            call=None if is_nested else make,
            snapshot=facts.snapshot,
            rewinds=facts.rewinds,
            children=self._kit.children,
            sample=lambda order: sample(self._kit, call.id, order),
        )
        return context if keeper is None else replace(context, keep=keeper.keep)

    def _show(self, call_id: CallId, text: str) -> None:
        self._printed[call_id] = (self._printed.get(call_id, "") + text)[-MAX_PRINTED_CHARS:]
        self._journal.show(ToolOutputDelta(call_id, text))

    # ------------------------------------------------------------------ running it

    def execute(self, call: ToolCall) -> list[Input]:
        """Announce a call and line it up, unless there are too many, or it means something else by now."""
        checked = self._judged.get(call.id)
        if checked is None:  # a link, a folder, a variable may have changed since it was prepared
            checked = self._check(call)
        if checked.action == "deny":
            return self.refuse(call, checked.why, denied=checked.denied)
        if checked.action == "ask" and call.id not in self._run.decided:
            return self.refuse(
                call, f"not run: after what came before it the user must be asked: {checked.why}; {_AGAIN}"
            )
        parent = self._nested.parent_of(call.id)
        if not self._kit.children.goes_on(call.id):  # else it has begun, and so has its sub-agent
            if level := self._kit.budget.reserve(Spend(tool_calls=1)):
                return self.refuse(call, f"not run: the limit of {level.limit:g} tool calls is reached")
            begun = ToolStarted(call.id, call.name, checked.call.args, checked.repeatable, parent)
            self._journal.stage(begun)
        if parent is None:
            self._kit.step(f"tool {call.name}", partial(self._perform, checked))
        else:
            self._kit.later(self._nested.clear(call.id, checked))
        return []

    async def _perform(self, checked: Checked) -> None:
        began_s = self._engine.clock.monotonic_s()
        call = checked.call
        outcome = await self._setup.dispatcher.run(call, self._context(call))
        output = outcome.output
        result, events = await self._screen(call, outcome.result)
        if output.answer and result != outcome.result:  # so it is not what hooks have let through
            output = replace(output, answer="" if result.is_error else result.output)
        changes: tuple[FileChange, ...] = ()
        if self._setup.keeper is not None and not checked.repeatable:
            try:
                changes = await self._collect(self._setup.keeper)
            except BridleError as error:
                text = f"{result.output}\n[what this changed cannot be undone: {error}]"
                result = replace(result, output=text)
        duration_ms = int((self._engine.clock.monotonic_s() - began_s) * 1000)
        [tokens] = await self._kit.backend.count(result.output)
        tokens += MESSAGE_FRAME_TOKENS
        self._kit.post(Finished(result, output, changes, duration_ms, tokens, events))

    async def _screen(self, call: ToolCall, result: ToolResult) -> tuple[ToolResult, tuple[HookEvent, ...]]:
        """Let hooks see a result and change it."""
        if not self._kit.hooks.listen_at("post_tool_execution"):
            return result, ()
        seen = ToolResultSeen(result.call_id, result.name, result.output, result.is_error)
        made = ToolCallSeen(call.id, call.name, call.args)
        asked = await self._kit.hooks.ask("post_tool_execution", tool_call=made, tool_result=seen)
        if (deny := asked.outcome.deny) is not None:
            withheld = ToolResult(result.call_id, result.name, refusal_for_model(deny), is_error=True)
            return withheld, asked.events
        for patch in asked.outcome.patches:
            if isinstance(patch, ToolResultPatch):
                is_error = result.is_error if patch.is_error is None else patch.is_error
                result = replace(result, output=patch.content, is_error=is_error)
        return result, asked.events

    async def stop(self) -> None:
        """Tell what calls have changed that were cut off; what takes long to find comes with the next run."""
        keeper = self._setup.keeper
        if keeper is None or all(call.repeatable for call in self._run.interrupted):
            return
        with suppress(BridleError, TimeoutError):
            async with asyncio.timeout(STOP_S):
                changes = await self._collect(keeper)
            self._kit.post(Left(changes))

    async def _collect(self, keeper: Keeper) -> tuple[FileChange, ...]:
        is_over = self._engine.is_at_rest(self._journal.id)
        return await asyncio.to_thread(keeper.collect, is_over=is_over)

    def close(self, reason: str) -> None:
        """Give each call that has no result at the end of the run one, with the last that it printed."""
        for closed in close_calls(self._run, begun=f"not finished: {reason}", not_begun=f"not run: {reason}"):
            result = closed.result
            if printed := self._printed.get(result.call_id, "").strip():
                result = replace(result, output=f"{result.output}; the last it had printed was:\n{printed}")
            tokens = estimate_message(Message("tool", (result,)))
            self._journal.stage(replace(closed, result=result, tokens=tokens))

    def record_changes(self, changes: Sequence[FileChange], call_id: CallId | None = None) -> None:
        """Record what was changed on disk, each change once."""
        new = [change for change in changes if change not in self._recorded]
        if new:
            self._recorded.update(new)
            self._journal.stage(*changed_files(new, call_id))
            self._kit.later(self._confirm())

    async def _confirm(self) -> None:
        assert self._setup.keeper is not None
        recorded = set(self._recorded)
        with suppress(BridleError):  # then they come again, and are known
            await asyncio.to_thread(self._setup.keeper.confirm)
            self._recorded -= recorded

    def finish(self, finished: Finished) -> Returned:
        """Record what a call gave back and what it changed."""
        call_id = finished.result.call_id
        self._journal.stage(*finished.events, *finished.output.notes)
        self.record_changes(finished.changes, call_id)
        self._printed.pop(call_id, None)
        self._settle(call_id)
        self._end(
            ToolFinished(
                finished.result,
                finished.duration_ms,
                finished.tokens,
                diff=finished.output.diff,
                answer=finished.output.answer,
            )
        )
        return Returned(finished.result)

    def abandon(self, abandoned: Abandoned) -> list[Input]:
        """Record that the code which made a call does not wait for it any more."""
        if self._nested.parent_of(abandoned.call.id) is None:
            return []  # it was over
        return self.refuse(abandoned.call, "not finished: the code that called it no longer waits")

    def refuse(self, call: ToolCall, reason: str, *, denied: bool = False) -> list[Input]:
        """Record that a call does not run, and why."""
        result = failed(call.id, call.name, reason).result
        tokens = estimate_message(Message("tool", (result,)))
        self._settle(call.id)
        self._end(ToolFinished(result, 0, tokens, denied))
        return [Returned(result)]

    def _end(self, finished: ToolFinished) -> None:
        parent = self._nested.parent_of(finished.result.call_id)
        if parent is not None:
            finished = replace(finished, parent=parent, answer="")
            self._kit.later(self._nested.end(finished.result))
        self._journal.stage(finished)

    def _settle(self, call_id: CallId) -> None:
        if call_id in self._run.started and not self._kit.children.goes_on(call_id):
            self._kit.budget.settle(Spend(tool_calls=1), Spend(tool_calls=1))

    # ------------------------------------------------------------------ questions of a tool

    async def _put(self, call_id: CallId, question: Question) -> tuple[str, ...]:
        """Ask the user and rest until there is an answer."""
        if (reply := self._replied.pop(call_id, None)) is not None:
            await self._journal.record_whole(QuestionAnswered(call_id, reply.answers))
            return reply.answers
        answered: asyncio.Future[tuple[str, ...]] = asyncio.get_running_loop().create_future()
        self._questions[call_id] = answered
        try:
            await self._journal.record_whole(QuestionAsked(call_id, question))
            return await answered
        finally:
            self._questions.pop(call_id, None)

    def reply(self, reply: Reply) -> None:
        """Record the first answer to a question; unknown calls and later answers are ignored."""
        if reply.call_id not in self._run.questions:
            return
        if reply.call_id in self._questions:
            self._journal.stage(QuestionAnswered(reply.call_id, reply.answers))
            self._kit.later(self._hand_over(reply))
        else:
            self._replied.setdefault(reply.call_id, reply)

    async def _hand_over(self, reply: Reply) -> None:
        answered = self._questions.get(reply.call_id)
        if answered is not None and not answered.done():
            answered.set_result(reply.answers)
