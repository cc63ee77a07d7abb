"""Benches are programs next to each other and import each other from their folder."""

import sys
from pathlib import Path

BENCH = str(Path(__file__).parents[2] / "bench")
if BENCH not in sys.path:
    sys.path.append(BENCH)  # last: nothing of Bridle's may stand in the way of a library
