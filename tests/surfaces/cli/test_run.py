"""`bridle run` in scripts: outputs, exit codes, bad input, Ctrl-C and recovery after a crash."""

import asyncio
import fcntl
import json
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import jsonschema_rs
import msgspec
import pytest

from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import PromptQueued, RunOptions
from bridle.stores.claims import FileClaims
from bridle.stores.sqlite import SqliteStore
from bridle.surfaces.shared.output_format import line_schema
from tests.patience import PATIENCE_S
from tests.sessions.stage import FixedClock
from tests.surfaces.command import PROGRAM, Bridle, Done, interrupt, steady

EDIT = {
    "text": "I change it.",
    "calls": [{"name": "edit_file", "args": {"path": "greet.py", "old_str": "helo", "new_str": "hello"}}],
}
READ = {"text": "I look.", "calls": [{"name": "read_file", "args": {"path": "greet.py"}}]}
DONE = {"text": "All done."}
PIPE_BYTES = 64 * 1024  # what a pipe of Linux holds
ECHO = {"text": "{last_user}"}


@pytest.fixture(autouse=True)
def greeting(bridle: Bridle) -> Path:
    path = bridle.project / "greet.py"
    path.write_text('print("helo")\n')
    return path


def result_of(done: Done) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.out.splitlines()[-1])
    return found


# ---------------------------------------------------------------------------- prompts and answers


def test_the_answer_alone_is_on_stdout_and_nothing_on_stderr(bridle: Bridle):
    model = bridle.script(READ, DONE)

    assert bridle("run", "--model", model, "look") == Done(0, "I look.\nAll done.\n", "")


def test_only_the_final_answer(bridle: Bridle):
    model = bridle.script(READ, DONE)

    assert bridle("run", "-p", "--model", model, "look") == Done(0, "All done.\n", "")


def test_verbose_tells_the_rest_on_stderr(bridle: Bridle):
    model = bridle.script({"reasoning": "Hm.", **READ}, DONE)

    done = bridle("run", "-v", "--model", model, "look")

    assert done.out == "I look.\nAll done.\n"
    assert steady(done.err).splitlines()[:-1] == ["Hm.", "» read_file greet.py ✓ TIME"]
    assert steady(done.err).splitlines()[-1].startswith("session ID · 2 turns · 1 tool call · ")
    assert done.err.endswith("tokens · price unknown\n")


def test_a_known_price_is_told(bridle: Bridle):
    model = bridle.script(
        {"text": "hi", "usage": {"input": 1000, "output": 500}}, price={"input": 3, "output": 15}
    )

    done = bridle("run", "-v", "--model", model, "hi")

    assert steady(done.err) == "session ID · 1 turn · 0 tool calls · 1,500 tokens · $0.0105\n"


@pytest.mark.parametrize(
    ("words", "stdin", "prompt"),
    [
        (["fix", "it"], None, "fix it"),
        ([], "from a pipe\n\n", "from a pipe"),
        (["review", "this"], "the diff\n", "review this\n\nthe diff"),
        (["x"], "  \n", "x"),
        (["x"], "\ufeffmarked", "x\n\nmarked"),
        (["a --plan b"], None, "a --plan b"),
        (["--", "--plan"], None, "--plan"),
    ],
)
def test_words_and_stdin_make_the_prompt(bridle: Bridle, words: list[str], stdin: str | None, prompt: str):
    done = bridle("run", "--model", bridle.script(ECHO), *words, stdin=stdin)

    assert done == Done(0, prompt + "\n", "")


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        (None, 'error: no prompt given\nhint: bridle run "what does this project do"\n'),
        ("\n\n", 'error: no prompt given\nhint: bridle run "what does this project do"\n'),
        (
            b"caf\xe9",
            """error: stdin is not UTF-8 text: byte 0xe9 at offset 3
hint: convert it first, for example with iconv -t utf-8
""",
        ),
        (
            b"x" * 10_000_000,
            """error: the prompt is longer than 4 MiB
hint: name the file in the prompt instead, and the agent reads what it needs
""",
        ),
    ],
    ids=["none", "blank", "not UTF-8", "10 MB"],
)
def test_a_bad_prompt_is_refused_before_anything_is_stored(
    bridle: Bridle, stdin: str | bytes | None, message: str
):
    done = bridle("run", "--model", bridle.script(ECHO), stdin=stdin)

    assert done == Done(64, "", message)
    assert list(bridle.home.iterdir()) == []


