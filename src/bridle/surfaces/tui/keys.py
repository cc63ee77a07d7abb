"""All key bindings of the terminal interface in one table; each widget uses the rows of its scope.

A widget sets `BINDINGS = bindings("conversation")` and has a method `action_<name>` for each row of that
scope. `[tui.keys]` in the settings assigns other keys to an action, by its name.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from textual.binding import Binding

from bridle.config.validation import nearest
from bridle.core.errors import ConfigError

Scope = Literal[
    "app",
    "prompt",
    "conversation",
    "approval",
    "question",
    "list",
    "sessions",
    "rewind",
    "queue",
    "diff",
    "dialog",
]

SCOPES: dict[Scope, str] = {
    "app": "everywhere",
    "prompt": "in the prompt",
    "conversation": "in the conversation",
    "approval": "when a call needs approval",
    "question": "when the model asks a question",
    "list": "in a list",
    "sessions": "in the list of sessions",
    "rewind": "when rewinding",
    "queue": "in the queue",
    "diff": "in a diff",
    "dialog": "in a text field",
}


Changed = Mapping[str, Sequence[str]]
"""The settings `[tui.keys]`: other keys for an action, by its name."""

_OVER_APP: frozenset[Scope] = frozenset({"prompt", "conversation", "approval", "question"})
_OVER_LIST: frozenset[Scope] = frozenset({"sessions", "rewind", "queue", "diff"})
_NO_KEY = "none"  # no terminal sends it
_SIGNS = {",": "comma"}  # a comma separates two keys
_WORDS = {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "slash": "/",
    "question_mark": "?",
    "underscore": "_",
    "comma": ",",
}


class KeyBinding(Struct, frozen=True):
    """An action, its keys and the scope where they work."""

    name: str
    keys: tuple[str, ...]
    scope: Scope
    help: str
    of: Literal["", "screen", "app", "command"] = ""
    """What handles the action if not the widget: the main screen, the app, or the command of this name."""
    always: bool = False
    """The key also works over a dialog, and before the focused widget sees it."""


KEYS: tuple[KeyBinding, ...] = (
    KeyBinding("help", ("f1",), "app", "show the keys and commands", of="command"),
    KeyBinding("sessions", ("f2",), "app", "list, search and open sessions", of="command"),
    KeyBinding("models", ("f3",), "app", "choose the model for the next prompts", of="command"),
    KeyBinding("agents", ("f4",), "app", "choose the agent for the next prompts", of="command"),
    KeyBinding("side", ("f5",), "app", "show or hide the sidebar"),
    KeyBinding("rewind", ("f6",), "app", "rewind to an earlier prompt", of="command"),
    KeyBinding("queue", ("f7",), "app", "show queued prompts", of="command"),
    KeyBinding("files", ("f8",), "app", "show changed files", of="command"),
    KeyBinding("usage", ("f9",), "app", "show tokens and cost", of="command"),
    KeyBinding("children", ("f10",), "app", "show sub-agents", of="command"),
    KeyBinding("palette", ("ctrl+p",), "app", "find a command by name", of="app"),
    KeyBinding("new_session", ("ctrl+n",), "app", "start a new session", of="app"),
    KeyBinding(
        "next_session", ("ctrl+pagedown", "alt+right"), "app", "switch to the next open session", of="app"
    ),
    KeyBinding(
        "previous_session",
        ("ctrl+pageup", "alt+left"),
        "app",
        "switch to the previous open session",
        of="app",
    ),
    KeyBinding("cycle_mode", ("shift+tab",), "app", "switch mode: ask, plan or accept edits", of="app"),
    KeyBinding("answer", ("ctrl+b",), "app", "go to the open question, and back"),
    KeyBinding("find", ("ctrl+f",), "app", "search the conversation"),
    KeyBinding(
        "interrupt",
        ("ctrl+c",),
        "app",
        "copy the selection, or cancel the run; twice to quit",
        always=True,
    ),
    KeyBinding("suspend", ("ctrl+z",), "app", "suspend to the shell (return with fg)", always=True),
    KeyBinding("leave", ("ctrl+q",), "app", "quit; runs in the daemon continue", always=True),
    KeyBinding("send", ("enter",), "prompt", "send, or queue while a run is active"),
    KeyBinding("steer", ("ctrl+s", "alt+enter"), "prompt", "send to the active run, at its next turn"),
    KeyBinding("new_line", ("shift+enter", "ctrl+j"), "prompt", "new line (or end a line with a backslash)"),
    KeyBinding("complete", ("tab",), "prompt", "accept the completion, or go to the conversation"),
    KeyBinding("edit", ("ctrl+g", "ctrl+o"), "prompt", "write the prompt in $EDITOR"),
    KeyBinding("cancel", ("escape",), "prompt", "close the completion; twice to cancel the run"),
    KeyBinding("earlier", ("up",), "prompt", "previous prompt (from the first line)"),
    KeyBinding("later", ("down",), "prompt", "next prompt (from the last line)"),
    KeyBinding("scroll_up", ("pageup",), "prompt", "scroll the conversation up", of="screen"),
    KeyBinding("scroll_down", ("pagedown",), "prompt", "scroll the conversation down", of="screen"),
    KeyBinding("scroll_first", ("ctrl+home",), "prompt", "go to the start of the conversation", of="screen"),
    KeyBinding("scroll_last", ("ctrl+end",), "prompt", "go to the end of the conversation", of="screen"),
    KeyBinding("undo", ("ctrl+underscore",), "prompt", "undo typing"),
    KeyBinding("line_up", ("up",), "conversation", "scroll up a line"),
    KeyBinding("line_down", ("down",), "conversation", "scroll down a line"),
    KeyBinding("page_up", ("pageup",), "conversation", "scroll up a page"),
    KeyBinding("page_down", ("pagedown", "space"), "conversation", "scroll down a page"),
    KeyBinding("go_home", ("home", "g"), "conversation", "go to the oldest loaded item"),
    KeyBinding("go_end", ("end", "G"), "conversation", "go to the end and follow it"),
    KeyBinding("item_up", ("k", "alt+up"), "conversation", "select the previous item"),
    KeyBinding("item_down", ("j", "alt+down"), "conversation", "select the next item"),
    KeyBinding("fold", ("enter",), "conversation", "open or fold the selected item"),
    KeyBinding("fold_all", ("o",), "conversation", "open or fold everything"),
    KeyBinding("copy_item", ("c",), "conversation", "copy the selected item"),
    KeyBinding("open_diff", ("d",), "conversation", "show the diff of the selected item"),
    KeyBinding("open_child", ("s",), "conversation", "go to the sub-agent of the selected item"),
    KeyBinding("fork_here", ("F",), "conversation", "fork the session after the selected item", of="screen"),
    KeyBinding("rewind_here", ("R",), "conversation", "rewind to before the selected item", of="screen"),
    KeyBinding("find_here", ("slash",), "conversation", "search", of="screen"),
    KeyBinding("next_match", ("n",), "conversation", "next match"),
    KeyBinding("previous_match", ("N",), "conversation", "previous match"),
    KeyBinding("help_here", ("question_mark",), "conversation", "show the keys and commands", of="screen"),
    KeyBinding("to_prompt", ("tab", "i", "escape"), "conversation", "return to the prompt", of="screen"),
    KeyBinding("approve_once", ("y",), "approval", "allow it once"),
    KeyBinding("approve_session", ("s",), "approval", "allow it for the rest of the session"),
    KeyBinding("approve_always", ("a",), "approval", "allow it always, in every project"),
    KeyBinding("deny", ("n",), "approval", "deny it, with an optional reason"),
    KeyBinding("stop", ("x",), "approval", "deny it and stop the run"),
    KeyBinding("edit_rule", ("e",), "approval", "edit the rule before allowing it"),
    KeyBinding("switch_diff", ("v",), "approval", "switch the diff: unified or side by side"),
    KeyBinding("full_screen", ("f",), "approval", "use the whole screen"),
    KeyBinding("next_approval", ("tab",), "approval", "next open question"),
    KeyBinding("leave_approval", ("escape",), "approval", "return to the prompt; the question stays open"),
    KeyBinding("pick", ("space",), "question", "select or deselect the choice"),
    KeyBinding("send_answer", ("enter",), "question", "answer with the selection"),
    KeyBinding("own_words", ("o",), "question", "answer in your own words"),
    KeyBinding("skip_question", ("x",), "question", "give no answer"),
    KeyBinding("next_question", ("tab",), "question", "next open question"),
    KeyBinding("leave_question", ("escape",), "question", "return to the prompt; the question stays open"),
    KeyBinding("mark_up", ("up",), "list", "previous line"),
    KeyBinding("mark_down", ("down",), "list", "next line"),
    KeyBinding("mark_page_up", ("pageup",), "list", "page up"),
    KeyBinding("mark_page_down", ("pagedown",), "list", "page down"),
    KeyBinding("choose", ("enter",), "list", "choose the selected line"),
    KeyBinding("search_list", ("slash",), "list", "search"),
    KeyBinding("close", ("escape",), "list", "close"),
    KeyBinding("new_here", ("n",), "sessions", "start a new session"),
    KeyBinding("rename", ("r",), "sessions", "rename it"),
    KeyBinding("fork", ("f",), "sessions", "fork it"),
    KeyBinding("archive", ("a",), "sessions", "archive or restore it"),
    KeyBinding("delete", ("d",), "sessions", "delete it permanently"),
    KeyBinding("rewind_it", ("b",), "sessions", "rewind it to an earlier prompt"),
    KeyBinding("folders", ("h",), "sessions", "show this folder or all folders"),
    KeyBinding("archived", ("z",), "sessions", "show or hide archived sessions"),
    KeyBinding("switch_scope", ("s",), "rewind", "choose files, conversation or both"),
    KeyBinding("go_back", ("g",), "rewind", "rewind"),
    KeyBinding("fork_instead", ("f",), "rewind", "fork the session there instead"),
    KeyBinding("edit_queued", ("e",), "queue", "edit it"),
    KeyBinding("drop_queued", ("d", "delete"), "queue", "remove it"),
    KeyBinding("steer_queued", ("s",), "queue", "send it to the active run"),
    KeyBinding("diff_style", ("v",), "diff", "switch the diff: unified or side by side"),
    KeyBinding("next_file", ("n",), "diff", "next file"),
    KeyBinding("previous_file", ("p",), "diff", "previous file"),
    KeyBinding("save", ("enter",), "dialog", "done"),
    KeyBinding("another_line", ("ctrl+j", "shift+enter"), "dialog", "new line"),
    KeyBinding("dismiss", ("escape",), "dialog", "cancel"),
)
"""In the order of the help screen."""


def bindings(scope: Scope) -> list[Binding]:
    """Return the bindings of a scope; their ids are the action names used in the settings."""
    return [
        Binding(",".join(row.keys), _action(row), row.help, show=False, id=row.name, priority=row.always)
        for row in KEYS
        if row.scope == scope
    ]


def _action(row: KeyBinding) -> str:
    match row.of:
        case "command":
            return f"screen.command('{row.name}')"
        case "screen" | "app":
            return f"{row.of}.{row.name}"
        case "":
            return row.name


def keymap(changed: Changed) -> dict[str, str]:
    """Convert `[tui.keys]` to Textual's keymap; raises ConfigError for unknown actions and clashes."""
    names = [row.name for row in KEYS]
    for name in changed:
        if name not in names:
            near = nearest(name, names)
            raise ConfigError(
                f"tui.keys.{name}: unknown action",
                hint=f"did you mean {near}" if near else "F1 in bridle lists all actions",
            )
    _check_clashes(changed)
    return {name: ",".join(keys_of(name, changed)) or _NO_KEY for name in changed}


