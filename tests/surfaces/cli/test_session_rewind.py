"""A rewind as a person does it: list the turns, see the changes, rewind, and undo the rewind."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridle.revisions.file_reader import MAX_FILE_BYTES
from tests.patience import PATIENCE_S
from tests.surfaces.command import Bridle, Done, interrupt, steady

READ = {"text": "I look.", "calls": [{"name": "read_file", "args": {"path": "greet.py"}}]}
EDIT = {
    "text": "I change it.",
    "calls": [{"name": "edit_file", "args": {"path": "greet.py", "old_str": "helo", "new_str": "hello"}}],
}
SHELL = {
    "calls": [{"name": "bash", "args": {"command": "rm old.txt; echo new > new.txt; chmod +x greet.py"}}]
}
DONE = {"text": "All done."}
AGAIN = {"calls": [{"name": "bash", "args": {"command": "echo more >> new.txt"}}]}

EDITED = """\
--- greet.py
+++ greet.py
@@ -1,1 +1,1 @@
-print("helo")
+print("hello")
"""

Tree = dict[str, tuple[int, str]]

BEFORE: Tree = {"greet.py": (0o644, 'print("helo")\n'), "old.txt": (0o600, "old\n")}
AFTER_EDIT: Tree = BEFORE | {"greet.py": (0o644, 'print("hello")\n')}
AFTER_SHELL: Tree = {"greet.py": (0o755, 'print("hello")\n'), "new.txt": (0o644, "new\n")}
AT_THE_END: Tree = AFTER_SHELL | {"new.txt": (0o644, "new\nmore\n")}


def tree(bridle: Bridle) -> Tree:
    return {
        path.name: (path.stat().st_mode & 0o777, path.read_text())
        for path in sorted(bridle.project.iterdir())
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the one folder of all these tests: a session knows its own by its path."""
    return tmp_path_factory.mktemp("undoing")


@pytest.fixture
def home(place: Path) -> Path:
    return place / "now" / "home" / ".bridle"


@pytest.fixture
def bridle(place: Path, home: Path, env: dict[str, str]) -> Iterator[Bridle]:
    """Yield a session of two prompts that edited, and changed things by a command; made once, then copied."""
    now, kept = place / "now", place / "kept"
    before = os.umask(0o022)
    program = Bridle(env, now / "project")
    if kept.exists():
        shutil.rmtree(now)
        shutil.copytree(kept, now, symlinks=True)
    else:
        home.mkdir(parents=True)
        _work(program)
        shutil.copytree(now, kept, symlinks=True)
    assert tree(program) == AT_THE_END
    yield program
    os.umask(before)


def _work(program: Bridle) -> None:
    program.project.mkdir()
    for name, (mode, text) in BEFORE.items():
        (program.project / name).write_text(text)
        (program.project / name).chmod(mode)
    model = program.script(READ, EDIT, SHELL, DONE, AGAIN, DONE)
    for flags in ([], ["--continue"]):
        done = program("run", "-p", "--yolo", "--model", model, *flags, "fix it" if not flags else "go on")
        assert done == Done(0, "All done.\n", "")


# ---------------------------------------------------------------------------- looking


def test_the_turns_stand_below_their_prompts(bridle: Bridle):
    assert bridle("session", "turns", "0") == Done(
        0,
        """\
   0  before the first prompt
> fix it
   1  read_file greet.py
   2  edit_file greet.py (1 file changed)
   3  bash rm old.txt; echo new > new.txt; chmod +x greet.py (3 files changed)
   4  All done.
> go on
   5  bash echo more >> new.txt (1 file changed)
   6  All done.
""",
        "",
    )


def test_a_narrow_terminal_cuts_what_a_turn_did_and_not_its_files(bridle: Bridle):
    with bridle.terminal("session", "turns", "0") as terminal:
        assert terminal.finish() == 0
    with bridle.terminal("session", "turns", "0", width=40) as narrow:
        narrow.finish()

    assert (
        "\n   3  bash rm old.txt; echo new > new.txt; chmod +x greet.py (3 files changed)\n"
        in terminal.screen
    )
    assert "\n   3  bash rm old.txt… (3 files changed)\n" in narrow.screen


def test_the_turns_for_programs(bridle: Bridle):
    turns = json.loads(bridle("session", "turns", "0", "--json").out)

    assert [(turn["number"], turn["prompt"], turn["files"]) for turn in turns] == [
        (0, "", 0),
        *((number, "fix it", files) for number, files in ((1, 0), (2, 1), (3, 3), (4, 0))),
        *((number, "go on", files) for number, files in ((5, 1), (6, 0))),
    ]


