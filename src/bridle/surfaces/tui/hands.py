"""The `Hands` of the app: the operations its panels may use."""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec.structs import replace
from textual.app import App

from bridle.config.settings import Settings
from bridle.core.door import LiveSession
from bridle.core.ids import SessionId
from bridle.core.permission import Mode
from bridle.surfaces.board.values import Answer, Head
from bridle.surfaces.tui.editor import PromptEditor
from bridle.surfaces.tui.front import Front
from bridle.surfaces.tui.keys import key_words
from bridle.surfaces.tui.link import Link
from bridle.surfaces.tui.main_screen import MainScreen
from bridle.surfaces.tui.panels.hands import DiffStyle, Reach
from bridle.surfaces.tui.panels.telling import tell, telling

SSH_VARIABLES = ("SSH_CONNECTION", "SSH_TTY")


class Shell(Protocol):
    """The parts of the app that `AppHands` uses, besides Textual's `App`."""

    environ: dict[str, str]
    settings: Settings
    front: Front
    link: Link
    live: dict[SessionId, LiveSession]
    editor: PromptEditor
    main: MainScreen

    def open_session(self, session: SessionId | None, cwd: str = "") -> None:
        """Show a session, or an empty new one."""

    def close_session(self, session: SessionId) -> None:
        """Stop showing a session."""


class AppHands:
    """Implements `Hands` for one app."""

    def __init__(self, app: App[Any], shell: Shell) -> None:
        """`shell` is the same object as `app`."""
        self._shell = shell
        self._screens = app
        self._reach: Reach | None = None
        self._diff_style: DiffStyle = shell.settings.tui.diff

    @property
    def app(self) -> App[Any]:
        """The app that shows the panels."""
        return self._screens

    @property
    def reach(self) -> Reach:
        """Access to the sessions; imported when the first panel needs it."""
        if self._reach is None:
            from bridle.surfaces.folder import Folders
            from bridle.surfaces.tui.panels.reach import DoorReach

            folders = Folders(self._shell.environ, self._shell.front.home_cwd)
            self._reach = DoorReach(lambda: self._shell.link.door, folders)
        return self._reach

    @property
    def head(self) -> Head | None:
        """The state of the current session."""
        return self._shell.front.head

    @property
    def live(self) -> Mapping[SessionId, LiveSession]:
        """The sessions that are in memory."""
        return self._shell.live

    @property
    def cwd(self) -> str:
        """The folder of a new session."""
        return self._shell.front.cwd

    @property
    def diff_style(self) -> DiffStyle:
        """The initial style of diffs."""
        return self._diff_style

    def key_words(self, name: str) -> str:
        """Return an action's keys as text, such as `Ctrl+S or Alt+Enter`."""
        return key_words(name, self._shell.settings.tui.keys)

    def is_typing(self) -> bool:
        """Return True if the prompt editor is not empty."""
        return not self._shell.editor.is_empty

    def focus_prompt(self) -> None:
        """Move the focus to the prompt."""
        self._shell.editor.focus()

    def open_session(self, session: SessionId) -> None:
        """Show a session."""
        self._shell.open_session(session)

    def new_session(self, cwd: str = "") -> None:
        """Show an empty new session; its first prompt creates it."""
        self._shell.open_session(None, cwd)

    def session_gone(self, session: SessionId) -> None:
        """Stop showing a deleted session."""
        self._shell.close_session(session)

    def choose_model(self, ref: str) -> None:
        """Use this model from the next prompt on."""
        front = self._shell.front
        front.choose(replace(front.choice, model=ref))
        self._shell.main.show_lines()

    def choose_agent(self, name: str) -> None:
        """Use this agent from the next prompt on."""
        front = self._shell.front
        front.choose(replace(front.choice, agent=name))
        self._shell.main.show_lines()

    def choose_mode(self, mode: Mode) -> None:
        """Use this mode for the next prompts; yolo needs a confirmation."""

        def chosen(answer: str | None = "y") -> None:
            if answer is not None:
                front = self._shell.front
                front.choose(replace(front.choice, mode=mode))
                self._shell.main.show_lines()

        if mode == "yolo":
            from bridle.surfaces.tui.panels.dialogs import Confirm

            words = "Nearly nothing is asked in mode yolo: the model runs what it wants."
            self._screens.push_screen(Confirm(words), chosen)
        else:
            chosen()

    def choose_theme(self, name: str) -> None:
        """Use this color theme."""
        self._screens.theme = name

    def choose_diff_style(self, style: DiffStyle) -> None:
        """Show diffs in this style from now on."""
        self._diff_style = style

    def last_answer(self) -> str:
        """Return the model's last answer in the current session."""
        board = self._shell.link.board
        items = board.items if board is not None else ()
        return next((item.text for item in reversed(items) if isinstance(item, Answer)), "")

    def open_web(self) -> None:
        """Start the daemon's web page and open it in a browser; over SSH only show its address."""
        self._screens.run_worker(self._open_web(), group="web", exclusive=True)

    async def _open_web(self) -> None:
        from bridle.surfaces.remote.client import RemoteService

        async with telling(self._screens):
            door = self._shell.link.door
            if not isinstance(door, RemoteService):
                tell(self._screens, "only the daemon serves the page: bridle web", failed=True)
                return
            found = await door.open_web()
            if any(self._shell.environ.get(name) for name in SSH_VARIABLES):
                tell(self._screens, f"open {found.url}")
                return
            self._screens.open_url(found.url)
            tell(self._screens, f"the page is open at http://{found.address}")
