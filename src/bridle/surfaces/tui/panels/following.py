"""Windows that are open while the session in front changes: they are told how it is."""

from typing import Any, Protocol, runtime_checkable

from textual.app import App

from bridle.surfaces.board.values import Head


@runtime_checkable
class Follows(Protocol):
    """A window that shows how the session in front is."""

    def show_head(self, head: Head | None) -> None:
        """Show how it is now."""
        ...


def show_in_windows(app: App[Any], head: Head | None) -> None:
    """Tell every open window how the session in front is; call it with every HeadChanged."""
    for screen in app.screen_stack[1:]:
        if isinstance(screen, Follows) and screen.is_mounted:
            screen.show_head(head)
