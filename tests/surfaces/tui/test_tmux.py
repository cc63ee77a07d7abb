"""The real `bridle` in a real terminal, with a daemon that it starts itself."""

import time
from pathlib import Path

from tests.surfaces.command import PROGRAM, Bridle
from tests.surfaces.tui.tmux import PATIENCE_S, Tmux


def test_runs_with_approvals_a_steer_a_fork_and_a_rewind(bridle: Bridle):
    call = {"name": "bash", "args": {"command": "echo made >> made.txt"}}
    model = bridle.script(
        {"text": "I make a file.", "calls": [call]}, {"text": "It is **there** now."}, repeat=True
    )
    bridle.home.mkdir(exist_ok=True)
    (bridle.home / "config.toml").write_text(f'model = "{model}"\n')
    env = bridle.env | {"TERM": "tmux-256color", "LANG": "C.UTF-8"}
    try:
        with Tmux(PROGRAM, bridle.project, env) as terminal:
            terminal.expect("· default ·", "write a prompt")
            terminal.type("make it")
            terminal.press("Enter")
            terminal.expect("I make a file.", "y yes", "? waits for you")
            terminal.resize(60, 12)
            terminal.resize(80, 24)
            terminal.expect("y yes")
            screen = terminal.insist("y", "It is there now.", "✓ done")
            assert "\\x1b" not in screen
            assert (bridle.project / "made.txt").read_text() == "made\n"

            terminal.type("once more")
            terminal.press("Enter")
            terminal.expect("once more", "y yes", "? waits for you", "┏━")
            terminal.insist("C-b", "╭─")  # to the prompt, or the letters would be answers
            terminal.type("be quick")
            terminal.expect("▌ be quick")
            terminal.press("C-s")
            terminal.expect("1 queued")
            terminal.insist("C-b", "┏━")
            terminal.insist("y", "sent to the active run", "be quick", "✓ done")
            assert (bridle.project / "made.txt").read_text() == "made\nmade\n"

            terminal.press("F2")
            terminal.expect("f fork", "make it (in front)")  # before, there is nothing to fork
            terminal.press("f")
            terminal.expect("2/2 make it", "forked from")
            terminal.press("M-Left")
            terminal.expect("1/2 make it")

            terminal.press("F6")
            terminal.expect("rewind to before …", "once more")
            terminal.press("Enter")
            terminal.expect('rewind to before "once more"', "made.txt +0 -1")
            terminal.press("g")
            terminal.expect("It is there now.", "back at event")
            assert "once more" not in terminal.screen
            assert (bridle.project / "made.txt").read_text() == "made\n"

            terminal.press("C-q")
            terminal.expect("left; reopen with bridle tui --session", "ended with 0")
        assert sorted(one["title"] for one in bridle.sessions()) == ["make it", "make it (fork)"]
    finally:
        bridle("daemon", "stop")


def test_a_terminal_that_is_closed_leaves_no_process_behind(bridle: Bridle):
    bridle.home.mkdir(exist_ok=True)
    (bridle.home / "config.toml").write_text('daemon = "never"\nmodel = "scripted/demo"\n')
    env = bridle.env | {"TERM": "tmux-256color", "LANG": "C.UTF-8"}
    with Tmux(PROGRAM, bridle.project, env) as terminal:
        terminal.expect("no daemon")
        [process] = terminal.processes

    deadline = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{process}").exists():
        assert time.monotonic() < deadline, "it is still there"
        time.sleep(0.05)
