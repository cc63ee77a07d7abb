"""No parser breaks on its corpus, or on 200 changed inputs; `python -m tests.fuzz` searches for more."""

import pytest

from tests.fuzz.hunting import CORPUS, inputs_of, replay
from tests.fuzz.lines.hunt import NAME
from tests.fuzz.target import MAX_INPUT_BYTES
from tests.fuzz.targets import TARGETS

MUTATIONS = 200
SEED = 1


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_parser_stands_whatever_it_is_fed(name: str):
    crashes = replay(TARGETS[name], MUTATIONS, SEED)

    assert not crashes, "\n".join(map(str, crashes[:3]))


def test_every_target_has_a_corpus_of_small_inputs_and_every_corpus_a_target():
    corpora = {name: inputs_of(name) for name in TARGETS}

    assert {file.name for file in CORPUS.iterdir()} == {f"{name}.jsonl" for name in (*TARGETS, NAME)}
    assert all(any(kept.seed for kept in inputs) for inputs in corpora.values())
    assert max(len(kept.data) for inputs in corpora.values() for kept in inputs) <= MAX_INPUT_BYTES