def test_what_a_session_changed(bridle: Bridle):
    names = bridle("session", "diff", "0", "--stat")
    whole = bridle("session", "diff", "0")
    listed = json.loads(bridle("session", "diff", "0", "--json").out)

    assert names == Done(0, "changed greet.py\ncreated new.txt\ndeleted old.txt\n", "")
    assert (whole.code, whole.err) == (0, "")
    assert whole.out.startswith(f"greet.py: mode 644 becomes 755\n{EDITED}")
    assert "+new\n+more\n" in whole.out
    assert "-old\n" in whole.out
    assert [change["path"] for change in listed] == ["greet.py", "new.txt", "old.txt"]


def test_what_one_turn_changed(bridle: Bridle):
    changed = {turn: bridle("session", "diff", "0", "--turn", str(turn), "--stat").out for turn in range(7)}

    assert bridle("session", "diff", "0", "--turn", "2") == Done(0, EDITED, "")
    assert changed == {
        **dict.fromkeys((0, 1, 4, 6), ""),
        2: "changed greet.py\n",
        3: "changed greet.py\ncreated new.txt\ndeleted old.txt\n",
        5: "changed new.txt\n",
    }


def test_a_file_gets_a_diff_as_it_is_and_a_screen_a_safe_one(bridle: Bridle):
    write = {"calls": [{"name": "write_file", "args": {"path": "evil", "content": "\x1b[2J\x0cx\n"}}]}
    bridle("run", "--yolo", "--model", bridle.script(write, DONE), "write")

    data = bridle("session", "diff", bridle.sessions()[0]["id"])
    with bridle.terminal("session", "diff", bridle.sessions()[0]["id"]) as terminal:
        terminal.finish()

    assert data.out.endswith("+\x1b[2J\x0cx\n")
    assert terminal.screen.endswith("+\\x1b[2J\\x0cx\n")


# ---------------------------------------------------------------------------- going back


@pytest.mark.parametrize(
    ("turn", "expected"),
    [(0, BEFORE), (1, BEFORE), (2, AFTER_EDIT), (3, AFTER_SHELL), (5, AT_THE_END)],
)
def test_going_back_brings_files_and_conversation_back_and_can_be_undone(
    bridle: Bridle, turn: int, expected: Tree
):
    turns = bridle("session", "turns", "0").out

    gone = bridle("session", "rewind", "0", "--to", str(turn), "--yes")
    there, left = tree(bridle), len(bridle("session", "turns", "0", "--json").out)
    back = bridle("session", "rewind", "0", "--undo", "--yes")

    assert (gone.code, back.code) == (0, 0)
    assert there == expected
    assert left < len(bridle("session", "turns", "0", "--json").out)
    assert (tree(bridle), bridle("session", "turns", "0").out) == (AT_THE_END, turns)
    assert "ok" in bridle("session", "verify", "0").out


def test_the_undo_can_be_undone(bridle: Bridle):
    bridle("session", "rewind", "0", "--to", "2", "--yes")
    bridle("session", "rewind", "0", "--undo", "--yes")

    done = bridle("session", "rewind", "0", "--undo", "--yes")

    assert (done.code, tree(bridle)) == (0, AFTER_EDIT)


def test_the_session_goes_on_from_there(bridle: Bridle):
    bridle("session", "rewind", "0", "--to", "2", "--yes")

    done = bridle(
        "run", "-p", "--continue", "--model", bridle.script(READ, DONE, {"text": "{last_user}"}), "hi"
    )

    assert done == Done(0, "hi\n", "")
    assert bridle("session", "turns", "0").out.splitlines()[3:] == [
        "   2  edit_file greet.py (1 file changed)",
        "> hi",
        "   3  hi",
    ]
    assert bridle("session", "diff", "0", "--stat").out == "changed greet.py\n"


def test_a_dry_run_shows_and_changes_nothing(bridle: Bridle):
    events = bridle.sessions()[0]["last_seq"]

    done = bridle("session", "rewind", "0", "--to", "4", "--dry-run")

    assert done == Done(
        0,
        "--- new.txt\n+++ new.txt\n@@ -1,2 +1,1 @@\n new\n-more\n",
        "turns 5 to 6 will be removed from the conversation\nnothing was changed: this was a dry run\n",
    )
    assert (tree(bridle), bridle.sessions()[0]["last_seq"]) == (AT_THE_END, events)


def test_files_alone_or_the_conversation_alone(bridle: Bridle):
    files = bridle("session", "rewind", "0", "--to", "2", "--only", "files", "--yes")
    after_files = tree(bridle), len(json.loads(bridle("session", "turns", "0", "--json").out))
    bridle("session", "rewind", "0", "--undo", "--yes")
    talk = bridle("session", "rewind", "0", "--to", "5", "--only", "conversation", "--yes")

    assert (files.code, files.err) == (0, "")
    assert after_files == (AFTER_EDIT, 7)
    assert talk == Done(0, "", "turn 6 will be removed from the conversation\n")
    assert tree(bridle) == AT_THE_END
    assert len(json.loads(bridle("session", "turns", "0", "--json").out)) == 6


