"""Keyword search: finds the passages with the words of a query, and how much of the query they contain.

Rare words weigh more. A passage's score is the share of the query's weight that it contains: a query about
something never mentioned gets a low score, however often `the` occurs.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import apsw
from msgspec import Struct, json

from bridle.memory.database import TOKENIZER, rows_of

MAX_WORDS = 24
MAX_ASKED = 12  # the rarest ones select the passages
COMMON_SHARE = 0.2  # a word in more passages than this selects none, if there are rarer ones
RANKED = 256
SAMPLE = 32

_BEST = """
    SELECT words.rowid FROM words JOIN passages ON passages.id = words.rowid
    WHERE words MATCH ? AND project = ? AND NOT (session = ? AND seq > ?) ORDER BY {order} LIMIT ?
"""
_BEST_OF_RANKED = f"""
    SELECT id FROM (SELECT rowid AS found FROM words WHERE words MATCH ? ORDER BY {{order}} LIMIT {RANKED})
    CROSS JOIN passages ON id = found
    WHERE project = ? AND NOT (session = ? AND seq > ?) LIMIT ?
"""

# Stems of stop words.
_STOP = frozenset(
    """
    a about all also am an and ani ar as at be been but by can could did do doe don for from get had ha have
    he her hi how i if in is it just like make mai me more my no not of on or our out say should so some
    tell than that the their them then there these thei thi to up us wa want we were what when where which
    who whi will with would you your s t
    """.split()
)

Tokenize = Callable[[str], list[tuple[int, int, str]]]
"""Returns the start and end of each word, in bytes, and its stem."""


class Word(Struct, frozen=True):
    """A word of a query."""

    text: str
    stem: str
    count: int
    """The number of passages that contain it."""
    weight: float
    is_common: bool


def tokenizer(connection: apsw.Connection) -> Tokenize:
    """Return a function that splits texts into words exactly as the index does."""
    name, *options = TOKENIZER
    cut = connection.fts5_tokenizer(name, options)

    def tokenize(text: str) -> list[tuple[int, int, str]]:
        # Each word comes with its start and end, because no option turns that off.
        found: Any = cut(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None)
        return [(start, end, stem) for start, end, stem, *_ in found]

    return tokenize


def words_of(connection: apsw.Connection, tokenize: Tokenize, query: str, passages: int) -> list[Word]:
    """Return the query's words that are not stop words, rarest first."""
    data = query.encode("utf-8", "replace")
    found: dict[str, str] = {}
    for start, end, stem in tokenize(query):
        found.setdefault(stem, data[start:end].decode("utf-8", "replace"))
    significant = {stem: text for stem, text in found.items() if stem not in _STOP}
    words = []
    for stem, text in list(significant.items())[:MAX_WORDS]:
        row = connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (stem,)).fetchone()
        count = row[0] if row else 0
        weight = math.log(1 + (passages - min(count, passages) + 0.5) / (count + 0.5))
        words.append(Word(text, stem, count, weight, count > max(10, COMMON_SHARE * passages)))
    return sorted(words, key=lambda word: -word.weight)


class Match(Struct, frozen=True):
    """A query to the full-text index."""

    expression: str
    """Empty if there is nothing to search for."""
    order: str
    """The SQL order of the results."""
    at_most: int
    """An upper bound on the number of results."""


def match_of(words: Sequence[Word]) -> Match:
    """Match passages with any of the rare words; if all words are common, the newest with all of them.

    Ranking the many passages with a common word would take long and not tell them apart.
    """
    significant = [word for word in words if not word.is_common]
    asked = (significant or words)[:MAX_ASKED]
    quoted = ['"' + word.text.replace('"', '""') + '"' for word in asked]
    at_most = sum(word.count for word in asked)
    if significant:
        return Match(" OR ".join(quoted), "bm25(words)", at_most)
    return Match(" AND ".join(quoted), "words.rowid DESC", at_most)


class SearchScope(Struct, frozen=True):
    """The project to search, and the session whose messages after `recent` are skipped: it still has them."""

    project: int
    session: str
    recent: int


def best_by_words(
    connection: apsw.Connection, words: Sequence[Word], asker: SearchScope, count: int
) -> list[int]:
    """Return the passages that match the words best, best first.

    Reading a passage takes longer than ranking it. If most passages are in the project, all are ranked and
    the best are read. Otherwise, or if that gives too few, all are read and those of the project are ranked.
    """
    match = match_of(words)
    if not match.expression:
        return []
    bindings = (match.expression, asker.project, asker.session, asker.recent, count)
    if match.at_most > RANKED and _has_most(connection, asker.project):
        best = rows_of(connection, _BEST_OF_RANKED.format(order=match.order), *bindings)
        if len(best) == count:
            return [row[0] for row in best]
    return [row[0] for row in rows_of(connection, _BEST.format(order=match.order), *bindings)]


def _has_most(connection: apsw.Connection, project: int) -> bool:
    """Return whether most passages are in a project, by a sample."""
    newest = rows_of(connection, "SELECT coalesce(max(id), 0) FROM passages")[0][0]
    some = json.encode([newest * part // SAMPLE for part in range(1, SAMPLE + 1)]).decode()
    query = "SELECT avg(project = ?) > 0.5 FROM passages WHERE id IN (SELECT value FROM json_each(?))"
    return bool(rows_of(connection, query, project, some)[0][0])


def score_keywords(words: Sequence[Word], tokenize: Tokenize, text: str) -> float:
    """Return the share of the query that a passage contains, from 0 to 1."""
    whole = sum(word.weight for word in words)
    if not whole:
        return 0.0
    stems = {stem for _, _, stem in tokenize(text)}
    return sum(word.weight for word in words if word.stem in stems) / whole
