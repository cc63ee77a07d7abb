"""Words of servers as they may be shown: short, and without characters that do something to a terminal."""


def one_line(text: str, most: int) -> str:
    """Return a text in one line, at most so many characters of it."""
    return _printable(" ".join(text[: 4 * most].split()))[:most]


def some_lines(text: str, most: int) -> str:
    """Return a text with its lines, at most so many characters of it."""
    lines = text[: 4 * most].replace("\xa0", " ").strip().splitlines()
    return "\n".join(_printable(line) for line in lines)[:most]


def _printable(text: str) -> str:
    return "".join(char for char in text if char.isprintable())
