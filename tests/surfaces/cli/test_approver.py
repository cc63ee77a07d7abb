"""`bridle run` as a person sees it: on a terminal, with questions and keys."""

import asyncio
import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bridle.core.ids import CallId
from bridle.core.protocol import Question, QuestionAsked, Reply
from bridle.surfaces.cli.approver import Approver, read_answer
from tests.patience import PATIENCE_S
from tests.surfaces.command import IN_TERMINAL, PROGRAM, Bridle, Terminal, steady

READ = {"calls": [{"name": "read_file", "args": {"path": "greet.py"}}]}
EDIT = {
    "text": "I change it.",
    "calls": [{"name": "edit_file", "args": {"path": "greet.py", "old_str": "helo", "new_str": "hello"}}],
}
TWO_FILES = {
    "calls": [
        {"name": "write_file", "args": {"path": "a.txt", "content": "a\n"}},
        {"name": "write_file", "args": {"path": "b.txt", "content": "b\n"}},
    ]
}
RESULT = {"text": "It says: {last_tool_result}"}

QUESTION = """\
» read_file greet.py ✓ TIME
I change it.
edit_file greet.py
--- greet.py
+++ greet.py
@@ -1,1 +1,1 @@
-print("helo")
+print("hello")
Needs approval: writes a file (mode ask)
s / a allow edit_file(*)
y yes · n no, and say why · s yes for this session · a always, in every project · q stop the run
> """


@pytest.fixture(autouse=True)
def greeting(bridle: Bridle) -> Path:
    path = bridle.project / "greet.py"
    path.write_text('print("helo")\n')
    return path


def screen(terminal: Terminal) -> str:
    """Return the output without transient lines."""
    pieces = terminal.screen.split("\r\x1b[K")
    kept = [
        piece.rpartition("… ")[0] if index < len(pieces) - 1 else piece for index, piece in enumerate(pieces)
    ]
    return steady("".join(kept))


def summary(turns: int, calls: int) -> str:
    plural = "" if calls == 1 else "s"
    return f"session ID · {turns} turns · {calls} tool call{plural} · N tokens · price unknown\n"


def without_tokens(text: str) -> str:
    return "\n".join(
        " · ".join("N tokens" if word.endswith(" tokens") else word for word in line.split(" · "))
        for line in text.split("\n")
    )


def test_yes_makes_the_edit(bridle: Bridle, greeting: Path):
    with bridle.terminal("run", "--model", bridle.script(READ, EDIT, RESULT), "fix") as terminal:
        terminal.expect("stop the run\n> ")
        before = greeting.read_text()
        terminal.send("y")
        code = terminal.finish()

    assert without_tokens(screen(terminal)) == (
        QUESTION
        + "yes\n» edit_file greet.py ✓ TIME\nIt says: Replaced 1 occurrence(s) in greet.py\n"
        + summary(3, 2)
    )
    assert (code, before, greeting.read_text()) == (0, 'print("helo")\n', 'print("hello")\n')


def test_no_goes_to_the_model_with_its_reason(bridle: Bridle, greeting: Path):
    with bridle.terminal("run", "--model", bridle.script(READ, EDIT, RESULT), "fix") as terminal:
        terminal.expect("stop the run\n> ")
        terminal.send("n")
        terminal.expect("why (Enter to skip): ")
        terminal.send("not that one\n")
        code = terminal.finish()

    assert without_tokens(screen(terminal)) == (
        QUESTION
        + "no\nwhy (Enter to skip): not that one\n"
        + "» edit_file greet.py ✗\n  denied: not that one\nIt says: denied: not that one\n"
        + summary(3, 1)
    )
    assert (code, greeting.read_text()) == (0, 'print("helo")\n')


def test_stop_ends_the_run(bridle: Bridle, greeting: Path):
    with bridle.terminal("run", "--model", bridle.script(READ, EDIT, RESULT), "fix") as terminal:
        terminal.expect("stop the run\n> ")
        terminal.send("q")
        code = terminal.finish()

    assert screen(terminal).startswith(QUESTION + "stop the run\n» edit_file greet.py ✗\n")
    assert terminal.screen.endswith("error: denied: edit_file, stopped by the user\n")
    assert (code, greeting.read_text()) == (77, 'print("helo")\n')


