"""The color themes of the terminal interface: three themes, and every color in this table.

Color always has a meaning: `success` is done, `error` failed, `warning` waits or warns, `accent` is a name or
a path, `text-muted` is detail. Marks and labels show the same, so that nothing is lost without color.
"""

from textual.theme import Theme

DARK = Theme(
    name="dark",
    primary="#7aa2c8",
    secondary="#8a94a6",
    warning="#e5c07b",
    error="#ef7a85",
    success="#8cc98f",
    accent="#6cc7d1",
    foreground="#d9dde3",
    background="#14171b",
    surface="#1b1f25",
    panel="#262c34",
    dark=True,
    variables={
        "text-muted": "#8f98a3",
        "text-disabled": "#66707c",
        "block-cursor-text-style": "none",
        "border": "#3a434f",
        "border-blurred": "#2b323b",
    },
)
LIGHT = Theme(
    name="light",
    primary="#2a5d8f",
    secondary="#5a6472",
    warning="#8a5a00",
    error="#b3202c",
    success="#1f7a33",
    accent="#00697a",
    foreground="#1d2329",
    background="#fbfbf9",
    surface="#f1f1ed",
    panel="#e4e4de",
    dark=False,
    variables={
        "text-muted": "#59626c",
        "text-disabled": "#848b92",
        "block-cursor-text-style": "none",
        "border": "#b9bdb5",
        "border-blurred": "#d2d4cd",
    },
)
HIGH_CONTRAST = Theme(
    name="high-contrast",
    primary="#ffffff",
    secondary="#d0d0d0",
    warning="#ffff00",
    error="#ff8080",
    success="#80ff80",
    accent="#80ffff",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    dark=True,
    text_alpha=1.0,
    variables={
        "text-muted": "#e0e0e0",
        "text-disabled": "#c0c0c0",
        "block-cursor-background": "#ffffff",
        "block-cursor-foreground": "#000000",
        "block-cursor-text-style": "bold",
        "border": "#ffffff",
        "border-blurred": "#a0a0a0",
    },
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT, HIGH_CONTRAST)}
