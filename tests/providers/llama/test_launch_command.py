"""A server process is tied to its owner before it becomes the server."""

import os
import subprocess
import sys

import pytest

from bridle.providers.llama import launch_command
from tests.patience import PATIENCE_S


def start(mode: str, *program: str, owner: int | None = None) -> subprocess.Popen[str]:
    """Run the launcher as `spawn` does."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", launch_command.__file__, str(owner or os.getpid()), mode, *program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_secrets_and_foreign_options_stay_outside() -> None:
    environment = {
        "PATH": "/bin",
        "OPENAI_API_KEY": "s",
        "HF_TOKEN": "s",
        "DB_PASSWORD": "s",
        "LLAMA_ARG_HOST": "0.0.0.0",
        "LLAMA_API_KEY": "theirs",
        "CUDA_VISIBLE_DEVICES": "0",
    }

    made = launch_command.child_environment(environment, "ours")

    assert {name: made[name] for name in made.keys() & environment.keys()} == {
        "PATH": "/bin",
        "LLAMA_API_KEY": "ours",
        "CUDA_VISIBLE_DEVICES": "0",
    }
    assert made["LLAMA_ARG_OFFLINE"] == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no parent-death signal")
def test_it_becomes_the_program_and_leaves_the_rest_of_stdin_to_it() -> None:
    program = "import os, sys; print(os.getpid(), os.environ['LLAMA_API_KEY'], sys.stdin.read())"
    process = start("exec", sys.executable, "-c", program)

    said, _ = process.communicate("secret\nthe rest", timeout=PATIENCE_S)

    assert said.split() == [str(process.pid), "secret", "the", "rest"]


@pytest.mark.parametrize("mode", ["exec", "watch"])
def test_an_owner_who_is_gone_already_gets_no_server(mode: str) -> None:
    process = start(mode, sys.executable, "-c", "print('started')", owner=1)

    said, _ = process.communicate("secret\n", timeout=PATIENCE_S)

    assert (said, process.returncode) == ("", 0)


def test_a_watched_program_ends_when_its_owner_does() -> None:
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    process = start("watch", sys.executable, "-c", program)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("secret\n")
    process.stdin.flush()
    process.stdout.readline()

    process.stdin.close()

    assert process.wait(timeout=PATIENCE_S) == -9
    assert process.stdout.read() == ""  # no one holds the pipe any more
    process.stdout.close()


def test_a_watched_program_passes_its_exit_code_on() -> None:
    process = start("watch", sys.executable, "-c", "raise SystemExit(7)")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("secret\n")
    process.stdin.flush()

    assert process.wait(timeout=PATIENCE_S) == 7

    process.stdin.close()
    process.stdout.close()