def test_yes_for_this_session_answers_the_rest_of_it(bridle: Bridle):
    write = {"calls": [{"name": "write_file", "args": {"path": "c.txt", "content": "c\n"}}]}
    model = bridle.script(TWO_FILES, write, {"text": "ok"}, write, {"text": "again"})
    with bridle.terminal("run", "--model", model, "write") as terminal:
        terminal.expect("s / a allow write_file(*)\n")
        terminal.send("s")
        code = terminal.finish()

    later = bridle("run", "--continue", "--model", model, "more")

    assert (code, terminal.screen.count("Needs approval")) == (0, 1)
    assert sorted(path.name for path in bridle.project.glob("*.txt")) == ["a.txt", "b.txt", "c.txt"]
    assert (later.code, later.out) == (0, "again\n")
    assert not (bridle.home / "config.toml").exists()


def test_always_adds_the_rule_to_the_settings(bridle: Bridle):
    (bridle.home / "config.toml").write_text("# mine\n[limits]\nmax_turns = 9\n")
    with bridle.terminal("run", "--model", bridle.script(TWO_FILES, {"text": "ok"}), "write") as terminal:
        terminal.expect("s / a allow write_file(*)\n")
        terminal.send("a")
        code = terminal.finish()
    elsewhere = bridle.project / "sub"
    elsewhere.mkdir()

    later = bridle("run", "--model", bridle.script(TWO_FILES, {"text": "ok"}), "write", cwd=elsewhere)

    assert (code, terminal.screen.count("Needs approval"), later.code) == (0, 1, 0)
    assert (bridle.home / "config.toml").read_text() == (
        '# mine\n[limits]\nmax_turns = 9\n\n[rules]\nallow = ["write_file(*)"]\n'
    )


def test_without_a_rule_to_add_only_this_once_is_offered(bridle: Bridle):
    odd = bridle.project / "a*b"
    odd.mkdir()
    write = {"calls": [{"name": "write_file", "args": {"path": "a*b/c.txt", "content": "c\n"}}]}
    with bridle.terminal("run", "--model", bridle.script(write, {"text": "ok"}), "write") as terminal:
        terminal.expect(
            "Needs approval: writes a file (mode ask)\ny yes · n no, and say why · q stop the run\n> "
        )
        terminal.send("a")
        terminal.expect("stop the run\n> ")
        terminal.send("s")
        terminal.expect("stop the run\n> ")
        terminal.send("y")

        assert terminal.finish() == 0
    assert (odd / "c.txt").read_text() == "c\n"


def test_each_of_several_calls_is_asked_for(bridle: Bridle):
    with bridle.terminal("run", "--model", bridle.script(TWO_FILES, {"text": "ok"}), "write") as terminal:
        terminal.expect("write_file a.txt")
        terminal.expect("> ")
        terminal.send("y")
        terminal.expect("write_file b.txt")
        terminal.expect("> ")
        terminal.send("n")
        terminal.expect("why")
        terminal.send("\n")
        code = terminal.finish()

    assert code == 0
    assert [path.name for path in bridle.project.glob("*.txt")] == ["a.txt"]


def test_other_keys_and_keys_typed_too_early_are_no_answer(bridle: Bridle, greeting: Path):
    slow = {"delay_ms": 1500, **EDIT}
    with bridle.terminal("run", "--model", bridle.script(READ, slow, RESULT), "fix") as terminal:
        terminal.expect("waiting for the model")
        terminal.send("y")
        terminal.expect("stop the run\n> ")
        terminal.send("\n")
        terminal.expect("stop the run\n> ")
        terminal.send("\x1b[A")
        terminal.expect("stop the run\n> ")
        assert greeting.read_text() == 'print("helo")\n'
        terminal.send("Y")

        assert terminal.finish() == 0
    assert greeting.read_text() == 'print("hello")\n'


def test_ctrl_c_at_a_question_cancels_the_run_and_gives_the_terminal_back(bridle: Bridle, greeting: Path):
    with bridle.terminal("run", "--model", bridle.script(READ, EDIT, RESULT), "fix") as terminal:
        before = terminal.modes()
        terminal.expect("stop the run\n> ")
        during = terminal.modes()
        terminal.interrupt()
        code = terminal.finish()
        after = terminal.modes()

    assert (code, greeting.read_text()) == (130, 'print("helo")\n')
    assert terminal.screen.endswith("cancelled: interrupted by the user\n")
    assert before != during
    assert before == after


