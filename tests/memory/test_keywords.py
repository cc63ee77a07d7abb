"""Search by words, in memory's index."""

from pathlib import Path

import pytest

from bridle.memory.database import Database, rows_of
from bridle.memory.keywords import (
    RANKED,
    Match,
    SearchScope,
    Word,
    best_by_words,
    match_of,
    score_keywords,
    tokenizer,
    words_of,
)
from tests.memory.stage import Clock

TEXTS = ["The cats are running home", "a cat in Zürich", *(f"remark{n} on tea" for n in range(28))]


@pytest.fixture
def database(tmp_path: Path):
    opened = Database(tmp_path / "memory.db", Clock(), print)

    def fill(connection) -> None:
        for number, text in enumerate(TEXTS, 1):
            values = (number, 1, "s", number, 0, 1, "user", 0, text)
            connection.execute("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    opened.write(fill)
    yield opened
    opened.close()


def words(database: Database, query: str) -> list[Word]:
    return database.read(lambda c: words_of(c, tokenizer(c), query, len(TEXTS)))


def test_words_are_weighed_by_how_rare_they_are(database: Database):
    found = words(database, "Did the CATS run to zurich, or have tea?")

    assert [(word.stem, word.text, word.is_common) for word in found] == [
        ("run", "run", False),
        ("zurich", "zurich", False),
        ("cat", "CATS", False),
        ("tea", "tea", True),
    ]
    assert found[0].weight == found[1].weight > found[2].weight > found[3].weight


@pytest.mark.parametrize("query", ["", "the and of", "?!", "\x00"])
def test_what_says_nothing_has_no_words(database: Database, query: str):
    assert words(database, query) == []
    assert match_of([]).expression == ""


def test_telling_words_choose_and_common_ones_only_by_themselves(database: Database):
    assert match_of(words(database, 'cat "tea"')) == Match('"cat"', "bm25(words)", 2)
    assert match_of(words(database, "tea")) == Match('"tea"', "words.rowid DESC", 28)


@pytest.mark.parametrize("query", ['a"b', "x* OR NEAR(", "col:cat", "-cat ^cat", "don't panic", "漢字 ünï"])
def test_no_question_is_taken_for_an_order(database: Database, query: str):
    match = match_of(words(database, query))

    database.read(lambda c: rows_of(c, "SELECT rowid FROM words(?)", match.expression))


@pytest.mark.parametrize(
    ("passages", "best"),
    [
        (200 * RANKED, [[1001, 1002, 1003], [1001, 1004, 1005], [3001, 3002]]),
        (2 * RANKED, [[1005, 1004, 1003], [1005, 1004, 1001], [3002, 3001]]),
    ],
)
def test_the_best_of_a_project_are_found_among_many_of_another(
    database: Database, passages: int, best: list[list[int]]
):
    """Where the word is a telling one, the shortest are the best, and where it is common, the newest."""
    own = [(1000 + n, 2, "a" if n < 4 else "b", n, "volcano" + " by the sea" * n) for n in range(1, 6)]
    foreign = [(2000 + n, 1, "s", 2000 + n, "volcano") for n in range(2 * RANKED)]
    seen = [(3000 + n, 3, "c", n, "volcano") for n in range(1, 20 * RANKED)]
    add = "INSERT INTO passages VALUES (?, ?, ?, ?, 0, 1, 'user', 0, ?)"
    database.write(lambda c: c.executemany(add, [*own, *foreign, *seen]))

    found = database.read(lambda c: words_of(c, tokenizer(c), "volcano", passages))
    askers = [SearchScope(2, "", 0), SearchScope(2, "a", 1), SearchScope(3, "c", 2)]

    assert [database.read(lambda c, a=asker: best_by_words(c, found, a, 3)) for asker in askers] == best


def test_a_passage_has_a_share_of_the_question(database: Database):
    found = words(database, "cat zürich volcano")
    tokenize = database.read(tokenizer)
    shares = [
        score_keywords(found, tokenize, text)
        for text in ("cats of Zurich", "one cat", "tea", "volcano cat Zürich")
    ]

    assert shares[2:] == [0.0, 1.0]
    assert 0.5 < shares[0] < 0.7
    assert 0.1 < shares[1] < 0.4
    assert score_keywords([], tokenize, "tea") == 0.0
