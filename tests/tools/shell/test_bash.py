"""Commands: their results, their state, their ends, in every sandbox."""

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import CallId
from bridle.core.permission import parse_rule
from bridle.core.ports import SandboxStatus, SessionTool, ToolOutput
from bridle.core.tool import Access, Subject
from bridle.tools.secrets import Masker
from tests.tools.shell.conftest import FullBlobs, MakeStage, Stage, is_gone, processes
from tests.tools.shell.plain import PlainSandbox

JOB = "[it continues in the background as job 1: job_output shows what else it prints, job_kill ends it]"


def failed(text: str) -> ToolOutput:
    return ToolOutput(text, is_error=True)


# ---------------------------------------------------------------------------- results


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("echo out; echo err >&2; echo out", ToolOutput("out\nerr\nout")),
        ("true", ToolOutput("[no output]")),
        ("echo bad; exit 7", failed("bad\n[exit status 7]")),
        ("set -e; false; echo not reached", failed("[exit status 1]")),
        ("kill -SEGV $$", failed("[exit status 139, ended by SIGSEGV]")),
        ("nosuch-program", failed("bash: line 1: nosuch-program: command not found\n[exit status 127]")),
        ("cat", ToolOutput("[no output]")),
        ("read x; echo $?", ToolOutput("1")),
        ("printf 'a\\0b\\xff\\xc3'", ToolOutput("a\\x00b\ufffd\ufffd")),
        ("printf '\\033[31mred\\033[0m 10%%\\r 100%%\\n'", ToolOutput(" 100%")),
        (
            "echo $# \"$0\" \"[$1]\"; printf '%s\\n' 'it'\\''s \"$HOME\"'",
            ToolOutput('0 bash []\nit\'s "$HOME"'),
        ),
        ("exec 3>&1; echo three >&3", ToolOutput("three")),
        (
            "for n in {100..249}; do head -c 2000000 /dev/zero >&$n && echo grew; done 2>&-; echo full",
            ToolOutput("full"),
        ),
        ("{ echo three >&3; } 2>/dev/null || echo closed", ToolOutput("closed")),
        ("exec 3>&-; echo $TERM $PAGER $BRIDLE $GREETING", ToolOutput("dumb cat 1 hello")),
        (
            "if then",
            failed(
                "bash: eval: line 1: syntax error near unexpected token `then'\n"
                "bash: eval: line 1: `if then'\n[exit status 2]"
            ),
        ),
        ("set -x; echo a", ToolOutput("++ echo a\na")),
    ],
)
async def test_a_command_gives_its_output_and_how_it_ended(stage: Stage, command: str, result: ToolOutput):
    assert await stage.call("bash", command=command) == result


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"command": " \n"}, "the command is empty"),
        ({"command": "a\0b"}, "a command cannot contain a NUL character"),
        ({"command": "\ud800"}, "command is not valid Unicode: character 1 is half of a pair"),
        (
            {"command": "x" * 100_001},
            "the command is longer than 100000 bytes (hint: write a script with write_file and run that)",
        ),
        (
            {"command": "x", "timeout": 601},
            "timeout must be from 1 to 600 seconds (hint: start longer work with background=true)",
        ),
    ],
)
async def test_what_cannot_be_run_is_said(plain: Stage, args: dict, message: str):
    for action in (plain.tool.run, plain.tool.preview):
        with pytest.raises(ToolError) as caught:
            await action(args, plain.context)
        assert str(caught.value) == message


async def test_a_long_output_is_cut_and_can_be_read_whole(plain: Stage):
    text = await plain.bash("seq 1 20000")

    [(digest, data)] = plain.blobs.kept.items()
    whole = "".join(f"{number}\n" for number in range(1, 20_001))
    assert data.decode() == whole
    assert len(text.encode()) <= 30_000
    assert text.startswith("1\n2\n")
    assert text.endswith("\n19999\n20000")
    assert f'read_file with path "blob:{digest}" shows it, in ranges of lines]' in text


async def test_a_full_disk_costs_only_the_middle(make_plain: MakeStage):
    text = await make_plain(blobs=FullBlobs()).bash("seq 1 20000")

    assert "bytes left out here; it could not be stored: no space left on the device]" in text


