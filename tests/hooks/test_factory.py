import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ConfigError
from bridle.core.hook import CommandRuntime, Deny, HookEntry, HookInvocation, HookOverride, HookResponse
from bridle.core.ids import CallId
from bridle.core.ports import HookRound
from bridle.core.protocol import HookCompleted, HookFailed
from bridle.hooks.command_hooks import HookProgram, find_program
from bridle.hooks.factory import HookTrial, create_hooks, hook_problem, run_one_hook
from bridle.hooks.function_hooks import Handlers
from tests.hooks.stage import ENVIRON, asked, calling, posting, running, script, site, told

PRE = "pre_tool_execution"
C1 = CallId("c1")


def quiet(invocation: HookInvocation) -> HookResponse | None:
    return None


HANDLERS: Handlers = dict.fromkeys("abc", quiet)


async def names(entries: list[HookEntry], override: HookOverride) -> list[str]:
    """Return the hooks that are called."""
    hooks = create_hooks(entries, override, site(handlers=HANDLERS))
    round_ = await hooks.ask(told(), lambda _: None)
    return [event.hook_id for event in round_.events]


async def test_a_run_leaves_hooks_out_and_then_adds_its_own():
    entries = [calling("a"), calling("b")]

    assert await names(entries, HookOverride()) == ["a", "b"]
    assert await names(entries, HookOverride((calling("c"),), ("a", "unknown"))) == ["b", "c"]
    assert await names(entries, HookOverride((calling("a"),), ("a",))) == ["b", "a"]
    assert await names(entries, HookOverride((calling("c", enabled=False),))) == ["a", "b"]


@pytest.mark.parametrize(
    ("entries", "override", "message"),
    [
        ([calling("a"), calling("a")], (), 'f.toml:3: hook "a": id: is already used by another hook'),
        ([calling("a")], (calling("a"),), 'f.toml:3: hook "a": id: is already used by another hook'),
        (
            [],
            (calling("a"), calling("a")),
            'the options of this run: hook "a": id: is already used by another hook',
        ),
        ([calling("a", id="")], (), 'settings: hook "": id: must be 1 to 100 characters on one line'),
        (
            [],
            (calling("a", timeout_ms=0),),
            'the options of this run: hook "a": timeout_ms: must be 1 to 600000',
        ),
        (
            [calling("a", mode="background", capability="guardrail")],
            (),
            'f.toml:3: hook "a": mode: a background hook at pre_tool_execution can only observe',
        ),
        ([calling("x")], (), 'settings: hook "x": runtime.name: no function is registered as "x"'),
        (
            [],
            (running("no-such-program"),),
            'the options of this run: hook "guard": runtime.command: no-such-program is not on PATH',
        ),
        ([running("/")], (), 'settings: hook "guard": runtime.command: / is not a file'),
        (
            [posting("file:///etc/passwd")],
            (),
            'settings: hook "guard": runtime.url: must start with http:// or https://',
        ),
        (
            [running("./x", capability="observe", failure_policy="fail_closed")],
            (),
            'settings: hook "guard": runtime.command: /./x is missing',
        ),
    ],
)
def test_what_cannot_work_is_an_error(
    entries: list[HookEntry], override: tuple[HookEntry, ...], message: str
):
    with pytest.raises(ConfigError) as caught:
        create_hooks(entries, HookOverride(override), site(handlers=HANDLERS, places={"a": "f.toml:3"}))

    assert caught.value.message == message


def test_a_hook_that_is_switched_off_need_not_work():
    assert create_hooks([running("./x", enabled=False)], HookOverride(), site()).points == frozenset()


async def test_an_observer_whose_program_is_missing_is_told_of_when_it_is_asked(tmp_path: Path):
    entry = running("./x", capability="observe")

    assert (await asked([entry], at=site(tmp_path))).events == (
        HookFailed("guard", PRE, f"{tmp_path}/./x cannot be started: No such file or directory", 0, C1),
    )


def test_programs_are_found_by_path_or_by_name(tmp_path: Path):
    path = script(tmp_path, "pass")
    environ = {**ENVIRON, "PATH": str(tmp_path), "HOME": str(tmp_path)}
    plain = tmp_path / "plain"
    plain.write_text("")

    assert find_program("hook", environ, "/elsewhere") == HookProgram(str(path))
    assert find_program(str(path), environ, "/").path == str(path)
    assert find_program("./hook", environ, str(tmp_path)).path == f"{tmp_path}/./hook"
    assert find_program("hook", ENVIRON, str(tmp_path)) == HookProgram("hook", "is not on PATH")
    assert find_program("./plain", environ, str(tmp_path)) == HookProgram(
        f"{tmp_path}/./plain", "is not executable"
    )
    assert find_program("./plain/x", environ, str(tmp_path)) == HookProgram(
        f"{tmp_path}/./plain/x", "is missing"
    )
    assert find_program("ls", {}, "/").problem == ""


