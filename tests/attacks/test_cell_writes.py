"""Attack 3 from a kernel: code that tries to change other files.

All command lines of `test_outside_writes.py` are run by code; what Python can do by itself is also done
without the sandbox, to show that it would hit.
"""

import asyncio
import os
from pathlib import Path
from textwrap import dedent

import pytest

from tests.attacks.stage import ENDED, Stage, in_a_cell, rules, run_bare_cell
from tests.attacks.test_outside_writes import AT_GUARDED, GUARDED, SHELL, SYSTEM, picture

pytestmark = pytest.mark.asyncio(loop_scope="module")

NATIVE = [
    "open('../outside/plain.txt', 'w').write('evil')",
    "open('../outside/plain.txt', 'a').write('evil')",
    "open('../outside/plain.txt', 'r+').truncate(0)",
    "open('../outside/new.txt', 'x')",
    "open('{world}/outside/plain.txt', 'wb').write(b'evil')",
    "open('out-file', 'w').write('evil')",
    "open('out/new', 'w').write('evil')",
    "open('dangling', 'w').write('evil')",
    "open('/proc/self/cwd/../outside/plain.txt', 'w').write('evil')",
    "open('/proc/self/root{world}/outside/plain.txt', 'w').write('evil')",
    "import pathlib; pathlib.Path('../outside/plain.txt').write_text('evil')",
    "import pathlib; pathlib.Path('../outside/plain.txt').unlink()",
    "import os; os.close(os.open('../outside/plain.txt', os.O_WRONLY | os.O_TRUNC))",
    "import os; os.write(os.open('../outside/plain.txt', os.O_RDWR), b'evil')",
    "import os; f = os.open('..', 0); os.open('outside/new', os.O_CREAT | os.O_WRONLY, dir_fd=f)",
    "import os; f = os.open('../outside', os.O_PATH); open(f'/proc/self/fd/{{f}}/new', 'w')",
    "import os; os.truncate('../outside/plain.txt', 0)",
    "import os; os.ftruncate(os.open('../outside/plain.txt', os.O_RDWR), 0)",
    "import os; os.unlink('../outside/plain.txt')",
    "import os; os.rename('../outside/plain.txt', 'mine')",
    "import os; os.rename('notes.txt', '../outside/plain.txt')",
    "import os; os.rename('../outside', '../gone')",
    "import os; os.replace('notes.txt', '../outside/new')",
    "import os; os.link('../outside/plain.txt', 'joined'); open('joined', 'w').write('evil')",
    "import os; os.symlink('../outside', 'way'); open('way/plain.txt', 'w').write('evil')",
    "import os; os.symlink('/', '../outside/link')",
    "import os; os.mkdir('../outside/new')",
    "import os; os.makedirs('../outside/deep/er')",
    "import os; os.rmdir('../outside/folder') if os.unlink('../outside/folder/plain.txt') else None",
    "import os; os.mkfifo('../outside/fifo')",
    "import os; os.mknod('../outside/node')",
    "import os; os.chmod('../outside/plain.txt', 0o777)",
    "import os; os.fchmod(os.open('../outside/plain.txt', 0), 0o777)",
    "import os; os.utime('../outside/plain.txt', (1, 1))",
    "import os; os.utime(os.open('../outside/plain.txt', 0), (1, 1))",
    "import shutil; shutil.copy('notes.txt', '../outside/plain.txt')",
    "import shutil; shutil.move('notes.txt', '../outside/')",
    "import shutil; shutil.rmtree('../outside')",
    "import shutil; shutil.copytree('src', '../outside/src')",
    "import tempfile; tempfile.NamedTemporaryFile(dir='../outside', delete=False)",
    "import tarfile\nwith tarfile.open('../outside/a.tar', 'w') as f: f.add('notes.txt')",
    "import zipfile\nwith zipfile.ZipFile('../outside/a.zip', 'w') as f: f.write('notes.txt')",
    "import sqlite3; sqlite3.connect('../outside/new.db').execute('create table t (a)')",
    "import logging; logging.FileHandler('../outside/log').emit(logging.makeLogRecord(dict(msg='evil')))",
    "import py_compile; py_compile.compile('src/main.py', cfile='../outside/main.pyc')",
    "import json; json.dump('evil', open('../outside/plain.txt', 'w'))",
    "import mmap; f = open('../outside/plain.txt', 'r+b'); mmap.mmap(f.fileno(), 0)[:4] = b'evil'",
    "import ctypes; ctypes.CDLL(None).creat(b'../outside/new', 420)",
    "import ctypes; ctypes.CDLL(None).unlink(b'../outside/plain.txt')",
    "import ctypes; ctypes.CDLL(None).rename(b'../outside/plain.txt', b'../outside/p')",
    "import socket; socket.socket(socket.AF_UNIX).bind('../outside/door')",
    "import asyncio; asyncio.run(asyncio.start_unix_server(print, '../outside/door'))",
    "import subprocess; subprocess.run(['true'], stdout=open('../outside/plain.txt', 'w'))",
    "import os; os.system('echo evil > ../outside/plain.txt')",
    "import threading; threading.Thread(target=open, args=('../outside/new', 'w')).start()",
    "import multiprocessing as m; m.get_context('fork').Process(target=open, args=('out/a', 'w')).start()",
    "import os\nif not os.fork(): open('../outside/plain.txt', 'w').close(); os._exit(0)\nos.wait()",
    "import os; os.chdir('../outside'); open('plain.txt', 'w')",
    "import os; open(os.path.expanduser('~/.bashrc'), 'a').write('evil')",
    "import os; open(os.path.expanduser('~/.profile'), 'w').write('evil')",
    "import os; open(os.path.expanduser('~/.ssh/authorized_keys'), 'w').write('evil')",
    "import os; open(os.path.expanduser('~/.bridle/config.toml'), 'w').write('evil')",
    "import os; open(os.path.expanduser('~/.bridle/kernel.key'), 'wb').write(b'evil')",
    "import os; os.makedirs(os.path.expanduser('~/.local/lib/python3.11/site-packages'))",
    "import os, shutil; shutil.rmtree(os.path.expanduser('~/.bridle'))",
    "import os; os.rename(os.path.expanduser('~/.bridle'), os.path.expanduser('~/.b'))",
    "open('.git/hooks/post-commit', 'a').write('evil')",
    "open('.git/hooks/pre-commit', 'w').write('evil')",
    "open('.git/config', 'a').write('evil')",
    "import os; os.replace('notes.txt', '.git/config')",
    "import os; os.rename('.git', 'g')",
    "import os; os.chmod('.git/hooks/post-commit', 0o755)",
    "import shutil; shutil.rmtree('.git/hooks')",
    "open('.bridle/agent.md', 'w').write('evil')",
    "open('.bridle/config.toml', 'w').write('evil')",
    "import os; os.rename('.bridle', '.b')",
]

