"""`bridle kernel` and code mode as people use them: in a pipe and on a terminal."""

import json
from pathlib import Path

import pytest

from bridle.surfaces.cli.kernel import MAX_PROMPT_BYTES
from tests.patience import PATIENCE_S
from tests.surfaces.command import Bridle, Done, interrupt, steady

EDIT = 'await read_file("a.txt")\nprint(await edit_file("a.txt", "hello", "bye"))\n'


@pytest.fixture(autouse=True)
def text(bridle: Bridle) -> Path:
    path = bridle.project / "a.txt"
    path.write_text("hello\n")
    return path


def script(bridle: Bridle, code: str) -> str:
    path = bridle.project / "code.py"
    path.write_text(code)
    return str(path)


# ---------------------------------------------------------------------------- run


def test_what_a_file_prints_is_all_of_stdout(bridle: Bridle):
    code = 'import sys\nsys.stdout.write("\\x1b[1mone\\r\\n")\nprint(await read_file("a.txt"), end="")\n[1]'

    assert bridle("kernel", "run", script(bridle, code)) == Done(0, "\x1b[1mone\r\n1: hello[1]\n", "")
    assert [session["title"] for session in bridle.sessions()] == [f"kernel run {bridle.project}/code.py"]


def test_code_from_stdin_with_arguments(bridle: Bridle):
    done = bridle("kernel", "run", "-", "--arg", "a b", "--arg", "é'", stdin="import sys; print(sys.argv)")

    assert done == Done(0, "['-', 'a b', \"é'\"]\n", "")


def test_an_error_is_a_traceback_on_stderr(bridle: Bridle):
    code = 'print("[half]")\ndef f():\n    raise ValueError("no")\nf()'

    done = bridle("kernel", "run", script(bridle, code))

    unmarked = [
        line for line in done.err.splitlines(keepends=True) if line.strip(" ^~\n")
    ]  # newer Pythons mark
    assert done._replace(err="".join(unmarked)) == Done(
        1,
        "[half]\n",
        "Traceback (most recent call last):\n"
        '  File "<cell 1>", line 4, in <module>\n    f()\n'
        '  File "<cell 1>", line 3, in f\n    raise ValueError("no")\n'
        "ValueError: no\n",
    )


def test_very_much_output_is_cut_and_that_is_said(bridle: Bridle):
    done = bridle("kernel", "run", script(bridle, 'print("x" * 20_000_000)'))

    assert done == Done(
        0,
        "x" * 10 * 1024 * 1024,
        "warning: the cell has printed more than is shown of one\nhint: let it write into a file\n",
    )


@pytest.mark.parametrize(
    ("flags", "end"),
    [
        ([], (77, "", "hello\n")),
        (["--plan"], (77, "", "hello\n")),
        (["--accept-edits"], (0, "Replaced 1 occurrence(s) in a.txt\n", "bye\n")),
        (["--allow", "edit_file(*.txt)"], (0, "Replaced 1 occurrence(s) in a.txt\n", "bye\n")),
        (["--yolo", "--deny", "edit_file"], (1, "", "hello\n")),
    ],
)
def test_calls_of_tools_are_judged(bridle: Bridle, text: Path, flags: list[str], end: tuple[int, str, str]):
    done = bridle("kernel", "run", *flags, script(bridle, EDIT))

    assert (done.code, done.out, text.read_text()) == end


def test_nobody_to_ask_names_the_rule(bridle: Bridle):
    done = bridle("kernel", "run", script(bridle, EDIT))

    assert done.err == (
        "error: denied: edit_file, nobody is there to approve it\n"
        "hint: to allow it, add --allow 'edit_file(*)'\n"
    )


def test_a_rule_against_code_is_stronger_than_the_command(bridle: Bridle):
    done = bridle("kernel", "run", "--deny", "python", script(bridle, "print(1)"))

    assert done == Done(77, "", "denied by rule deny python\n")


def test_the_calls_of_tools_are_shown_when_asked_for(bridle: Bridle):
    done = bridle("kernel", "run", "-v", "--accept-edits", script(bridle, EDIT))

    assert done.out == "Replaced 1 occurrence(s) in a.txt\n"
    assert steady(done.err) == (
        "» read_file a.txt ✓ TIME\n"
        "» edit_file a.txt ✓ TIME\n  @@ -1,1 +1,1 @@\n  -hello\n  +bye\n"
        "session ID · 2 tool calls\n"
    )


