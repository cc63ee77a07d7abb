import io
from pathlib import Path

from bridle.surfaces.cli.bug_report import report_bug
from bridle.surfaces.shared.terminal import Console, Screen

KEY = "sk-canary-Rg4vG2hViP0jAd6W"


def test_a_report_that_is_to_be_sent_holds_no_secret(home: Path):
    said = io.StringIO()
    environ = {"BRIDLE_HOME": str(home), "OPENAI_API_KEY": KEY, "PLAIN": "plain-1234"}
    try:
        raise ValueError(f"cannot send Bearer {KEY}, plain-1234")
    except ValueError as error:
        report_bug(Console(Screen(io.StringIO(), {}), Screen(said, {}), environ), error)

    [report] = (home / "logs").glob("bug-*.log")
    for text in (report.read_text(), said.getvalue()):
        assert KEY not in text
        assert "cannot send Bearer [secret OPENAI_API_KEY], plain-1234" in text