async def test_a_flood_is_swallowed(stage: Stage, tmp_path: Path):
    text = await stage.bash("yes | head -c 64M; echo; echo the end")

    [data] = stage.blobs.kept.values()
    assert text.endswith("the end")
    assert data.decode().count("[58654729 bytes are no longer available]") == 1
    assert 8_400_000 < len(data) < 8_500_000
    assert sum(map(len, stage.emitted)) < 300_000
    assert "".join(stage.emitted).endswith("\n[there is more; it is not shown live]\n")
    assert [path.name for path in (tmp_path / "shell").glob("output*")] == []


async def test_a_command_that_prints_without_end_is_ended(make_stage: MakeStage):
    stage = make_stage(max_output_bytes=1_000_000)

    output = await stage.call("bash", command="yes", timeout=10)

    assert output.is_error
    assert output.text.endswith("\n[ended because it printed more than 1000000 bytes]")


async def test_secrets_are_masked_in_results_blobs_and_live_output(make_stage: MakeStage):
    stage = make_stage(masker=Masker({"KEY": "0123456789abcdef"}))

    text = await stage.bash("for i in $(seq 3000); do echo 0123456789abcdef; done")

    shown = text + "".join(stage.emitted) + "".join(data.decode() for data in stage.blobs.kept.values())
    assert "0123456789abcdef" not in shown
    assert text.startswith("[secret KEY]\n[secret KEY]\n")


async def test_secrets_do_not_reach_the_command(make_stage: MakeStage):
    environ = {"PATH": os.environ["PATH"], "A_TOKEN": "x", "VENDOR": "y", "B_TOKEN": "z", "PLAIN": "p"}
    stage = make_stage(environ=environ, secret_env=("VENDOR",), pass_env=("B_*",))

    assert await stage.bash('echo "$A_TOKEN,$VENDOR,$B_TOKEN,$PLAIN"') == ",,z,p"


# ---------------------------------------------------------------------------- live output


async def test_output_is_shown_while_the_command_runs(stage: Stage, cwd: Path):
    os.mkfifo(cwd / "gate")
    task = asyncio.create_task(stage.bash("echo first; read x < gate; echo second"))
    await stage.saw("first")
    (cwd / "gate").write_text("go\n")

    assert await task == "first\nsecond"
    assert "".join(stage.emitted) == "first\nsecond\n"


# ---------------------------------------------------------------------------- the state of the shell


async def test_the_folder_and_the_variables_stay(stage: Stage, cwd: Path):
    (cwd / "sub" / "x").mkdir(parents=True)

    assert await stage.bash("cd sub/x") == "[working directory: sub/x]"
    assert (
        await stage.bash("export A=$'two\\nlines' B=\"it's \\$HOME\" C=\u00e9; D=local; unset GREETING")
        == "[no output]"
    )
    assert await stage.bash('pwd; echo "$A,$B,$C,$D,$GREETING,$OLDPWD"') == (
        f"{cwd}/sub/x\ntwo\nlines,it's $HOME,\u00e9,,,{cwd}"
    )
    assert await stage.bash("cd - >/dev/null") == "[working directory: .]"


async def test_the_state_survives_the_end_of_the_process(make_stage: MakeStage, cwd: Path, tmp_path: Path):
    (cwd / "sub").mkdir()
    first = make_stage()
    await first.bash("cd sub; export A=$'\\xff\\n\"'; unset GREETING")
    await first.tool.aclose()

    second = make_stage()

    assert await second.bash('pwd; printf %q "$A$GREETING"') == f"{cwd}/sub\n$'\\377\\n\"'"
    [path] = (tmp_path / "shell").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("cd sub; export A=1; exit 3", True),
        ("cd sub; export A=1; set -e; false", True),
        ("cd sub; export A=1; set -u -x -f -C; set -o posix; IFS=u", True),
        ("cd sub; export A=1; printf() { :; }; export() { :; }", True),
        ("cd sub; export A=1; exec true", False),
        ("cd sub; export A=1; kill -9 $$", False),
        ("(cd sub; export A=1)", False),
        ("cd sub; export A=1; trap : EXIT", False),
        ('cd sub; export A=1; for n in {100..249}; do eval "exec $n>&-"; done', False),
    ],
)
async def test_how_a_command_ends_decides_whether_its_state_stays(
    stage: Stage, cwd: Path, command: str, changes: bool
):
    (cwd / "sub").mkdir()

    await stage.call("bash", command=command)

    assert (
        await stage.bash('pwd; echo "$A"')
        == (f"{cwd}/sub\n1" if changes else f"{cwd}\n")[: None if changes else -1]
    )


