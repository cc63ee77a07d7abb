"""The keys of `[tui]`: how the terminal interface looks and what its keys do."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bridle.config.kinds import Name

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
    """Its colours; auto goes by the background of the terminal."""
    diff: Literal["unified", "side-by-side"] = "unified"
    """How a change is shown where there is room for both."""
    notify: Literal["off", "bell", "osc9", "osc777"] = "bell"
    """How you are told that a run has ended or waits while you look elsewhere."""
    mouse: bool = True
    """Whether the mouse is taken from the terminal."""
    keys: dict[Name, tuple[KeyText, ...]] = {}
    """Other keys for an action, by its name; an empty list for none."""
