"""Hooks in the sandbox: the same input and output, but limited access."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridle.core.hook import Deny, HookOverride
from bridle.core.permission import Rule
from bridle.core.protocol import HookFailed
from bridle.hooks.factory import HookEnvironment, create_hooks
from bridle.hooks.sandboxed_programs import HookSandbox
from bridle.sandbox import LocalSandbox
from tests.attacks.door import Door
from tests.environment import folder_outside_tmp
from tests.hooks.stage import Pipe, asked, running, script, site, told

DENY = "tell({'decision': {'decision': 'deny', 'message': %s}})"


@pytest.fixture
def world() -> Iterator[Path]:
    with folder_outside_tmp("hooks") as path:
        yield path


@pytest.fixture
def sandbox() -> LocalSandbox:
    return LocalSandbox(home="/nonexistent")


@pytest.fixture
def door() -> Iterator[Door]:
    made = Door(socket.AF_INET, ("127.0.0.1", 0))
    yield made
    made.close()


def walled(folder: Path, sandbox: LocalSandbox, **more: Any) -> HookEnvironment:
    walls = HookSandbox(sandbox, frozenset({"guard"}), writable=(str(folder),), **more)
    return site(folder, walls=walls)


def message(outcome: Any) -> str:
    assert isinstance(outcome.deny, Deny)
    return outcome.deny.message


async def test_it_is_told_and_answers_as_outside(tmp_path: Path, sandbox: LocalSandbox):
    path = script(tmp_path, DENY % "told()['tool_call']['name'] + ' ' + ' '.join(sys.argv[1:]) + os.getcwd()")

    heard = await asked([running(path, "a b", "*")], at=walled(tmp_path, sandbox))

    assert message(heard.outcome) == f"bash a b *{tmp_path}"


async def test_it_changes_its_project_and_nothing_else(world: Path, sandbox: LocalSandbox):
    project = world / "project"
    project.mkdir()
    tries = (
        "done = []\n"
        f"for place in ('inside', '{world}/outside', '{project}/.git/hooks/x'):\n"
        "    try:\n        open(place, 'w').close(); done.append(place)\n"
        "    except OSError: pass\n"
    )
    (project / ".git" / "hooks").mkdir(parents=True)
    path = script(project, tries + DENY % "' '.join(done)")

    heard = await asked([running(path)], at=walled(project, sandbox))

    assert message(heard.outcome) == "inside"
    assert not (world / "outside").exists()


async def test_another_hook_of_the_run_is_not_held(world: Path, sandbox: LocalSandbox):
    project = world / "project"
    project.mkdir()
    path = script(project, f"open('{world}/outside', 'w').close(); tell({{}})")

    await asked([running(path, id="mine")], at=walled(project, sandbox))

    assert (world / "outside").exists()


@pytest.mark.parametrize(
    ("rules", "answer"),
    [((), "403"), ((Rule("allow", "hook", "domain:127.0.0.1"),), "200")],
    ids=["closed", "allowed"],
)
async def test_it_reaches_the_hosts_that_rules_allow(
    tmp_path: Path, sandbox: LocalSandbox, door: Door, rules: tuple[Rule, ...], answer: str
):
    ask = (
        "import http.client, urllib.parse\n"
        "proxy = urllib.parse.urlsplit(os.environ['HTTP_PROXY'])\n"
        "link = http.client.HTTPConnection(proxy.hostname, proxy.port)\n"
        f"link.request('GET', 'http://127.0.0.1:{door.port}/')\n"
    )
    path = script(tmp_path, ask + DENY % "str(link.getresponse().status)")

    heard = await asked([running(path)], at=walled(tmp_path, sandbox, rules=rules))

    assert message(heard.outcome) == answer
    assert door.visits == (answer == "200")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9"),
        ("sys.stdout.write('x' * 300_000)", "its output is longer than 131,072 bytes"),
    ],
)
async def test_a_failure_is_what_it_is_outside(tmp_path: Path, sandbox: LocalSandbox, body: str, why: str):
    path = script(tmp_path, body)

    heard = await asked([running(path)], at=walled(tmp_path, sandbox))

    assert [event.error for event in heard.events if isinstance(event, HookFailed)] == [why]
    assert heard.outcome.deny is not None


async def test_where_there_is_no_sandbox_a_guardrail_fails_closed(tmp_path: Path):
    path = script(tmp_path, "open('ran', 'w').close(); tell({})")

    heard = await asked([running(path)], at=walled(tmp_path, LocalSandbox(home="/", kind="none")))

    assert "no sandbox is available on this machine" in message(heard.outcome)
    assert not (tmp_path / "ran").exists()


async def test_a_cancelled_run_leaves_nothing_of_it(tmp_path: Path, sandbox: LocalSandbox):
    begun = Pipe(tmp_path / "begun")
    path = script(tmp_path, "open('begun', 'w').write('x'); time.sleep(60); open('ended', 'w').close()")
    hooks = create_hooks([running(path)], HookOverride(), walled(tmp_path, sandbox))
    asking = asyncio.create_task(hooks.ask(told(), lambda _: None))
    assert await begun.read() == "x"
    begun.close()

    asking.cancel()
    await asyncio.wait([asking])
    await hooks.aclose()

    assert asking.cancelled()
    assert not (tmp_path / "ended").exists()
