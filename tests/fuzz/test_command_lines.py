"""No line that runs without approval has an effect: lines of the grammar, and earlier findings, run for real.

`python -m tests.fuzz` does the same with 200,000 lines. The last tests try the instrument itself: each kind
of effect is seen and undone.
"""

import random
import time
from collections.abc import Iterator
from itertools import repeat

import pytest
from msgspec.structs import replace

from tests.environment import folder_outside_tmp
from tests.fuzz.hunting import corpus_of
from tests.fuzz.lines.cage import TIMEOUT_S, Permit
from tests.fuzz.lines.grammar import MAX_LINE, Grammar
from tests.fuzz.lines.ground import Ground, open_ground
from tests.fuzz.lines.hunt import MAX_JUDGE_S, NAME, hunt, judge_of, made_lines

LINES = 500


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    """Yield a folder with canaries and two sandboxes, in the state that every test leaves."""
    with folder_outside_tmp("fuzz") as world, open_ground(world) as ground:
        yield ground


def permits(ground: Ground, *lines: str) -> list[Permit]:
    """Let lines run as if the judge had allowed them."""
    return [Permit(line, ground.folder.environment(), reads_only=True) for line in lines]


@pytest.mark.parametrize("seed", range(4))
def test_no_line_that_runs_unasked_does_anything(ground: Ground, seed: int):
    configs = ground.folder.configs(random.Random(seed))
    report = hunt(ground, made_lines(seed, LINES), judge_of(ground), configs, shrinks=False)

    assert report.judged == LINES
    assert report.run >= LINES // 10, "too few lines are allowed to mean something"
    assert report.is_clean, "\n".join(map(str, [report, *report.findings]))


@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_lines_that_once_did_something_do_nothing_unasked(ground: Ground, name: str):
    lines = [data.decode() for data in corpus_of(NAME)]
    config = next(config for config in ground.folder.configs(random.Random(1)) if config.name == name)

    report = hunt(ground, lines, judge_of(ground), repeat(config), shrinks=False)

    assert report.judged == len(lines) > 20
    assert report.is_clean, "\n".join(map(str, [report, *report.findings]))


# ---------------------------------------------------------------------------- the instrument


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("touch P", "file changed"),
        ("echo x >> a.txt", "file changed"),
        ("chmod +x a.txt", "file changed"),
        ("rm -r src", "file changed"),
        ("mkdir -p P/Q && ln -s a.txt P/Q/R", "file changed"),
        ("./canary", "program run"),
        ("cd nested && git diff", "program run"),
        ("cat out/token", "read outside"),
        ("md5sum -c sums", "read outside"),
        ("base64 -w0 outfile", "read outside"),
        ("ls -LR sub", "read outside"),
        ("diff -r sub twin", "read outside"),
        ("sleep 5 &", "process left"),
        ("(setsid sleep 5 &)", "process left"),
        ("cd ..", "moved outside"),
        ("true > /dev/tcp/127.0.0.1/4567", "socket reached"),
    ],
)
def test_every_kind_of_effect_is_seen_and_undone(ground: Ground, line: str, kind: str):
    assert ground.run_all(permits(ground, "pwd", line, "true"))
    ground.put_back()

    (permit,) = permits(ground, line)
    assert kind in [effect.kind for effect in ground.effects(permit, "writable")]
    assert ground.run_all(permits(ground, "pwd", "cat a.txt src/a.py", "true")) == []


def test_a_line_that_would_run_unconfined_is_a_finding(ground: Ground):
    (permit,) = permits(ground, "ls")

    effects = ground.effects(replace(permit, reads_only=False), "writable")

    assert [effect.kind for effect in effects] == ["not confined"]


def test_reading_and_waiting_are_no_effects(ground: Ground):
    lines = [
        "ls -la",
        "cat a.txt | sort | uniq -c",
        "cd src && pwd",
        "false",
        "grep -r alpha src",
        "(exit 3)",
    ]

    assert ground.run_all(permits(ground, *lines, f"sleep {TIMEOUT_S + 1}")) == []


def test_a_finding_is_made_small(ground: Ground):
    report = hunt(
        ground, ["ls -l src && echo 'a b' | wc -l; touch P; cat a.txt"], lambda line: permits(ground, line)[0]
    )

    (small,) = [finding.line for finding in report.findings if finding.walls == "writable"]
    assert (report.judged, report.allowed, report.run) == (1, 1, 1)
    assert "touch" in small
    assert len(small) <= len("touch P") + 1


def test_a_judge_that_takes_too_long_is_a_finding(ground: Ground):
    def slow(line: str) -> None:
        end = time.thread_time() + MAX_JUDGE_S + 0.1
        while time.thread_time() < end:
            pass

    report = hunt(ground, ["ls"], slow)

    assert [finding.effect.kind for finding in report.findings] == ["slow judge"]
    assert not report.is_clean


def test_lines_are_the_same_for_the_same_seed_and_as_many_as_are_wanted():
    made = [list(made_lines(seed, 300)) for seed in (7, 7, 8)]

    assert made[0] == made[1] != made[2]
    assert all(len(line) <= MAX_LINE or "x" * 900 in line for line in made[0])
    assert len(set(made[0])) > 250


def test_every_rule_of_the_grammar_leads_to_lines():
    grammar = Grammar(1)

    for rule in grammar._rules:
        assert isinstance(grammar._choose(rule), str), rule
