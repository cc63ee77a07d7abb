"""Cost of `bridle --help` and `bridle session list`, compared with importing asyncio."""

import tempfile

from measure import PYTHON, in_turns, report, rounds
from rows import Line, Row, figure, ours


def main() -> list[Line]:
    """Compare CPU time; the bar is 3."""
    with tempfile.TemporaryDirectory() as home:
        env = {"BRIDLE_HOME": home}
        floors, helps, lists = in_turns(
            rounds(9),
            [PYTHON, "-c", "import asyncio"],
            [PYTHON, "-m", "bridle", "--help"],
            [PYTHON, "-m", "bridle", "session", "list"],
            env=env,
        )
    floor = figure("python -c 'import asyncio'", floors, scale=1e3)
    return report(
        [
            Row("startup.help", "bridle --help", "ms CPU", ours(helps, scale=1e3), (floor,), 3.0),
            Row("startup.list", "bridle session list", "ms CPU", ours(lists, scale=1e3), (floor,), 3.0),
        ]
    )


if __name__ == "__main__":
    main()
