"""The outermost layer: help, exit codes, one-line errors and broken outputs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.command import PROGRAM, Bridle, Done

COMMANDS = """
init tui run session context stats config agents skills hooks mcp lsp rules trust sandbox kernel memory comms
daemon ps attach worker gateway scale tenant token audit web rpc acp import models doctor schema completion
""".split()


def test_help_names_every_command(bridle: Bridle):
    done = bridle("--help")

    listed = [line.split()[0] for line in done.out.split("commands:\n")[1].split("\n\n")[0].splitlines()]
    assert (done.code, done.err) == (0, "")
    assert listed == COMMANDS


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        *("session list", "session export", "session turns", "session diff", "session rewind"),
        *("config set", "rules check", "sandbox run", "sandbox status"),
        *("mcp add", "mcp list", "mcp get", "mcp remove", "mcp test", "mcp login", "mcp disable", "lsp list"),
    ],
)
def test_every_command_has_a_help(bridle: Bridle, command: str):
    done = bridle(*command.split(), "--help")

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: bridle {command} ")


def test_version(bridle: Bridle):
    assert bridle("--version") == Done(0, "bridle 0.1.0\n", "")


def test_no_command_shows_the_help_as_an_error(bridle: Bridle):
    done = bridle()

    assert (done.code, done.out) == (64, "")
    assert done.err == bridle("--help").out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["sesion", "list"],
            f'error: command "sesion" is not one of {", ".join(COMMANDS)}\nhint: did you mean session\n',
        ),
        (["session"], "error: the following arguments are required: COMMAND\nhint: bridle session --help\n"),
        (
            ["run", "--bogus", "x"],
            "error: unknown flag --bogus\nhint: bridle run --help; quote a prompt with dashes\n",
        ),
        (["session", "list", "extra"], "error: unknown argument extra\nhint: bridle session list --help\n"),
        (
            ["run", "--plan", "--yolo", "x"],
            "error: argument --yolo: not allowed with argument --plan\nhint: bridle run --help\n",
        ),
        (
            ["run", "--output", "xml", "x"],
            'error: output "xml" is not one of text, json, stream-json\nhint: bridle run --help\n',
        ),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(bridle: Bridle, args: list[str], message: str):
    assert bridle(*args) == Done(64, "", message)


def test_an_argument_that_is_not_utf8_is_refused(bridle: Bridle):
    argv = [*map(os.fsencode, PROGRAM), b"run", b"caf\xe9"]
    done = subprocess.run(argv, env=bridle.env, capture_output=True, check=False, stdin=subprocess.DEVNULL)

    assert (done.returncode, done.stderr.decode()) == (
        64,
        "error: an argument is not UTF-8 text: 'caf\\udce9'\n",
    )


def test_errors_are_red_where_colour_is_wanted(bridle: Bridle):
    plain = 'error: no prompt given\nhint: bridle run "what does this project do"\n'

    assert bridle("run").err == plain
    assert bridle("run", NO_COLOR="", FORCE_COLOR="1").err == plain.replace(
        "error: no prompt given", "\x1b[31merror: no prompt given\x1b[0m"
    )
    assert bridle("run", FORCE_COLOR="1").err == plain


def test_a_reader_that_leaves_is_no_error(bridle: Bridle):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*PROGRAM, "schema", "events"], env=bridle.env, stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)

    assert (done.returncode, done.stderr) == (141, b"")


def test_the_exit_code_stays_when_nobody_reads_either_stream(bridle: Bridle):
    read, write = os.pipe()
    os.close(read)
    codes = [
        subprocess.run([*PROGRAM, *args], env=bridle.env, stdout=write, stderr=write, check=False).returncode
        for args in (["schema", "events"], ["nonsense"])
    ]
    os.close(write)

    assert codes == [141, 64]


def test_a_full_disk_under_stdout_is_said_in_one_line(bridle: Bridle):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, "schema", "events"], env=bridle.env, stdout=full, stderr=subprocess.PIPE, check=False
        )

    assert (done.returncode, done.stderr) == (1, b"error: No space left on device\n")


def test_closed_streams_do_not_hurt(bridle: Bridle):
    done = subprocess.run(
        ["bash", "-c", '"$@" >&- 2>&-', "bash", *PROGRAM, "--version"], env=bridle.env, check=False
    )

    assert done.returncode == 0


def test_a_directory_that_is_gone(bridle: Bridle):
    done = subprocess.run(
        ["bash", "-c", 'mkdir gone && cd gone && rmdir ../gone && "$@"', "bash", *PROGRAM, "session", "list"],
        cwd=bridle.project,
        env=bridle.env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr == "error: the current directory no longer exists\nhint: change to another directory\n"


def test_a_bug_is_one_line_and_the_details_are_kept(bridle: Bridle):
    script = "import sys, bridle.surfaces.cli.schema as s\ns.SCHEMAS['events'] = lambda: 1 / 0\n"
    script += "from bridle.surfaces.cli import main\nsys.exit(main(['schema', 'events']))"
    done = subprocess.run(
        [sys.executable, "-c", script], env=bridle.env, capture_output=True, text=True, check=False
    )

    first, second = done.stderr.splitlines()
    report = Path(
        second.removeprefix("hint: details are in ").removesuffix("; please attach them to a bug report")
    )
    assert (done.returncode, first) == (1, "error: Bridle has a bug: ZeroDivisionError: division by zero")
    assert report.parent == bridle.home / "logs"
    assert report.read_text().startswith("Traceback (most recent call last):")


def test_ctrl_c_anywhere_ends_with_130(bridle: Bridle):
    with bridle.terminal("run", "--model", bridle.script({"delay_ms": 60_000}), "x") as terminal:
        terminal.expect("waiting for the model")
        terminal.interrupt()

        assert terminal.finish() == 130