async def test_nothing_of_ours_is_left_in_the_environment(stage: Stage, cwd: Path):
    await stage.bash("export A=1")
    text = await stage.bash("env; declare -F; alias")

    lines = text.replace(str(cwd), "").splitlines()
    found = [line for line in lines if "bridle" in line.lower() and line[:7] != "TMPDIR="]
    assert sorted(found) == ["AGENT=bridle", "BRIDLE=1"]


async def test_what_would_make_harmless_programs_run_code_does_not_stay(stage: Stage):
    await stage.bash(
        "export LD_PRELOAD= GIT_EXTERNAL_DIFF=evil BASH_ENV=evil PAGER=evil XDG_CONFIG_HOME=evil"
        " GCONV_PATH=evil OK=1; f() { :; }; export -f f"
    )

    text = await stage.bash("env")
    assert "evil" not in text
    assert "BASH_FUNC" not in text
    assert "OK=1" in text.splitlines()
    assert "PAGER=cat" in text.splitlines()


async def test_a_folder_outside_or_gone_leads_back(stage: Stage, cwd: Path, outside: Path):
    (cwd / "sub").mkdir()
    back = "[working directory: back to . because {} is gone or not a folder that commands may use]"

    assert await stage.bash("cd /") == back.format("/")
    assert (
        await stage.bash("cd sub; rmdir ../sub")
        == "[working directory: back to . because the last one is gone]"
    )
    (cwd / "sub").mkdir()
    assert await stage.bash("cd sub") == "[working directory: sub]"
    (cwd / "sub").rmdir()
    assert await stage.bash("pwd") == f"{cwd}\n{back.format(cwd / 'sub')}"
    assert await stage.bash("pwd") == str(cwd)


async def test_a_folder_that_commands_may_change_is_kept(make_stage: MakeStage, outside: Path):
    stage = make_stage(writable=(str(outside),))

    assert await stage.bash(f"cd {outside}") == f"[working directory: {outside}]"
    assert await stage.bash("pwd") == str(outside)


async def test_an_environment_without_bounds_is_not_kept(stage: Stage, cwd: Path):
    (cwd / "sub").mkdir()
    await stage.bash("export A=kept")

    grown = "cd sub; for i in $(seq 40); do export V$i=$(printf 'x%.0s' {1..9000}); done"
    assert await stage.bash(grown) == (
        "[too many exported variables to keep for the next command]\n[working directory: sub]"
    )
    assert await stage.bash("export V=$(head -c 3000000 /dev/zero | tr '\\0' x); cd ..") == "[no output]"
    assert await stage.bash('echo "$A,$V1,$V"; pwd') == f"kept,,\n{cwd}/sub"


async def test_garbage_on_the_report_changes_nothing(stage: Stage, cwd: Path):
    (cwd / "sub").mkdir()

    everywhere = "for n in {100..249}; do %s >&$n; done 2>/dev/null; exec true"
    await stage.bash("cd sub; " + everywhere % "head -c 100000 /dev/urandom")
    await stage.bash(everywhere % r"printf '/\0A=1\0B=2\0END\0'")

    assert await stage.bash('pwd; echo "[$A]"') == f"{cwd}\n[1]"


async def test_sessions_do_not_share_a_shell(stage: Stage, cwd: Path):
    (cwd / "sub").mkdir()
    await asyncio.gather(
        stage.call("bash", session="one", command="cd sub; export A=one"),
        stage.call("bash", session="two", command="export A=two"),
    )

    assert [
        (await stage.call("bash", session=session, command="pwd; echo $A")).text
        for session in ("one", "two", "new")
    ] == [f"{cwd}/sub\none", f"{cwd}\ntwo", f"{cwd}"]


