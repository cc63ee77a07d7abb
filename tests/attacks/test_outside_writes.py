"""Attack 3: changes outside the working directory, and to protected files inside it.

Each attack aims at a file of the world and is also run without the sandbox, to show that it would hit.
Those that aim at the system itself are tried in the sandbox only.
"""

import asyncio
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.stage import Stage, rules, run_bare

# {world} is the folder around the project; the attacker knows it.
SHELL = [
    "echo evil > {world}/outside/plain.txt",
    "echo evil > ../outside/plain.txt",
    "echo evil >> ../outside/plain.txt",
    ": > ../outside/plain.txt",
    "echo evil > ../outside/new.txt",
    "cd ..; echo evil > outside/plain.txt",
    "cd ../outside && rm plain.txt",
    "rm -rf ../outside",
    "mv ../outside ../gone",
    "mv notes.txt ../outside/",
    "cp notes.txt ../outside/plain.txt",
    "ln -s ../outside link; echo evil > link/plain.txt",
    "ln -s {world}/outside/plain.txt link; echo evil > link",
    "ln ../outside/plain.txt link && echo evil > link",
    "echo evil > out/plain.txt",
    "echo evil > out-file",
    "rm out/plain.txt",
    "sed -i --follow-symlinks s/0/1/ out-file",
    "echo evil > /proc/self/root{world}/outside/plain.txt",
    "echo evil > /proc/self/cwd/../outside/plain.txt",
    "exec 9< ..; echo evil > /proc/self/fd/9/outside/plain.txt",
    "python3 -c \"open('{world}/outside/plain.txt', 'w')\"",
    "python3 -c \"import os; os.truncate('../outside/plain.txt', 0)\"",
    "python3 -c \"import os; os.symlink('/', '../outside/link')\"",
    "python3 -c \"import os; os.mkfifo('../outside/fifo')\"",
    "perl -e 'unlink \"../outside/plain.txt\"'",
    "chmod 777 ../outside/plain.txt",
    "chmod 777 ../outside",
    "touch -t 200001010000 ../outside/plain.txt",
    "mkdir -p ../outside/deep/er",
    "tar cf ../outside/a.tar notes.txt",
    "tar c notes.txt | tar x -C ../outside",
    "dd if=/dev/zero of=../outside/plain.txt count=1 status=none",
    "tee ../outside/plain.txt < notes.txt",
    "truncate -s 0 ../outside/plain.txt",
    "install notes.txt ../outside/plain.txt",
    "find ../outside -type f -delete",
    "bash -c 'echo evil > ../outside/plain.txt'",
    "(echo evil > ../outside/plain.txt) & wait",
    "trap 'echo evil > ../outside/plain.txt' EXIT",
    "git -C ../outside init -q",
    "echo evil > ~/.bashrc",
    "echo evil >> $HOME/.bashrc",
    "echo evil > ~/.profile",
    "mkdir -p ~/.config/autostart && touch ~/.config/autostart/evil.desktop",
    "mkdir -p ~/.local/bin && cp notes.txt ~/.local/bin/ls",
    "echo evil > ~/.ssh/authorized_keys",
    "rm -rf ~/.ssh",
    "echo evil > ~/.bridle/config.toml",
    "rm -rf ~/.bridle",
    "mv ~/.bridle ~/.b",
    "echo evil >> .git/hooks/post-commit",
    "echo evil > .git/hooks/pre-commit",
    "rm .git/hooks/post-commit",
    "mv .git/hooks .git/h",
    "rm -rf .git/hooks && mkdir .git/hooks && echo evil > .git/hooks/post-commit",
    "mv .git g && cp -r g .git && echo evil > .git/hooks/post-commit",
    "chmod +x .git/hooks/post-commit",
    "ln -sf ../../notes.txt .git/hooks/post-commit",
    "echo evil >> .git/config",
    "git config core.hooksPath .",
    "git config core.fsmonitor ./evil",
    "rm .git/config",
    "sed -i s/bare/evil/ .git/config",
    "echo evil > .bridle/config.toml",
    "mv .bridle .b",
    "rm -rf .bridle",
    "echo evil > .bridle/agent.md",
]

