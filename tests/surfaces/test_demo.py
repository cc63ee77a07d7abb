"""`make demo` shows what it promises; it runs `examples/demo.sh`."""

import subprocess
from pathlib import Path

import pytest

from tests.providers.llama.conftest import weights
from tests.surfaces.command import steady

__all__ = ["weights"]

DEMO = Path(__file__).parents[2] / "examples" / "demo.sh"


@pytest.mark.slow
def test_the_demo_answers_edits_and_lists(env: dict[str, str], weights: Path):
    done = subprocess.run(
        ["bash", DEMO],
        env=env | {"BRIDLE_HOME": str(weights.parents[1])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        start_new_session=True,
    )

    out = steady(done.stdout)
    question, _, rest = out.partition('$ bridle run "What is the capital of France?"\n')
    answer, _, rest = rest.partition("\n\nIt cannot edit code.")
    assert done.returncode == 0, out
    assert "A real model answers" in question
    assert len(answer.split()) >= 2
    assert (
        '» edit_file hello.py ✓ TIME\n  @@ -1,1 +1,1 @@\n  -print("hello")\n  +print("hello, world")\n'
    ) in rest
    assert rest.count('$ cat hello.py\nprint("hello, world")\n') == 1
    assert "\n   2  edit_file hello.py (1 file changed)\n" in rest
    assert rest.count('$ cat hello.py\nprint("hello")\n') == 1
    assert '--undo --yes > /dev/null && cat hello.py\nprint("hello, world")\n' in rest
    assert rest.count("\nID  DATE  done ") == 2
    assert rest.count("  ok      ") == 2
