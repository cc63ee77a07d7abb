"""Attack 3, traps: a sandboxed program leaves something that a program of the user runs later.

Each attack is followed by what the user does next: `git status` and the like in that folder, or a look at
the file that direnv, an editor or an agent would read. Those on git are also run without the sandbox, to
show that they work.
"""

import asyncio
import os
import shutil
import time
from pathlib import Path
from textwrap import dedent

import pytest

from bridle.core.traps import trap_in
from bridle.sandbox.trap_scanner import SLACK_NS
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
    """Create the user's own files: a config that names other places, and a nested repository."""
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
    """Do what the user does next; return whether a program of the attacker ran."""
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
    ".devcontainer.json",
    ".hg/hgrc",
    ".helix/languages.toml",
    "mise.local.toml",
    ".mise/config.toml",
    ".config/mise/config.toml",
    ".dir-locals-2.el",
    "x.code-workspace",
    ".vim/coc-settings.json",
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
    assert refused or (trap_in(file) in seen.text and kept != [])


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


# Commands of one session, each after the other, that use what an earlier one has prepared under an innocent
# name. What comes first is done before the session, by the author of the folder.
BARE = "mkdir -p {at}/objects; echo ref: refs/heads/main > {at}/HEAD; printf '{evil}' > {at}/config"
SWAP = "mkdir {at}/refs; mv {folder}/.git {folder}/old; mv {at} {folder}/.git"


def prepared(at: str, more: str = "") -> str:
    return BARE.replace("{at}", at).replace("{evil}", EVIL + more)


def swapped(at: str, folder: str) -> str:
    return SWAP.replace("{at}", at).replace("{folder}", folder)


INNER = "git init -q --bare .git/modules/foo; git init -q --bare .git/modules/foo/bar; mkdir s"
WORKTREE = f"{prepared('x')}; mkdir -p x/refs x/worktrees/w s; mv x/HEAD x/worktrees/w"
IN_STEPS = [
    # prepared by the folder itself, swapped by one allowed command
    (f"git init -q lib; {prepared('g')}", [swapped("g", "lib")], "lib"),
    (f"mkdir lib; {prepared('g')}; mkdir g/refs2", ["mv g/refs2 g/refs; mv g lib/.git"], "lib"),
    (f"git init -q lib; {prepared('m/g')}", ["mkdir m/g/refs; mv m/g m/.git; mv lib old; mv m lib"], "lib"),
    (prepared("x", "\\tworktree = .\\n"), ["mkdir x/refs"], "x"),
    (
        f"git init -q --bare .git/zz; printf '{EVIL}' > .git/zz/config; mkdir s",
        ["echo 'gitdir: ../.git/zz' > s/.git"],
        "s",
    ),
    # prepared by an earlier command
    ("", [f"mkdir s; cd s; git init -q; {prepared('p')}", swapped("s/p", "s")], "s"),
    ("git init -q lib", [prepared("lib/p"), swapped("lib/p", "lib")], "lib"),
    ("", [prepared("x", "\\tworktree = .\\n"), "mkdir x/refs"], "x"),
    ("", ["git init -q --separate-git-dir=.store s", f"printf '{EVIL}' > .store/config"], "s"),
    (
        "",
        [
            "git init -q --bare .git/zz; mkdir s; echo 'gitdir: ../.git/zz' > s/.git",
            f"printf '{EVIL}' > .git/zz/config",
        ],
        "s",
    ),
    (
        f"{INNER}; echo 'gitdir: ../.git/modules/foo/bar' > s/.git",
        [f"printf '{EVIL}\\tworktree = ../../../../s\\n' > .git/modules/foo/bar/config"],
        "s",
    ),
    # a worktree of a repository that is none by itself
    (
        "",
        [f"{WORKTREE}; echo ../.. > x/worktrees/w/commondir; echo 'gitdir: ../x/worktrees/w' > s/.git"],
        "s",
    ),
]


def settled(project: Path) -> None:
    """Make existing files older than new ones, by more than a clock may be wrong."""
    newest = max(path.lstat().st_ctime_ns for path in (project, *project.rglob("*")))
    while time.time_ns() - newest < 2 * SLACK_NS:
        pass


@pytest.mark.parametrize(("before", "commands", "folder"), IN_STEPS)
async def test_what_was_prepared_under_another_name_does_not_run(
    stage: Stage, before: str, commands: list[str], folder: str
):
    def filled(command: str) -> str:
        return command.replace("{world}", str(stage.world))

    await asyncio.to_thread(run_bare, filled(before), stage)
    bare = stage.world / "bare"
    await asyncio.to_thread(shutil.copytree, stage.project, bare, symlinks=True)

    seen = ""
    for command in commands:
        await asyncio.to_thread(settled, stage.project)
        seen = (await stage.shell(filled(command))).text
    guarded = await asyncio.to_thread(springs, stage, folder, STATUS)
    for command in commands:
        await asyncio.to_thread(run_bare, f"cd {bare}; {filled(command)}", stage)

    assert (guarded, await asyncio.to_thread(springs, stage, f"{bare}/{folder}", STATUS)) == (False, True), (
        seen
    )


async def test_the_root_itself_does_not_become_a_repository(stage: Stage):
    await asyncio.to_thread(shutil.rmtree, stage.project / ".git")
    evil = EVIL.replace("{world}", str(stage.world)) + "\\tworktree = .\\n"

    await stage.shell(f"mkdir objects; echo ref: refs/heads/main > HEAD; printf '{evil}' > config")
    await asyncio.to_thread(settled, stage.project)
    seen = await stage.shell("mkdir refs")

    assert not await asyncio.to_thread(springs, stage, ".", STATUS)
    assert "HEAD would make" in seen.text
    assert (stage.project / "config").exists()


