"""Updates open windows when the current session changes."""

from typing import Any, Protocol, runtime_checkable

from textual.app import App

from bridle.surfaces.shared.view_model.view_types import Head


@runtime_checkable
class FollowsHead(Protocol):
    """A window that shows the current session's state."""

    def show_head(self, head: Head | None) -> None:
        """Show the current state."""
        ...


def update_windows(app: App[Any], head: Head | None) -> None:
    """Update every open window that follows the current session; call it on every HeadChanged."""
    for screen in app.screen_stack[1:]:
        if isinstance(screen, FollowsHead) and screen.is_mounted:
            screen.show_head(head)
