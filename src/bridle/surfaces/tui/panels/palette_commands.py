"""The commands of the palette: one table of names, help texts and functions.

Each command imports its screen when it runs, so that the first frame does not wait for the imports.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct
from textual.app import SystemCommand
from textual.screen import Screen

from bridle.core.ids import SessionId
from bridle.core.protocol import Archive, Cancel, Compact, Delete, Pin, Rename, Resume
from bridle.surfaces.shared.session_calls import fork_session
from bridle.surfaces.shared.view_model.view_types import Head
from bridle.surfaces.tui.keys import KEYS, KeyBinding
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.notifications import notify, report_errors, submit

Run = Callable[[PanelHost], None]


class PaletteCommand(Struct, frozen=True):
    """A command that the user can run from the palette, as `/name`, and sometimes by a key."""

    name: str
    help: str
    run: Run


def run_command(host: PanelHost, name: str) -> None:
    """Run the command of this name; keys call this too."""
    COMMANDS[name].run(host)


def system_commands(host: PanelHost) -> Iterable[SystemCommand]:
    """Yield all commands for Textual's palette (`App.get_system_commands`)."""
    for command in COMMANDS.values():
        keys = host.key_text(command.name) if command.name in _KEYED else ""
        yield SystemCommand(
            command.name.replace("_", " "),
            f"{command.help} ({keys})" if keys else command.help,
            lambda name=command.name: run_command(host, name),
        )


# ---------------------------------------------------------------------------- screens


def _push(host: PanelHost, screen: Screen[None]) -> None:
    host.app.push_screen(screen)


def _here(use: Callable[[PanelHost, Head], None]) -> Run:
    """Return a command that runs `use` with the current session, or reports that there is none."""

    def run(host: PanelHost) -> None:
        head = host.head
        if head is None:
            notify(host.app, "no session yet: write a prompt first", failed=True)
        else:
            use(host, head)

    return run