def test_a_run_that_was_killed_at_a_question_asks_again_when_it_is_resumed(bridle: Bridle, greeting: Path):
    with bridle.terminal("run", "--model", bridle.script(READ, EDIT, RESULT), "fix") as terminal:
        terminal.expect("stop the run\n> ")
        terminal.process.kill()
        terminal.finish()
    assert bridle.sessions()[0]["unfinished"] is True

    with bridle.terminal("run", "--continue") as resumed:
        resumed.expect("Needs approval: writes a file (mode ask)")
        resumed.expect("> ")
        resumed.send("y")
        assert resumed.finish() == 0

    assert greeting.read_text() == 'print("hello")\n'
    assert bridle("session", "show", "0").out.count("» edit_file") == 1


def test_a_pipe_on_stdin_does_not_take_the_questions_away(bridle: Bridle, greeting: Path):
    model = bridle.script(READ, EDIT, {"text": "{last_user}"})
    shell = f'echo from the pipe | {shlex.join(PROGRAM)} run --model "{model}" fix > answer.txt'
    with Terminal(["/bin/sh", "-c", shell], bridle.project, bridle.env | {"TERM": "xterm"}) as terminal:
        terminal.expect("stop the run\n> ")
        terminal.send("y")

        assert terminal.finish() == 0
    assert (bridle.project / "answer.txt").read_text() == "I change it.\nfix\n\nfrom the pipe\n"
    assert greeting.read_text() == 'print("hello")\n'


def spawning(bridle: Bridle) -> str:
    """Return a model that lets a sub-agent edit the file."""
    child = bridle.script(READ, EDIT, RESULT)
    spawn = {"calls": [{"name": "agent_spawn", "args": {"prompt": "fix it", "model": child}}]}
    return bridle.script(spawn, {"text": "Fixed."})


def test_a_question_of_a_sub_agent_says_who_asks_and_for_whom_an_answer_holds(bridle: Bridle, greeting: Path):
    with bridle.terminal("run", "--model", spawning(bridle), "fix") as terminal:
        terminal.expect("Needs approval for agent-1: writes a file (mode ask)\n")
        terminal.expect("s yes for this sub-agent · a always, in every project · q stop the run\n> ")
        terminal.send("s")
        terminal.expect("yes for this sub-agent\n")
        code = terminal.finish()

    assert (code, greeting.read_text()) == (0, 'print("hello")\n')


def test_where_nobody_is_there_a_question_of_a_sub_agent_ends_the_run_like_any_other(
    bridle: Bridle, greeting: Path
):
    done = bridle("run", "--model", spawning(bridle), "fix")

    assert done.code == 77
    assert done.err.endswith(
        "error: denied: edit_file, nobody is there to approve it\n"
        "hint: to allow it, add --allow 'edit_file(*)'\n"
    )
    assert greeting.read_text() == 'print("helo")\n'


@pytest.mark.parametrize("flags", [["-p"], ["--output", "json"]])
def test_headless_on_a_terminal_never_asks(bridle: Bridle, flags: list[str]):
    with bridle.terminal("run", *flags, "--model", bridle.script(READ, EDIT, RESULT), "fix") as terminal:
        assert terminal.finish() == 77

    assert "Needs approval" not in terminal.screen
    assert terminal.screen.endswith("hint: to allow it, add --allow 'edit_file(*)'\n")


def test_in_the_background_nobody_is_asked(bridle: Bridle):
    model = bridle.script(READ, EDIT, RESULT)
    shell = f'set -m; {shlex.join(PROGRAM)} run --model "{model}" fix < /dev/null & wait $!'
    with Terminal(["/bin/bash", "-c", shell], bridle.project, bridle.env | {"TERM": "xterm"}) as terminal:
        assert terminal.finish() == 77

    assert "Needs approval" not in terminal.screen


def test_a_diff_and_marks_are_coloured(bridle: Bridle):
    model = bridle.script(READ, EDIT, RESULT)
    with bridle.terminal("run", "--model", model, "fix", NO_COLOR="") as terminal:
        terminal.expect("stop the run\n> ")
        terminal.send("y")
        terminal.finish()

    assert '\x1b[31m-print("helo")\x1b[0m\n\x1b[32m+print("hello")\x1b[0m\n' in terminal.screen
    assert "» \x1b[36medit_file\x1b[0m greet.py \x1b[32m✓\x1b[0m" in terminal.screen


def test_without_colour_no_escape_but_the_one_that_wipes_a_line(bridle: Bridle):
    with bridle.terminal("run", "--model", bridle.script(READ, EDIT, RESULT), "fix") as terminal:
        terminal.expect("> ")
        terminal.send("y")
        terminal.finish()

    assert "\x1b" not in terminal.screen.replace("\r\x1b[K", "")


