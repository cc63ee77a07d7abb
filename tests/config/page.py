"""The tables of `docs/configuration.md`."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/configuration.md"


def page_table(heading: str) -> dict[str, list[str]]:
    """Read a table of the page: the key of each row and its other cells."""
    section = PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return {row[0].strip().strip("`"): [cell.strip() for cell in row[1:]] for row in rows}