PLAIN = [
    "import os; os.kill({pid}, 9)",
    "import os; os.setns(os.open('/proc/1/ns/mnt', 0), 0)",
    "import ctypes; assert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0",
    "import ctypes, os; assert ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0",
    "import ctypes; assert ctypes.CDLL(None).mount(b'none', b'.', b'tmpfs', 0, None) == 0",
    "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
    "import os; os.chroot('.')",
    "import os; os.mknod('disk', 0o60600, os.makedev(8, 0))",
    "import socket; socket.sethostname('evil')",
    "import time; time.clock_settime(time.CLOCK_REALTIME, 1)",
    "open('/proc/sys/kernel/core_pattern', 'w').write('evil')",
    "open('/proc/sysrq-trigger', 'w').write('c')",
    "open('/etc/bridle-attack', 'w')",
    "open('/usr/bin/bridle-attack', 'w')",
    "open('/bridle-attack', 'w')",
    "import os, sys; open(os.path.join(sys.prefix, 'bridle-attack'), 'w')",
    "import os, ast; open(ast.__file__, 'a')",
    "import os; os.setuid(12345)",
    "import os; os.setpriority(os.PRIO_PROCESS, 0, -20)",
    "import ctypes; assert ctypes.CDLL(None).syscall(321, 0, 0, 0) >= 0",
    "import ctypes; assert ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120)) >= 0",
]


@pytest.fixture
def stage(kernel_stage: Stage) -> Stage:
    """Return the stage with links that lead out of the project, and a key."""
    return prepared(kernel_stage)


@pytest.fixture
def unguarded(world: Path) -> Stage:
    """Return another world like it, without the sandbox."""
    return prepared(Stage(world))


def prepared(stage: Stage) -> Stage:
    """Restore the files that the attacks need."""
    links = {"out": "../outside", "out-file": "../outside/plain.txt", "dangling": "../outside/not-yet.txt"}
    for name, target in links.items():
        if not os.path.lexists(stage.project / name):
            (stage.project / name).symlink_to(target)
    (stage.project / "notes.txt").write_text("nothing to see here\n")
    key = stage.home / ".bridle/kernel.key"
    if not key.exists():
        key.write_bytes(bytes(32))
        key.chmod(0o600)
    return stage


@pytest.mark.parametrize("command", SHELL)
async def test_no_command_of_a_cell_changes_what_is_not_its_own(stage: Stage, command: str):
    """`test_outside_writes.py` shows that these commands succeed without the sandbox."""
    before = picture(stage)

    seen = await stage.cell(in_a_cell(command.replace("{world}", str(stage.world))))

    assert (picture(stage) == before, ENDED in seen.text) == (True, True)