# ---------------------------------------------------------------------------- the end of a command


async def test_a_command_that_takes_too_long_is_ended(stage: Stage):
    output = await stage.call("bash", command="echo started; sleep 31.4151", timeout=1)

    assert output.is_error
    assert output.text.startswith("started\n")
    assert output.text.endswith("[ended after 1 s; start long work with background=true]")
    assert is_gone("31.4151")


async def test_a_command_that_was_ended_leaves_the_state_as_it_was(plain: Stage, cwd: Path):
    (cwd / "sub").mkdir()

    output = await plain.call("bash", command="cd sub; sleep 31.4160", timeout=1)

    assert output.is_error
    assert await plain.bash("pwd") == str(cwd)


async def test_cancelling_ends_everything_at_once(stage: Stage):
    command = (
        "trap '' TERM INT HUP; (trap '' TERM; sleep 31.4153) & echo ready; while :; do sleep 31.4153; done"
    )
    task = asyncio.create_task(stage.bash(command))
    await stage.saw("ready")

    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert time.monotonic() - started < 31  # before its sleep would end
    assert is_gone("31.4153")


async def test_cancelling_twice_ends_it_too(stage: Stage):
    task = asyncio.create_task(stage.bash("trap '' TERM; echo ready; while :; do sleep 31.4154; done"))
    await stage.saw("ready")

    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await stage.tool.aclose()

    assert is_gone("31.4154")


async def test_a_call_ends_with_its_shell_and_not_with_what_holds_the_pipe(stage: Stage):
    started = time.monotonic()
    text = await stage.bash("sleep 31.4155 & nohup sleep 31.4155 >/dev/null 2>&1 & echo done")

    assert (text, is_gone("31.4155")) == ("done", True)
    assert time.monotonic() - started < 31


async def test_a_process_that_ran_away_with_the_pipe_holds_up_nobody(stage: Stage):
    started = time.monotonic()
    text = await stage.bash(
        "setsid sleep 31.4159 & while ! pgrep -f '^sleep 31.4159' >/dev/null; do :; done; echo done"
    )

    assert (text, time.monotonic() - started < 31) == ("done", True)
    if isinstance(stage.sandbox, PlainSandbox):
        for pid in processes("31.4159"):
            os.kill(pid, signal.SIGKILL)
    assert is_gone("31.4159")


async def test_a_command_that_closes_its_output_is_waited_for(stage: Stage, cwd: Path):
    assert await stage.bash("echo a; exec >&- 2>&-; sleep 0.1; touch done") == "a"
    assert (cwd / "done").exists()


async def test_nothing_is_left_open(plain: Stage):
    await plain.bash("seq 1 20000")
    before = len(os.listdir("/proc/self/fd"))

    for command in ("seq 1 20000", "exit 3", "sleep 5 & echo x"):
        await plain.call("bash", command=command)

    assert len(os.listdir("/proc/self/fd")) <= before


# ---------------------------------------------------------------------------- into the background


async def test_a_long_command_becomes_a_job(make_stage: MakeStage):
    stage = make_stage(background_after_s=1.0)

    assert await stage.bash("cd /; export A=1; echo started; sleep 31.4156") == f"started\n{JOB}"
    assert await stage.bash('echo "[$A]"') == "[]"
    await stage.tool.aclose()
    assert is_gone("31.4156")


async def test_a_long_command_is_ended_when_there_is_no_room_for_a_job(make_stage: MakeStage):
    stage = make_stage(background_after_s=0.1, timeout_s=0.2, max_running_jobs=0)

    output = await stage.call("bash", command="sleep 31.4157")

    assert output.is_error
    assert output.text.endswith("[ended after 0.2 s; start long work with background=true]")
    with pytest.raises(ToolError) as caught:
        await stage.bash("sleep 31.4157", background=True)
    assert str(caught.value) == "0 background jobs are running already (hint: stop one with job_kill)"


