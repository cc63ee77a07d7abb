"""A git worktree for a sub-agent: kept if something changed, and nothing of the repository runs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bridle.core.errors import ToolError
from bridle.core.protocol import ChildStarted, Resume, RunStarted, ToolFinished
from bridle.sessions.agent_tree import ChildPolicy
from bridle.sessions.children.worktree import add_worktree, find_worktree
from bridle.surfaces.shared.session_calls import read_session
from bridle.tools.file_tools import file_tools
from tests.sessions.stage import says
from tests.sessions.troupe import Gate, Troupe, behind, spawn, use

ENVIRON = {"PATH": os.environ["PATH"]}


def git(folder: Path, *words: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, env=environ, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with one commit."""
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.txt").write_text("one\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=first")
    return folder


def worktrees(repository: Path) -> int:
    return git(repository, "worktree", "list", "--porcelain").count("worktree ") - 1


async def test_an_unchanged_worktree_is_removed(repository: Path, tmp_path: Path):
    made = await add_worktree(str(repository / "src"), str(tmp_path / "trees"), "x", ENVIRON)
    content = Path(made.cwd, "a.txt").read_text()
    left = await made.leave()

    assert (made.path, made.cwd) == (str(tmp_path / "trees" / "x"), str(tmp_path / "trees" / "x" / "src"))
    assert (content, left) == ("one\n", "")
    assert not Path(made.path).exists()
    assert worktrees(repository) == 0


async def test_a_changed_one_is_kept_and_told(repository: Path, tmp_path: Path):
    made = await add_worktree(str(repository), str(tmp_path / "trees"), "x", ENVIRON)
    Path(made.path, "src", "a.txt").write_text("two\n")
    Path(made.path, "b.txt").write_text("new\n")
    left = await made.leave()

    assert left == (
        f"[its changes are in the worktree {made.path}]\n"
        " src/a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n new file b.txt"
    )
    assert Path(made.path, "b.txt").exists()
    assert (repository / "src" / "a.txt").read_text() == "one\n"


async def test_a_commit_in_it_is_a_change(repository: Path, tmp_path: Path):
    made = await add_worktree(str(repository), str(tmp_path / "trees"), "x", ENVIRON)
    Path(made.path, "src", "a.txt").write_text("two\n")
    git(Path(made.path), "commit", "--quiet", "--all", "--message=second")

    assert " src/a.txt | 2 +-\n" in await made.leave()


