"""Ten pairs of texts with the same meaning in different words."""

from bridle.memory.embedders import Embedder

PAIRS = (
    ("How do I reset my password?", "Steps to recover access when you forgot your login credentials"),
    (
        "The build is slow because of the cache",
        "Compilation takes ages since cached artefacts are never reused",
    ),
    ("The server crashes when memory runs out", "The process gets killed by the OOM handler"),
    (
        "We decided to use PostgreSQL for storage",
        "Our data will be kept in a relational database called Postgres",
    ),
    ("the user prefers short answers", "please keep replies brief"),
    ("tests fail on Windows because of path separators", "backslashes break the suite on Microsoft systems"),
    ("deploy every Friday evening", "releases go out at the end of the week"),
    ("the invoice is overdue", "payment has not arrived in time"),
    ("rename the function for clarity", "give that method a better name"),
    ("the cat sleeps on the sofa", "a kitten is napping on the couch"),
)


async def found_of(embedder: Embedder) -> int:
    """Count the questions whose own partner is nearest to them."""
    questions = await embedder.embed([pair[0] for pair in PAIRS])
    answers = await embedder.embed([pair[1] for pair in PAIRS])
    return int(((questions @ answers.T).argmax(axis=1) == range(len(PAIRS))).sum())
