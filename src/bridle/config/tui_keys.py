"""The keys of `[tui]`: the look of the terminal interface and its key bindings."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bridle.config.value_types import Name

KeyText = Annotated[
    str,
    Meta(
        pattern=r"\A([a-z]+\+)*([a-z0-9_]+|[!-~])\Z",
        max_length=40,
        description="a key such as f2, ctrl+s or alt+enter",
    ),
]


class TuiSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[tui]`: the terminal interface."""

    theme: Literal["auto", "dark", "light", "high-contrast"] = "auto"
    """Color theme; "auto" follows the terminal's background."""
    diff: Literal["unified", "side-by-side"] = "unified"
    """How a change is shown if the screen is wide enough for both."""
    notify: Literal["off", "bell", "osc9", "osc777"] = "bell"
    """How you are notified that a run ended or waits while the terminal is not focused."""
    mouse: bool = True
    """Whether the interface captures the mouse."""
    keys: dict[Name, tuple[KeyText, ...]] = {}
    """Other keys for an action, by its name; an empty list for none."""