def test_a_long_prompt_within_the_limit_is_taken(bridle: Bridle):
    model = bridle.script({"text": "ok"}, window_tokens=10_000_000)

    assert bridle("run", "--model", model, stdin="x" * 4 * 1024 * 1024) == Done(0, "ok\n", "")


def test_escape_sequences_pass_a_pipe_unchanged(bridle: Bridle):
    """A file gets the data as it is; test_approve shows that a screen does not."""
    model = bridle.script({"text": "\x1b[31mred\x1b[0m"})

    assert bridle("run", "--model", model, "x").out == "\x1b[31mred\x1b[0m\n"


# ---------------------------------------------------------------------------- machine-readable output


def test_json_is_one_result(bridle: Bridle):
    done = bridle("run", "--output", "json", "--model", bridle.script(READ, DONE), "look")

    result = result_of(done)
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    assert result == {
        "type": "result",
        "version": 1,
        "session_id": bridle.sessions()[0]["id"],
        "run_id": result["run_id"],
        "outcome": "completed",
        "text": "All done.",
        "reason": "",
        "turns": 2,
        "tool_calls": 1,
        "usage": result["usage"],
        "cost": None,
        "denied": [],
        "blame": result["blame"],
        "structured_output": None,
        "schema_warnings": [],
        "error": None,
        "refused_by_hook": False,
    }
    assert result["blame"].keys() == {"own", "children", "tools", "hooks", "compaction"}
    assert result["usage"].keys() == {"input", "output", "cache_read", "cache_write", "reasoning"}


def test_every_line_of_a_stream_follows_the_published_schema(bridle: Bridle):
    schema = json.loads(bridle("schema", "events").out)
    model = bridle.script(
        READ, {"reasoning": "Hm.", **EDIT}, {"fault": {"kind": "reset", "times": 1}, "text": "Done."}
    )

    done = bridle("run", "--output", "stream-json", "--accept-edits", "--model", model, "fix")

    lines = [json.loads(line) for line in done.out.splitlines()]
    validator = jsonschema_rs.validator_for(schema)
    assert schema == json.loads(msgspec.json.encode(line_schema()))
    assert [str(error) for line in lines for error in validator.iter_errors(line)] == []
    assert (done.code, done.err) == (0, "")
    kinds = [line["event"]["type"] if "event" in line else line["type"] for line in lines]
    assert (kinds[0], kinds[-2:]) == ("session_created", ["run_ended", "result"])
    assert set(kinds) >= {
        "run_started", "message_added", "turn_started", "reasoning_delta", "text_delta", "tool_call_delta",
        "model_replied", "tool_started", "tool_finished", "turn_ended", "retrying", "checkpoint",
    }  # fmt: skip
    assert [line["seq"] for line in lines if "seq" in line] == list(
        range(1, 1 + sum("seq" in line for line in lines))
    )


def test_a_stream_of_a_later_run_begins_where_the_session_was(bridle: Bridle):
    model = bridle.script(DONE, repeat=True)
    first = bridle("run", "--output", "stream-json", "--model", model, "one").out.splitlines()

    second = bridle("run", "--output", "stream-json", "--continue", "--model", model, "two").out.splitlines()

    last = json.loads(first[-2])["seq"]
    events = [json.loads(line) for line in second]
    assert events[0]["seq"] == last + 1
    assert events[0]["event"]["type"] == "run_started"
    assert events[-1]["session_id"] == json.loads(first[-1])["session_id"]


# ---------------------------------------------------------------------------- permissions


def test_nobody_to_ask_means_denied_with_the_rule_to_add(bridle: Bridle, greeting: Path):
    done = bridle("run", "--model", bridle.script(READ, EDIT, DONE), "fix")

    assert done == Done(
        77,
        "I look.\nI change it.\n",
        "error: denied: edit_file, nobody is there to approve it\n"
        "hint: to allow it, add --allow 'edit_file(*)'\n",
    )
    assert greeting.read_text() == 'print("helo")\n'


def test_the_rule_of_the_hint_lets_it_through(bridle: Bridle, greeting: Path):
    model = bridle.script(READ, EDIT, DONE)
    hint = bridle("run", "-p", "--model", model, "fix").err.splitlines()[-1]
    rule = hint.removeprefix("hint: to allow it, add --allow '").removesuffix("'")

    done = bridle("run", "-p", "--allow", rule, "--model", model, "fix")

    assert done == Done(0, "All done.\n", "")
    assert greeting.read_text() == 'print("hello")\n'


