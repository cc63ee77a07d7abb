"""The embedded server requires its key and ends with its owner."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bridle.providers.embedded import server
from tests.patience import PATIENCE_S


def start(*args: str, key: str = "k") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", server.__file__, "--model", "/no/such.gguf", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": os.environ["PATH"], **({"LLAMA_API_KEY": key} if key else {})},
    )


@pytest.mark.parametrize(
    ("args", "key", "said"),
    [
        ((), "", "error: no API key (hint: set LLAMA_API_KEY)"),
        (("--host", "0.0.0.0"), "k", "error: the embedded server listens on loopback only, not on 0.0.0.0"),
        (("--frob",), "k", "error: unrecognized arguments: --frob"),
    ],
)
def test_it_refuses_what_it_must_not_do(args: tuple[str, ...], key: str, said: str) -> None:
    process = start(*args, key=key)

    printed, _ = process.communicate(timeout=PATIENCE_S)

    assert said in printed
    assert process.returncode != 0


@pytest.mark.slow
def test_it_ends_when_its_stdin_does(weights: Path) -> None:
    process = start("--model", str(weights), "--ctx-size", "256", "--threads", "1")
    assert process.stdin is not None
    assert process.stdout is not None
    for line in process.stdout:
        if "listening on http://127.0.0.1" in line:
            break

    process.stdin.close()

    assert process.wait(timeout=PATIENCE_S) == 0
    process.stdout.close()
