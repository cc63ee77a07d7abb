"""Programs in the reading sandbox: what they see, and that they have no effect."""

import os
import socket
from pathlib import Path

import pytest

from bridle.core.permission import Rule
from bridle.core.ports import ProcessSpec
from bridle.sandbox.visible_paths import find_visible_paths, is_visible
from tests.sandbox.conftest import SECRET, Run

BOTH = pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])


@pytest.fixture
def tree(project: Path) -> Path:
    (project / "src").mkdir()
    (project / "src/main.py").write_text("print(1)\n")
    (project / "secrets").mkdir()
    (project / "secrets/key").write_text(SECRET)
    return project


@BOTH
async def test_it_reads_its_folder_and_runs_the_systems_programs(tree: Path, run: Run):
    outcome = await run(
        "cat src/main.py | sort && ls /usr/bin/env && pwd && id -un >/dev/null", reads_only=True
    )

    assert outcome.output.splitlines() == ["print(1)", "/usr/bin/env", str(tree)]
    assert outcome.status == 0


@BOTH
@pytest.mark.parametrize(
    "command",
    [
        "echo x > new",
        "echo x >> src/main.py",
        "rm src/main.py",
        "mkdir new",
        "mv src other",
        "ln -s x new",
        "chmod 4755 src/main.py",
        "chmod 600 src/main.py",
        "truncate -s 0 src/main.py",
        "echo x > $HOME/new",
        "mkdir -p .git/hooks",
    ],
)
async def test_it_changes_nothing(tree: Path, user_home: Path, run: Run, command: str):
    def look() -> list[tuple[str, int, int, int]]:
        places = [*sorted(tree.rglob("*")), *sorted(user_home.rglob("*"))]
        return [(str(p), p.stat().st_mode, p.stat().st_size, p.stat().st_mtime_ns) for p in places]

    before = look()
    outcome = await run(command, reads_only=True)

    assert outcome.status != 0
    assert look() == before


@BOTH
async def test_it_does_not_see_what_lies_elsewhere(tree: Path, user_home: Path, tmp_path: Path, run: Run):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text(SECRET)
    (tree / "way").symlink_to(tmp_path / "other")
    places = f"{user_home}/tools/known {user_home}/.netrc way/file /etc/shadow {tmp_path}/other/file"

    outcome = await run(f"cat {places}; cat /etc/ssh/* 2>&1", reads_only=True)

    assert outcome.status != 0
    assert SECRET not in outcome.output
    assert "readable" not in outcome.output
    assert "root:" not in outcome.output


@BOTH
async def test_denied_files_are_hidden(tree: Path, run: Run):
    rules = (Rule("deny", "read_file", "secrets/**"),)

    outcome = await run("cat s*/k* secrets/key", reads_only=True, rules=rules)

    assert outcome.status != 0
    assert SECRET not in outcome.output


@BOTH
async def test_it_opens_no_socket(tree: Path, run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tree)  # a socket's path may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("door")
        listener.listen()
        code = (
            "import socket\nfor family in (socket.AF_UNIX, socket.AF_INET, socket.AF_NETLINK):\n"
            "    try: socket.socket(family); print('open')\n    except PermissionError: print('refused')"
        )
        outcome = await run(f'python3 -c "{code}"', reads_only=True)

    assert outcome.output.split() == ["refused"] * 3


@BOTH
async def test_temporary_files_are_its_own(tree: Path, run: Run):
    outcome = await run('f=$(mktemp) && echo x > "$f" && cat "$f"', reads_only=True)

    assert outcome.output.split() == ["x"]


async def test_a_reading_and_a_writing_program_keep_their_cells(tree: Path, run: Run):
    for _ in range(2):
        assert (await run("echo 1 > /tmp/kept; cat /tmp/kept")).status == 0
        assert (await run("cat /tmp/kept", reads_only=True)).status != 0


async def test_more_folders_can_be_shown(tree: Path, tmp_path: Path, run: Run):
    (tmp_path / "above").mkdir()
    (tmp_path / "above/file").write_text("shown\n")

    outcome = await run(f"cat {tmp_path}/above/file", reads_only=True, shown=(str(tmp_path / "above"),))

    assert outcome.output == "shown\n"


def test_programs_of_the_home_are_seen_and_nothing_beside_them(tmp_path: Path):
    for name in (".cargo/bin", ".local/bin", ".local/share", "bin", "proj"):
        (tmp_path / name).mkdir(parents=True)
    home = str(tmp_path)
    path = os.pathsep.join([f"{home}/.cargo/bin", f"{home}/.local/bin", f"{home}/bin", home, ".", "rel"])
    spec = ProcessSpec(("true",), f"{home}/proj", {"PATH": path}, 1)

    places = find_visible_paths(spec, home)

    seen = [
        name
        for name in (".cargo", ".local/bin", ".local/share", "bin", "proj", "x")
        if is_visible(f"{home}/{name}", places)
    ]
    assert seen == [".cargo", ".local/bin", "bin", "proj"]


def test_a_named_program_is_seen_with_its_packages_and_its_python(tmp_path: Path):
    home = tmp_path / "home"
    python = home / ".local/share/pythons/3.12/bin/python3"
    tool = home / ".local/share/tools/lint/bin/lint"
    script = home / "work/node_modules/server/cli.js"
    for file in (python, tool, script, home / "loose"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (tool.parent.parent / "pyvenv.cfg").touch()
    (tool.parent / "python").symlink_to(python)
    link = home / "links/lint"
    link.parent.mkdir()
    link.symlink_to(tool)
    cwd = home / "project"
    (cwd / "own").mkdir(parents=True)
    (cwd / "own/program").symlink_to(home / ".local/share/tools/lint")

    def seen(*argv: Path) -> set[str]:
        words = tuple(str(word) for word in argv)
        spec = ProcessSpec(argv=words, cwd=str(cwd), env={"PATH": ""}, output=1, shows_program=True)
        found = find_visible_paths(spec, str(home))
        return {str(Path(one).relative_to(home)) for one in found if one.startswith(f"{home}/")}

    assert seen(link) == {"links", ".local/share/tools/lint", ".local/share/pythons/3.12", "project"}
    assert seen(tool, script) == {
        ".local/share/tools/lint",
        ".local/share/pythons/3.12",
        "work/node_modules",
        "project",
    }
    assert seen(home / "loose", cwd / "own/program/bin/lint") == {"loose", "project"}
