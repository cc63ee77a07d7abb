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
    answer, _, rest = rest.partition("\n\nIt does simple orders")
    assert done.returncode == 0, out
    assert "A small model answers" in question
    assert "Paris" in answer
    assert "» glob **/* ✓ TIME\nhello.py\n" in rest
    assert "» edit_file hello.py ✓ TIME\n  @@ -1,2 +1,2 @@\n  -COUNT = 2\n  +COUNT = 3\n" in rest
    assert rest.count('$ cat hello.py\nCOUNT = 3\nprint("hello " * COUNT)\n') == 1
    assert "» bash python3 hello.py\n  hello hello hello \n" in rest
    assert "edit_file hello.py (1 file changed)\n" in rest
    assert rest.count("$ cat hello.py\nCOUNT = 2\n") == 1
    assert "--undo --yes > /dev/null && cat hello.py\nCOUNT = 3\n" in rest
    assert rest.count("\nID  DATE  done ") == 4
    assert rest.count("  ok      ") == 4
