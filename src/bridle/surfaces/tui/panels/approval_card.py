"""The card that asks the user to approve a tool call."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, Static

from bridle.core.errors import ConfigError
from bridle.core.permission import SHELL_TOOL, parse_rule
from bridle.core.protocol import Answer, ApprovalRequested, Decide
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import code_of, describe_args, format_reason
from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.card import GUARD_S, Card
from bridle.surfaces.tui.panels.dialogs import LongTextDialog
from bridle.surfaces.tui.panels.host import DiffStyle, PanelHost
from bridle.surfaces.tui.panels.lines_view import LinesView, brief, shorten_line
from bridle.surfaces.tui.panels.notifications import format_footer
from bridle.surfaces.tui.panels.preview import MIN_WIDTH_FOR_TWO, approval_preview
from bridle.surfaces.tui.panels.styles import styled

STOPPED = "stopped by the user"
WHY_NOT = "why not? Enter to give no reason, Esc to choose another answer"
ROWS_BESIDE = 8
"""Rows of a card besides its preview: borders, title, reason, rules, keys."""

LASTING: tuple[tuple[str, str], ...] = (
    ("approve_session", "for this session"),
    ("approve_always", "always, in every project"),
)
"""Answers that add rules; offered only if the request suggests rules."""
FOOT: tuple[tuple[str, str], ...] = (
    ("deny", "no"),
    ("stop", "stop the run"),
    ("edit_rule", "edit the rule"),
    ("full_screen", "full screen"),
)


class ApprovalCard(Card):
    """Shows the call, its origin and reason, and what it would do; one key answers."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("approval")]

    def __init__(
        self,
        host: PanelHost,
        request: ApprovalRequested,
        who: str = "",
        *,
        guard_s: float = GUARD_S,
        whole: bool = False,
    ) -> None:
        super().__init__(host, guard_s=guard_s, whole=whole)
        self.request = request
        self.rules = request.suggestions
        """The rules that "session" and "always" add."""
        self._who = who
        self._style: DiffStyle = host.diff_style
        self._shown: DiffStyle | None = None

    def compose(self) -> ComposeResult:
        """Place the preview between the request and the possible answers."""
        yield Static(classes="title")
        yield Static(classes="why")
        yield LinesView()
        yield Static(classes="rules")
        yield Static(classes="foot")

    def on_mount(self) -> None:
        """Fill in all texts."""
        self.write_title()
        self._write_why()
        self._write_rules()

    def on_resize(self) -> None:
        """Fit the preview to the new size."""
        self._write_preview()

    def take_focus(self) -> None:
        """Focus the preview: it scrolls, and the card handles its keys."""
        for part in (*self.query(LinesView), *self.query(Input)):  # the last one keeps the focus
            part.focus()

    def named(self, who: str) -> None:
        """Show which sub-agent asks, once its name is loaded."""
        self._who = who
        self._write_why()

    # ------------------------------------------------------------------ display

    def write_title(self) -> None:
        """Show the call in the title."""
        request = self.request
        is_shown = code_of(request.tool, request.args) or (request.tool == SHELL_TOOL and request.preview)
        about = "" if is_shown else brief(describe_args(request.args))
        place = f"? {self.place} · " if self.place else "? "
        title = styled(("warning", place), ("strong", brief(request.tool)), " ", ("name", about))
        self.write("title", title)

    def _write_why(self) -> None:
        source = one_line(self._who) or ("Python code" if self.request.parent is not None else "")
        self.write("why", styled(format_reason(one_line(self.request.why), source)))

    def _write_rules(self) -> None:
        rules = Content(", ").join(styled(("name", one_line(shorten_line(rule)))) for rule in self.rules)
        keys = " / ".join(self.host.key_text(name) for name, _ in LASTING)
        line = self.query_one(".rules", Static)
        line.display = bool(self.rules)
        line.update(styled(f"{keys} allow ", rules))
        once = ("approve_once", "yes")
        session = ("approve_session", "for this sub-agent" if self.request.child else "for this session")
        lasting = (session, LASTING[1]) if self.rules else ()
        self.write("foot", format_footer(self.host, (once, *lasting, *FOOT)))

    def _write_preview(self) -> None:
        view = self.query_one(LinesView)
        style: DiffStyle = self._style if self.size.width >= MIN_WIDTH_FOR_TWO else "unified"
        if style != self._shown:
            self._shown = style
            view.show_lines(approval_preview(self.request, style))
        if not self.whole:
            room = max(1, self.screen.size.height // 2 - ROWS_BESIDE // 2)
            view.styles.height = min(room, view.rows_at(max(1, self.size.width)))

    # ------------------------------------------------------------------ answers

    def _answer(self, answer: Answer, reason: str = "") -> None:
        rules = (
            self.rules if answer in ("session", "always") and self.rules != self.request.suggestions else ()
        )
        self.post_message(self.Answered(Decide(self.request.call_id, answer, reason, rules)))

    def action_approve_once(self) -> None:
        """Allow the call once."""
        self._answer("once")

    def action_approve_session(self) -> None:
        """Allow the call and whatever the rules match, for the rest of the session."""
        if self.rules:
            self._answer("session")

    def action_approve_always(self) -> None:
        """Allow the call and whatever the rules match, permanently."""
        if self.rules:
            self._answer("always")

    def action_stop(self) -> None:
        """Deny the call and stop the run."""
        self._answer("stop", STOPPED)

    def action_deny(self) -> None:
        """Deny the call; ask for an optional reason first."""
        if not self.query(Input):
            self.mount(Input(placeholder=WHY_NOT, compact=True))
            self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Deny the call with the entered reason."""
        event.stop()
        self._answer("deny", event.value.strip())

    def action_edit_rule(self) -> None:
        """Edit the rules that "session" and "always" add."""
        words = "what to allow from now on, one rule per line: tool, or tool(pattern)"
        dialog = LongTextDialog(self.host, words, "\n".join(self.rules), check=_wrong_with_rules)
        self.app.push_screen(dialog, self._take_rules)

    def _take_rules(self, text: str | None) -> None:
        if text is not None and self.is_mounted:
            self.rules = tuple(_rules_in(text))
            self._write_rules()
            self.take_focus()

    # ------------------------------------------------------------------ view

    def action_switch_diff(self) -> None:
        """Switch between a unified and a side-by-side diff."""
        self._style = "unified" if self._style == "side-by-side" else "side-by-side"
        self._write_preview()

    def action_full_screen(self) -> None:
        """Switch full screen on or off."""
        self.post_message(self.WholeWanted())

    def action_next_approval(self) -> None:
        """Go to the next open approval or question."""
        self.post_message(self.NextWanted())

    def action_leave_approval(self) -> None:
        """Close the reason field, or return to the prompt."""
        fields = self.query(Input)
        if fields:
            fields.remove()
            self.query_one(LinesView).focus()
        else:
            self.post_message(self.Left())


def _rules_in(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _wrong_with_rules(text: str) -> str:
    """Return why these rules are invalid; empty if they are valid."""
    rules = _rules_in(text)
    if not rules:
        return "enter at least one rule"
    for rule in rules:
        try:
            parse_rule("allow", rule)
        except ConfigError as error:
            return f"{error.message}{f' (hint: {error.hint})' if error.hint else ''}"
    return ""
