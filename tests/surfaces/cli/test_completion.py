import shutil
import subprocess

import pytest

from tests.surfaces.command import Bridle


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh", "fish"])
def test_a_script_for_each_shell(bridle: Bridle, shell: str):
    done = bridle("completion", shell)

    assert (done.code, done.err) == (0, "")
    assert "accept-edits" in done.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.out, text=True, check=True)


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("bridle se", ["session"]),
        ("bridle session ex", ["export"]),
        ("bridle run --max-t", ["--max-turns", "--max-tokens", "--max-tool-calls"]),
        ("bridle session export --format h", ["html"]),
    ],
)
def test_bash_completes(bridle: Bridle, typed: str, completed: list[str]):
    script = (
        bridle("completion", "bash").out
        + f"""
words=({typed})
COMP_WORDS=("${{words[@]}}")
COMP_CWORD=$((${{#words[@]}} - 1))
$(complete -p bridle | sed 's/.*-F \\([^ ]*\\) .*/\\1/') bridle "${{words[-1]}}" "${{words[-2]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    )
    done = subprocess.run(["bash"], input=script, env=bridle.env, capture_output=True, text=True, check=False)

    assert [word.strip() for word in done.stdout.splitlines()] == completed, done.stderr
