"""Memory of a thousand idle live sessions."""

import asyncio
import subprocess
import sys
import tempfile

from measure import PYTHON, report
from rows import Line, Row, ours
from store_session import peak_bytes

SESSIONS = 1_000


async def grow() -> float:
    """Open a thousand sessions with one run each; return MB per session."""
    from pathlib import Path

    from turns import open_service

    from bridle.core.messages import user_message
    from bridle.core.protocol import Prompt

    with tempfile.TemporaryDirectory() as home:
        service = open_service(Path(home), "scripted")
        before = peak_bytes()
        for _ in range(SESSIONS):
            session = await service.create(cwd=home)
            receipt = await service.submit(session, Prompt(user_message("hello " * 50)))
            await service.wait(session, receipt.run_id, after=receipt.seq)
        after = peak_bytes()
        await service.aclose()
    return (after - before) / 1024 / 1024 / SESSIONS


def main() -> list[Line]:
    """Measure in a fresh process; the bar is 1 MB each."""
    done = subprocess.run([PYTHON, __file__], check=True, capture_output=True, text=True)
    what = f"memory of an idle live session, {SESSIONS:,} of them"
    return report([Row("idle.session", what, "MB", ours([float(done.stdout)]), bar=1.0)])


if __name__ == "__main__":
    sys.stdout.write(str(asyncio.run(grow())))
