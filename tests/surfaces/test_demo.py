"""`make demo` shows what it promises; `examples/demo.sh` is what it runs."""

import subprocess
from pathlib import Path

from tests.surfaces.command import steady

DEMO = Path(__file__).parents[2] / "examples" / "demo.sh"


def test_the_demo_answers_edits_and_lists(env: dict[str, str]):
    done = subprocess.run(
        ["bash", DEMO],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        start_new_session=True,
    )

    out = steady(done.stdout)
    assert done.returncode == 0, out
    assert "There is no language model in this demo" in out
    assert "Hello from the scripted model. You said: what can you do\n" in out
    assert '» edit_file hello.py ✓ TIME\n  - print("hello")\n  + print("hello, world")\n' in out
    assert '$ cat hello.py\nprint("hello, world")\n' in out
    assert out.count("\nID  DATE  done ") == 2
    assert out.count("  ok      ") == 2
