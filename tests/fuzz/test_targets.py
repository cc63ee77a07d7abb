"""Every parser stands its corpus, and some hundred changes to it; `python -m tests.fuzz` looks for more."""

import pytest

from tests.fuzz.hunting import CORPUS, corpus_of, replay
from tests.fuzz.lines.hunt import NAME
from tests.fuzz.target import MAX_INPUT_BYTES
from tests.fuzz.targets import TARGETS

MUTATIONS = 200
SEED = 1


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_parser_stands_whatever_it_is_fed(name: str):
    crashes = replay(TARGETS[name], MUTATIONS, SEED)

    assert not crashes, "\n".join(map(str, crashes[:3]))


def test_every_target_has_a_corpus_of_small_files_and_every_corpus_a_target():
    folders = {folder.name for folder in CORPUS.iterdir()}
    sizes = [len(data) for target in TARGETS.values() for data in corpus_of(target.name)]

    assert folders == {*TARGETS, NAME}
    assert all((CORPUS / name / "seed-1").is_file() for name in TARGETS)
    assert max(sizes) <= MAX_INPUT_BYTES
