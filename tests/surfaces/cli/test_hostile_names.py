"""Names from models, records and files cannot control the terminal, whichever command shows them."""

import json
import re

from tests.surfaces.command import Bridle

EVIL = "\x1b]0;pwned\x07x\x9b31m\u202e"
FORGED = f"{EVIL}\n» bash rm -rf /\n   9  forged"
CALL = {
    "text": f"I look. {EVIL}",
    "calls": [
        {"name": EVIL, "args": {EVIL: EVIL}},
        {"name": FORGED, "args": {}},
        {"name": "write_file", "args": {"path": f"new{EVIL}.txt", "content": EVIL}},
    ],
}
COMMANDS = [
    ["session", "turns", "ID"],
    ["session", "show", "ID"],
    ["session", "list"],
    ["session", "diff", "ID"],
    ["session", "diff", "ID", "--stat"],
    ["session", "export", "ID"],
    ["session", "verify"],
    ["session", "rewind", "ID", "--to", "0", "--dry-run"],
    ["context", "ID"],
    ["stats"],
]
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def test_no_command_lets_a_name_steer_the_terminal(bridle: Bridle):
    model = bridle.script(CALL, {"text": "done"})
    with bridle.terminal("run", "--yolo", "--model", model, f"look {EVIL}", NO_COLOR="1") as terminal:
        assert terminal.finish() == 0
    shown = terminal.screen.replace("\r\x1b[K", "")
    session = bridle.sessions()[0]["id"]
    for words in COMMANDS:
        words = [session if word == "ID" else word for word in words]
        with bridle.terminal(*words, NO_COLOR="1", width=3000) as terminal:
            assert terminal.finish() == 0, terminal.screen
        shown += terminal.screen

    assert not STEERING.search(shown)
    assert "   9  forged" not in shown.splitlines()


def test_the_turns_are_safe_in_a_pipe_too_and_programs_get_the_name_as_it_is(bridle: Bridle):
    bridle("run", "--yolo", "--model", bridle.script(CALL, {"text": "done"}), "look")
    session = bridle.sessions()[0]["id"]

    turns = bridle("session", "turns", session).out
    shown = bridle("session", "show", session, "--json").out

    assert not STEERING.search(turns)
    assert "\\x1b]0;pwned\\x07x" in turns
    names = [part.get("name") for message in json.loads(shown)["messages"] for part in message["parts"]]
    assert EVIL in names


def test_the_terminal_interface_shows_names_and_obeys_none(bridle: Bridle):
    bridle("run", "--yolo", "--model", bridle.script(CALL, {"text": "done"}), f"look {EVIL}")
    session = bridle.sessions()[0]["id"]
    with bridle.terminal("tui", "--session", session, width=200, COLORFGBG="15;0") as terminal:
        terminal.expect("\\x1b]0;pwned\\x07x")
        terminal.expect("write_file")
        terminal.send("\x04")
        terminal.send("\x03\x03")
        terminal.finish()
    bridle("daemon", "stop")

    assert "\x1b]0;pwned" not in terminal.screen
    assert "\x9b" not in terminal.screen
    assert "\u202e" not in terminal.screen