def test_denied_calls_are_in_the_result(bridle: Bridle):
    done = bridle("run", "--output", "json", "--model", bridle.script(READ, EDIT, DONE), "fix")

    result = result_of(done)
    assert (done.code, result["outcome"], result["reason"]) == (77, "denied", "nobody is there to approve it")
    assert [{**call, "call_id": ""} for call in result["denied"]] == [
        {
            "call_id": "",
            "tool": "edit_file",
            "reason": "nobody is there to approve it",
            "rules": ["edit_file(*)"],
        }
    ]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--accept-edits"], "Replaced 1 occurrence(s) in greet.py"),
        (["--yolo"], "Replaced 1 occurrence(s) in greet.py"),
        (["--plan"], "denied by mode plan: no write access"),
        (["--yolo", "--deny", "edit_file"], "denied by rule deny edit_file"),
        (["--allow", "edit_file", "--deny", "edit_file(*.py)"], "denied by rule deny edit_file(*.py)"),
    ],
)
def test_modes_and_rules(bridle: Bridle, flags: list[str], said: str):
    done = bridle(
        "run", "-p", *flags, "--model", bridle.script(READ, EDIT, {"text": "{last_tool_result}"}), "fix"
    )

    assert done == Done(0, said + "\n", "")


def test_an_ask_rule_is_stronger_than_accepted_edits(bridle: Bridle):
    done = bridle(
        "run", "-p", "--accept-edits", "--ask", "edit_file", "--model", bridle.script(READ, EDIT, DONE), "fix"
    )

    assert done.code == 77


# ---------------------------------------------------------------------------- failures and limits


def test_a_failed_run_never_exits_with_zero(bridle: Bridle):
    fault = {"fault": {"kind": "http", "reason": "invalid_api_key", "message": "no such key"}}

    done = bridle("run", "--model", bridle.script(fault), "x")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert "no such key" in done.err


@pytest.mark.parametrize(
    ("flags", "code", "outcome"),
    [
        (["--max-turns", "1"], 2, "budget_exhausted"),
        (["--max-tokens", "10"], 2, "budget_exhausted"),
        (["--max-tool-calls", "1"], 2, "budget_exhausted"),
    ],
)
def test_limits_end_a_run(bridle: Bridle, flags: list[str], code: int, outcome: str):
    model = bridle.script(READ, READ, READ, DONE)

    done = bridle("run", "--output", "json", *flags, "--model", model, "look")

    result = result_of(done)
    assert (done.code, result["outcome"]) == (code, outcome)
    assert done.err.startswith(f"error: {result['reason']}\nhint: ")


def test_a_run_out_of_time_ends_with_its_budget(bridle: Bridle):
    model = bridle.script({"delay_ms": 60_000, "text": "late"})

    done = bridle("run", "--max-duration", "200ms", "--model", model, "x")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: the duration limit ")


def test_a_model_that_repeats_itself_is_stopped(bridle: Bridle):
    done = bridle("run", "-p", "--output", "json", "--model", bridle.script(READ, repeat=True), "look")

    assert (done.code, result_of(done)["outcome"]) == (1, "limit")


@pytest.mark.parametrize(
    "flags", [["--model", "scripted//nowhere.json"], ["--model", "nonsense"], ["--agent", "nobody"]]
)
def test_what_cannot_start_leaves_no_session_behind(bridle: Bridle, flags: list[str]):
    done = bridle("run", "--output", "stream-json", *flags, "x")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert bridle.sessions() == []


# ---------------------------------------------------------------------------- images


PNG = b"\x89PNG\r\n\x1a\n"


def test_images_are_sent_with_the_prompt(bridle: Bridle):
    for name in ("a.png", "my cat.png"):
        (bridle.project / name).write_bytes(PNG)
    model = bridle.script({"text": "a cat"}, images=True)

    done = bridle("run", "--output", "stream-json", "--model", model, "--image", "a.png", 'see @"my cat.png"')

    lines = [json.loads(line) for line in done.out.splitlines()]
    events = [line["event"] for line in lines if "event" in line]
    [parts] = [event["message"]["parts"] for event in events if event["type"] == "message_added"]
    assert [(part["type"], part.get("name")) for part in parts] == [
        ("text", None),
        ("media", "a.png"),
        ("media", "my cat.png"),
    ]


