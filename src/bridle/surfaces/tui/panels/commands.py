"""The commands of the palette: one table of names, help texts and functions.

Each command imports its screen when it runs, so that the first frame does not wait for the imports.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct
from textual.app import SystemCommand
from textual.screen import Screen

from bridle.core.ids import SessionId
from bridle.core.protocol import Archive, Cancel, Compact, Pin, Rename, Resume
from bridle.surfaces.board.values import Head
from bridle.surfaces.tui.keys import KEYS, Key
from bridle.surfaces.tui.panels.hands import Hands
from bridle.surfaces.tui.panels.telling import submit, tell, telling

Run = Callable[[Hands], None]


class PaletteCommand(Struct, frozen=True):
    """A command that the user can run from the palette, as `/name`, and sometimes by a key."""

    name: str
    help: str
    run: Run


def run_command(hands: Hands, name: str) -> None:
    """Run the command of this name; keys call this too."""
    COMMANDS[name].run(hands)


def system_commands(hands: Hands) -> Iterable[SystemCommand]:
    """Yield all commands for Textual's palette (`App.get_system_commands`)."""
    for command in COMMANDS.values():
        keys = hands.key_words(command.name) if command.name in _KEYED else ""
        yield SystemCommand(
            command.name.replace("_", " "),
            f"{command.help} ({keys})" if keys else command.help,
            lambda name=command.name: run_command(hands, name),
        )


# ---------------------------------------------------------------------------- screens


def _push(hands: Hands, screen: Screen[None]) -> None:
    hands.app.push_screen(screen)


def _here(use: Callable[[Hands, Head], None]) -> Run:
    """Return a command that runs `use` with the current session, or reports that there is none."""

    def run(hands: Hands) -> None:
        head = hands.head
        if head is None:
            tell(hands.app, "there is no session yet: write a prompt", failed=True)
        else:
            use(hands, head)

    return run


def _sessions(hands: Hands) -> None:
    from bridle.surfaces.tui.panels.sessions import SessionsScreen

    _push(hands, SessionsScreen(hands))


def _models(hands: Hands) -> None:
    from bridle.surfaces.tui.panels.choosing import ModelsScreen

    _push(hands, ModelsScreen(hands))


def _agents(hands: Hands) -> None:
    from bridle.surfaces.tui.panels.choosing import AgentsScreen

    _push(hands, AgentsScreen(hands))


def _mode(hands: Hands) -> None:
    from bridle.surfaces.tui.panels.choosing import ModesScreen

    _push(hands, ModesScreen(hands))


def _theme(hands: Hands) -> None:
    from bridle.surfaces.tui.panels.choosing import ThemesScreen

    _push(hands, ThemesScreen(hands))