def test_the_calls_of_code_are_in_the_record(bridle: Bridle):
    bridle("kernel", "run", "--accept-edits", script(bridle, EDIT))
    session = bridle.sessions()[0]["id"]

    shown = bridle("session", "show", session).out.splitlines()
    cells = json.loads(bridle("session", "show", "--json", session).out)["cells"]

    assert shown[-5:] == [
        "    » read_file a.txt",
        "      1: hello",
        "    » edit_file a.txt",
        "      Replaced 1 occurrence(s) in a.txt",
        "    Replaced 1 occurrence(s) in a.txt",
    ]
    assert [[made["call"]["name"] for made in cell["calls"]] for cell in cells.values()] == [
        ["read_file", "edit_file"]
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" \n", "error: no code in stdin\n"),
        (b"x = '\xe9'", "error: stdin is not UTF-8 text: byte 0xe9 at 5\n"),
        (b"#" * (MAX_PROMPT_BYTES + 1), "error: stdin is longer than 4 MiB\n"),
    ],
    ids=["blank", "not UTF-8", "too long"],
)
def test_what_is_no_code_is_refused_before_anything_is_stored(bridle: Bridle, data: bytes, message: str):
    assert bridle("kernel", "run", "-", stdin=data) == Done(64, "", message)
    assert list(bridle.home.iterdir()) == []


def test_a_file_that_is_not_there(bridle: Bridle):
    assert bridle("kernel", "run", "no.py") == Done(1, "", "error: no.py: No such file or directory\n")


def test_ctrl_c_ends_it(bridle: Bridle):
    code = 'import time\nprint("on", flush=True)\ntime.sleep(60)'
    process = bridle.start("kernel", "run", script(bridle, code))
    assert process.stdout is not None
    first = process.stdout.readline()

    interrupt(process)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, first + out, err) == (130, b"on\n", b"cancelled: interrupted by the user\n")


def test_a_reader_that_goes_away_ends_it(bridle: Bridle):
    code = 'import time\nfor _ in range(600):\n    print("on", flush=True)\n    time.sleep(0.1)'
    process = bridle.start("kernel", "run", script(bridle, code))
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()

    process.stdout.close()

    assert (process.wait(PATIENCE_S), process.stderr.read()) == (141, b"")
    process.stderr.close()


# ---------------------------------------------------------------------------- repl


def test_lines_through_a_pipe(bridle: Bridle):
    lines = "x = 20\nfor i in range(2):\n    x += i\nx * 2\n1 / 0\nawait read_file('a.txt')"

    done = bridle("kernel", "repl", stdin=lines)

    assert (done.code, done.out) == (1, "42\n'1: hello'\n")
    assert done.err.endswith("ZeroDivisionError: division by zero\n")
    assert len(bridle.sessions()) == 1


def test_a_session_keeps_its_variables(bridle: Bridle):
    bridle("kernel", "repl", stdin="x = [1, 2]\ndef f(): ...\n")
    session = bridle.sessions()[0]["id"]

    done = bridle("kernel", "repl", "--session", session[:13], stdin="x\n")

    assert done == Done(0, "[1, 2]\n", "")
    assert len(bridle.sessions()) == 1


def test_no_lines_leave_no_session(bridle: Bridle):
    assert bridle("kernel", "repl", stdin="\n\n") == Done(0, "", "")
    assert bridle.sessions() == []


@pytest.mark.parametrize("word", ["exit()", "quit"])
def test_leaving_in_words(bridle: Bridle, word: str):
    assert bridle("kernel", "repl", stdin=f"1\n{word}\n2\n") == Done(0, "1\n", "")


def test_a_session_that_is_not_there(bridle: Bridle):
    done = bridle("kernel", "repl", "--session", "abc", stdin="1\n")

    assert done == Done(1, "", 'error: no session "abc"\nhint: bridle session list --all\n')


