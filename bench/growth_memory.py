"""Cost of a memory search, by words and by meaning, with more and more passages and their vectors.

Up to 20,000 vectors are compared one by one, so the cost grows; with more, there is an index, and the cost
hardly grows.
"""

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from growth_stage import curve
from measure import report, rounds
from memory import fill, vectors_of
from rows import Line
from store_session import CLOCK

SIZES = (100, 1_000, 10_000, 100_000)
EXACT_UP_TO = 20_000
DIMS = 256
WORDS_OF_A_PASSAGE = 25
VOCABULARY = 20_000
SEARCHES = rounds(60)
WARM_UP = 20
BAR = 0.5


def text_of(number: int) -> str:
    """Return a passage: a few words are frequent and many are rare, as in natural language."""
    chance = random.Random(number)
    return " ".join(f"word{int(VOCABULARY ** chance.random())}" for _ in range(WORDS_OF_A_PASSAGE))


def searches(place: Path, count: int) -> Callable[[int], float]:
    """Fill a memory; return a search that returns its CPU seconds."""
    from bridle.memory.storage import MemoryStorage, Query
    from bridle.memory.tables import Calibration, put_calibration
    from bridle.memory.vectors import Vectors

    rows, questions = vectors_of("clusters", DIMS, count)
    database, project = fill(place, rows, text_of)
    database.write(lambda connection: put_calibration(connection, "bench", Calibration(0.0, 0.1)))
    vectors = Vectors(place, EXACT_UP_TO)
    if build := database.read(lambda connection: vectors.begin(connection, project.id)):
        while database.read(lambda connection: vectors.step(connection, build)):
            pass
        index = vectors.save(build)
        database.write(lambda connection: vectors.register(connection, build, index))
    database.close()
    shelf = MemoryStorage(place, CLOCK, str, exact_up_to=EXACT_UP_TO)

    def search(number: int) -> float:
        words = " ".join(text_of(number % count).split()[:5])
        asked = Query(words, project.id, 5, 0.0, embedder="bench", vector=questions[number % len(questions)])
        began = time.process_time()
        found = shelf.search(asked)
        used_s = time.process_time() - began
        assert found, words
        return used_s

    return search


def main() -> list[Line]:
    """Fit a power of the number of passages."""
    with tempfile.TemporaryDirectory() as folder:
        works = {}
        for size in SIZES:
            place = Path(folder) / str(size)
            place.mkdir()
            works[size] = searches(place, size)
        found: dict[int, list[float]] = {size: [] for size in SIZES}
        for number in range(WARM_UP + SEARCHES):
            for size, search in works.items():
                found[size].append(search(number))
    samples = {size: times[WARM_UP:] for size, times in found.items()}
    return report([curve("growth.memory", "a search in memory", "passages", samples, BAR)])


if __name__ == "__main__":
    main()
