"""Every order of events of a run, up to a limit: the loop, its record, a cut at any point.

```
world = loop + fold of the recorded events + what goes on outside (a model, tools, people, timers)
move  = one thing that happens; its inputs are fed, the actions recorded and done, as the driver does it
cut   = the process dies: a new loop goes on from the fold alone
```

Worlds are told apart by what can matter later, and each is looked at once, the nearest first.
`python -m tests.core.exploration` goes further than the test does.
"""

import argparse
import time
from collections import deque

from msgspec import Struct

from bridle.core.loop import Loop
from bridle.core.session import fold
from tests.core.run_moves import interruptions_of, moves_of
from tests.core.run_world import Bounds, Broken, World, key_of

FOLDS = 5  # each so manieth world is folded again from its records

SMALL: dict[str, Bounds] = {
    "calls": Bounds(calls=2, cancels=1),
    "crowd": Bounds(calls=3, parallel=2, verdicts=("parallel", "alone", "refused")),
    "cut": Bounds(calls=2, cuts=1, verdicts=("parallel", "alone", "ask"), answers=("once", "deny")),
    "failing": Bounds(
        turns=2, retries=1, fallbacks=1, overflows=1, stops=1, cancels=1, cuts=1, verdicts=("alone",)
    ),
    "nested": Bounds(
        nested=1, questions=1, cancels=1, cuts=1, verdicts=("alone", "ask"), answers=("once", "deny")
    ),
    "steered": Bounds(
        turns=2, steers=1, queued=1, children=1, stops=1, cuts=1, verdicts=("parallel", "refused")
    ),
}
"""Parts of all that can happen, each small enough to be looked at whole."""

LARGE = Bounds(
    turns=3,
    calls=3,
    parallel=2,
    retries=2,
    fallbacks=1,
    cancels=2,
    cuts=2,
    steers=1,
    queued=1,
    nested=2,
    questions=1,
    children=1,
    overflows=1,
    stops=1,
)


class Found(Struct):
    """The result of an exploration."""

    worlds: int = 0
    moves: int = 0
    ended: int = 0
    """Worlds in which the run is over."""
    depth: int = 0
    is_whole: bool = True
    """Nothing was left out."""


class _Map:
    """The worlds that are known, how each was first reached, and where one can come from."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[object, ...], int] = {}
        self.before: list[list[int]] = []
        """From where a world is reached without an interruption."""
        self.ways: list[tuple[int, str]] = []
        self.ended: list[int] = []

    def way_to(self, number: int) -> str:
        """Return what has happened, from the beginning."""
        steps = []
        while number > 0:
            number, move = self.ways[number]
            steps.append(move)
        return " > ".join(reversed(steps))

    def cannot_end(self) -> list[int]:
        """Return the worlds from which no end can be reached."""
        seen, waiting = set(self.ended), list(self.ended)
        while waiting:
            for number in self.before[waiting.pop()]:
                if number not in seen:
                    seen.add(number)
                    waiting.append(number)
        return [number for number in range(len(self.before)) if number not in seen]


def explore(
    bounds: Bounds, *, depth: int = 1_000, most_worlds: int = 10_000_000, loops: type[Loop] = Loop
) -> Found:
    """Look at every world within the bounds; raises Broken with the way to the first that is wrong."""
    found, known = Found(), _Map()
    first = World(bounds, loops)
    known.numbers[key_of(first)] = 0
    known.before.append([])
    known.ways.append((0, ""))
    waiting = deque([(first, 0, 0)])
    while waiting:
        world, number, steps = waiting.popleft()
        found.depth = max(found.depth, steps)
        if world.ends:
            known.ended.append(number)
            continue
        if steps >= depth or len(known.before) >= most_worlds:
            found.is_whole = False
            continue
        by_itself = list(moves_of(world))
        if not by_itself:
            raise Broken(f"nothing can happen any more, after: {known.way_to(number)}")
        for name, move in (*by_itself, *interruptions_of(world)):
            found.moves += 1
            after = world.copied()
            try:
                move(after)
                key = key_of(after)
                is_new = key not in known.numbers
                if is_new:
                    known.numbers[key] = len(known.before)
                    known.before.append([])
                    known.ways.append((number, name))
                    waiting.append((after, known.numbers[key], steps + 1))
                    after.check()
                    if len(known.before) % FOLDS == 0 or after.ends:
                        _check_fold(after)
            except Exception as error:
                raise Broken(f"{error!r} after: {known.way_to(number)} > {name}") from error
            known.before[known.numbers[key]].append(number)
    found.worlds, found.ended = len(known.before), len(known.ended)
    if found.is_whole and (stuck := known.cannot_end()):
        raise Broken(f"{len(stuck)} worlds cannot come to an end, the first after: {known.way_to(stuck[0])}")
    return found


def _check_fold(world: World) -> None:
    """Compare the fold of the records with the incremental state; look for lost texts."""
    anew = fold(world.records)
    if (anew.run, anew.facts, anew.messages) != (
        world.session.run,
        world.session.facts,
        world.session.messages,
    ):
        raise Broken("the fold of the records is another state")
    queued = {item.item_id for item in anew.known.queue}
    said = [record.event for record in world.records]
    for event in said:
        item = getattr(event, "item_id", None)
        if type(event).__name__ == "PromptQueued" and item not in queued:
            taken = [one for one in said if type(one).__name__ == "MessageAdded" and one.item_id == item]
            if len(taken) != 1:
                raise Broken(f"the prompt {item} was taken {len(taken)} times")


def main() -> None:
    """Explore further than the test."""
    parser = argparse.ArgumentParser(prog="python -m tests.core.exploration", description=__doc__)
    parser.add_argument("--depth", type=int, default=12, help="steps from the beginning")
    parser.add_argument("--worlds", type=int, default=500_000, help="at most so many")
    args = parser.parse_args()
    for name, bounds in {**SMALL, "everything": LARGE}.items():
        begun = time.process_time()
        whole = name != "everything"
        found = explore(bounds, depth=1_000 if whole else args.depth, most_worlds=args.worlds)
        print(
            f"{name:10} {found.worlds:9,} worlds {found.moves:10,} moves {found.ended:7,} ends"
            f" depth {found.depth:3} {'whole' if found.is_whole else 'to a bound'}"
            f" {time.process_time() - begun:6.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
