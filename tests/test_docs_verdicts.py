"""The table of command lines in docs/safety.md agrees with the rules."""

import re
from pathlib import Path

import pytest

from bridle.core.permission import judge, parse_rule, suggest_rules
from bridle.tools.commands import shell_access

PAGE = Path(__file__).parents[1] / "docs" / "safety.md"
RULES = (parse_rule("deny", "read_file(secrets/**)"), parse_rule("deny", "bash(git push:*)"))
CELL = re.compile(r"(?<!\\)\|")


def rows() -> list[tuple[str, str, tuple[str, ...]]]:
    """Read command line, verdict and suggested rules from each row of the table."""
    table = PAGE.read_text().partition("| command line | verdict |")[2].partition("\n\n")[0]
    found = []
    for line in table.splitlines()[2:]:
        _, command, verdict, always, *_ = CELL.split(line)
        text = command.strip().strip("`").replace(r"\|", "|")
        found.append((text, verdict.strip(), tuple(re.findall(r"`([^`]+)`", always))))
    return found


@pytest.mark.parametrize(("command", "verdict", "always"), rows())
def test_a_row_holds(command: str, verdict: str, always: tuple[str, ...], tmp_path: Path):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").touch()
    access = shell_access(command, str(tmp_path), str(tmp_path))

    assert (judge(access, RULES, "ask").action, suggest_rules(access, RULES, "ask")) == (verdict, always)


def test_the_table_is_found():
    assert {verdict for _, verdict, _ in rows()} == {"allow", "ask", "deny"}