def test_at_a_terminal(bridle: Bridle):
    with bridle.terminal("kernel", "repl", NO_COLOR="1") as terminal:
        terminal.expect(">>> ")
        terminal.send("def f():\n")
        terminal.expect("... ")
        terminal.send("\treturn 41 + 1\n")
        terminal.expect("... ")
        terminal.send("\n")
        terminal.expect(">>> ")
        terminal.send("f()\n")
        terminal.expect("42\n")
        terminal.expect(">>> ")
        terminal.send("1 / 0\n")
        terminal.expect("ZeroDivisionError")
        terminal.expect(">>> ")
        terminal.send("\x04")
        code = terminal.finish()

    history = bridle.home / "kernel_history"
    assert code == 0
    assert history.read_text().splitlines()[-4:] == ["def f():", "\treturn 41 + 1", "f()", "1 / 0"]
    assert history.stat().st_mode & 0o777 == 0o600


def test_ctrl_c_at_a_terminal_ends_the_cell_and_keeps_the_variables(bridle: Bridle):
    with bridle.terminal("kernel", "repl", NO_COLOR="1") as terminal:
        terminal.expect(">>> ")
        terminal.send("x = 41\n")
        terminal.expect(">>> ")
        terminal.send("import time; print('o' + 'n', flush=True); time.sleep(60)\n")
        terminal.expect("on\n")
        terminal.interrupt()
        terminal.expect("cancelled: interrupted by the user\n>>> ")
        terminal.send("if x:\n")
        terminal.expect("... ")
        terminal.interrupt()
        terminal.send("\n")  # a key wakes Python's prompt, which misses a signal that comes too early
        terminal.expect(">>> ")
        terminal.send("x + 1\n")
        terminal.expect("42\n")
        terminal.expect(">>> ")
        terminal.send("\x04")

        assert terminal.finish() == 0


def test_approvals_at_a_terminal(bridle: Bridle, text: Path):
    with bridle.terminal("kernel", "repl", NO_COLOR="1") as terminal:
        terminal.expect(">>> ")
        terminal.send("await read_file('a.txt'); await edit_file('a.txt', 'hello', 'bye')\n")
        terminal.expect("Needs approval for Python code: writes a file (mode ask)\n")
        terminal.expect("q stop the run\n> ")
        terminal.send("y")
        terminal.expect("Replaced 1 occurrence(s) in a.txt")
        terminal.expect(">>> ")
        terminal.send("\x04")
        terminal.finish()

    assert text.read_text() == "bye\n"


# ---------------------------------------------------------------------------- code mode


def test_code_mode_ends_with_the_final_message(bridle: Bridle):
    model = bridle.script(
        {"text": "I look.\n\n```python\ntext = await read_file('a.txt')\nprint(text)\n```\n"},
        {"text": "```python\nmessage(f'It says {text}.', kind='final')\n```"},
    )

    done = bridle("run", "--code", "-p", "--allow", "python", "--model", model, "what does it say")

    assert done == Done(0, "It says 1: hello.\n", "")


def test_code_mode_while_it_happens(bridle: Bridle):
    model = bridle.script(
        {"text": "I look.\n\n```python\ntext = await read_file('a.txt')\nprint(text)\n```\n"},
        {"text": "```python\nmessage('Done.', kind='final')\n```"},
    )

    done = bridle("run", "--code", "-v", "--allow", "python", "--model", model, "look")

    assert done.out == (
        "I look.\n\n```python\ntext = await read_file('a.txt')\nprint(text)\n```\n"
        "```python\nmessage('Done.', kind='final')\n```\nDone.\n"
    )
    assert steady(done.err).splitlines()[:-1] == [
        "» python text = await read_file('a.txt')",
        "  » read_file a.txt ✓ TIME",
        "  1: hello",
        "  ✓ TIME",
        "» python message('Done.', kind='final') ✓ TIME",
    ]


def test_the_code_of_an_approval_is_shown_in_colours(bridle: Bridle):
    model = bridle.script(
        {"calls": [{"name": "python", "args": {"code": "def f():\n    return 1"}}]}, {"text": "ok"}
    )

    with bridle.terminal("run", "--model", model, "x", NO_COLOR="") as terminal:
        terminal.expect("\x1b[2m1\x1b[0m \x1b[35mdef\x1b[0m \x1b[1;34mf\x1b[0m():\n")
        terminal.expect("\x1b[2m2\x1b[0m     \x1b[35mreturn\x1b[0m \x1b[33m1\x1b[0m\n")
        terminal.expect("> ")
        terminal.send("n")
        terminal.expect("why")
        terminal.send("\n")
        terminal.finish()
