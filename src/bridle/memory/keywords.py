"""Search by words: which passages hold the words of a question, and how much of the question they hold.

A word counts by how rare it is. The score of a passage is the share of the question that it has in it: a
question that nothing in memory speaks of gets a low one, however often `the` was said.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import apsw
from msgspec import Struct

from bridle.memory.database import TOKENIZER

MAX_WORDS = 24
MAX_ASKED = 12  # the rarest ones choose the passages
COMMON_SHARE = 0.2  # a word in more passages than this chooses none, if there are rarer ones

# The stems of words that say nothing about what a question is about.
_STOP = frozenset(
    """
    a about all also am an and ani ar as at be been but by can could did do doe don for from get had ha have
    he her hi how i if in is it just like make mai me more my no not of on or our out say should so some
    tell than that the their them then there these thei thi to up us wa want we were what when where which
    who whi will with would you your s t
    """.split()
)

Tokenize = Callable[[str], list[tuple[int, int, str]]]
"""Returns where each word begins and ends, in bytes, and its stem."""


class Word(Struct, frozen=True):
    """A word of a question."""

    text: str
    stem: str
    weight: float
    is_common: bool


def tokenizer(connection: apsw.Connection) -> Tokenize:
    """Return what cuts texts into words just as the index does."""
    name, *options = TOKENIZER
    cut = connection.fts5_tokenizer(name, options)

    def tokenize(text: str) -> list[tuple[int, int, str]]:
        # A word comes with where it begins and ends, as nothing in the options asks for less.
        found: Any = cut(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None)
        return [(start, end, stem) for start, end, stem, *_ in found]

    return tokenize


def words_of(connection: apsw.Connection, tokenize: Tokenize, query: str, passages: int) -> list[Word]:
    """Return the words of a question that count, the rarest first."""
    data = query.encode("utf-8", "replace")
    found: dict[str, str] = {}
    for start, end, stem in tokenize(query):
        found.setdefault(stem, data[start:end].decode("utf-8", "replace"))
    telling = {stem: text for stem, text in found.items() if stem not in _STOP}
    words = []
    for stem, text in list(telling.items())[:MAX_WORDS]:
        row = connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (stem,)).fetchone()
        count = row[0] if row else 0
        weight = math.log(1 + (passages - min(count, passages) + 0.5) / (count + 0.5))
        words.append(Word(text, stem, weight, count > max(10, COMMON_SHARE * passages)))
    return sorted(words, key=lambda word: -word.weight)


class Match(Struct, frozen=True):
    """How the index is asked."""

    expression: str
    """Empty when there is nothing to ask for."""
    order: str
    """What comes first among the passages that are found."""


def match_of(words: Sequence[Word]) -> Match:
    """Find passages with any of the telling words; where none is telling, the newest ones that have all.

    To rank the many passages with a common word would take long and tell them apart by nothing.
    """
    telling = [word for word in words if not word.is_common]
    quoted = ['"' + word.text.replace('"', '""') + '"' for word in telling or words][:MAX_ASKED]
    if telling:
        return Match(" OR ".join(quoted), "bm25(words)")
    return Match(" AND ".join(quoted), "words.rowid DESC")


def share_of(words: Sequence[Word], tokenize: Tokenize, text: str) -> float:
    """Return how much of the question a passage holds, from 0 to 1."""
    whole = sum(word.weight for word in words)
    if not whole:
        return 0.0
    stems = {stem for _, _, stem in tokenize(text)}
    return sum(word.weight for word in words if word.stem in stems) / whole