async def test_a_background_command_that_ends_at_once_is_like_any_other(stage: Stage, cwd: Path):
    (cwd / "sub").mkdir()

    assert await stage.call("bash", command="cd sub; echo bad; exit 3", background=True) == failed(
        "bad\n[exit status 3]"
    )
    assert await stage.bash("pwd") == str(cwd)


async def test_ending_a_session_ends_what_runs_in_it(make_stage: MakeStage):
    stage = make_stage(background_after_s=0.5)
    await stage.bash("trap '' TERM; while :; do sleep 31.4158; done")
    assert processes("31.4158")
    assert isinstance(stage.tool, SessionTool)

    started = time.monotonic()
    await stage.tool.end_session(stage.context.session)

    assert time.monotonic() - started < 31
    assert is_gone("31.4158")
    assert await stage.call("jobs") == ToolOutput("[no jobs]")


# ---------------------------------------------------------------------------- what rules and people see


async def test_the_program_gets_what_rules_and_settings_say(make_plain: MakeStage, cwd: Path, outside: Path):
    sandbox = PlainSandbox()
    stage = make_plain(
        sandbox=sandbox, writable=(str(outside),), memory_bytes=1, max_processes=2, max_file_bytes=3, cpu_s=4
    )
    kept: list[str] = []
    rules = (parse_rule("deny", "read_file(secret/**)"),)
    stage.context = replace(stage.context, rules=rules, mode="yolo", keep=kept.append)
    await stage.bash("true")

    [spec] = sandbox.specs
    assert spec.argv[0].endswith("/bash")
    assert spec.argv[-1] == "true"
    assert replace(spec, argv=(), env={}, output=0, extra=0) == replace(
        spec,
        argv=(),
        env={},
        output=0,
        extra=0,
        cwd=str(cwd),
        input=None,
        writable=(str(cwd), str(outside)),
        rules=rules,
        mode="yolo",
        tool="bash",
        keep=stage.context.keep,
        confined=True,
        memory_bytes=1,
        max_processes=2,
        max_file_bytes=3,
        cpu_s=4,
    )


async def test_a_command_that_no_sandbox_holds_is_in_doubt(make_plain: MakeStage):
    sandbox = PlainSandbox(SandboxStatus("none", why="bubblewrap is not installed"))
    stage = make_plain(sandbox=sandbox)
    subjects = (Subject("command", "ls -l"),)

    assert stage.tool.access({"command": "ls -l"}, stage.context) == Access(
        "bash", "execute", subjects, doubt="this command has no sandbox: bubblewrap is not installed"
    )
    wanted = make_plain(sandbox=sandbox, wants_sandbox=False)
    assert wanted.tool.access({"command": "ls -l"}, stage.context) == Access("bash", "execute", subjects)
    await wanted.bash("true")
    assert sandbox.specs[-1].confined is False


async def test_a_harmless_name_that_commands_could_have_taken_is_in_doubt(make_plain: MakeStage, cwd: Path):
    plain = make_plain(parse=None)
    (cwd / "bin").mkdir()
    (cwd / "bin" / "ls").write_text("#!/bin/sh\necho evil\n")
    (cwd / "bin" / "ls").chmod(0o755)

    def doubt(command: str) -> str:
        return plain.tool.access({"command": command}, plain.context).doubt

    assert doubt("ls -l") == ""
    await plain.bash('export PATH="$PWD/bin:$PATH"')
    assert doubt("ls -l") == f"ls is a program in {cwd}/bin, a folder that commands may change"
    assert doubt("cat x") == ""
    await plain.bash("export PATH=bin:$PATH; cd bin")
    assert doubt("cat x") == ""
    await plain.bash("cd ..")
    assert doubt("ls") == "ls is a program in bin, a folder that commands may change"


async def test_a_command_is_judged_from_the_folder_of_the_shell(make_plain: MakeStage, cwd: Path):
    (cwd / "sub").mkdir()
    stage = make_plain(parse=None)
    await stage.bash("cd sub")

    access = stage.tool.access({"command": "cat ../a > b"}, stage.context)

    assert {(subject.kind, subject.value, subject.access) for subject in access.subjects} == {
        ("command", "cat ../a", "read"),
        ("path", "a", "read"),
        ("path", "sub/b", "write"),
    }
    assert access.doubt == ""