def test_a_model_that_cannot_see_gets_no_image_and_nothing_is_spent(bridle: Bridle):
    (bridle.project / "a.png").write_bytes(PNG)
    blind, unknown = bridle.script(ECHO, images=False), bridle.script(ECHO)

    for flags in (["--image", "a.png", "look"], ["look at @a.png"]):
        assert bridle("run", "--model", blind, *flags) == Done(
            64,
            "",
            f"error: {blind} cannot see images\n"
            "hint: choose another model, or send the prompt without the image\n",
        )
    setting = f'models."{unknown}".images'
    assert f"bridle config set '{setting}' true" in bridle("run", "--model", unknown, "see @a.png").err
    assert bridle.sessions() == []
    assert bridle("config", "set", setting, "true").code == 0
    assert bridle("run", "--model", unknown, "see @a.png") == Done(0, "see @a.png\n", "")


def test_what_is_no_image_is_refused_before_anything_is_stored(bridle: Bridle):
    (bridle.project / "text.png").write_text("hello")
    model = bridle.script(ECHO, images=True)

    for flags, problem in [
        (["--image", "none.png", "x"], "--image: none.png cannot be read: No such file or directory"),
        (["--image", "text.png", "x"], "--image: text.png is not an image"),
        (["--continue", "--image", "text.png"], "--image: needs a prompt"),
        (["see @none.png"], "@none.png cannot be read: No such file or directory"),
    ]:
        done = bridle("run", "--model", model, *flags)
        assert (done.code, done.err.splitlines()[0]) == (64, f"error: {problem}")
    assert bridle.sessions() == []


# ---------------------------------------------------------------------------- sessions


def test_going_on_in_the_newest_session_of_this_directory(bridle: Bridle, tmp_path: Path):
    model = bridle.script({"text": "one"}, {"text": "two"})
    bridle("run", "--model", model, "first")
    other = tmp_path / "other"
    other.mkdir()
    bridle("run", "--model", model, "elsewhere", cwd=other)

    done = bridle("run", "--continue", "--model", model, "second")

    assert done == Done(0, "two\n", "")
    assert [session["title"] for session in bridle.sessions()] == ["first", "elsewhere"]


def test_going_on_in_a_session_by_the_start_of_its_id_from_anywhere(bridle: Bridle, tmp_path: Path):
    model = bridle.script({"text": "one"}, {"text": "two", "calls": READ["calls"]}, DONE)
    bridle("run", "--model", model, "first")
    [session] = bridle.sessions()

    done = bridle("run", "--session", session["id"][:13], "--model", model, "second", cwd=tmp_path)

    assert done == Done(0, "two\nAll done.\n", "")


def test_sessions_that_are_not_there(bridle: Bridle):
    assert bridle("run", "--session", "abc", "x") == Done(
        1, "", 'error: no session "abc"\nhint: bridle session list --all\n'
    )
    assert bridle("run", "--continue", "x") == Done(
        1, "", f"error: no session was started in {bridle.project}\nhint: bridle session list\n"
    )


def test_an_ambiguous_start_of_an_id_lists_what_it_could_mean(bridle: Bridle):
    model = bridle.script(DONE)
    bridle("run", "--model", model, "first")
    bridle("run", "--model", model, "second")
    newest, oldest = bridle.sessions()

    done = bridle("run", "--session", "01", "--model", model, "x")

    assert done == Done(
        64,
        "",
        f'error: "01" could mean 2 sessions:\n  {newest["id"]}  second\n  {oldest["id"]}  first\n'
        "hint: type more of the id\n",
    )


def test_flags_that_contradict_the_session(bridle: Bridle, tmp_path: Path):
    bridle("run", "--model", bridle.script(DONE), "first")

    elsewhere = bridle("run", "--session", "0", "--cwd", str(tmp_path), "x")
    somebody = bridle("run", "--continue", "--agent", "coder", "x")

    assert steady(elsewhere.err) == f"error: session ID works in {bridle.project}, not in {tmp_path}\n"
    assert steady(somebody.err) == "error: session ID has the agent default, not coder\n"
    assert (elsewhere.code, somebody.code) == (64, 64)