def test_a_dumb_terminal_gets_no_escape_at_all(bridle: Bridle):
    with bridle.terminal(
        "run", "--model", bridle.script(READ, EDIT, RESULT), "fix", TERM="dumb", NO_COLOR=""
    ) as terminal:
        terminal.expect("> ")
        terminal.send("y")
        terminal.finish()

    assert "\x1b" not in terminal.screen


def test_nothing_from_outside_steers_the_terminal(bridle: Bridle):
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
    write = {"name": "write_file", "args": {"path": "x.txt", "content": f"{evil}\n"}}
    missing = {"name": f"no{evil}", "args": {"path": evil}}
    model = bridle.script({"text": evil, "calls": [missing, write]}, {"text": f"{evil}{{last_tool_result}}"})
    with bridle.terminal("run", "-v", "--model", model, evil.replace("\x9b", "")) as terminal:
        terminal.expect("> ")
        terminal.send("y")
        assert terminal.finish() == 0
    with bridle.terminal("session", "list") as listed:
        assert listed.finish() == 0
    with bridle.terminal("session", "show", "0") as shown:
        assert shown.finish() == 0
    with bridle.terminal("session", "export", "0", "--format", "md") as exported:
        assert exported.finish() == 0
    with bridle.terminal("session", "show", "0", "--json") as encoded:
        assert encoded.finish() == 0

    for seen in (
        terminal.screen.replace("\r\x1b[K", ""),
        *(t.screen for t in (listed, shown, exported, encoded)),
    ):
        assert "owned" in seen
        assert [c for c in seen if not c.isprintable() and c not in "\n\t"] == []
    assert json.loads(encoded.screen)["messages"][1]["parts"][0]["text"] == evil


def test_the_program_in_a_terminal_is_found(bridle: Bridle):
    """The tests above would prove nothing if the terminal were not a controlling one."""
    check = "import os; os.close(os.open('/dev/tty', os.O_RDWR)); print(os.isatty(0))"
    with Terminal([sys.executable, "-c", check], bridle.project, bridle.env) as terminal:
        assert terminal.finish() == 0
    without = subprocess.run(
        [sys.executable, "-c", check], start_new_session=True, capture_output=True, check=False
    )

    assert terminal.screen == "True\n"
    assert without.returncode == 1
    assert "TIOCSCTTY" in IN_TERMINAL


# ---------------------------------------------------------------------------- questions of the model


WHICH = Question("Which one?\x1b[2J\nIt matters.", ("red", "green", "blue"))
SOME = Question("Which ones?", ("red", "green", "blue"), several=True)
FREE = Question("What now?")


@pytest.mark.parametrize(
    ("question", "line", "answers"),
    [
        (WHICH, "2\n", ("green",)),
        (WHICH, " 2 \n", ("green",)),
        (WHICH, "\n", ()),
        (WHICH, "  \n", ()),
        (WHICH, "neither, I think\n", ("neither, I think",)),
        (WHICH, "2 of them\n", ("2 of them",)),
        (WHICH, "²\n", ("²",)),
        (SOME, "3, 1 3\n", ("blue", "red")),
        (SOME, "\n", ()),
        (FREE, "42\n", ("42",)),
        (FREE, "\n", ()),
    ],
)
def test_an_answer_is_a_choice_or_the_users_own_words(
    question: Question, line: str, answers: tuple[str, ...]
):
    assert read_answer(question, line) == answers


@pytest.mark.parametrize(
    ("question", "line", "message"),
    [
        (WHICH, "4", "no choice 4"),
        (WHICH, "0", "no choice 0"),
        (SOME, "1 9", "no choice 9"),
        (WHICH, "1 2", "only one choice is allowed"),
    ],
)
def test_a_number_that_is_no_choice_is_asked_for_again(question: Question, line: str, message: str):
    with pytest.raises(ValueError, match=f"^{message}$"):
        read_answer(question, line)


ASK = {"calls": [{"name": "ask_user", "args": {"question": "Which one?", "choices": ["red", "green"]}}]}


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("2\n", "green"), ("neither\n", "neither"), ("\n", "The user did not answer; decide yourself")],
)
def test_the_model_gets_the_answer_to_its_question(bridle: Bridle, typed: str, answer: str):
    with bridle.terminal("run", "--model", bridle.script(ASK, RESULT), "paint it") as terminal:
        terminal.expect("? Which one?\n  1 red\n  2 green\na number, or your own words (Enter to skip): ")
        terminal.send(typed)
        code = terminal.finish()

    assert code == 0
    assert f"It says: {answer}" in terminal.screen