async def test_the_preview_shows_the_command_its_folder_and_its_guard(make_plain: MakeStage, cwd: Path):
    (cwd / "web").mkdir()
    stage = make_plain()
    await stage.bash("cd web")
    args = {"command": "npm test\x1b[2K", "description": "Run the\n tests"}

    assert await stage.tool.preview(args, stage.context) == (
        "Run the tests\n$ npm test\\x1b[2K\n(in web; sandbox: bubblewrap, no network)"
    )
    rules = (parse_rule("allow", "bash(domain:pypi.org)"), parse_rule("deny", "bash(domain:evil.example)"))
    assert await stage.tool.preview({"command": "x"}, replace(stage.context, rules=rules)) == (
        "$ x\n(in web; sandbox: bubblewrap, network to pypi.org)"
    )
    off = make_plain(sandbox=PlainSandbox(SandboxStatus("none", why="no")), folder=cwd / "a")
    assert await off.tool.preview({"command": "x"}, off.context) == "$ x\n(in .; no sandbox: no)"
    unwanted = make_plain(wants_sandbox=False, folder=cwd / "b")
    assert await unwanted.tool.preview({"command": "x"}, unwanted.context) == (
        "$ x\n(in .; no sandbox: turned off in the settings)"
    )


async def test_a_command_runs_where_the_user_saw_it_or_not_at_all(plain: Stage, cwd: Path):
    (cwd / "sub").mkdir()
    seen = replace(plain.context, call_id=CallId("seen"))
    await plain.tool.preview({"command": "touch here"}, seen)
    await plain.bash("cd sub")

    with pytest.raises(ToolError) as refused:
        await plain.tool.run({"command": "touch here"}, seen)

    assert refused.value.message == ("not run: it was approved for ., but the shell is now in sub")
    await plain.tool.preview({"command": "touch here"}, seen)
    await plain.tool.run({"command": "touch here"}, seen)
    assert sorted(os.listdir(cwd / "sub")) == ["here"]


def test_every_tool_is_described(plain: Stage):
    tools = plain.tools

    assert sorted(tools) == ["bash", "job_kill", "job_output", "jobs"]
    for tool in tools.values():
        assert 100 < len(tool.spec.description) < 1200


async def test_what_was_proven_to_read_runs_where_it_can_change_nothing(make_plain: MakeStage, cwd: Path):
    sandbox = PlainSandbox()
    stage = make_plain(sandbox=sandbox, parse=None)
    (cwd / "sub").mkdir()

    await stage.bash("cd sub && pwd")
    await stage.bash("export A=1; ls")
    await stage.bash("touch x")

    assert [spec.reads_only for spec in sandbox.specs] == [True, False, False]
    assert await stage.bash('pwd; echo "$A"') == f"{cwd}/sub\n1"


async def test_a_command_that_has_come_to_mean_something_else_is_not_run(make_plain: MakeStage, cwd: Path):
    sandbox = PlainSandbox()
    stage = make_plain(sandbox=sandbox, parse=None)
    (cwd / "a").write_text("inside\n")
    args = {"command": "cat a"}

    await stage.tool.foresee(args, stage.context)
    before = stage.tool.access(args, stage.context)
    (cwd / "a").unlink()
    (cwd / "a").symlink_to("/etc/hostname")

    assert before.reads_only
    assert stage.tool.access(args, stage.context) == before
    with pytest.raises(ToolError, match="not run: its effects have changed since it was approved"):
        await stage.tool.run(args, stage.context)
    assert not sandbox.specs


async def test_a_line_is_judged_beside_the_event_loop(make_plain: MakeStage):
    threads = []

    def parse(command: str, cwd: str, root: str) -> Access:
        threads.append(threading.current_thread())
        return Access("bash", "execute", (Subject("command", command),))

    stage = make_plain(parse=parse)
    args = {"command": "ls"}
    await stage.tool.foresee(args, stage.context)
    stage.tool.access(args, stage.context)
    await stage.tool.run(args, stage.context)

    assert len(threads) == 2
    assert threading.main_thread() not in threads
