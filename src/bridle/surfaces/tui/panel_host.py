"""Implements `PanelHost` for the app: the operations that its panels may use."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace
from textual.app import App

from bridle.config.settings import Settings
from bridle.core.ids import SessionId
from bridle.core.model import Effort
from bridle.core.permission import Mode
from bridle.core.session_api import LiveSession, SessionApi
from bridle.surfaces.shared.view_model.view_types import Answer, Head
from bridle.surfaces.tui.editor import PromptEditor
from bridle.surfaces.tui.keys import format_keys
from bridle.surfaces.tui.main_screen import MainScreen
from bridle.surfaces.tui.open_sessions import OpenSessions
from bridle.surfaces.tui.panels.host import DiffStyle, SessionViews
from bridle.surfaces.tui.panels.notifications import notify, report_errors
from bridle.surfaces.tui.session_link import SessionLink

if TYPE_CHECKING:
    from bridle.surfaces.shared.folder_queries import FolderQueries

SSH_VARIABLES = ("SSH_CONNECTION", "SSH_TTY")


class Shell(Protocol):
    """The parts of the app that the panel host needs, in addition to Textual's `App`."""

    environ: dict[str, str]
    settings: Settings
    front: OpenSessions
    link: SessionLink
    live: dict[SessionId, LiveSession]
    editor: PromptEditor
    main: MainScreen

    def open_session(self, session: SessionId | None, cwd: str = "") -> None:
        """Show a session, or an empty new one."""

    def close_session(self, session: SessionId) -> None:
        """Stop showing a session."""


class AppPanelHost:
    """The `PanelHost` of the app."""

    def __init__(self, app: App[Any], shell: Shell) -> None:
        """Set the app; `shell` is the same object, with our own type."""
        self._shell = shell
        self._screens = app
        self._diff_style: DiffStyle = shell.settings.tui.diff

    @property
    def app(self) -> App[Any]:
        """The app that shows the panels."""
        return self._screens

    @property
    def api(self) -> SessionApi:
        """The session API; raises NotThere while there is none."""
        return self._shell.link.api

    @property
    def folders(self) -> "FolderQueries":
        """The queries about folders; imported when the first panel needs them."""
        from bridle.surfaces.shared.folder_info import Folders
        from bridle.surfaces.shared.folder_queries import FolderQueries

        return FolderQueries(self.api, Folders(self._shell.environ, self._shell.front.home_cwd))

    @property
    def views(self) -> SessionViews:
        """The views of sessions for panels; imported when the first panel needs them."""
        from bridle.surfaces.tui.panels.session_views import ApiSessionViews

        return ApiSessionViews(lambda: self._shell.link.api)

    @property
    def head(self) -> Head | None:
        """The state of the current session; None if there is none yet."""
        return self._shell.front.head

    @property
    def live(self) -> Mapping[SessionId, LiveSession]:
        """The sessions in memory."""
        return self._shell.live

    @property
    def cwd(self) -> str:
        """The folder for a new session."""
        return self._shell.front.cwd

    @property
    def diff_style(self) -> DiffStyle:
        """The style in which diffs are first shown."""
        return self._diff_style

    def key_text(self, name: str) -> str:
        """Return the keys of an action, as shown to the user."""
        return format_keys(name, self._shell.settings.tui.keys)

    def is_typing(self) -> bool:
        """Return True if the prompt is not empty."""
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
        """Stop showing a session that was deleted."""
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

    def choose_effort(self, effort: Effort) -> None:
        """Let models reason this much from the next prompt on."""
        front = self._shell.front
        front.choose(replace(front.choice, effort=effort))
        self._shell.main.show_lines()

    def choose_mode(self, mode: Mode) -> None:
        """Run the next prompts in this mode; mode yolo must be confirmed first."""

        def chosen(answer: str | None = "y") -> None:
            if answer is not None:
                front = self._shell.front
                front.choose(replace(front.choice, mode=mode))
                self._shell.main.show_lines()

        if mode == "yolo":
            from bridle.surfaces.tui.panels.dialogs import Confirm

            words = "In mode yolo almost nothing needs approval: the model runs what it wants."
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
        """Return the last answer of the model in the current session; empty if there is none."""
        view_model = self._shell.link.view_model
        items = view_model.items if view_model is not None else ()
        return next((item.text for item in reversed(items) if isinstance(item, Answer)), "")

    def open_web(self) -> None:
        """Make the daemon serve the web page and open it; over SSH, show its address instead."""
        self._screens.run_worker(self._open_web(), group="web", exclusive=True)

    async def _open_web(self) -> None:
        from bridle.surfaces.remote.client import RemoteService

        async with report_errors(self._screens):
            api = self._shell.link.api
            if not isinstance(api, RemoteService):
                notify(self._screens, "the page needs the daemon: bridle web", failed=True)
                return
            found = await api.open_web()
            if any(self._shell.environ.get(name) for name in SSH_VARIABLES):
                notify(self._screens, f"open {found.url}")
                return
            self._screens.open_url(found.url)
            notify(self._screens, f"the page is open at http://{found.address}")
