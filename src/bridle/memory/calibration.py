"""Calibrates an embedder: measures how similar it rates unrelated texts, which its scores are read against.

Some embedders give unrelated texts a cosine of 0, others of 0.7. A dozen short texts on different subjects
are compared with each other, once for each embedder.
"""

from typing import TYPE_CHECKING

from bridle.memory.tables import Calibration

if TYPE_CHECKING:
    from bridle.memory.embedders import Embedder

MIN_SPREAD = 0.02

UNRELATED = (
    "The parser skips comments before it reads a token.",
    "She watered the tomatoes on the balcony every evening.",
    "Interest rates were raised by a quarter of a point.",
    "Deploy the release branch to the staging cluster on Friday.",
    "The violin needs new strings before the concert.",
    "A glacier carved this valley thousands of years ago.",
    "Passwords are hashed with a salt and never stored.",
    "Knead the dough until it no longer sticks to the bowl.",
    "The goalkeeper was injured in the second half.",
    "Your appointment with the dentist is at nine.",
    "The query planner ignores the index on that column.",
    "Two whales were seen near the lighthouse.",
    "Please keep the answers short and in German.",
    "The museum shows paintings from the seventeenth century.",
)


async def calibrate(embedder: "Embedder") -> Calibration:
    """Measure how an embedder rates unrelated texts; raises BridleError if it fails."""
    rows = await embedder.embed(UNRELATED)
    pairs = [float(rows[i] @ rows[j]) for i in range(len(rows)) for j in range(i)]
    mean = sum(pairs) / len(pairs)
    spread = (sum((value - mean) ** 2 for value in pairs) / len(pairs)) ** 0.5
    return Calibration(mean, max(spread, MIN_SPREAD))
