"""All orders of events of a run, up to a limit, keep the promises of the loop and its record."""

import pytest

from bridle.core.loop import Action, CancelRequested, Decided, Input, Loop, Returned, Settled, StopWork
from tests.core.exploration import SMALL, explore
from tests.core.run_world import Bounds, Broken

LEAST = {"calls": 1_000, "crowd": 700, "cut": 500, "failing": 2_000, "nested": 300, "steered": 2_000}


@pytest.mark.parametrize("name", SMALL)
def test_every_order_of_events_ends_in_one_run_ended(name: str):
    found = explore(SMALL[name])

    assert (found.is_whole, found.worlds >= LEAST[name], found.ended > 10) == (True, True, True), found


class Deaf(Loop):
    """Forgets that an approval was denied."""

    def feed(self, event: Input) -> list[Action]:
        return [] if isinstance(event, Decided) and event.answer == "deny" else super().feed(event)


class Restless(Loop):
    """Ends twice."""

    def feed(self, event: Input) -> list[Action]:
        actions = super().feed(event)
        return [*actions, *actions] if isinstance(event, Settled) else actions


class Eager(Loop):
    """Runs what is ready without waiting for its turn."""

    def _start_ready(self, parent: object) -> list[Action]:
        for entry in self._calls.values():
            entry.parallel = True
        return super()._start_ready(parent)  # type: ignore[arg-type]


class Stubborn(Loop):
    """Takes results also when it was cancelled."""

    def feed(self, event: Input) -> list[Action]:
        if self.state == "cancelling" and isinstance(event, Returned):
            return [StopWork()]
        return super().feed(event)


class Mute(Loop):
    """Is cancelled, and stops nothing."""

    def feed(self, event: Input) -> list[Action]:
        actions = super().feed(event)
        return [] if isinstance(event, CancelRequested) else actions


@pytest.mark.parametrize(
    ("loops", "why"),
    [
        (Deaf, "comes too late"),
        (Restless, "the run ends twice"),
        (Eager, "before 1a is done"),
        (Stubborn, "comes too late"),
        (Mute, "comes too late"),
    ],
)
def test_a_loop_that_breaks_a_promise_is_found(loops: type[Loop], why: str):
    with pytest.raises(Broken, match=why):
        explore(Bounds(calls=2, cancels=1), loops=loops)