def test_ctrl_c_at_a_question_of_the_model_cancels_the_run(bridle: Bridle):
    with bridle.terminal("run", "--model", bridle.script(ASK, RESULT), "paint it") as terminal:
        terminal.expect("(Enter to skip): ")
        terminal.interrupt()
        code = terminal.finish()

    assert (code, terminal.screen.splitlines()[-1]) == (130, "cancelled: interrupted by the user")


def test_where_nobody_is_there_a_question_has_no_answer(bridle: Bridle):
    done = bridle("run", "-v", "--model", bridle.script(ASK, RESULT), "paint it")

    assert done.code == 0
    assert done.out.startswith("It says: The user did not answer; decide yourself")
    assert done.err.startswith("  ? Which one?\n    1 red\n    2 green\nanswered: nothing\n» ask_user ")


async def test_a_question_is_put_with_its_choices_until_it_is_answered():
    master, slave = pty.openpty()
    approver = Approver(slave, {"NO_COLOR": "1"})
    os.set_blocking(master, True)
    asking = asyncio.create_task(approver.put(QuestionAsked(CallId("c"), WHICH)))
    seen = await _until(master, "(Enter to skip): ")
    os.write(master, b"7\n")
    seen += await _until(master, "(Enter to skip): ")
    os.write(master, b"3\n")

    reply = await asking
    approver.close()
    os.close(master)

    assert reply == Reply(CallId("c"), ("blue",))
    assert seen == (
        "? Which one?\\x1b[2J\n? It matters.\n  1 red\n  2 green\n  3 blue\n"
        "a number, or your own words (Enter to skip): 7\nno choice 7\n"
        "a number, or your own words (Enter to skip): "
    )


async def test_a_terminal_that_goes_away_gives_no_answer():
    master, slave = pty.openpty()
    approver = Approver(slave, {"NO_COLOR": "1"})
    asking = asyncio.create_task(approver.put(QuestionAsked(CallId("c"), FREE)))
    await _until(master, "your answer (Enter to skip): ")
    os.close(master)

    assert await asking is None
    approver.close()


async def test_ctrl_d_is_an_answer_of_nothing():
    master, slave = pty.openpty()
    approver = Approver(slave, {"NO_COLOR": "1"})
    asking = asyncio.create_task(approver.put(QuestionAsked(CallId("c"), FREE)))
    await _until(master, "your answer (Enter to skip): ")
    os.write(master, b"\x04")

    assert await asking == Reply(CallId("c"))
    approver.close()
    os.close(master)


async def _until(master: int, text: str) -> str:
    """Wait until a text was shown, and return all that was."""
    seen = ""
    while not seen.endswith(text):
        data = await asyncio.wait_for(asyncio.to_thread(os.read, master, 4096), PATIENCE_S)
        seen += data.decode().replace("\r\n", "\n")
    return seen


WORK = [
    {
        "calls": [
            {
                "name": "todos",
                "args": {
                    "todos": [
                        {"text": "ask", "status": "in_progress"},
                        {"text": "run it", "status": "pending"},
                    ]
                },
            }
        ]
    },
    {
        "calls": [
            {"name": "ask_user", "args": {"question": "Which one?\nFor ever.", "choices": ["red", "blue"]}}
        ]
    },
    {"calls": [{"name": "bash", "args": {"command": "echo one; touch made; false", "description": "try"}}]},
    {"text": "Done."},
]


def test_a_whole_piece_of_work_as_it_is_seen(bridle: Bridle):
    with bridle.terminal("run", "--model", bridle.script(*WORK), "work") as terminal:
        terminal.expect("own words (Enter to skip): ")
        terminal.send("2\n")
        terminal.expect("\n> ")
        terminal.send("y")
        assert terminal.finish() == 0

    shown = screen(terminal).splitlines()
    guard = next(line for line in shown if line.startswith("(in ."))
    assert shown[:-1] == [
        "» todos 2 items ✓ TIME",
        "  [>] ask",
        "  [ ] run it",
        "? Which one?",
        "? For ever.",
        "  1 red",
        "  2 blue",
        "a number, or your own words (Enter to skip): 2",
        "» ask_user Which one? For ever. ✓ TIME",
        "bash",
        "try",
        "$ echo one; touch made; false",
        guard,
        "Needs approval: runs a command (mode ask)",
        "s / a allow bash(touch:*), write_file(*)",
        "y yes · n no, and say why · s yes for this session · a always, in every project · q stop the run",
        "> yes",
        "» bash echo one; touch made; false",
        "  one",
        "  ✗",
        "  [exit status 1]",
        "  created made",
        "Done.",
    ]
