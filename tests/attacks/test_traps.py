"""Attack 3, traps: a program inside lays something that a program of the user runs later, outside.

Each attack is followed by what the user does next: `git status` and the like in that folder, or a look at
the file that direnv, an editor or an agent would read. Those on git are also run with nobody on guard, to
show that they work.
"""

import asyncio
import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from tests.attacks.stage import Stage, make_repository, run_bare

EVIL = "[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch {world}/pwned; false\\n"
HOOK = "printf '#!/bin/sh\\ntouch {world}/pwned\\n' > h; chmod +x h"
NEW = "git init -q new; cd new"
ELSEWHERE = "mkdir s; git init -q e; mv e/.git e/g"
STATUS = "echo a > zz; git add zz; git status"
COMMIT = "git -c user.name=a -c user.email=a@b commit --allow-empty -m one"

# What is done inside, and in which folder the user uses git afterwards, and how.
LAID = [
    (f"{NEW}; printf '{EVIL}' >> .git/config", "new", STATUS),
    (f"git init -q; printf '{EVIL}' >> .git/config", "unborn", STATUS),
    (f"git init -q x; printf '{EVIL}' >> x/.git/config; mv x sub", "sub", STATUS),
    (f"git init -q x; printf '{EVIL}' >> x/.git/config; mkdir sub; mv x/.git sub/", "sub", STATUS),
    (f"git init -q e; printf '{EVIL}' >> e/.git/config; mkdir s; ln -s ../e/.git s/.git", "s", STATUS),
    (f"{ELSEWHERE}; printf '{EVIL}' >> e/g/config; echo 'gitdir: ../e/g' > s/.git", "s", STATUS),
    (f"{ELSEWHERE}; printf '{EVIL}' >> e/g/config; mv e/g e/h; echo 'gitdir: ../e/h' > s/.git", "s", STATUS),
    (f"git init -q --bare b; printf '{EVIL}\\tworktree = .\\n' > b/config", "b", STATUS),
    (f"git init -q --bare b; mv b/* src; printf '{EVIL}\\tworktree = .\\n' > src/config", "src", STATUS),
    (f"printf '{EVIL}' > more; {NEW}; git config include.path $PWD/../more", "new", STATUS),
    (f"{NEW}; mkdir hs; {HOOK}; mv h hs/pre-commit; git config core.hooksPath hs", "new", COMMIT),
    (f"{NEW}; {HOOK}; ln h .git/hooks/pre-commit", "new", COMMIT),
    (f"{NEW}; {HOOK}; ln -s ../../h .git/hooks/pre-commit", "new", COMMIT),
    (f"{NEW}; {HOOK}; mkdir hs; mv h hs/pre-commit; rm -rf .git/hooks; mv hs .git/hooks", "new", COMMIT),
    (
        f"{NEW}; {HOOK}; mkdir hs; mv h hs/pre-commit; rm -rf .git/hooks; ln -s ../hs .git/hooks",
        "new",
        COMMIT,
    ),
    (f"{NEW}; git config alias.st '!touch {{world}}/pwned'", "new", "git st"),
    (f"{NEW}; printf '[core] fsmonitor = touch {{world}}/pwned\\n' > .git/config", "new", STATUS),
    (
        f"{NEW}; printf '[core]\\n a = \\\\\\n\\n fsmonitor = touch {{world}}/pwned\\n' > .git/config",
        "new",
        STATUS,
    ),
    (f"{HOOK}; mv h nested/.git/hooks/pre-commit", "nested", COMMIT),
    (f"printf '{EVIL}' >> nested/.git/config", "nested", STATUS),
    (f"cp nested/.git/config c; printf '{EVIL}' >> c; mv -f c nested/.git/config", "nested", STATUS),
    (f"mv nested n; cp -r n nested; printf '{EVIL}' >> nested/.git/config", "nested", STATUS),
    (f"cd deep/er/still; git init -q; printf '{EVIL}' >> .git/config", "deep/er/still", STATUS),
    (f"{HOOK}; mv h hooked/pre-commit", ".", COMMIT),
    (f"printf '{EVIL}' > more", ".", STATUS),
    (f"{HOOK}; rm -rf hooked; mkdir hooked; mv h hooked/pre-commit", ".", COMMIT),
]
OWN_CONFIG = "[core]\n\trepositoryformatversion = 0\n\thooksPath = hooked\n[include]\n\tpath = ../more\n"


def prepare(project: Path) -> None:
    """Lay out the user's own: a config that names other places, and a repository below."""
    for name in "new unborn sub s e b c x n nested hooked deep more h".split():
        path = project / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for name in ("deep/er/still", "hooked", "nested"):
        (project / name).mkdir(parents=True)
    make_repository(project / "nested")
    (project / ".git/config").write_text(OWN_CONFIG)