def test_the_result_for_programs(bridle: Bridle):
    tried = bridle("session", "rewind", "0", "--to", "4", "--dry-run", "--json")
    done = bridle("session", "rewind", "0", "--to", "4", "--yes", "--json")

    plan, result = json.loads(tried.out), json.loads(done.out)
    assert ((tried.code, tried.err), (done.code, done.err)) == ((0, ""), (0, ""))
    assert result.keys() == {"done", "to_seq", "changes", "conflicts", "lost", "left"}
    assert plan | {"done": True} == result
    assert [change["path"] for change in result["changes"]] == ["new.txt"]
    assert (result["conflicts"], result["lost"], result["left"]) == ([], [], [])
    assert tree(bridle) == AFTER_SHELL


# ---------------------------------------------------------------------------- conflicts


def test_what_somebody_else_changed_is_not_overwritten(bridle: Bridle):
    (bridle.project / "new.txt").write_text("mine\n")
    changed = tree(bridle)

    done = bridle("session", "rewind", "0", "--to", "2", "--yes")

    assert done.code == 1
    overwrite = "bridle session rewind ID --to 2 --yes --force overwrites them (this can be undone)"
    assert steady(done.err).splitlines() == [
        "turns 3 to 6 will be removed from the conversation",
        "error: changed outside the session: new.txt",
        f"hint: {overwrite}; --only conversation leaves all files alone",
    ]
    assert tree(bridle) == changed
    assert len(json.loads(bridle("session", "turns", "0", "--json").out)) == 7


def test_a_dry_run_names_the_conflicts(bridle: Bridle):
    (bridle.project / "new.txt").write_text("mine\n")

    done = bridle("session", "rewind", "0", "--to", "2", "--dry-run")

    assert done.code == 0
    assert done.err.splitlines() == [
        "warning: new.txt was changed outside the session",
        "turns 3 to 6 will be removed from the conversation",
        "nothing was changed: this was a dry run",
    ]


def test_force_overwrites_and_can_be_undone(bridle: Bridle):
    (bridle.project / "new.txt").write_text("mine\n")
    (bridle.project / "greet.py").unlink()
    changed = tree(bridle)

    forced = bridle("session", "rewind", "0", "--to", "2", "--yes", "--force")
    there = tree(bridle)
    undone = bridle("session", "rewind", "0", "--undo", "--yes")

    assert (forced.code, undone.code) == (0, 0)
    assert forced.err.splitlines()[:2] == [
        "warning: greet.py was changed outside the session",
        "warning: new.txt was changed outside the session",
    ]
    assert there == AFTER_EDIT
    assert tree(bridle) == changed


def test_what_cannot_be_brought_back_is_said_before_and_after(bridle: Bridle):
    with (bridle.project / "large").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    remove = {"calls": [{"name": "bash", "args": {"command": "rm large; echo x > made"}}]}
    bridle("run", "-p", "--yolo", "--model", bridle.script(remove, DONE), "remove it")
    session = bridle.sessions()[0]["id"]

    tried = bridle("session", "rewind", session, "--to", "0", "--dry-run")
    done = bridle("session", "rewind", session, "--to", "0", "--yes")

    warning = "warning: large cannot be restored: it was too large to save"
    assert (tried.code, tried.err.splitlines()[0]) == (0, warning)
    assert (done.code, done.err.splitlines()[0]) == (1, warning)
    assert done.err.splitlines()[-1].startswith("warning: could not be restored: large: ")
    assert (bridle.project / "large").exists() is (bridle.project / "made").exists() is False


# ---------------------------------------------------------------------------- asking, and wrong usage


def test_on_a_terminal_it_shows_asks_and_says_how_to_undo(bridle: Bridle):
    with bridle.terminal("session", "rewind", "0", "--to", "4") as terminal:
        terminal.expect("-more\n")
        terminal.expect("turns 5 to 6 will be removed from the conversation\n")
        terminal.expect("rewind to turn 4? [y/N] ")
        terminal.send("y\n")
        assert terminal.finish() == 0
        terminal.expect("is back at turn 4 (to undo this: bridle session rewind ")
    with bridle.terminal("session", "rewind", "0", "--undo") as terminal:
        terminal.expect("undo the last rewind? [y/N] ")
        terminal.send("y\n")
        assert terminal.finish() == 0

    assert tree(bridle) == AT_THE_END