def _pins(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.choosing import PinsScreen

    _push(hands, PinsScreen(hands))


def _queue(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.queue import QueueScreen

    _push(hands, QueueScreen(hands))


def _rewind(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.rewind import RewindScreen

    _push(hands, RewindScreen(hands, head.session))


def _children(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.below import ChildrenScreen

    _push(hands, ChildrenScreen(hands, head.session))


def _files(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.below import FilesScreen

    _push(hands, FilesScreen(hands, head.session))


def _todos(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.windows import TodosWindow

    _push(hands, TodosWindow(hands, head))


def _context(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.windows import ContextWindow

    _push(hands, ContextWindow(hands, head))


def _usage(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.windows import UsageWindow

    _push(hands, UsageWindow(hands, head))


def _servers(hands: Hands) -> None:
    from bridle.surfaces.tui.panels.windows import ServersWindow

    _push(hands, ServersWindow(hands, hands.cwd))


def _doctor(hands: Hands) -> None:
    from bridle.surfaces.tui.panels.windows import DoctorWindow

    _push(hands, DoctorWindow(hands, hands.cwd))


def _help(hands: Hands) -> None:
    from bridle.surfaces.tui.panels.help import HelpWindow

    commands = [(command.name, command.help) for command in COMMANDS.values()]
    _push(hands, HelpWindow(hands, commands))


# ---------------------------------------------------------------------------- actions


def _export(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.exporting import ask_for_export

    ask_for_export(hands, head.session)


def _copy(hands: Hands) -> None:
    if answer := hands.last_answer():
        hands.app.copy_to_clipboard(answer)
        tell(hands.app, "the last answer is copied")
    else:
        tell(hands.app, "there is no answer yet", failed=True)


def _switch_diff(hands: Hands) -> None:
    style = "unified" if hands.diff_style == "side-by-side" else "side-by-side"
    hands.choose_diff_style("unified" if style == "unified" else "side-by-side")
    tell(hands.app, f"diffs are shown {style.replace('-', ' ')} where there is room")


def _compact(hands: Hands, head: Head) -> None:
    _ask(
        hands,
        "put a summary in the place of what was said; what must it keep? (Enter: nothing special)",
        lambda words: _submit(hands, head.session, Compact(words.strip()), "the conversation is summed up"),
    )


def _pin(hands: Hands, head: Head) -> None:
    _ask(
        hands,
        "a text to keep word for word, whatever is summed up",
        lambda words: _submit(hands, head.session, Pin(words.strip()), "pinned") if words.strip() else None,
    )


def _rename(hands: Hands, head: Head) -> None:
    _ask(
        hands,
        "title of the session",
        lambda title: (
            _submit(hands, head.session, Rename(title.strip()), "renamed") if title.strip() else None
        ),
        head.title,
    )


def _new_in(hands: Hands) -> None:
    _ask(hands, "folder of the new session", lambda path: hands.new_session(path.strip()), hands.cwd)


def _archive(hands: Hands, head: Head) -> None:
    done = "back in the list" if head.archived else "put away"
    _submit(hands, head.session, Archive(not head.archived), done)


def _cancel(hands: Hands, head: Head) -> None:
    _submit(hands, head.session, Cancel("cancelled by the user"), "the run is cancelled")


def _resume(hands: Hands, head: Head) -> None:
    _submit(hands, head.session, Resume(), "the run goes on")


def _fork(hands: Hands, head: Head) -> None:
    hands.app.run_worker(_forked(hands, head.session))


async def _forked(hands: Hands, session: SessionId) -> None:
    async with telling(hands.app):
        hands.open_session(await hands.reach.fork(session))


def _delete(hands: Hands, head: Head) -> None:
    from bridle.surfaces.tui.panels.dialogs import Confirm

    def answered(answer: str | None) -> None:
        if answer is not None:
            hands.app.run_worker(_deleted(hands, head.session))

    hands.app.push_screen(Confirm("delete this session for good? There is no way back."), answered)


async def _deleted(hands: Hands, session: SessionId) -> None:
    async with telling(hands.app):
        await hands.reach.delete(session)
        hands.session_gone(session)


def _ask(hands: Hands, words: str, use: Callable[[str], None], value: str = "") -> None:
    from bridle.surfaces.tui.panels.dialogs import TextDialog

    hands.app.push_screen(TextDialog(words, value), lambda text: use(text) if text is not None else None)


def _submit(
    hands: Hands, session: SessionId, command: Rename | Archive | Compact | Pin | Cancel | Resume, done: str
) -> None:
    hands.app.run_worker(submit(hands, session, command, done))


# ---------------------------------------------------------------------------- table


def _action(row: Key) -> Run:
    """Return a command that runs the action of an app key."""
    name = f"{row.of}.{row.name}" if row.of in ("app", "screen") else f"screen.{row.name}"

    def run(hands: Hands) -> None:
        hands.app.call_later(hands.app.run_action, name)

    return run


_TABLE: tuple[tuple[str, str, Run], ...] = (
    ("sessions", "list, search, open and tidy up sessions", _sessions),
    ("new", "begin a new session here", lambda hands: hands.new_session()),
    ("new_in", "begin a new session in another folder", _new_in),
    ("models", "choose the model of the next prompts", _models),
    ("agents", "choose the agent of the next prompts", _agents),
    ("mode", "choose what may be done without asking: ask, plan, accept-edits, yolo", _mode),
    ("queue", "change, remove or send what waits", _here(_queue)),
    ("todos", "show the to-do list", _here(_todos)),
    ("context", "show who uses the window, and what is sent next", _here(_context)),
    ("usage", "show tokens and cost by run, model, agent and tool", _here(_usage)),
    ("files", "list the changed files, and show a change", _here(_files)),
    ("children", "list the sub-agents, and open one", _here(_children)),
    ("servers", "show how tool servers and language servers are", _servers),
    ("rewind", "go back to before a prompt, and undo that", _here(_rewind)),
    ("fork", "go on in a copy of this session", _here(_fork)),
    ("rename", "give this session another title", _here(_rename)),
    ("archive", "put this session away, or bring it back", _here(_archive)),
    ("delete", "delete this session for good", _here(_delete)),
    ("compact", "sum up the conversation, and say what to keep", _here(_compact)),
    ("pin", "keep a text word for word", _here(_pin)),
    ("pins", "show what is pinned, and let go of it", _here(_pins)),
    ("export", "write this session to a file: .md, .json or .html", _here(_export)),
    ("copy", "copy the last answer", _copy),
    ("stop_run", "cancel the active run", _here(_cancel)),
    ("resume", "go on with a run that was cut off", _here(_resume)),
    ("theme", "choose the colours", _theme),
    ("diff_style", "show diffs in one column or in two", _switch_diff),
    ("web", "open the web page", lambda hands: hands.open_web()),
    ("doctor", "show what is missing here", _doctor),
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