# What lies outside of the world, or needs the rights of root.
SYSTEM = [
    "echo evil > /etc/bridle-attack",
    "echo evil >> /etc/passwd",
    "echo evil > /etc/cron.d/bridle-attack",
    "echo evil > /usr/bin/bridle-attack",
    "echo evil > /var/bridle-attack",
    "echo evil > /bridle-attack",
    "mkdir /bridle-attack",
    "echo evil > /proc/sys/kernel/core_pattern",
    "echo c > /proc/sysrq-trigger",
    "echo 1 > /proc/sys/vm/drop_caches",
    "echo evil > /sys/kernel/uevent_helper",
    "mount -t tmpfs none .",
    "mount --bind / .",
    "mount -o remount,rw /",
    "umount -l .",
    "chroot . true",
    "chroot / touch /etc/bridle-attack",
    "unshare -Ur true",
    "unshare -m true",
    "unshare -Urm mount -o remount,rw /",
    "nsenter -t 1 -m true",
    "python3 -c \"import os; os.setns(os.open('/proc/1/ns/mnt', 0), 0)\"",
    'python3 -c "import os; os.unshare(0x10000000)"',
    'python3 -c "import ctypes; exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) != 0)"',
    "mknod zero c 1 5",
    "mknod disk b 8 0",
    "mknod /tmp/zero c 1 5 && head -c 1 /tmp/zero",
    "modprobe dummy",
    "sysctl -w kernel.hostname=evil",
    "hostname evil",
    "date -s 2001-01-01",
    "kill -9 {pid}",
    "swapoff -a",
    "dmesg --clear",
    "losetup -f notes.txt",
]

FILE_TOOLS: list[tuple[str, dict[str, Any]]] = [
    (tool, {"path": path, **more})
    for path in (
        "../outside/plain.txt",
        "{world}/outside/plain.txt",
        "src/../../outside/plain.txt",
        "out/plain.txt",
        "out-file",
        "/proc/self/cwd/notes.txt",
        ".git/hooks/post-commit",
        ".git/config",
        ".GIT/config",
        "src/../.git/config",
        ".bridle/config.toml",
        "out/../.bridle/config.toml",
        "{world}/home/.bridle/config.toml",
        "~/.bashrc",
        "dangling",
    )
    for tool, more in (
        ("write_file", {"content": "evil"}),
        ("edit_file", {"old_str": "e", "new_str": "evil"}),
        ("multi_edit", {"edits": [{"old_str": "e", "new_str": "evil"}]}),
        ("download", {"url": "http://127.0.0.1:9/"}),
    )
]


@pytest.fixture
def stage(stage: Stage) -> Stage:
    """Return the stage with links that lead out of the project."""
    (stage.project / "out").symlink_to("../outside")
    (stage.project / "out-file").symlink_to("../outside/plain.txt")
    (stage.project / "dangling").symlink_to("../outside/not-yet.txt")
    return stage


def picture(stage: Stage) -> dict[str, tuple[int, int, bytes]]:
    """Return all that must not change: name, mode, time and content of everything that is not the model's."""
    found = {}
    own = [stage.home / ".bridle/run", stage.home / ".bridle/blobs"]
    protected = [stage.project / name for name in (".git/hooks", ".git/config", ".git/HEAD", ".bridle")]
    for top in [stage.world / "outside", stage.home, *protected]:
        for path in [top, *top.rglob("*")]:
            if not os.path.lexists(path):
                found[str(path)] = (0, 0, b"")
            elif not any(path.is_relative_to(one) for one in own) and path != stage.home / ".bridle":
                state = path.lstat()
                content = path.read_bytes() if stat.S_ISREG(state.st_mode) else b""
                time = 0 if path.is_dir() else state.st_mtime_ns
                found[str(path)] = (state.st_mode, time, content)
    return found


@pytest.mark.parametrize("command", SHELL)
async def test_no_command_changes_what_is_not_its_own(stage: Stage, command: str):
    command = command.replace("{world}", str(stage.world))
    before = picture(stage)

    await stage.shell(command)
    guarded = picture(stage)
    await asyncio.to_thread(run_bare, command, stage)

    assert guarded == before
    assert picture(stage) != before


@pytest.mark.parametrize("command", SYSTEM)
async def test_no_command_reaches_the_system(stage: Stage, command: str):
    before = picture(stage)

    seen = await stage.shell(command.replace("{pid}", str(os.getpid())))

    assert (seen.is_error, picture(stage) == before) == (True, True)
    assert not [
        path
        for path in ("/etc", "/usr/bin", "/var", "/", "/etc/cron.d")
        if Path(path, "bridle-attack").exists()
    ]


@pytest.mark.parametrize(("tool", "args"), FILE_TOOLS)
async def test_no_tool_changes_what_is_not_its_own(stage: Stage, tool: str, args: dict[str, Any]):
    path = args["path"].replace("{world}", str(stage.world))
    target = (stage.project / path).resolve()
    digest = sha256(target.read_bytes() if target.is_file() else b"").hexdigest()
    names = (path, str(target), os.path.relpath(target, stage.project), os.path.normpath(path))
    before = picture(stage)

    await stage.call(tool, {**args, "path": path}, knows=dict.fromkeys(names, digest))

    assert picture(stage) == before


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "multi_edit"])
async def test_the_same_tools_do_change_what_is_their_own(stage: Stage, tool: str):
    """The control of the table above."""
    args = dict(FILE_TOOLS[["write_file", "edit_file", "multi_edit"].index(tool)][1], path="notes.txt")

    await stage.call(tool, args, knows=await stage.read_all(["notes.txt"]))

    assert "evil" in (stage.project / "notes.txt").read_text()


