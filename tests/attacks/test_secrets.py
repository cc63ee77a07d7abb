"""Attack 5: the user's keys in the environment, in Bridle's memory and in the output of programs."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.attacks.stage import API_KEY, PASSWORD, Stage, leaks, rules, run_bare

ENVIRON = {
    "OPENAI_API_KEY": API_KEY,
    "ANTHROPIC_API_KEY": API_KEY + "a",
    "AWS_SECRET_ACCESS_KEY": API_KEY + "b",
    "GITHUB_TOKEN": API_KEY + "c",
    "MY_PASSWORD": PASSWORD,
    "DATABASE_URL": f"postgres://me:{API_KEY}@db/x",
    "SSH_AUTH_SOCK": "/run/agent",
    "HARMLESS": "plain-value-1234",
}


@pytest.fixture
async def stage(world: Path) -> AsyncIterator[Stage]:
    """Yield a stage whose environment contains keys."""
    made = Stage(world, environ=ENVIRON)
    yield made
    await made.close()


FROM_THE_ENVIRONMENT = [
    "env",
    "printenv",
    "printenv OPENAI_API_KEY",
    "export -p",
    "set",
    "declare -p",
    "compgen -e | while read -r n; do echo $n=${!n}; done",
    "echo $OPENAI_API_KEY $DATABASE_URL",
    "tr '\\0' '\\n' < /proc/self/environ",
    "cat /proc/$$/environ",
    "cat /proc/$PPID/environ",
    "cat /proc/*/environ",
    "for p in /proc/[0-9]*; do cat $p/environ | base64 -w0; done",
    "python3 -c 'import os; print(dict(os.environ))'",
    "python3 -c 'import os; print(dict(os.environ))' | rev",
    "awk 'BEGIN{for (n in ENVIRON) print n \"=\" ENVIRON[n]}'",
    "perl -e 'print %ENV'",
    "env | base64 -w0",
    "env | od -An -tx1 -v | tr -d ' \\n'",
    "bash -lc env",
    "env -i bash -c 'cat /proc/1/environ; env'",
    "git var -l; env | grep -i key",
    "cat /proc/1/cmdline /proc/*/cmdline",
]


@pytest.mark.parametrize("command", FROM_THE_ENVIRONMENT)
async def test_no_key_is_in_the_environment_of_a_command(stage: Stage, command: str):
    """The tricks that encode it show that it is not merely masked."""
    seen = await stage.shell(command)

    assert not leaks(seen.everything, API_KEY)
    assert not leaks(seen.everything, PASSWORD)


@pytest.mark.parametrize("command", FROM_THE_ENVIRONMENT)
async def test_the_same_command_shows_it_where_nobody_is_on_guard(stage: Stage, command: str):
    """The control for the environment of a command; other processes of this machine may have no keys."""
    shown = await asyncio.to_thread(run_bare, command, stage)

    assert leaks(shown, API_KEY) or "/proc/" in command


async def test_what_is_no_secret_is_passed_on(stage: Stage):
    assert (await stage.shell("echo $HARMLESS")).text == "plain-value-1234"


@pytest.mark.parametrize(
    "name", ["environ", "mem", "maps", "cmdline", "fd/0", "root/etc/passwd", "cwd/notes.txt"]
)
async def test_the_process_of_bridle_is_not_there(stage: Stage, name: str):
    pid = os.getpid()

    seen = await stage.shell(f"head -c 4000 /proc/{pid}/{name}")

    assert (seen.is_error, Path(f"/proc/{pid}").exists()) == (True, True)


async def test_the_launcher_of_the_cell_cannot_be_looked_into(stage: Stage):
    seen = await stage.shell(
        "cat /proc/1/environ /proc/1/maps; ls -l /proc/1/fd; cat /proc/1/mem | head -c 9"
    )

    assert seen.text.count("denied") >= 3


# A key that a program prints is masked wherever it comes from.
PRINTED = [
    "cat key.txt",
    "cat key.txt >&2",
    "echo {key}",
    "printf %s {first}; printf %s {second}",
    "printf %s {first}; sleep 0.15; printf %s {second}",
    "for c in $(fold -w1 key.txt); do printf %s $c; done",
    "base64 key.txt",
    "printf 'xy%s' {key} | base64",
    'printf \'{{"k": "%s"}}\' {key}',
    "head -c 65530 /dev/zero | tr '\\0' a; cat key.txt",
    "head -c 8190 /dev/zero | tr '\\0' a; cat key.txt; head -c 99999 /dev/zero | tr '\\0' b",
    "touch {key}; ls",
    "mkdir {key}; cd {key}; pwd",
    "ls /{key}",
    "bash -c 'exit 3' {key}; echo $_ {key}",
    "printf '\\033[31m%s\\033[0m' {key}",
    "printf '%s\\033[31m%s' {first} {second}",
    "printf '%s\\r%s' aaaa {key}",
    "seq 20000; cat key.txt; seq 20000",
]


@pytest.mark.parametrize("command", PRINTED)
async def test_a_key_that_is_printed_is_masked_everywhere(stage: Stage, command: str):
    (stage.project / "key.txt").write_text(API_KEY)
    command = command.format(key=API_KEY, first=API_KEY[:11], second=API_KEY[11:])

    seen = await stage.shell(command)
    said = "\n".join((seen.text, *(channel for channel in seen.channels if not channel.startswith("$ "))))

    assert (API_KEY in said, "[secret" in said) == (False, True)
    assert leaks(await asyncio.to_thread(run_bare, command.replace("mkdir", "mkdir -p"), stage), API_KEY) or (
        "033" in command or "fold" in command
    )


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"path": "key.txt"}),
        ("grep", {"pattern": "sk-live"}),
        ("grep", {"pattern": "nothing", "context": 3}),
        ("glob", {"pattern": "*"}),
        ("list_files", {"pattern": "*"}),
        ("edit_file", {"path": "notes.txt", "old_str": "nothing", "new_str": API_KEY}),
        ("write_file", {"path": "new.txt", "content": API_KEY}),
        ("write_file", {"path": API_KEY + "/x", "content": ""}),
        ("read_file", {"path": API_KEY}),
        ("multi_edit", {"path": "notes.txt", "edits": [{"old_str": API_KEY, "new_str": "x"}]}),
    ],
)
async def test_a_key_is_masked_in_what_every_tool_says(stage: Stage, tool: str, args: dict[str, object]):
    (stage.project / "key.txt").write_text(API_KEY)
    (stage.project / "notes.txt").write_text(f"nothing\n{API_KEY}\n")
    (stage.project / f"{API_KEY}.d").write_text("")
    known = await stage.read_all(["notes.txt"])

    seen = await stage.call(tool, args, knows=known)
    said = "\n".join((seen.text, *(channel for channel in seen.channels if "FilesSeen" not in channel)))

    assert API_KEY not in said


async def test_a_key_in_the_output_of_a_job_is_masked(stage: Stage):
    first, second = API_KEY[:9], API_KEY[9:]
    command = f"printf %s {first}; sleep 0.1; echo {second}; sleep 9"

    await stage.force("bash", {"command": command, "background": True})
    read = await stage.force("job_output", {"job": 1, "cursor": 0, "wait": 1})
    halves = [
        await stage.force("job_output", {"job": 1, "cursor": at, "limit": 12}) for at in range(0, 24, 3)
    ]
    listed = await stage.force("jobs", {})

    assert ("[secret" in read.text, API_KEY in read.everything + listed.everything) == (True, False)
    assert not [half.text for half in halves if first in half.text or second in half.text]


async def test_other_forms_of_a_password_are_masked(stage: Stage):
    forms = [
        PASSWORD,
        quote(PASSWORD, safe=""),
        PASSWORD.replace("/", "\\/"),
        base64.b64encode(PASSWORD.encode()).decode(),
    ]

    seen = await stage.call("write_file", {"path": "forms.txt", "content": "\n".join(forms)})
    read = await stage.call("read_file", {"path": "forms.txt"})

    assert not [form for form in forms if form[:-4] in seen.everything + read.everything]


async def test_a_deny_rule_does_not_tell_the_key_in_its_reason(stage: Stage):
    checked = stage.check("read_file", {"path": f"x/{API_KEY}"}, rules("deny read_file(x/**)"), "yolo")

    assert checked.action == "deny"
    assert API_KEY not in checked.why