OLDER = [
    (["mv tpl .vscode"], ".vscode/tasks.json"),
    (["mkdir .vscode; echo x > .vscode/notes", "mv .vscode o; mv tpl .vscode"], ".vscode/tasks.json"),
    (["mv tpl src/.zed"], "src/.zed/tasks.json"),
    (["mkdir a", "mv tpl a/.husky"], "a/.husky/tasks.json"),
    (["mkdir -p a/.vscode", "mv tpl/tasks.json a/.vscode"], "a/.vscode/tasks.json"),
]


@pytest.mark.parametrize(("commands", "left"), OLDER)
async def test_an_older_folder_is_no_trap_under_a_new_name(stage: Stage, commands: list[str], left: str):
    (stage.project / "tpl").mkdir()
    (stage.project / "tpl/tasks.json").write_text("{}")

    for command in commands:
        await asyncio.to_thread(settled, stage.project)
        seen = await stage.shell(command)

    assert not (stage.project / left).exists()
    assert "put away" in seen.text


async def test_files_of_the_user_are_not_moved_by_making_their_folder_a_repository(stage: Stage):
    for name in ("app/config", "app/hooks/use.ts"):
        (stage.project / name).parent.mkdir(parents=True, exist_ok=True)
        (stage.project / name).write_text("own")
    await asyncio.to_thread(settled, stage.project)

    await stage.shell("mkdir app/objects app/refs s; echo ref: refs/heads/main > app/HEAD")
    await stage.shell("echo 'gitdir: ../app' > s/.git; git init -q n; git -C n config core.hooksPath ../app")

    assert [(stage.project / f"app/{name}").exists() for name in ("config", "hooks/use.ts", "HEAD")] == [
        True,
        True,
        False,
    ]


# What is done before to a repository somewhere, where the agent works, and which file git then runs.
READ_BY_GIT = [
    ("git config core.hooksPath hk", ".", "hk/post-commit"),
    ("git config core.hooksPath .", ".", "post-commit"),
    ("git config --global core.hooksPath hk; mkdir n; git init -q n", "n", "hk/post-commit"),
    ("git config include.path ../more", ".", "more"),
    ("git config include.path ../one; git config -f one include.path two", ".", "two"),
    ("git config core.hooksPath sub/hk; mkdir sub", "sub", "hk/post-commit"),
    ("git config core.hooksPath hk; " + COMMIT + "; git worktree add -q wt", "wt", "hk/post-commit"),
    ("git init -q n; git -C n config core.hooksPath hk", ".", "n/hk/post-commit"),
    ("git init -q n; git -C n config core.hooksPath ../hk", ".", "hk/post-commit"),
    ("ln -s src hk; git config core.hooksPath hk", ".", "src/post-commit"),
]


@pytest.fixture
def placed(stage: Stage, request: pytest.FixtureRequest) -> Stage:
    """Work in a folder of a repository in which a command line was run."""
    before, folder, _ = request.param
    run_bare(before, stage)
    stage.work_in(stage.project / folder)
    return stage


@pytest.mark.parametrize(("placed", "file"), [(one, one[2]) for one in READ_BY_GIT], indirect=["placed"])
async def test_no_command_writes_where_the_config_of_git_leads(placed: Stage, file: str):
    await placed.shell(f"mkdir -p $(dirname {file}); echo evil > {file}; chmod +x {file}")

    assert not (placed.project / file).exists()


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "bash"])
@pytest.mark.parametrize(("placed", "file"), [(one, one[2]) for one in READ_BY_GIT], indirect=["placed"])
def test_accept_edits_asks_where_the_config_of_git_leads(placed: Stage, file: str, tool: str):
    args = {
        "write_file": {"path": file, "content": "evil"},
        "edit_file": {"path": file, "old_str": "a", "new_str": "b"},
        "bash": {"command": f"echo evil > {file}"},
    }[tool]

    found = placed.check(tool, args, mode="accept-edits")
    other = placed.check("write_file", {"path": "plain.txt", "content": "x"}, mode="accept-edits")

    assert (found.action, "can make other programs run code" in found.why) == ("ask", True)
    assert (found.suggestions, other.action) == ((), "allow")


START_FILES = [".bashrc", ".zshenv", ".gitconfig", ".config/git/config", ".ssh/config", ".local/bin/ls"]


@pytest.mark.parametrize("file", START_FILES)
@pytest.mark.parametrize("folder", ["home", "."])
async def test_start_files_are_neither_written_nor_left_where_the_home_is_worked_in(
    stage: Stage, folder: str, file: str
):
    stage.work_in(stage.world / folder)
    path = stage.home / file
    name = os.path.relpath(path, stage.project)
    before = path.read_bytes() if path.exists() else b""

    checked = stage.check("write_file", {"path": name, "content": "evil"}, mode="accept-edits")
    await stage.shell(f"mkdir -p $(dirname {name}); echo evil >> {name}")

    assert checked.action == "ask"
    assert (path.read_bytes() if path.exists() else b"") == before


async def test_the_files_of_bridle_stay_where_the_home_is_worked_in(stage: Stage):
    stage.work_in(stage.home)
    blob = stage.home / ".bridle/blobs/ab"
    waits = "echo started; until [ -e go ]; do sleep 0.01; done; echo a > f"
    running = asyncio.create_task(stage.shell(waits))
    await stage.heard.wait()
    blob.parent.mkdir(exist_ok=True)
    blob.write_text("kept")
    (stage.home / "go").touch()

    seen = await running

    assert (blob.read_text(), "put away" in seen.text) == ("kept", False)


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
