import subprocess

import pytest

from tests.patience import PATIENCE_S
from tests.surfaces.command import PROGRAM, Bridle


@pytest.mark.slow
def test_a_pipe_that_stays_silent_is_waited_for_and_that_is_said(bridle: Bridle):
    """Three seconds pass before the note; without it a forgotten pipe looks like a hang."""
    process = subprocess.Popen(
        [*PROGRAM, "run", "--model", bridle.script({"text": "{last_user}"}), "words"],
        cwd=bridle.project,
        env=bridle.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    note = process.stderr.readline() + process.stderr.readline()
    out, err = process.communicate(b"and more", timeout=PATIENCE_S)

    assert note == b"warning: waiting for stdin to end\nhint: add < /dev/null if there is no input\n"
    assert (process.returncode, out, err) == (0, b"words\n\nand more\n", b"")


def test_a_file_on_stdin_joins_the_prompt(bridle: Bridle):
    (bridle.project / "notes.txt").write_text("from a file\n")
    with (bridle.project / "notes.txt").open() as notes:
        done = subprocess.run(
            [*PROGRAM, "run", "--model", bridle.script({"text": "{last_user}"}), "read:"],
            cwd=bridle.project,
            env=bridle.env,
            stdin=notes,
            capture_output=True,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stdout, done.stderr) == (0, "read:\n\nfrom a file\n", "")