@pytest.mark.parametrize(("keys", "code"), [("\n", 0), ("n\n", 0), ("\x04", 0), ("\x03", 130)])
def test_anything_but_yes_changes_nothing(bridle: Bridle, keys: str, code: int):
    with bridle.terminal("session", "rewind", "0", "--to", "0") as terminal:
        terminal.expect("rewind to turn 0? [y/N] ")
        terminal.send(keys)
        assert terminal.finish() == code

    assert ("nothing was changed\n" in terminal.screen) == (code == 0)
    assert tree(bridle) == AT_THE_END


def test_without_a_terminal_a_yes_must_be_given(bridle: Bridle):
    done = bridle("session", "rewind", "0", "--to", "4", "--only", "files")

    assert (done.code, steady(done.err)) == (
        64,
        "error: rewinding needs confirmation\nhint: bridle session rewind ID --to 4 --only files --yes\n",
    )
    assert tree(bridle) == AT_THE_END


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (
            ["rewind", "0", "--yes"],
            64,
            "error: no turn given\nhint: --to TURN (see bridle session turns ID), or --undo\n",
        ),
        (
            ["rewind", "0", "--to", "7", "--yes"],
            64,
            "error: the session has turns 0 to 6, not 7\nhint: bridle session turns ID\n",
        ),
        (
            ["rewind", "0", "--to", "-1", "--yes"],
            64,
            "error: the session has turns 0 to 6, not -1\nhint: bridle session turns ID\n",
        ),
        (
            ["rewind", "0", "--to", "x"],
            64,
            "error: argument --to: invalid int value: 'x'\nhint: bridle session rewind --help\n",
        ),
        (["rewind", "0", "--undo", "--yes"], 64, "error: this session has no rewind to undo\n"),
        (
            ["rewind", "0", "--to", "1", "--undo"],
            64,
            "error: argument --undo: not allowed with argument --to\nhint: bridle session rewind --help\n",
        ),
        (
            ["diff", "0", "--turn", "9"],
            64,
            "error: the session has turns 0 to 6, not 9\nhint: bridle session turns ID\n",
        ),
        *(
            ([*command, "--json"], 1, 'error: no session "nope"\nhint: bridle session list --all\n')
            for command in (["turns", "nope"], ["diff", "nope"], ["rewind", "nope", "--to", "0"])
        ),
    ],
)
def test_wrong_usage(bridle: Bridle, args: list[str], code: int, message: str):
    assert bridle("session", *args) == Done(code, "", message)
    assert tree(bridle) == AT_THE_END


def test_a_session_that_runs_cannot_be_rewound(bridle: Bridle):
    slow = bridle.script(*[DONE] * 6, {"delay_ms": 30_000, "text": "x"})
    process = bridle.start("run", "--output", "stream-json", "--continue", "--model", slow, "x")
    assert process.stdout is not None
    for line in iter(process.stdout.readline, b""):
        if b"turn_started" in line:
            break

    done = bridle("session", "rewind", "0", "--to", "4", "--yes")

    interrupt(process)
    process.communicate(timeout=PATIENCE_S)
    assert (done.code, steady(done.err).splitlines()[-2:]) == (
        1,
        ["error: session ID is being run by another process", "hint: wait for it to end"],
    )
    assert tree(bridle) == AT_THE_END


def test_other_folders_do_not_matter(bridle: Bridle, tmp_path: Path):
    done = bridle("session", "rewind", "0", "--to", "0", "--yes", cwd=tmp_path)

    assert (done.code, tree(bridle)) == (0, BEFORE)


def test_what_sub_agents_changed_is_taken_back_with_the_turn_that_started_them(bridle: Bridle):
    before = tree(bridle)
    read = {"calls": [{"name": "read_file", "args": {"path": "greet.py"}}]}
    write = {"calls": [{"name": "write_file", "args": {"path": "greet.py", "content": "below\n"}}]}
    leaf = bridle.script(read, write, DONE)
    shell = {"name": "bash", "args": {"command": "echo middle > middle.txt"}}
    below = {"name": "agent_spawn", "args": {"prompt": "write", "model": leaf}}
    middle = bridle.script({"calls": [shell, below]}, DONE)
    spawn = {"calls": [{"name": "agent_spawn", "args": {"prompt": "go", "model": middle}}]}
    done = bridle("run", "--yolo", "--model", bridle.script(spawn, DONE), "go")
    session = next(one["id"] for one in bridle.sessions() if one["title"] == "go")
    after = tree(bridle)

    back = bridle("session", "rewind", session, "--to", "0", "--yes")
    there = tree(bridle)
    bridle("session", "rewind", session, "--undo", "--yes")

    assert (done.code, back.code) == (0, 0)
    assert after == before | {"greet.py": (0o755, "below\n"), "middle.txt": (0o644, "middle\n")}
    assert there == before
    assert tree(bridle) == after
