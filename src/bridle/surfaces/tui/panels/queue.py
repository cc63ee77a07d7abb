"""The queue window: edit or remove a queued prompt, or send it into the active run."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from bridle.core.messages import Message, Text
from bridle.core.protocol import DropQueued, EditQueued, QueuedPrompt
from bridle.surfaces.shared.view_model.view_types import Head
from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.dialogs import LongTextDialog
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.lines_view import brief
from bridle.surfaces.tui.panels.list_screen import ListScreen, Row
from bridle.surfaces.tui.panels.notifications import notify, report_errors
from bridle.surfaces.tui.panels.styles import styled

DELIVERIES = {"steer": "at the next turn", "queue": "after the run"}


class QueueScreen(ListScreen):
    """Lists the queued prompts of the current session, in order of delivery."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("queue")]
    heading = "queued prompts"
    nothing = "the queue is empty"
    choose_label = "change"
    actions = (("drop_queued", "remove"), ("steer_queued", "send to the run"))

    def __init__(self, host: PanelHost) -> None:
        super().__init__(host)
        self._shown_queue: tuple[QueuedPrompt, ...] = ()

    async def load(self) -> Sequence[Row]:
        """Return the current queue."""
        self._shown_queue = self.host.head.queue if self.host.head is not None else ()
        return [_row(one) for one in self._shown_queue]

    def show_head(self, head: Head | None) -> None:
        """Reload if the queue changed."""
        queue = head.queue if head is not None else ()
        if queue != self._shown_queue:
            self.reload()

    def chosen(self, row: Row) -> None:
        """Edit the prompt."""
        self.action_edit_queued()

    def _marked_prompt(self) -> QueuedPrompt | None:
        row, head = self.marked, self.host.head
        if row is None or head is None:
            return None
        return next((one for one in head.queue if one.item_id == row.key), None)

    def action_edit_queued(self) -> None:
        """Edit the selected prompt."""
        if queued := self._marked_prompt():
            dialog = LongTextDialog(self.host, "edit the prompt", queued.message.text, check=check_prompt)
            self.app.push_screen(dialog, lambda text: self._edited(queued, text))

    def _edited(self, queued: QueuedPrompt, text: str | None) -> None:
        if text is not None and text != queued.message.text:
            attached = (part for part in queued.message.parts if not isinstance(part, Text))
            self._send(EditQueued(queued.item_id, Message("user", (Text(text), *attached))))

    def action_drop_queued(self) -> None:
        """Remove the selected prompt."""
        if queued := self._marked_prompt():
            self._send(DropQueued(queued.item_id))

    def action_steer_queued(self) -> None:
        """Send the selected prompt into the active run."""
        if queued := self._marked_prompt():
            if self.host.head is None or self.host.head.run is None:
                notify(self.app, "no run is active", failed=True)
                return
            if queued.delivery == "steer":
                notify(self.app, "the run already gets it at its next turn")
                return
            self._send(EditQueued(queued.item_id, queued.message, "steer"))

    def _send(self, command: EditQueued | DropQueued) -> None:
        self.run_worker(self._submit(command), group="tell")

    async def _submit(self, command: EditQueued | DropQueued) -> None:
        head = self.host.head
        if head is None:
            return
        async with report_errors(self.app):
            await self.host.api.submit(head.session, command)
        self.reload()


def check_prompt(text: str) -> str:
    """Return why this is not a prompt; empty if it is one."""
    return "" if text.strip() else "the prompt is empty"


def _row(queued: QueuedPrompt) -> Row:
    words = brief(queued.message.text)
    source = f" from a {queued.source}" if queued.source is not None else ""
    extra = len(queued.message.parts) - 1
    label = styled(
        ("name", f"{DELIVERIES[queued.delivery]:<17}"),
        words,
        ("detail", f"{source}{f' and {extra} attached' if extra > 0 else ''}"),
    )
    return Row(queued.item_id, label, words)
