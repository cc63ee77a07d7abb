"""Open approvals and questions above the prompt, one at a time.

Three measures prevent accidental answers: the focus moves here only if the prompt is empty, keys work only
while a card has the focus, and a new card ignores keys for a moment.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from bridle.core.ids import CallId, SessionId
from bridle.core.protocol import ApprovalRequested, Decide, Reply
from bridle.surfaces.shared.text_format import short_id
from bridle.surfaces.shared.view_model.view_types import Head
from bridle.surfaces.tui.panels.approval_card import ApprovalCard
from bridle.surfaces.tui.panels.card import GUARD_S, Card, Waiting
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.notifications import report_errors
from bridle.surfaces.tui.panels.question_card import QuestionCard


class OpenRequests(Vertical):
    """Shows one open approval or question; hidden if there is none."""

    DEFAULT_CSS = """
    OpenRequests { height: auto; max-height: 70%; display: none; }
    """

    def __init__(self, host: PanelHost, *, guard_s: float = GUARD_S) -> None:
        """Ignore keys for `guard_s` seconds after a new card appears."""
        super().__init__()
        self.host = host
        self._guard_s = guard_s
        self._session: SessionId | None = None
        self._waiting: tuple[Waiting, ...] = ()
        self._shown: CallId | None = None
        self._answered: set[CallId] = set()
        """Answers sent, but not yet confirmed by the session."""
        self._names: dict[SessionId, str] = {}
        self._whole: FullScreenCard | None = None

    @property
    def is_waiting(self) -> bool:
        """True while an approval or question is open."""
        return bool(self._waiting)

    def show_head(self, head: Head | None) -> None:
        """Show the session's open approvals and questions; call it on every HeadChanged."""
        session = head.session if head is not None else None
        if session != self._session:
            self._session, self._answered, self._names = session, set(), {}
        asked: tuple[Waiting, ...] = (*head.approvals, *head.questions) if head is not None else ()
        self._answered &= {one.call_id for one in asked}
        self._show(asked)

    def take_focus(self) -> None:
        """Focus the current card, if there is one."""
        for card in self.query(Card):
            card.call_after_refresh(card.take_focus)

    # ------------------------------------------------------------------ display

    def _show(self, asked: tuple[Waiting, ...]) -> None:
        self._waiting = tuple(one for one in asked if one.call_id not in self._answered)
        ids = [one.call_id for one in self._waiting]
        if self._shown not in ids:
            self._put(self._waiting[0] if self._waiting else None)
        for card in self.query(Card):
            card.placed(self._place())

    def _put(self, asked: Waiting | None, *, focus: bool = False) -> None:
        """Replace the current card; None hides the panel."""
        had_focus = self.has_focus_within or self._whole is not None
        self._close_whole()
        self._shown = asked.call_id if asked is not None else None
        self.query(Card).remove()
        self.display = asked is not None
        if asked is None:
            if had_focus:
                self.host.focus_prompt()
            return
        card = self._card(asked)
        card.placed(self._place())
        self.mount(card)
        if focus or had_focus or not self.host.is_typing():
            card.call_after_refresh(card.take_focus)

    def _card(self, asked: Waiting, *, whole: bool = False) -> Card:
        who = self._who(asked)
        if isinstance(asked, ApprovalRequested):
            return ApprovalCard(self.host, asked, who, guard_s=self._guard_s, whole=whole)
        return QuestionCard(self.host, asked, who, guard_s=self._guard_s)

    def _place(self) -> str:
        ids = [one.call_id for one in self._waiting]
        return f"{ids.index(self._shown) + 1} of {len(ids)}" if len(ids) > 1 and self._shown in ids else ""

    def _who(self, asked: Waiting) -> str:
        """Return a label of the sub-agent that asks; its name is loaded later."""
        if asked.child is None:
            return ""
        if asked.child not in self._names:
            self._names[asked.child] = f"sub-agent {short_id(asked.child)}"
            self.run_worker(self._learn_names(), group="names", exclusive=True)
        return self._names[asked.child]

    async def _learn_names(self) -> None:
        session = self._session
        if session is None:
            return
        async with report_errors(self.app):
            for child in await self.host.views.children(session):
                self._names[child.id] = child.name
        current = next((one for one in self._waiting if one.call_id == self._shown), None)
        if current is not None and current.child is not None and session == self._session:
            for card in self._cards():
                card.named(self._names[current.child])

    def _cards(self) -> list[Card]:
        whole = list(self._whole.query(Card)) if self._whole is not None else []
        return [*self.query(Card), *whole]

    # ------------------------------------------------------------------ answers

    def on_card_answered(self, event: Card.Answered) -> None:
        """Send the answer to the session."""
        event.stop()
        self.answer(event.command)

    def answer(self, command: Decide | Reply) -> None:
        """Send the decision or reply to the session, once."""
        if self._session is not None and command.call_id not in self._answered:
            self._answered.add(command.call_id)
            asked = self._waiting
            self._show(asked)
            self.run_worker(self._send(self._session, command, asked))

    async def _send(self, session: SessionId, command: Decide | Reply, asked: tuple[Waiting, ...]) -> None:
        taken = False
        async with report_errors(self.app):
            await self.host.api.submit(session, command)
            taken = True
        if not taken and session == self._session and command.call_id in self._answered:
            self._answered.discard(command.call_id)
            gone = {one.call_id for one in asked} - {command.call_id} - {one.call_id for one in self._waiting}
            self._show(tuple(one for one in asked if one.call_id not in gone))

    def on_card_next_wanted(self, event: Card.NextWanted) -> None:
        """Show the next card."""
        event.stop()
        self.show_next()

    def show_next(self) -> None:
        """Show the next open approval or question."""
        ids = [one.call_id for one in self._waiting]
        if self._shown in ids and len(ids) > 1:
            self._put(self._waiting[(ids.index(self._shown) + 1) % len(ids)], focus=True)

    def on_card_left(self, event: Card.Left) -> None:
        """Return to the prompt."""
        event.stop()
        self.host.focus_prompt()

    def on_card_whole_wanted(self, event: Card.WholeWanted) -> None:
        """Show the approval on the full screen."""
        event.stop()
        asked = next((one for one in self._waiting if one.call_id == self._shown), None)
        if isinstance(asked, ApprovalRequested):
            card = self._card(asked, whole=True)
            card.placed(self._place())
            self._whole = FullScreenCard(self, card)
            self.app.push_screen(self._whole, self._whole_closed)

    def _whole_closed(self, _: None) -> None:
        self._whole = None
        self.take_focus()

    def _close_whole(self) -> None:
        if self._whole is not None and self._whole.is_current:
            self._whole.dismiss(None)
        self._whole = None


class FullScreenCard(ModalScreen[None]):
    """One approval on the full screen."""

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    FullScreenCard { background: $surface; LinesView { height: 1fr; } }
    """

    def __init__(self, asked: OpenRequests, card: Card) -> None:
        super().__init__()
        self._asked = asked
        self._card = card

    def compose(self) -> ComposeResult:
        """Show the card."""
        yield self._card

    def on_mount(self) -> None:
        """Focus the card."""
        self._card.take_focus()

    def on_card_answered(self, event: Card.Answered) -> None:
        """Pass the answer on; the screen then closes."""
        event.stop()
        self._asked.answer(event.command)

    def on_card_next_wanted(self, event: Card.NextWanted) -> None:
        """Show the next card."""
        event.stop()
        self._asked.show_next()

    def on_card_left(self, event: Card.Left) -> None:
        """Close the screen; the approval stays open."""
        event.stop()
        self.dismiss(None)

    def on_card_whole_wanted(self, event: Card.WholeWanted) -> None:
        """Close the screen; the approval stays open above the prompt."""
        event.stop()
        self.dismiss(None)
