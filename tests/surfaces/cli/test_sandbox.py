"""`bridle sandbox` in scripts: streams, exit codes, rules and confinement."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from bridle.core.ports import SandboxStatus
from bridle.sandbox.bubblewrap import find_bubblewrap
from bridle.surfaces.cli.sandbox import MEANINGS
from tests.patience import PATIENCE_S
from tests.surfaces.command import PROGRAM, Bridle, Done, interrupt


def test_streams_are_kept_apart_and_the_exit_status_is_passed_on(bridle: Bridle):
    done = bridle("sandbox", "run", "--", "sh", "-c", "cat; echo oops >&2; exit 7", stdin="from a pipe\n")

    assert done == Done(7, "from a pipe\n", "oops\n")


def test_a_program_that_a_signal_ended_has_the_status_of_a_shell(bridle: Bridle):
    assert bridle("sandbox", "run", "--", "sh", "-c", "kill -TERM $$").code == 128 + signal.SIGTERM


def test_large_input_and_output_pass_unchanged(bridle: Bridle):
    data = bytes(range(256)) * 4096

    done = subprocess.run(
        [*PROGRAM, "sandbox", "run", "cat"], cwd=bridle.project, env=bridle.env, input=data,
        capture_output=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (0, data, b"")


@pytest.mark.parametrize(
    "words",
    [["echo", "-n", "--deny", "x"], ["--", "echo", "-n", "--deny", "x"], ["--", "echo", "-n", "--", "x"]],
)
def test_flags_of_the_program_are_its_own(bridle: Bridle, words: list[str]):
    assert bridle("sandbox", "run", *words) == Done(0, " ".join(words[words.index("-n") + 1 :]), "")


def test_the_folder_can_be_changed_and_nothing_else(bridle: Bridle, tmp_path: Path):
    outside = tmp_path / "outside"

    done = bridle(
        "sandbox", "run", "--", "sh", "-c", f"echo in > here; echo out > {outside}; echo x > /usr/x"
    )

    assert done.code != 0
    assert "Read-only file system" in done.err or "Permission denied" in done.err
    assert (bridle.project / "here").read_text() == "in\n"
    assert not outside.exists()


def test_a_deny_rule_hides_a_file_and_the_settings_count_too(bridle: Bridle):
    for name in ("secret.txt", "token", "open.txt"):
        (bridle.project / name).write_text(f"{name}\n")
    (bridle.home / "config.toml").write_text('[rules]\ndeny = ["read_file(token)"]\n')

    done = bridle(
        "sandbox", "run", "--deny", "read_file(secret.txt)", "--",
        "sh", "-c", "cat open.txt; cat secret.txt; cat token",
    )  # fmt: skip

    assert (done.code != 0, done.out) == (True, "open.txt\n")
    assert done.err.count("Permission denied") == 2


def test_secrets_and_files_of_bridle_are_not_there(bridle: Bridle):
    (bridle.home / "config.toml").write_text("# mine\n")

    done = bridle(
        "sandbox", "run", "--", "sh", "-c", 'cat "$HOME/.bridle/config.toml"; env',
        OPENAI_API_KEY="sk-hidden", MY_TOKEN="hidden", PLAIN="seen",
    )  # fmt: skip

    assert "# mine" not in done.out
    assert "hidden" not in done.out
    assert "PLAIN=seen" in done.out.splitlines()


def test_ctrl_c_ends_the_program_and_all_that_it_started(bridle: Bridle):
    process = bridle.start(
        "sandbox", "run", "--", "sh", "-c", "sleep 4711 & sleep 4711 & echo started; wait; touch late"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    below = _below(process.pid)
    assert below

    interrupt(process)
    _, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, err) == (130, b"")
    assert [pid for pid in below if _is_alive(pid)] == []
    assert not (bridle.project / "late").exists()


def _below(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        found += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
    return found[1:]


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ([], 64, "error: no program given\nhint: bridle sandbox run -- make test\n"),
        (["--"], 64, "error: no program given\nhint: bridle sandbox run -- make test\n"),
        (["--", "no-such-program"], 1, "error: cannot find no-such-program: no such file or directory\n"),
        (["--", "/"], 1, "error: cannot run /: permission denied\n"),
        (
            ["--deny", "read_file(", "--", "ls"],
            64,
            """\
error: --deny: malformed rule "read_file("
hint: write tool or tool(pattern), for example "edit_file(src/**)"
""",
        ),
        (["--bogus", "ls"], 64, "error: unknown argument --bogus\nhint: bridle sandbox run --help\n"),
    ],
)
def test_what_cannot_be_run(bridle: Bridle, args: list[str], code: int, message: str):
    assert bridle("sandbox", "run", *args) == Done(code, "", message)


# ---------------------------------------------------------------------------- status


def test_the_status_names_every_protection(bridle: Bridle):
    done = bridle("sandbox", "status")
    found = json.loads(bridle("sandbox", "status", "--json").out)

    lines = done.out.splitlines()
    assert (done.code, done.err, lines[0]) == (
        0,
        "",
        found["kind"] + (f": {found['why']}" if found["why"] else ""),
    )
    assert [line.split()[:2] for line in lines[1:]] == [
        ["yes" if active else "no", name] for name, active, _ in found["parts"]
    ]
    assert [name for name, _, _ in found["parts"]] == list(MEANINGS)


def test_bubblewrap_is_not_taken_from_the_path(bridle: Bridle, tmp_path: Path):
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)

    done = bridle("sandbox", "status", "--json", PATH=str(program.parent))

    assert SandboxStatus(**json.loads(done.out)).kind == ("bubblewrap" if find_bubblewrap() else "landlock")
    assert not (tmp_path / "ran").exists()


def test_a_sandbox_that_is_switched_off_is_said(bridle: Bridle):
    bridle("config", "set", "sandbox.mode", "off")

    done = bridle("sandbox", "status")

    assert (done.code, done.err) == (0, "warning: sandbox.mode is off: agents run commands without it\n")


def test_a_terminal_can_be_read_from_inside(bridle: Bridle):
    with bridle.terminal(
        "sandbox", "run", "--", "sh", "-c", "echo ready; read line; echo got $line"
    ) as terminal:
        terminal.expect("ready\n")
        terminal.send("hello" + os.linesep)
        terminal.expect("got hello\n")

        assert terminal.finish() == 0