def test_another_directory_to_work_in(bridle: Bridle, tmp_path: Path):
    model = bridle.script(READ, {"text": "{last_tool_result}"})

    done = bridle("run", "-p", "--cwd", str(bridle.project), "--model", model, "look", cwd=tmp_path)

    assert done == Done(0, '1: print("helo")\n', "")
    assert bridle("run", "--cwd", "nowhere", "x") == Done(64, "", "error: nowhere is not a directory\n")


def test_nothing_to_resume(bridle: Bridle):
    bridle("run", "--model", bridle.script(DONE), "first")

    done = bridle("run", "--continue")

    assert (done.code, done.out) == (1, "")
    assert steady(done.err) == (
        "error: nothing to resume: the last run of session ID is complete\n"
        'hint: bridle run --continue "…" starts a new prompt\n'
    )


def leave_in_queue(bridle: Bridle, text: str, options: RunOptions) -> None:
    """Let a prompt wait: what a crash between two runs leaves."""

    async def append() -> None:
        store = SqliteStore(bridle.home / "bridle.db", FixedClock())
        [session] = await store.list()
        await store.append(session.id, session.last_seq, [PromptQueued("item", user_message(text), options)])
        await store.aclose()

    asyncio.run(append())


def test_without_a_prompt_the_one_that_waits_is_begun(bridle: Bridle):
    bridle("run", "--model", bridle.script(DONE), "first")
    leave_in_queue(bridle, "second", RunOptions(model=bridle.script(ECHO, ECHO)))

    assert bridle("run", "--continue") == Done(0, "second\n", "")
    assert bridle("run", "--continue").code == 1


def test_flags_change_the_prompt_that_waits(bridle: Bridle, greeting: Path):
    bridle("run", "--model", bridle.script(DONE), "first")
    leave_in_queue(bridle, "second", RunOptions(model=bridle.script(DONE, READ, EDIT, DONE), mode="yolo"))
    other = bridle.script(DONE, READ, EDIT, {"text": "Other."})

    done = bridle("run", "-p", "--continue", "--plan", "--model", other)

    assert (done.code, done.out) == (0, "Other.\n")
    assert greeting.read_text() == 'print("helo")\n'


def test_a_prompt_that_waits_behind_a_stopped_run_is_not_begun(bridle: Bridle):
    """Only the user can say that the run is still wanted."""
    bridle("run", "--model", bridle.script(READ, EDIT), "first")
    leave_in_queue(bridle, "second", RunOptions(model=bridle.script(ECHO)))

    assert bridle("run", "--continue") == Done(
        1,
        "",
        "error: the run before it was stopped, so the prompt waits in the queue\n"
        "hint: it runs after the next prompt\n",
    )


# ---------------------------------------------------------------------------- stopping and going on


def wait_for(process: "subprocess.Popen[bytes]", text: str) -> str:
    """Read lines of stdout up to one that has a text in it."""
    assert process.stdout is not None
    seen = ""
    for line in iter(process.stdout.readline, b""):
        seen += line.decode()
        if text in seen:
            return seen
    raise AssertionError(f"{text!r} did not come: {seen}")


def test_ctrl_c_cancels_the_run_and_records_it(bridle: Bridle):
    model = bridle.script({"text": "Slowly\nand slowly", "chunk_delay_ms": 400})
    process = bridle.start("run", "--output", "stream-json", "--model", model, "x")
    wait_for(process, "text_delta")

    interrupt(process)
    out, err = process.communicate(timeout=PATIENCE_S)

    result = json.loads(out.decode().splitlines()[-1])
    assert process.returncode == 130
    assert err.decode() == "cancelled: interrupted by the user\n"
    assert (result["outcome"], result["text"]) == ("cancelled", "Slowly")
    assert "unfinished" not in bridle.sessions()[0]


def test_ctrl_c_twice_quits_at_once_and_the_run_can_be_resumed(bridle: Bridle):
    """The process is stuck in writing to a full pipe, so that it cannot cancel anything."""
    model = bridle.script({"text": ["x" * 4 * PIPE_BYTES]})
    process = bridle.start("run", "--model", model, "x")
    wait_until_stuck(process)

    interrupt(process)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    interrupt(process)

    assert process.wait(PATIENCE_S) == 130
    process.communicate()
    assert bridle.sessions()[0]["unfinished"] is True
    assert bridle("run", "--continue") == Done(0, "x" * 4 * PIPE_BYTES + "\n", "")


