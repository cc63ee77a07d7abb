"""Cleans server texts for display: short, and without terminal control characters."""


def clean_line(text: str, most: int) -> str:
    """Return a text on one line, cut to `most` characters."""
    return _printable(" ".join(text[: 4 * most].split()))[:most]


def clean_lines(text: str, most: int) -> str:
    """Return a text with its line breaks, cut to `most` characters."""
    lines = text[: 4 * most].replace("\xa0", " ").strip().splitlines()
    return "\n".join(_printable(line) for line in lines)[:most]


def _printable(text: str) -> str:
    return "".join(char for char in text if char.isprintable())