async def test_nothing_that_the_repository_names_is_run(repository: Path, tmp_path: Path):
    """A hook, a filter, a monitor and a diff program, each of which would leave a trace."""
    trace = tmp_path / "trace"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho ran >> {trace}\ncat\n")
    program.chmod(0o755)
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho ran >> {trace}\n")
    hook.chmod(0o755)
    (repository / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=second")
    for name in ("filter.evil.smudge", "filter.evil.clean", "core.fsmonitor", "diff.external"):
        git(repository, "config", name, str(program))
    git(repository, "config", "diff.evil.textconv", str(program))
    git(repository, "config", "filter.evil.required", "true")

    made = await add_worktree(str(repository), str(tmp_path / "trees"), "x", ENVIRON)
    Path(made.path, "src", "a.txt").write_text("two\n")
    Path(made.path, ".git").write_text(f"gitdir: {tmp_path}/elsewhere\n")  # what an agent may do to it
    left = await made.leave()

    assert " src/a.txt | 2 +-\n" in left
    assert not trace.exists()


@pytest.mark.parametrize("folder", ["src", ""])
async def test_a_git_in_the_project_is_not_run(repository: Path, tmp_path: Path, folder: str):
    planted = repository / folder / "git"
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/trace\n")
    planted.chmod(0o755)
    path = os.pathsep.join([str(planted.parent), folder or ".", os.environ["PATH"]])
    made = await add_worktree(str(repository), str(tmp_path / "trees"), "x", {"PATH": path})

    assert await made.leave() == ""
    assert not (tmp_path / "trace").exists()


async def test_without_a_repository_a_commit_a_place_or_git_there_is_none(repository: Path, tmp_path: Path):
    plain, empty = tmp_path / "plain", tmp_path / "empty"
    plain.mkdir()
    empty.mkdir()
    git(empty, "init", "--quiet")
    trees = str(tmp_path / "trees")

    with pytest.raises(ToolError, match="not a git repository"):
        await add_worktree(str(plain), trees, "x", ENVIRON)
    with pytest.raises(ToolError, match="Needed a single revision"):
        await add_worktree(str(empty), trees, "x", ENVIRON)
    with pytest.raises(ToolError, match="worktrees are not available"):
        await add_worktree(str(repository), "", "x", ENVIRON)
    with pytest.raises(ToolError, match="git is not on PATH"):
        await add_worktree(str(repository), trees, "x", {"PATH": str(plain)})


async def test_a_child_works_apart_and_its_parents_rules_hold_at_home_too(repository: Path, tmp_path: Path):
    parts = {
        "go": [says("", spawn("s", "edit", isolation="worktree")), says("done")],
        "edit": [
            says("", use("r", "read_file", path="src/a.txt")),
            says("", use("e", "edit_file", path="src/a.txt", old_str="one", new_str="two")),
            says("edited"),
        ],
    }
    policy = ChildPolicy(worktrees=str(tmp_path / "trees"))
    tools = file_tools(10_000, None)
    async with Troupe(parts, tools=tools, cwd=str(repository), policy=policy, environ=ENVIRON) as troupe:
        await troupe.run("go", mode="accept-edits", deny=("read_file(secret/**)",))
        [started] = await troupe.all_of(ChildStarted)
        [finished] = await troupe.all_of(ToolFinished)
        [run] = await troupe.all_of(RunStarted, started.child)
        cwd = (await read_session(troupe.service, started.child)).known.created.cwd

    place = tmp_path / "trees" / started.child
    assert cwd == str(place)
    assert (place / "src" / "a.txt").read_text() == "two\n"
    assert (repository / "src" / "a.txt").read_text() == "one\n"
    assert run.options.deny == ("read_file(secret/**)", f"read_file({repository}/secret/**)")
    assert finished.result.output.startswith(f"edited\n\n[its changes are in the worktree {place}]\n")
    assert not finished.result.is_error


async def test_outside_of_a_repository_the_call_fails(tmp_path: Path):
    policy = ChildPolicy(worktrees=str(tmp_path / "trees"))
    parts = {"go": [says("", spawn("s", "edit", isolation="worktree")), says("done")]}
    async with Troupe(parts, cwd=str(tmp_path), policy=policy, environ=ENVIRON) as troupe:
        await troupe.run("go")
        [output] = await troupe.outputs()
        kinds = await troupe.kinds()

    assert output.startswith("no worktree for a sub-agent: not a git repository")
    assert "ChildStarted" not in kinds


async def test_a_new_file_alone_is_a_change(repository: Path, tmp_path: Path):
    made = await add_worktree(str(repository), str(tmp_path / "trees"), "x", ENVIRON)
    Path(made.path, "b.txt").write_text("new\n")

    assert await made.leave() == f"[its changes are in the worktree {made.path}]\n new file b.txt"


async def test_one_that_was_made_before_is_found_again(repository: Path, tmp_path: Path):
    cwd, trees = str(repository / "src"), str(tmp_path / "trees")
    made = await add_worktree(cwd, trees, "x", ENVIRON)

    found = await find_worktree(cwd, trees, "x", made.base, ENVIRON, within=made.cwd)

    assert found == made


@pytest.mark.parametrize("within", ["/", "trees/y"])
async def test_one_that_is_not_here_is_not_guessed(repository: Path, tmp_path: Path, within: str):
    made = await add_worktree(str(repository), str(tmp_path / "trees"), "x", ENVIRON)
    name = "x" if within == "/" else "y"

    with pytest.raises(ToolError, match="is not on this machine"):
        await find_worktree(
            str(repository), str(tmp_path / "trees"), name, made.base, ENVIRON, within=str(tmp_path / within)
        )


async def test_one_that_was_left_half_made_is_made_anew(repository: Path, tmp_path: Path):
    made = await add_worktree(str(repository), str(tmp_path / "trees"), "x", ENVIRON)
    Path(made.path, "src", "a.txt").unlink()

    again = await add_worktree(str(repository), str(tmp_path / "trees"), "x", ENVIRON)

    assert again == made
    assert Path(made.path, "src", "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("is_lost", [False, True])
async def test_after_a_cut_a_sub_agent_goes_on_in_its_own(repository: Path, tmp_path: Path, is_lost: bool):
    gate = Gate()
    write = use("w", "write_file", path="new.txt", content="x")
    parts = {
        "go": [says("", spawn("s", "build", isolation="worktree")), says("done")],
        "build": [behind(gate, says("", write)), says("built")],
    }
    options = {
        "tools": file_tools(),
        "cwd": str(repository),
        "policy": ChildPolicy(worktrees=str(tmp_path / "trees")),
        "environ": ENVIRON,
    }
    async with Troupe(parts, **options) as troupe:
        run = await troupe.prompt("go", mode="yolo")
        await gate.crowd(1)
        await troupe.service.park(0)
    [tree] = (tmp_path / "trees").iterdir()
    if is_lost:
        shutil.rmtree(tree)
    gate.open()
    async with Troupe(parts, store=troupe.store, chance=1_000, **options) as troupe:
        await troupe.service.submit(troupe.main, Resume())
        await troupe.service.wait(troupe.main, run)
        [output] = await troupe.outputs()

    where = f"its worktree {tree} is not on this machine"
    assert output.startswith(where if is_lost else f"built\n\n[its changes are in the worktree {tree}]\n")
    assert (tree / "new.txt").exists() is not is_lost


@pytest.mark.parametrize("where", ["linked", "writable", "trees"])
async def test_a_git_that_agents_can_write_is_not_run(repository: Path, tmp_path: Path, where: str):
    folder = tmp_path / where
    folder.mkdir()
    planted = repository / "git" if where == "linked" else folder / "git"
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/trace\n")
    planted.chmod(0o755)
    if where == "linked":
        (folder / "git").symlink_to(planted)
    environ = {"PATH": os.pathsep.join([str(folder), os.environ["PATH"]])}
    trees, writable = str(tmp_path / "trees"), (str(tmp_path / "writable"),)

    made = await add_worktree(str(repository), trees, "x", environ, writable=writable)
    found = await find_worktree(
        str(repository), trees, "x", made.base, environ, within=made.path, writable=writable
    )

    assert found.git == made.git
    assert not (tmp_path / "trace").exists()