def wait_until_stuck(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdout is not None
    waiting = b"\0\0\0\0"
    while struct.unpack("i", fcntl.ioctl(process.stdout, termios.FIONREAD, waiting))[0] < PIPE_BYTES:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.02)


def test_a_killed_run_is_resumed_without_running_a_finished_tool_again(bridle: Bridle, greeting: Path):
    slow = bridle.script(READ, EDIT, {"delay_ms": 30_000})
    quick = bridle.script(READ, EDIT, {"text": "{last_tool_result}"})
    process = bridle.start("run", "--output", "stream-json", "--accept-edits", "--model", slow, "fix")
    wait_for(process, "turn_ended")
    wait_for(process, "turn_ended")
    process.kill()
    process.communicate()
    assert bridle.sessions()[0]["unfinished"] is True

    done = bridle("run", "-p", "--continue", "--model", quick)

    assert done == Done(0, "Replaced 1 occurrence(s) in greet.py\n", "")
    assert greeting.read_text() == 'print("hello")\n'
    shown = bridle("session", "show", "0").out
    assert shown.count("» edit_file") == 1


def test_a_call_that_was_cut_off_is_reported(bridle: Bridle):
    model = bridle.script(READ, EDIT, {"text": "{last_tool_result}"})
    cut = bridle.start("run", "--accept-edits", "--output", "stream-json", "--model", model, "fix")
    cut.communicate(timeout=PATIENCE_S)
    events = cut_after_tool_started(bridle)

    resumed = bridle("run", "-p", "--continue")

    assert events > 0
    assert resumed.code == 0
    assert resumed.err == "warning: edit_file greet.py was interrupted: it may or may not have taken effect\n"
    assert resumed.out.startswith("interrupted: the process ended while this was running")


def test_a_call_that_only_read_does_not_run_again_after_a_new_prompt(bridle: Bridle):
    model = bridle.script(READ, {"text": "{last_user}"}, {"text": "{last_user}"})
    bridle("run", "--model", model, "look")
    cut_after_tool_started(bridle)

    done = bridle("run", "-p", "--continue", "something else")

    assert done == Done(
        0,
        "something else\n",
        "warning: read_file greet.py was interrupted: it only reads, so nothing changed\n",
    )


def test_a_call_that_runs_in_another_process_is_not_called_interrupted(bridle: Bridle):
    model = bridle.script(READ, EDIT, {"text": "{last_tool_result}"})
    bridle("run", "--accept-edits", "--model", model, "fix")
    cut_after_tool_started(bridle)
    claims = FileClaims(bridle.home / "run" / "claims")
    asyncio.run(claims.claim(SessionId(bridle.sessions()[0]["id"])))

    done = bridle("run", "--continue")

    asyncio.run(claims.release(SessionId(bridle.sessions()[0]["id"])))
    assert (done.code, done.out, steady(done.err)) == (
        1,
        "",
        "error: session ID is being run by another process\nhint: wait for it to end\n",
    )


def test_a_reason_in_brackets_is_told_whole(bridle: Bridle):
    done = bridle("run", "--max-tokens", "10", "--model", bridle.script(DONE), "look")

    assert done.err.splitlines()[0].endswith("more than are left (0 of 10 used)")


def cut_after_tool_started(bridle: Bridle) -> int:
    """Take the events after the last `tool_started` out of the store: what a crash in that tool leaves."""
    connection = apsw.Connection(str(bridle.home / "bridle.db"))
    rows = connection.execute("SELECT seq, line FROM records ORDER BY seq").fetchall()
    cut = max(seq for seq, line in rows if b'"tool_started"' in line)
    connection.execute("DELETE FROM records WHERE seq > ?", (cut,))
    summary = msgspec.json.decode(connection.execute("SELECT summary FROM sessions").fetchall()[0][0])
    summary |= {"last_seq": cut, "unfinished": True}
    connection.execute("UPDATE sessions SET summary = ?", (msgspec.json.encode(summary),))
    connection.close()
    return int(cut)


