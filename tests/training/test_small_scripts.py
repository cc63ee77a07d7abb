"""The small programs of the training data run, and do what the orders say."""

import random
import subprocess
import sys

import pytest

from training.generator.families.small_scripts import FUNCTIONS, SCRIPTS, function_spec, script_spec
from training.generator.play import Unfit


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout


@pytest.mark.parametrize("block", SCRIPTS, ids=lambda block: block.partition(" ")[0])
def test_a_script_prints_the_same_in_python_and_in_the_shell(block: str) -> None:
    python = _output([sys.executable, "-c", script_spec(random.Random(7), block, "py").code])
    assert python.strip()
    try:
        shell = script_spec(random.Random(7), block, "sh")
    except Unfit:
        return
    assert _output(["sh", "-c", shell.code]) == python


@pytest.mark.parametrize("block", FUNCTIONS, ids=lambda block: block.partition("(")[0])
def test_a_function_passes_its_check(block: str) -> None:
    spec, check = function_spec(random.Random(7), block, "py")
    known: dict[str, object] = {}
    exec(spec.code, known)
    assert eval(check, known)
