"""The fuzzer itself: it finds a planted bug, keeps inputs that reach new code, and shrinks them."""

import time
from pathlib import Path

from tests.fuzz.edges import edges_of
from tests.fuzz.hunting import Crash, attempt, corpus_of, distilled, hunt, inputs_of, keep, replay, shrunk
from tests.fuzz.mutation import Mutator
from tests.fuzz.target import MAX_INPUT_BYTES, Target

HERE = str(Path(__file__))


def parse(data: bytes) -> None:
    """Fail at the third of three steps; only an input that passes one step reaches the next."""
    if not data.startswith(b"a"):
        return
    if data[1:2] != b"{":
        return
    if b"boom" in data:
        raise KeyError("planted")


PLANTED = Target(
    name="planted", run=parse, modules=("tests.fuzz.test_hunting",), tokens=(b"{", b"boom", b"a")
)


def test_edges_tell_one_way_through_the_code_from_another():
    ways = [edges_of({HERE}, lambda data=data: parse(data)) for data in (b"", b"a", b"a{", b"a{")]

    assert ways[0] < ways[0] | ways[1] < ways[0] | ways[1] | ways[2]
    assert ways[2] == ways[3]


def test_edges_of_other_files_do_not_count():
    assert edges_of({"elsewhere.py"}, lambda: parse(b"a{")) == set()


def test_the_hunt_finds_what_is_planted_and_makes_it_small(tmp_path: Path):
    keep(PLANTED.name, b"hello", tmp_path)

    report = hunt(PLANTED, tries=20_000, seed=3, folder=tmp_path)

    assert [(type(crash.error), len(crash.data)) for crash in report.crashes] == [(KeyError, 6)]
    assert report.found >= 2
    assert {len(data) for data in corpus_of(PLANTED.name, tmp_path)} >= {1, 2}


def test_the_corpus_keeps_any_bytes_once_and_text_readable(tmp_path: Path):
    inputs = [b"", b"text\r\n\x00 \xe2\x80\xa8", b"\xff\x00", bytes(range(256))]

    files = {keep("any", data, tmp_path) for data in (*inputs, *inputs)}

    assert corpus_of("any", tmp_path) == inputs
    assert [kept.text is None for kept in inputs_of("any", tmp_path)] == [False, False, True, True]
    assert files == {tmp_path / "any.jsonl"}


def test_the_same_seed_makes_the_same_inputs():
    makers = [Mutator(PLANTED, seed) for seed in (7, 7, 8)]
    made = [[maker.mutated([b"abc", b'{"a":[1]}']) for _ in range(50)] for maker in makers]

    assert made[0] == made[1] != made[2]
    assert all(len(data) <= MAX_INPUT_BYTES for data in made[0])


def test_values_of_json_are_changed_and_stay_json():
    target = Target(name="json", run=parse, modules=(), is_json=True)
    mutator = Mutator(target, 1)

    made = {mutator._in_json(b'{"a":[1,{"b":"c"}]}') for _ in range(200)}

    assert len(made) > 20
    assert all(data[:1] in b'{[tfn"-0123456789' for data in made)


def test_an_input_that_takes_too_long_is_a_finding():
    def slow(data: bytes) -> None:
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass

    crash = attempt(Target(name="slow", run=slow, modules=()), b"x", max_cpu_s=0.01)

    assert isinstance(crash, Crash)
    assert type(crash.error).__name__ == "TooSlow"


def test_shrinking_keeps_what_matters():
    assert (
        shrunk(b"xxxxxx(yyyy)zzzz", lambda data: b"(" in data and b")" in data, time.monotonic() + 5) == b"()"
    )


def test_distilling_drops_inputs_that_find_nothing_of_their_own():
    kept = distilled(PLANTED, [b"bbbb", b"a{xx", b"a", b"", b"cc", b"a{"])

    assert kept == [b"", b"a", b"a{"]


def test_a_replay_reports_what_breaks(tmp_path: Path):
    keep(PLANTED.name, b"a{boom", tmp_path)

    assert [type(crash.error) for crash in replay(PLANTED, 0, folder=tmp_path)] == [KeyError]
