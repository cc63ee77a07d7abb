"""The card that shows a question from the model."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from bridle.core.protocol import QuestionAsked, Reply
from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.card import GUARD_S, Card
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.lines_view import LinesView, brief
from bridle.surfaces.tui.panels.notifications import format_footer
from bridle.surfaces.tui.panels.preview import text_lines
from bridle.surfaces.tui.panels.styles import styled

MAX_CHOICES = 100
MAX_TEXT_ROWS = 8


class QuestionCard(Card):
    """Shows the model's question and its suggested answers; the user can always type another answer."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("question")]
    DEFAULT_CSS = """
    QuestionCard {
        OptionList, OptionList:focus {
            height: auto; max-height: 8; border: none; padding: 0;
            background: $background; background-tint: $foreground 0%;
            & > .option-list--option-highlighted {
                background: $primary 30%; color: $foreground; text-style: bold;
            }
        }
    }
    """

    def __init__(
        self, host: PanelHost, asked: QuestionAsked, who: str = "", *, guard_s: float = GUARD_S
    ) -> None:
        super().__init__(host, guard_s=guard_s)
        self.asked = asked
        self._who = who
        self._choices = asked.question.choices[:MAX_CHOICES]
        self._picked: set[int] = set()

    def compose(self) -> ComposeResult:
        """Place the choices below the question."""
        yield Static(classes="title")
        yield LinesView(text_lines(self.asked.question.text.strip()))
        if self._choices:
            yield OptionList(*map(Option, self._labels()), markup=False)
        yield Input(placeholder="your own words (Enter to send)", compact=True)
        yield Static(classes="foot")

    def on_mount(self) -> None:
        """Fill in the title and the keys."""
        self.write_title()
        send = ("send_answer", "answer")
        pick = (("pick", "choose"), send) if self.asked.question.several else (send,)
        own = (("own_words", "own words"),)
        chosen = (*pick, *own) if self._choices else (send,)
        foot = (*chosen, ("skip_question", "no answer"), ("leave_question", "to the prompt"))
        self.write("foot", format_footer(self.host, foot))
        if self._choices:
            self.query_one(Input).display = False
            self.query_one(OptionList).highlighted = 0

    def on_resize(self) -> None:
        """Set the height that the question needs."""
        view = self.query_one(LinesView)
        view.styles.height = min(MAX_TEXT_ROWS, view.rows_at(max(1, self.size.width)))

    def take_focus(self) -> None:
        """Focus the choices, or the input if there are none."""
        for part in self.query(OptionList if self._choices else Input):
            part.focus()

    def named(self, who: str) -> None:
        """Show which sub-agent asks, once its name is loaded."""
        self._who = who
        self.write_title()

    def write_title(self) -> None:
        """Name the sub-agent that asks, or the model."""
        who = brief(self._who) or "the model"
        place = f"? {self.place} · " if self.place else "? "
        self.write("title", styled(("warning", place), ("strong", f"{who} asks")))

    def _labels(self) -> list[Content]:
        several = self.asked.question.several
        marks = [
            ("[x] " if at in self._picked else "[ ] ") if several else "" for at in range(len(self._choices))
        ]
        return [
            styled(("name", f"{at + 1} "), marks[at], brief(choice))
            for at, choice in enumerate(self._choices)
        ]

    def _answer(self, *answers: str) -> None:
        self.post_message(self.Answered(Reply(self.asked.call_id, answers)))

    # ------------------------------------------------------------------ keys

    def on_key(self, event: events.Key) -> None:
        """Pick the choice with the pressed number."""
        if event.time < self._hears_at or not event.key.isdecimal() or self.query_one(Input).has_focus:
            return  # too early, or not a number
        at = int(event.key) - 1
        if 0 <= at < len(self._choices):
            event.stop()
            self._picked ^= {at}
            if self.asked.question.several:
                self._relabel()
            else:
                self._answer(self._choices[at])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the picked choices, or with the selected one if none is picked."""
        event.stop()
        picked = sorted(self._picked) or [event.option_index]
        self._answer(*(self._choices[at] for at in picked))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the typed text; ignore an empty one."""
        event.stop()
        if event.value.strip():
            self._answer(event.value.strip())

    def action_pick(self) -> None:
        """Pick or unpick the selected choice."""
        options = self.query_one(OptionList) if self._choices else None
        if options is None or options.highlighted is None or not self.asked.question.several:
            return
        self._picked ^= {options.highlighted}
        self._relabel()

    def _relabel(self) -> None:
        for at, label in enumerate(self._labels()):
            self.query_one(OptionList).replace_option_prompt_at_index(at, label)

    def action_send_answer(self) -> None:
        """Do nothing: the focused widget handles Enter; this gives the key its entry in the help."""

    def action_own_words(self) -> None:
        """Show the input for a typed answer."""
        self.query_one(Input).display = True
        self.query_one(Input).focus()

    def action_skip_question(self) -> None:
        """Send no answer."""
        self._answer()

    def action_next_question(self) -> None:
        """Go to the next open approval or question."""
        self.post_message(self.NextWanted())

    def action_leave_question(self) -> None:
        """Leave the input, or return to the prompt."""
        field = self.query_one(Input)
        if not field.has_focus:
            self.post_message(self.Left())
        elif self._choices:
            field.display = False
            self.query_one(OptionList).focus()
        else:
            self.query_one(LinesView).focus()