def test_only_what_is_named_by_its_path_is_held_to_what_it_was(tmp_path: Path):
    script(tmp_path, "pass")
    environ = {**ENVIRON, "PATH": str(tmp_path)}

    assert find_program("hook", environ, "/elsewhere").seal is None
    assert find_program("./hook", environ, str(tmp_path)).seal is not None


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (calling("a"), ""),
        (calling("x"), 'no function is registered as "x"'),
        (posting("http://127.0.0.1:1"), ""),
        (running("/bin/sh"), ""),
        (running("/no/such"), "/no/such is missing"),
    ],
)
def test_the_state_of_a_hook_here(entry: HookEntry, problem: str):
    assert hook_problem(entry, site(handlers=HANDLERS)) == problem


async def test_trying_a_hook_shows_what_it_said(tmp_path: Path):
    path = script(tmp_path, "tell({'decision': {'decision': 'deny', 'message': told()['point']}})")
    entry = running(
        path, tools=("grep",), mode="background", capability="guardrail", failure_policy="fail_open"
    )

    trial = await run_one_hook(entry, told("run_failed"), site(tmp_path))

    assert trial.raw == b'{"decision": {"decision": "deny", "message": "run_failed"}}'
    assert trial.round.outcome.deny == Deny("run_failed", hook_id="guard")


async def test_trying_a_function_shows_its_answer_as_json():
    trial = await run_one_hook(calling("a"), told(), site(handlers=HANDLERS))

    assert trial == HookTrial(HookRound(events=(HookCompleted("a", PRE, 0, C1),)), b"{}")


async def test_trying_a_hook_that_fails_shows_what_it_printed(tmp_path: Path):
    trial = await run_one_hook(running(script(tmp_path, "print('oops')")), told(), site(tmp_path))

    assert trial.raw == b"oops\n"
    assert isinstance(trial.round.events[0], HookFailed)


async def test_a_hook_of_claude_is_spoken_to_as_claude_does(tmp_path: Path):
    command = 'test "$(cat)" = "" && exit 1; echo "not in $CLAUDE_PROJECT_DIR" >&2; exit 2'
    entry = HookEntry(
        CommandRuntime("/bin/sh", ("-c", command), dialect="claude"),
        id="c",
        point=PRE,
        capability="guardrail",
    )

    assert (await asked([entry], at=site(tmp_path))).outcome.deny == Deny(f"not in {tmp_path}", hook_id="c")


async def test_another_status_of_such_a_hook_is_a_failure(tmp_path: Path):
    entry = HookEntry(
        CommandRuntime("/bin/sh", ("-c", "exit 1"), dialect="claude"),
        id="c",
        point=PRE,
        capability="guardrail",
    )

    assert (await asked([entry], at=site(tmp_path))).outcome.deny == Deny(
        "exit status 1", "runtime_error", "c"
    )


async def test_a_program_works_in_the_working_directory(tmp_path: Path):
    path = script(tmp_path, "tell({'decision': {'decision': 'deny', 'message': os.getcwd()}})")
    folder = tmp_path / "inner"
    folder.mkdir()

    round_ = await asked([running(path)], at=site(folder))

    assert round_.outcome.deny == Deny(os.fspath(folder), hook_id="guard")


def test_a_program_where_agents_can_write_is_not_taken_by_its_name(tmp_path: Path):
    path = script(tmp_path, "pass")
    environ = {**ENVIRON, "PATH": f".:{tmp_path}"}
    said = f"is not used: {path} is in a folder that agents can write to"

    assert find_program("hook", environ, str(tmp_path)) == HookProgram("hook", said)
    assert find_program("hook", environ, "/elsewhere", [str(tmp_path)]) == HookProgram("hook", said)
    assert find_program(str(path), environ, str(tmp_path)).problem == ""
    entry = running("hook", capability="guardrail")
    with pytest.raises(ConfigError, match=f"runtime.command: hook {said}"):
        create_hooks([entry], HookOverride(), replace(site(tmp_path), environ=environ))


async def test_a_script_finds_its_interpreter_where_agents_cannot_write(tmp_path: Path):
    project, own = tmp_path / "project", tmp_path / "own"
    for folder in (project, own):
        folder.mkdir()
    (project / "sh").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (own / "hook").write_text(f'#!/usr/bin/env sh\nprintf "%s" "$PATH" > {tmp_path}/path\necho "{{}}"\n')
    for program in (project / "sh", own / "hook"):
        program.chmod(0o755)
    environ = {**ENVIRON, "PATH": f"{project}:.:{own}:/usr/bin:/bin"}

    await asked([running("hook")], at=replace(site(project), environ=environ))

    assert (tmp_path / "path").read_text() == f"{own}:/usr/bin:/bin"
    assert not (tmp_path / "ran").exists()