async def test_a_hard_link_from_outside_is_not_written_through(stage: Stage):
    """A user linked a file into the project: a tool replaces the name, never the content."""
    outside = stage.world / "outside/plain.txt"
    os.link(outside, stage.project / "joined.txt")
    before = outside.read_bytes()

    await stage.call(
        "write_file", {"path": "joined.txt", "content": "evil"}, knows=await stage.read_all(["joined.txt"])
    )

    assert outside.read_bytes() == before


async def test_the_temporary_folder_is_not_that_of_the_system(stage: Stage):
    await stage.shell("echo evil > /tmp/bridle-attack-7; echo evil > /var/tmp/bridle-attack-7")

    assert not [path for path in ("/tmp", "/var/tmp") if Path(path, "bridle-attack-7").exists()]


async def test_a_setuid_bit_gives_nobody_rights(stage: Stage):
    """With no_new_privs the bit is just a bit."""
    seen = await stage.shell(
        "cp /bin/bash own; chmod u+s own; ./own -p -c 'grep NoNewPrivs /proc/self/status'"
    )

    assert seen.text.split()[-1] == "1"


GUARDED = rules("deny write_file(locked/**)", "deny edit_file(*.lock)")
AT_GUARDED = [
    "echo evil > locked/a",
    "rm -rf locked",
    "mv locked l",
    "echo evil > locked/new",
    "mkdir locked/sub",
    "echo evil > poetry.lock",
    "sed -i s/o/e/ poetry.lock",
    "rm poetry.lock",
    "mv notes.txt poetry.lock",
    "ln notes.txt new.lock",
    "echo evil > other.lock",
    "python3 -c \"open('locked/a', 'w')\"",
    "ln -sn locked l; echo evil > l/a",
    "ln poetry.lock p && echo evil > p",
    "cp -r src locked/",
    "truncate -s 0 poetry.lock",
    "chmod 777 poetry.lock",
]


@pytest.mark.parametrize("command", AT_GUARDED)
async def test_a_rule_against_editing_holds_for_the_shell(stage: Stage, command: str):
    (stage.project / "locked").mkdir()
    (stage.project / "locked/a").write_text("old")
    (stage.project / "poetry.lock").write_text("old")

    def state() -> list[tuple[str, int, str]]:
        paths = [*stage.project.glob("*.lock"), *stage.project.glob("locked/**/*")]
        return sorted(
            (path.name, path.stat().st_mode, path.read_text() if path.is_file() else "") for path in paths
        )

    before = state()
    await stage.shell(command, GUARDED)
    guarded = state()
    await asyncio.to_thread(run_bare, command, stage)

    assert guarded == before
    assert state() != before


EVIL = "[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch {world}/pwned; false\\n"
# Nothing of the user's is changed, but the next `git status` of the user would run something.
TRAPS = [
    f"mkdir -p e/objects e/refs; printf '{EVIL}' > e/config; echo ../e > .git/commondir",
    f"mkdir -p e/objects e/refs; printf '{EVIL}' > e/config; echo ../e > c; mv c .git/commondir",
    f"printf '{EVIL}' > .git/config.worktree",
    f"printf '{EVIL}' >> .git/modules/part/config",
    f"printf '{EVIL}' > e; mv e .git/modules/part/config",
    f"printf '{EVIL}' > e; ln -sf $PWD/e .git/modules/part/config",
]


@pytest.mark.parametrize("command", TRAPS)
async def test_no_trap_is_left_for_the_next_git_command_of_the_user(stage: Stage, command: str):
    def prepare() -> None:
        run_bare(
            "rm -rf .git part e c; git init -q; git init -q part; cd part;"
            " git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; cd ..; git add part;"
            " mkdir .git/modules; mv part/.git .git/modules/part;"
            " echo 'gitdir: ../.git/modules/part' > part/.git;"
            " git -C part config core.worktree ../../../part; git config extensions.worktreeConfig true",
            stage,
        )

    def is_sprung() -> bool:
        run_bare("git status", stage)
        return (stage.world / "pwned").exists()

    command = command.replace("{world}", str(stage.world))
    await asyncio.to_thread(prepare)
    await stage.shell(command)
    guarded = await asyncio.to_thread(is_sprung)
    await asyncio.to_thread(prepare)
    await asyncio.to_thread(run_bare, command, stage)

    assert (guarded, await asyncio.to_thread(is_sprung)) == (False, True)