def _sessions(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.sessions import SessionsScreen

    _push(host, SessionsScreen(host))


def _models(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.pickers import ModelsScreen

    _push(host, ModelsScreen(host))


def _agents(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.pickers import AgentsScreen

    _push(host, AgentsScreen(host))


def _mode(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.pickers import ModesScreen

    _push(host, ModesScreen(host))


def _effort(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.pickers import EffortScreen

    _push(host, EffortScreen(host))


def _theme(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.pickers import ThemesScreen

    _push(host, ThemesScreen(host))


def _pins(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.pickers import PinsScreen

    _push(host, PinsScreen(host))


def _queue(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.queue import QueueScreen

    _push(host, QueueScreen(host))


def _rewind(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.rewind import RewindScreen

    _push(host, RewindScreen(host, head.session))


def _children(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.pickers import ChildrenScreen

    _push(host, ChildrenScreen(host, head.session))


def _files(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.pickers import FilesScreen

    _push(host, FilesScreen(host, head.session))


def _todos(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.windows import TodosWindow

    _push(host, TodosWindow(host, head))


def _context(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.windows import ContextWindow

    _push(host, ContextWindow(host, head))


def _usage(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.windows import UsageWindow

    _push(host, UsageWindow(host, head))


def _servers(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.windows import ServersWindow

    _push(host, ServersWindow(host, host.cwd))


def _doctor(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.windows import DoctorWindow

    _push(host, DoctorWindow(host, host.cwd))


def _help(host: PanelHost) -> None:
    from bridle.surfaces.tui.panels.windows import HelpWindow

    commands = [(command.name, command.help) for command in COMMANDS.values()]
    _push(host, HelpWindow(host, commands))


# ---------------------------------------------------------------------------- actions


def _export(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.dialogs import export_session

    export_session(host, head.session)


def _copy(host: PanelHost) -> None:
    if answer := host.last_answer():
        host.app.copy_to_clipboard(answer)
        notify(host.app, "copied the last answer")
    else:
        notify(host.app, "no answer yet", failed=True)


def _switch_diff(host: PanelHost) -> None:
    style = "unified" if host.diff_style == "side-by-side" else "side-by-side"
    host.choose_diff_style("unified" if style == "unified" else "side-by-side")
    notify(host.app, f"diffs are shown {style.replace('-', ' ')} where there is room")


def _compact(host: PanelHost, head: Head) -> None:
    _ask(
        host,
        "replace old messages with a summary; what must it keep? (Enter: nothing special)",
        lambda words: _submit(host, head.session, Compact(words.strip()), "compacting the conversation"),
    )


def _pin(host: PanelHost, head: Head) -> None:
    _ask(
        host,
        "a text to keep verbatim through every compaction",
        lambda words: _submit(host, head.session, Pin(words.strip()), "pinned") if words.strip() else None,
    )


def _rename(host: PanelHost, head: Head) -> None:
    _ask(
        host,
        "title of the session",
        lambda title: (
            _submit(host, head.session, Rename(title.strip()), "renamed") if title.strip() else None
        ),
        head.title,
    )


def _new_in(host: PanelHost) -> None:
    _ask(host, "folder of the new session", lambda path: host.new_session(path.strip()), host.cwd)


def _archive(host: PanelHost, head: Head) -> None:
    done = "restored" if head.archived else "archived"
    _submit(host, head.session, Archive(not head.archived), done)


def _cancel(host: PanelHost, head: Head) -> None:
    _submit(host, head.session, Cancel("cancelled by the user"), "cancelling the run")


def _resume(host: PanelHost, head: Head) -> None:
    _submit(host, head.session, Resume(), "the run continues")


def _fork(host: PanelHost, head: Head) -> None:
    host.app.run_worker(_forked(host, head.session))


async def _forked(host: PanelHost, session: SessionId) -> None:
    async with report_errors(host.app):
        host.open_session(await fork_session(host.api, session))


def _delete(host: PanelHost, head: Head) -> None:
    from bridle.surfaces.tui.panels.dialogs import Confirm

    def answered(answer: str | None) -> None:
        if answer is not None:
            host.app.run_worker(_deleted(host, head.session))

    host.app.push_screen(Confirm("permanently delete this session? This cannot be undone."), answered)


async def _deleted(host: PanelHost, session: SessionId) -> None:
    async with report_errors(host.app):
        await host.api.submit(session, Delete())
        host.session_gone(session)


def _ask(host: PanelHost, words: str, use: Callable[[str], None], value: str = "") -> None:
    from bridle.surfaces.tui.panels.dialogs import TextDialog

    host.app.push_screen(TextDialog(words, value), lambda text: use(text) if text is not None else None)


def _submit(
    host: PanelHost,
    session: SessionId,
    command: Rename | Archive | Compact | Pin | Cancel | Resume,
    done: str,
) -> None:
    host.app.run_worker(submit(host, session, command, done))


# ---------------------------------------------------------------------------- table


def _action(row: KeyBinding) -> Run:
    """Return a command that runs the action of an app key."""
    name = f"{row.of}.{row.name}" if row.of in ("app", "screen") else f"screen.{row.name}"

    def run(host: PanelHost) -> None:
        host.app.call_later(host.app.run_action, name)

    return run


_TABLE: tuple[tuple[str, str, Run], ...] = (
    ("sessions", "list, search, open and manage sessions", _sessions),
    ("new", "start a new session here", lambda host: host.new_session()),
    ("new_in", "start a new session in another folder", _new_in),
    ("models", "choose the model for the next prompts", _models),
    ("effort", "choose how much the model reasons", _effort),
    ("agents", "choose the agent for the next prompts", _agents),
    ("mode", "choose what needs approval: ask, plan, accept-edits, yolo", _mode),
    ("queue", "edit, remove or send queued prompts", _here(_queue)),
    ("todos", "show the to-do list", _here(_todos)),
    ("context", "show what fills the context window, and what is sent next", _here(_context)),
    ("usage", "show tokens and cost by run, model, agent and tool", _here(_usage)),
    ("files", "list changed files and show their diffs", _here(_files)),
    ("children", "list sub-agents and open one", _here(_children)),
    ("servers", "show the state of MCP and language servers", _servers),
    ("rewind", "rewind to before a prompt, or undo a rewind", _here(_rewind)),
    ("fork", "continue in a copy of this session", _here(_fork)),
    ("rename", "rename this session", _here(_rename)),
    ("archive", "archive or restore this session", _here(_archive)),
    ("delete", "permanently delete this session", _here(_delete)),
    ("compact", "replace old messages with a summary", _here(_compact)),
    ("pin", "keep a text verbatim", _here(_pin)),
    ("pins", "list and remove pinned texts", _here(_pins)),
    ("export", "export this session to a file: .md, .json or .html", _here(_export)),
    ("copy", "copy the last answer", _copy),
    ("stop_run", "cancel the active run", _here(_cancel)),
    ("resume", "resume an interrupted run", _here(_resume)),
    ("theme", "choose a theme", _theme),
    ("diff_style", "show diffs in one column or in two", _switch_diff),
    ("web", "open the web page", lambda host: host.open_web()),
    ("doctor", "check for problems", _doctor),
    ("help", "show all keys and commands", _help),
)
_OWN = frozenset(name for name, _, _ in _TABLE)
_APP_KEYS = tuple(row for row in KEYS if row.scope == "app" and row.name != "palette")
_KEYED = frozenset(row.name for row in _APP_KEYS)

COMMANDS: dict[str, PaletteCommand] = {
    name: PaletteCommand(name, words, run)
    for name, words, run in (
        *_TABLE,
        *((row.name, row.help, _action(row)) for row in _APP_KEYS if row.name not in _OWN),
    )
}
"""By name: the commands of the table, and the other actions of app keys."""