def springs(stage: Stage, folder: str, then: str) -> bool:
    """Do what the user does next; says whether something of the attacker's ran."""
    run_bare(f"cd {folder}; {then}; true", stage)
    return (stage.world / "pwned").exists()


@pytest.mark.parametrize(("command", "folder", "then"), LAID)
async def test_what_git_would_run_is_not_there_any_more(stage: Stage, command: str, folder: str, then: str):
    command = command.replace("{world}", str(stage.world))
    if folder == "unborn":
        command = f"mkdir unborn; cd unborn; {command}"
    await asyncio.to_thread(prepare, stage.project)

    await stage.shell(command)
    guarded = await asyncio.to_thread(springs, stage, folder, then)
    await asyncio.to_thread(prepare, stage.project)
    await asyncio.to_thread(run_bare, command, stage)

    assert (guarded, await asyncio.to_thread(springs, stage, folder, then)) == (False, True)


FILES = [
    ".envrc",
    "src/.envrc",
    "new/.envrc",
    ".mcp.json",
    "src/.mcp.json",
    ".bridle/config.toml",
    "src/.bridle/config.toml",
    ".husky/pre-commit",
    ".husky/_/pre-commit",
    "src/.husky/pre-commit",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    "src/.vscode/settings.json",
    ".idea/workspace.xml",
    ".zed/tasks.json",
    ".nvim.lua",
    ".claude/settings.json",
    ".cursor/mcp.json",
    ".devcontainer/devcontainer.json",
    ".ENVRC",
]
WAYS = [
    "mkdir -p $(dirname {file}); echo evil > {file}",
    "echo evil > x; mkdir -p $(dirname {file}); mv x {file}",
    "echo evil > x; mkdir -p $(dirname {file}); ln x {file}",
    "echo evil > x; mkdir -p $(dirname {file}); ln -s $PWD/x {file}",
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("file", FILES)
async def test_a_file_that_others_run_is_put_away_and_named(stage: Stage, file: str, way: str):
    await asyncio.to_thread(shutil.rmtree, stage.project / ".bridle")

    seen = await stage.shell(way.replace("{file}", file))
    left = (stage.project / file).exists()
    kept = [path for path in (stage.home / ".bridle/put-away").glob("*/**/*") if path.exists()]

    assert not left
    refused = "Permission denied" in seen.text or "cannot" in seen.text
    assert refused or (file.split("/")[0 if file[0] == "." else 1] in seen.text and kept != [])


async def test_what_was_put_away_is_kept_as_it_was(stage: Stage):
    seen = await stage.shell("echo export A=1 > .envrc; echo done")

    [kept] = (stage.home / ".bridle/put-away").glob("*/.envrc")
    assert kept.read_text() == "export A=1\n"
    assert f"it was put away and is now {kept}" in seen.text
    assert seen.text.startswith("done\n")
    assert not seen.is_error


async def test_a_cell_leaves_no_trap_and_is_told(stage: Stage):
    first = await stage.cell("open('.envrc', 'w').write('evil'); x = 1")
    gone = not (stage.project / ".envrc").exists()
    second = await stage.cell("open('.envrc', 'w').write('evil'); print(1 + 1)")

    assert (gone, (stage.project / ".envrc").exists()) == (True, False)
    assert [".envrc would make" in seen.text for seen in (first, second)] == [True, True]
    assert second.text.startswith("2\n")


async def test_what_others_write_between_two_cells_is_theirs(stage: Stage):
    await stage.cell("x = 1")
    (stage.project / ".envrc").write_text("own")

    seen = await stage.cell("x = 2; open('other', 'w').write('x')")

    assert ((stage.project / ".envrc").read_text(), "put away" in seen.text) == ("own", False)


async def test_a_cell_that_fails_leaves_no_trap_either(stage: Stage):
    seen = await stage.cell("open('.envrc', 'w').write('evil'); import os; os.kill(os.getpid(), 9)")

    assert not (stage.project / ".envrc").exists()
    assert ".envrc would make" in seen.text


@pytest.mark.parametrize("file", [".envrc", ".vscode/settings.json", "nested/.envrc", ".husky/pre-commit"])
@pytest.mark.parametrize(
    "way", ["echo evil >> {file}", "echo evil > x; mv -f x {file}", "rm -f {file}; echo evil > {file}"]
)
async def test_what_is_the_users_own_stays_as_it_is(stage: Stage, file: str, way: str):
    path = stage.project / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("own\n")

    await stage.shell(way.replace("{file}", file))

    assert path.read_text() == "own\n"


async def test_a_repository_above_is_not_changed_from_below(stage: Stage):
    make_repository(stage.world)
    config = stage.world / ".git/config"
    before = config.read_bytes()

    await stage.shell(
        "echo '[alias]' >> ../.git/config; echo x > ../.git/hooks/post-checkout; mv ../.git ../g;"
        " mkdir -p ../.vscode; echo x > ../.envrc; git config --file ../.git/config alias.x y"
    )

    assert config.read_bytes() == before
    assert not (stage.world / ".git/hooks/post-checkout").exists()
    assert not (stage.world / ".envrc").exists()


async def test_a_trap_of_an_earlier_command_under_another_name(stage: Stage):
    evil = EVIL.replace("{world}", str(stage.world))
    await stage.shell(
        f"git init -q src; mv src/.git src/dotgit; printf '{evil}' >> src/dotgit/config;"
        " mv src/dotgit/HEAD src"
    )

    seen = await stage.shell("mv src/HEAD src/dotgit/HEAD; mv src/dotgit src/.git")

    assert "src/.git/config" in seen.text
    assert not await asyncio.to_thread(springs, stage, "src", STATUS)


# Two threads: one makes calls, the other exchanges the name in memory between our look and the call itself.
RACE = """
import ctypes, threading, os
libc = ctypes.CDLL(None)
names = [b"innocent", {hot!r}]
name = ctypes.create_string_buffer(64)
over = threading.Event()
def swap():
    turn = 0
    while not over.is_set():
        turn ^= 1
        name.value = names[turn]
thread = threading.Thread(target=swap); thread.start()
for attempt in range({times}):
    {call}
over.set(); thread.join()
"""
RACED = [
    (b".envrc", "os.close(libc.creat(name, 0o644))", ".envrc"),
    (b".husky", "libc.mkdir(name, 0o755); libc.creat(b'.husky/pre-commit', 0o755)", ".husky/pre-commit"),
    (b".git/commondir", "libc.creat(name, 0o644)", ".git/commondir"),
    (
        b".git/hooks2",
        "libc.rename(b'notes.txt', name); libc.rename(name, b'notes.txt')",
        ".git/hooks/pre-push",
    ),
    (b".mcp.json", "libc.symlink(b'notes.txt', name)", ".mcp.json"),
]


@pytest.mark.parametrize(("hot", "call", "left"), RACED)
async def test_no_race_with_the_watch_leaves_a_trap(stage: Stage, hot: bytes, call: str, left: str):
    (stage.project / "race.py").write_text(dedent(RACE).format(hot=hot, call=call, times=400))

    await stage.shell("ulimit -n 1024; python3 race.py")

    assert not (stage.project / left).exists()
    assert not (stage.project / left).is_symlink()


async def test_a_background_job_leaves_no_trap_behind_a_result(stage: Stage):
    seen = await stage.shell("echo x > .envrc; sleep 60", background=True)
    more = await stage.force("job_output", {"job": 1})

    assert not (stage.project / ".envrc").exists()
    assert ".envrc" in seen.text + more.text


ORIGIN = (
    "git init -q o && cd o && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && cd .."
)
HONEST = [
    "git init -q new && cd new && git add -A && git status",
    "git init -q --bare new.git",
    "git init -q --shared new",
    f"{ORIGIN} && git clone -q o new && cd new && git log --oneline && git checkout -q -b more",
    f"{ORIGIN} && git clone -q o new && cd new && git branch -q more && git branch -q -u more",
    f"{ORIGIN} && git clone -q --bare o new.git && git clone -q new.git new",
    f"{ORIGIN} && git -C o worktree add -q ../new && cd new && git status",
    f"{ORIGIN} && git init -q new && cd new && git remote add origin ../o && git pull -q origin HEAD",
    "mkdir -p .vscode && echo '{}' > .vscode/extensions.json && echo a > .env && echo b > .gitignore",
    "npm init -y > /dev/null && echo 1 > package-lock.json",
    "mkdir -p a/b/c && echo x > a/b/c/HEAD && echo y > a/config",
]


@pytest.mark.parametrize("command", HONEST)
async def test_honest_use_is_not_hindered(stage: Stage, command: str):
    seen = await stage.shell(command)

    assert (seen.is_error, "put away" in seen.text) == (False, False), seen.text
    assert not (stage.home / ".bridle/put-away").exists()


async def test_a_clone_can_be_used_by_the_next_commands(stage: Stage):
    first = await stage.shell(f"{ORIGIN} && git clone -q o new && echo kept > /tmp/mine")
    later = await stage.shell("cat /tmp/mine; cd new && echo x > x && git add x && git status --short")

    assert (first.is_error, later.text.splitlines()[:2]) == (False, ["kept", "A  x"])
