"""What `bridle --help` and `bridle session list` cost, against importing asyncio."""

import tempfile

from measure import PYTHON, best_of, report


def main() -> list[tuple[str, float, float]]:
    """Compare CPU time; the bar is 3."""
    with tempfile.TemporaryDirectory() as home:
        env = {"BRIDLE_HOME": home}
        floor, help_s, list_s = best_of(
            9,
            [PYTHON, "-c", "import asyncio"],
            [PYTHON, "-m", "bridle", "--help"],
            [PYTHON, "-m", "bridle", "session", "list"],
            env=env,
        )
    return report(
        [
            ("bridle --help / python -c 'import asyncio' (CPU)", help_s / floor, 3.0),
            ("bridle session list / python -c 'import asyncio' (CPU)", list_s / floor, 3.0),
        ]
    )


if __name__ == "__main__":
    main()
