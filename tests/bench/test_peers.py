"""Every framework is one small file with the same functions, and Bridle's can do all that others do."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import frameworks
import msgspec
import peers
import peers_play
import pytest
from peers_request import until_request
from rows import US, Row, cannot, figure

from bridle.providers.script import Script

ROWS = ("turns", "deltas", "parallel", "many")
NAMES = ("ours", *peers.PEERS)
SAY_HELLO = """
import json, sys, urllib.request
body = {"messages": [{"role": "user", "content": "hi"}] * 3, "stream": sys.argv[2] == "stream"}
print(7)
answer = urllib.request.urlopen(sys.argv[1] + "/chat/completions", json.dumps(body).encode()).read()
assert b"Hello." in answer and (b"[DONE]" in answer) == body["stream"], answer
"""


def peer(name: str) -> ModuleType:
    return importlib.import_module(f"frameworks.{name}")


def entrant(name: str) -> peers.Entrant:
    return peers.Entrant(name, peer(name), sys.executable, "1.0")


def test_every_file_takes_part():
    files = {path.stem for path in Path(frameworks.__path__[0]).glob("*.py")} - {"__init__"}

    assert files == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_framework_says_and_does_what_is_asked(name: str):
    found = peer(name)
    cannot_do = getattr(found, "CANNOT", {})
    functions = {"run", "save", "resume"} | (set() if "deltas" in cannot_do else {"stream"})

    assert all((found.NAME, found.BEST, found.STORE, found.PACKAGES))
    assert {one for one in functions if callable(getattr(found, one, None))} == functions
    assert set(cannot_do) <= {*ROWS, "cold", "resume"}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("name", NAMES)
def test_the_scripts_can_be_served(name: str, row: str):
    made = msgspec.convert(peers_play.script(peer(name), row), Script)

    turns = {"turns": peers_play.TURNS, "many": peers_play.SHORT_TURNS, "parallel": 2, "deltas": 1}
    assert len(made.replies) == turns[row]
    assert bool(made.replies[-1].calls) == ("FINAL" in vars(peer(name)))


@pytest.mark.parametrize("how", ["stream", "whole"])
def test_a_request_is_measured_when_it_is_complete(how: str):
    with peers._listening() as (server, url):
        argv = [sys.executable, "-c", SAY_HELLO, url, how]
        sent = until_request(server, argv, {}, {"text": "Hello."})

    assert (sent.messages, sent.printed) == (3, [7.0])
    assert 0 < sent.cpu_s < 60
    assert sent.wall_s > 0


def test_a_program_that_fails_is_no_figure():
    with peers._listening() as (server, url), pytest.raises(subprocess.CalledProcessError):
        until_request(
            server, [sys.executable, "-c", SAY_HELLO, url, "whole"], {}, {"text": "Something else."}
        )


def test_ours_starts_keeps_and_goes_on(tmp_path: Path):
    """The rows that need no long run, through the same program that measures the others."""
    one = entrant("ours")

    peers._cold(one, tmp_path)
    peers._save([one], tmp_path)
    peers._resume(one, tmp_path)

    assert set(one.samples) == {"cold_cpu", "cold_wall", "idle", "resume_cpu", "resume_wall"}
    assert all(value > 0 for values in one.samples.values() for value in values)


def test_who_cannot_or_fails_is_said_so():
    able, unable, broken = entrant("ours"), entrant("mini_swe_agent"), entrant("agno")
    able.add(deltas=[0.1, 0.3])
    unable.failed = {"deltas": "it does not stream"}

    def measure(one: peers.Entrant) -> None:
        raise AssertionError("no answer")

    peers._in_rounds("deltas", [broken, unable], measure)
    row = next(line for line in peers._rows([able, unable, broken]) if line.id == "peers.deltas")

    assert isinstance(row, Row)
    assert row.ours == figure(US, [0.1, 0.3], scale=500.0, version="1.0", how=able.peer.BEST)
    assert row.others == (
        cannot("mini-swe-agent", "it does not stream", version="1.0"),
        cannot("agno", "its run failed: no answer", version="1.0"),
    )


def test_who_is_slow_is_not_asked_again():
    one = entrant("agno")
    one.spent_s["many"] = peers.PATIENCE_S + 1
    asked: list[str] = []

    peers._in_rounds("many", [one, entrant("llm")], lambda found: asked.append(found.name))

    assert set(asked) == {"llm"}