def test_a_reader_that_leaves_cancels_the_run(bridle: Bridle):
    model = bridle.script({"text": "word " * 200, "chunk_delay_ms": 20})
    process = subprocess.Popen(
        [*PROGRAM, "run", "--model", model, "x"],
        cwd=bridle.project,
        env=bridle.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None

    process.stdout.read(4)
    process.stdout.close()
    err = process.stderr.read()

    assert (process.wait(PATIENCE_S), err) == (141, b"")
    assert "unfinished" not in bridle.sessions()[0]
    process.stderr.close()


def test_a_session_that_another_process_runs_is_busy(bridle: Bridle):
    slow = bridle.script({"delay_ms": 30_000, "text": "x"})
    process = bridle.start("run", "--output", "stream-json", "--model", slow, "x")
    wait_for(process, "turn_started")

    done = bridle("run", "--continue", "--model", slow, "y")

    assert (done.code, done.out) == (1, "")
    assert "is being run by another process" in done.err
    interrupt(process)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130


# ---------------------------------------------------------------------------- what is on disk


def test_a_database_that_is_none(bridle: Bridle):
    (bridle.home / "bridle.db").write_text("this is no database, but a letter to my aunt" * 100)

    for args in (["run", "x"], ["session", "list"], ["session", "verify"]):
        done = bridle(*args)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(f"error: {bridle.home}/bridle.db: it is not a SQLite database")
    assert (bridle.home / "bridle.db").read_text().startswith("this is no database")


def test_a_database_of_somebody_else(bridle: Bridle):
    connection = apsw.Connection(str(bridle.home / "bridle.db"))
    connection.execute("CREATE TABLE cats (name)")
    connection.close()

    done = bridle("run", "x")

    assert done == Done(
        1,
        "",
        f"error: {bridle.home}/bridle.db: it is a SQLite database, but not one of Bridle's\n"
        "hint: move it away, or choose another location for the store\n",
    )


def test_a_config_that_cannot_be_read(bridle: Bridle):
    config = bridle.home / "config.toml"
    config.write_bytes(b'model = "\xff"\n')
    unreadable = bridle("run", "x")
    config.write_text("modle = 'a/b'\n")
    unknown = bridle("run", "x")
    config.unlink()
    config.mkdir()
    folder = bridle("run", "x")

    assert unreadable == Done(
        1, "", f"error: {config}:1: is not UTF-8 text (byte 0xff)\nhint: save the file as UTF-8\n"
    )
    assert unknown == Done(1, "", f"error: {config}:1: unknown key modle\nhint: did you mean model?\n")
    assert folder == Done(1, "", f"error: {config}: is not a regular file\n")


def test_what_a_project_may_not_set_is_said(bridle: Bridle):
    (bridle.project / ".bridle").mkdir()
    (bridle.project / ".bridle" / "config.toml").write_text('[rules]\nmode = "yolo"\n')

    done = bridle("run", "--model", bridle.script(READ, EDIT, DONE), "fix")

    assert done.code == 77
    assert done.err.startswith(
        "warning: this project is not trusted: ignored rules.mode"
        " (hint: review and allow them with bridle trust)\n"
    )


def test_a_run_on_a_scripted_model_loads_no_library_for_the_web(bridle: Bridle):
    code = (
        "import sys; from bridle.surfaces.cli import main; main(['run', '--model', 'scripted/demo', 'hi']);"
        "print({'aiohttp', 'grpc', 'mcp', 'numpy', 'starlette', 'textual'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], env=bridle.env, cwd=bridle.project, capture_output=True, check=True
    )

    assert done.stdout.splitlines()[-1] == b"set()"


# ---------------------------------------------------------------------------- what a session keeps


def test_a_continued_session_is_as_it_was_made(bridle: Bridle):
    model = bridle.script(DONE, DONE, DONE)
    flags = ("--yolo", "--max-turns", "9", "--deny", "read_file(secret/**)", "--system", "Be a pirate.")
    stream = ("--output", "stream-json", "--continue")

    bridle("run", *flags, "--no-shell", "--allow", "bash", "--model", model, "one")
    bridle("run", "--continue", "two")
    lines = [json.loads(line) for line in bridle("run", *stream, "three").out.splitlines()]
    [start] = [line["event"] for line in lines if line.get("event", {}).get("type") == "run_started"]

    assert (start.get("mode", "ask"), start["model"]) == ("ask", model)
    assert start["limits"]["turns"] != 9
    assert "allow" not in start["options"]
    assert start["options"]["deny"] == ["read_file(secret/**)"]
    assert start["options"]["system"] == "Be a pirate."
    assert "bash" in start["options"]["without_builtins"]