def keys_of(name: str, changed: Changed) -> tuple[str, ...]:
    """Return an action's keys, as Textual names them."""
    keys = changed.get(name)
    if keys is None:
        return next(row.keys for row in KEYS if row.name == name)
    return tuple(_SIGNS.get(key, key) for key in keys)


def format_keys(name: str, changed: Changed) -> str:
    """Return an action's keys as text: `Ctrl+S or Alt+Enter`."""
    return " or ".join(_words(key) for key in keys_of(name, changed))


def _words(key: str) -> str:
    *modifiers, last = key.split("+")
    if len(last) == 1:
        last = last.upper() if modifiers else last
    else:
        last = _WORDS.get(last, last.capitalize())
    return "+".join([*(modifier.capitalize() for modifier in modifiers), last])


def _check_clashes(changed: Changed) -> None:
    for name in changed:
        row = next(row for row in KEYS if row.name == name)
        for other in KEYS:
            if other is row or not _meet(row, other):
                continue
            both = set(keys_of(name, changed)) & set(keys_of(other.name, changed))
            if both:
                raise ConfigError(
                    f"tui.keys.{name}: {_words(min(both))} is the key of {other.name} ({other.help})",
                    hint=f"give {other.name} another key",
                )


def _meet(one: KeyBinding, other: KeyBinding) -> bool:
    """Return True if one key press could mean both actions."""
    if one.always or other.always or one.scope == other.scope:
        return True
    scopes = {one.scope, other.scope}
    return ("app" in scopes and bool(scopes & _OVER_APP)) or ("list" in scopes and bool(scopes & _OVER_LIST))
