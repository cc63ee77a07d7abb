"""A prewarmed process behaves like a newly started program, to the byte."""

import subprocess

import pytest

from tests.surfaces.command import PROGRAM, Bridle, Done, steady
from tests.surfaces.warm import starts_as_usual, warm


def anew(bridle: Bridle, *args: str, stdin: bytes | None = None) -> Done:
    """Run the program in a separate, newly started process."""
    done = subprocess.run(
        [*PROGRAM, *args],
        cwd=bridle.project,
        env=bridle.env,
        input=stdin or b"",
        capture_output=True,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(
    ("args", "stdin"),
    [
        (["--version"], None),
        (["no-such-command"], None),
        (["session", "list", "--json"], None),
        (["run", "--model", "no/such", "x"], None),
        (["run", "--verbose", "--model", "SCRIPT", "look:"], "zażółć\n".encode()),
    ],
)
def test_a_warm_process_gives_the_same_bytes(bridle: Bridle, args: list[str], stdin: bytes | None):
    model = bridle.script({"text": "{last_user}", "calls": [{"name": "no_tool"}]}, {"text": "ż"})
    args = [model if arg == "SCRIPT" else arg for arg in args]

    cold, told = anew(bridle, *args, stdin=stdin), bridle(*args, stdin=stdin)

    assert Done(told.code, steady(told.out), steady(told.err)) == Done(
        cold.code, steady(cold.out), steady(cold.err)
    )


def test_what_the_interpreter_looks_at_when_it_begins_asks_for_a_process_of_its_own(env: dict[str, str]):
    assert starts_as_usual(env)
    assert not starts_as_usual(env | {"LC_ALL": "POSIX"})
    assert not starts_as_usual(env | {"PYTHONUTF8": "0"})
    assert not starts_as_usual({name: value for name, value in env.items() if name != "LANG"})


def test_one_that_takes_too_long_is_killed(bridle: Bridle):
    model = bridle.script({"text": "late", "delay_ms": 60_000})

    with pytest.raises(subprocess.TimeoutExpired):
        warm().run(["run", "--model", model, "x"], bridle.project, bridle.env, None, 0.5)


def test_a_program_on_the_path_gives_the_same_bytes_and_codes(bridle: Bridle):
    command = (
        "echo '{}' | bridle --version; bridle no-such-command; echo $?; bridle run --model no/such x; echo $?"
    )
    env = bridle.env | {"PATH": f"{warm().program}:{bridle.env['PATH']}"}

    def said(env: dict[str, str]) -> str:
        shell = ["bash", "-c", f"exec 2>&1; {command}"]
        return subprocess.run(
            shell, cwd=bridle.project, env=env, capture_output=True, text=True, check=True
        ).stdout

    assert said(env) == said(bridle.env)


def test_a_program_on_the_path_passes_signals_on(bridle: Bridle):
    model = bridle.script({"calls": [{"name": "no_tool"}]}, {"text": "late", "delay_ms": 60_000})
    env = bridle.env | {"PATH": f"{warm().program}:{bridle.env['PATH']}"}
    command = ["bridle", "run", "--verbose", "--model", model, "x"]
    with subprocess.Popen(command, cwd=bridle.project, env=env, stderr=subprocess.PIPE) as process:
        assert process.stderr
        process.stderr.readline()  # it runs

        process.terminate()

        assert process.wait() != 0