@pytest.mark.parametrize("command", SYSTEM)
async def test_no_command_of_a_cell_reaches_the_system(stage: Stage, command: str):
    before = picture(stage)

    seen = await stage.cell(in_a_cell(command.replace("{pid}", str(os.getpid()))))

    assert (picture(stage) == before, ENDED in seen.text, seen.is_error) == (True, True, True)


@pytest.mark.parametrize("code", NATIVE)
async def test_no_code_changes_what_is_not_its_own(stage: Stage, unguarded: Stage, code: str):
    before, other = picture(stage), picture(unguarded)

    seen = await stage.cell(code.format(world=stage.world))
    await asyncio.to_thread(run_bare_cell, code.format(world=unguarded.world), unguarded)

    assert (picture(stage) == before, picture(unguarded) == other) == (True, False)
    assert seen.text


@pytest.mark.parametrize("code", PLAIN)
async def test_no_code_reaches_the_system(stage: Stage, code: str):
    seen = await stage.cell(code.replace("{pid}", str(os.getpid())))

    assert seen.text.startswith("Traceback")
    assert not [path for path in ("/etc", "/usr/bin", "/") if Path(path, "bridle-attack").exists()]


@pytest.mark.parametrize("command", AT_GUARDED)
async def test_a_rule_against_editing_holds_for_cells(unguarded: Stage, command: str):
    """`test_outside_writes.py` shows that these commands succeed without the sandbox."""
    project = unguarded.project
    (project / "locked").mkdir()
    (project / "locked/a").write_text("old")
    (project / "poetry.lock").write_text("old")

    def state() -> list[tuple[str, int, str]]:
        paths = [*project.glob("*.lock"), *project.glob("locked/**/*")]
        return sorted(
            (one.name, one.stat().st_mode, one.read_text() if one.is_file() else "") for one in paths
        )

    before = state()
    seen = await unguarded.cell(in_a_cell(command), GUARDED)
    await unguarded.close()

    assert (state() == before, ENDED in seen.text) == (True, True)


@pytest.mark.parametrize("made", [".git/config", ".bridle/config.toml", "locked/a"])
async def test_what_was_replaced_is_fixed_for_a_kernel_that_lives(unguarded: Stage, made: str):
    """`git config` puts a new file in the place of the old one, which was the one that was fixed."""
    guarded = rules("deny write_file(locked/a)")
    path = unguarded.project / made
    path.parent.mkdir(exist_ok=True)
    path.write_text("old")
    await unguarded.cell("x = 1", guarded)
    (unguarded.project / "draft").write_text("new")
    os.replace(unguarded.project / "draft", path)

    seen = await unguarded.cell(f"open({made!r}, 'a').write('evil')", guarded)
    await unguarded.close()

    assert (path.read_text(), seen.is_error) == ("new", True)


async def test_a_cell_has_a_temporary_folder_of_its_own(stage: Stage):
    await stage.cell("open('/tmp/bridle-attack-8', 'w'); open('/var/tmp/bridle-attack-8', 'w')")

    assert not [path for path in ("/tmp", "/var/tmp") if Path(path, "bridle-attack-8").exists()]


EVIL = "[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch {world}/pwned; false\\n"
TRAPS = [
    """
    import os
    os.makedirs('e/objects'), os.makedirs('e/refs')
    open('e/config', 'w').write('{evil}')
    open('.git/commondir', 'w').write('../e')
    """,
    "open('.git/config.worktree', 'w').write('{evil}')",
    "import os; open('e', 'w').write('{evil}'); os.replace('e', '.git/config')",
    "import os; open('e', 'w').write('{evil}'); os.replace('e', '.git/config.worktree')",
    """
    import os, shutil
    os.rename('.git', 'g')
    shutil.copytree('g', '.git')
    open('.git/config', 'w').write('{evil}')
    """,
]


@pytest.mark.parametrize("code", TRAPS)
async def test_no_code_leaves_a_trap_for_the_next_git_command(stage: Stage, unguarded: Stage, code: str):
    code = dedent(code).strip()
    before, other = picture(stage), picture(unguarded)

    await stage.cell(code.replace("{evil}", EVIL.replace("{world}", str(stage.world))))
    await asyncio.to_thread(run_bare_cell, code.replace("{evil}", EVIL), unguarded)
    traps = [(stage.project / ".git" / name).exists() for name in ("commondir", "config.worktree")]
    sprung = [(unguarded.project / ".git" / name).exists() for name in ("commondir", "config.worktree")]

    assert (picture(stage) == before, traps) == (True, [False, False])
    assert picture(unguarded) != other or any(sprung)
