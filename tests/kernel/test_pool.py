"""The pool with fake kernels that count calls, on a clock that is advanced by hand."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.kernel.host import Kernel
from bridle.kernel.pool import Pool
from bridle.kernel.settings import KernelEnvironment, KernelSettings
from bridle.kernel.start import start_kernel
from bridle.sandbox import LocalSandbox

HERE, THERE = KernelEnvironment("/here"), KernelEnvironment("/there")
IDLE_S = 60.0


class FakeLoop(asyncio.SelectorEventLoop):
    """A loop with a fixed time."""

    now_s = 0.0

    def time(self) -> float:
        return self.now_s

    async def advance(self, seconds: float) -> None:
        """Advance the clock and let everything happen that is due."""
        self.now_s += seconds
        for _ in range(20):
            await asyncio.sleep(0)


class FakeKernel:
    """A kernel that remembers who used it."""

    def __init__(self, place: KernelEnvironment, *, warm: bool) -> None:
        self.place = place
        self.warm = warm
        self.is_alive = True
        self.is_closed = False
        self.marks: list[str] = []
        self.can_reset = True

    async def reset(self) -> bool:
        await asyncio.sleep(0)
        if not self.is_alive:
            raise ToolError("the Python kernel is gone")
        self.marks.clear()
        return self.can_reset

    async def close(self) -> None:
        self.is_alive = False
        await asyncio.sleep(0)
        self.is_closed = True


class Starter:
    """Starts kernels; each start waits for `go`."""

    def __init__(self) -> None:
        self.made: list[FakeKernel] = []
        self.go = asyncio.Event()
        self.go.set()
        self.failure: Exception | None = None
        self.is_stubborn = False
        self.under_way = 0
        self.peak = 0

    async def __call__(self, place: KernelEnvironment, *, warm: bool) -> Any:
        self.under_way += 1
        self.peak = max(self.peak, self.under_way + sum(not kernel.is_closed for kernel in self.made))
        try:
            await self.go.wait()
            await asyncio.sleep(0)
            if self.failure is not None:
                raise self.failure
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            if not self.is_stubborn:
                raise
        finally:
            self.under_way -= 1
        self.made.append(FakeKernel(place, warm=warm))
        return self.made[-1]

    @property
    def list_living(self) -> list[FakeKernel]:
        return [kernel for kernel in self.made if kernel.is_alive]


Case = Callable[[FakeLoop, Starter], Awaitable[None]]


def play(case: Case) -> None:
    with asyncio.Runner(loop_factory=FakeLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, FakeLoop)

        async def run() -> None:
            await case(loop, Starter())

        runner.run(run())


@contextmanager
def refused(words: str) -> Iterator[None]:
    with pytest.raises(ToolError, match=words):
        yield


# ---------------------------------------------------------------------------- owners


def test_an_owner_gets_back_what_it_put_and_another_one_something_else():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S)
        first, was_same = await pool.take("a", HERE)
        await pool.put("a", HERE, first)
        other, other_same = await pool.take("b", HERE)
        again, again_same = await pool.take("a", HERE)

        assert (was_same, other_same, again_same) == (False, False, True)
        assert (again is first, other is first) == (True, False)
        await pool.aclose()

    play(case)


def test_a_kernel_of_another_place_is_not_the_one():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S)
        first, _ = await pool.take("a", HERE)
        await pool.put("a", HERE, first)

        second, is_same = await pool.take("a", THERE)

        assert (second.place, is_same, first.is_closed) == (THERE, False, True)

    play(case)


def test_what_has_died_is_not_kept_and_not_handed_out():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S)
        first, _ = await pool.take("a", HERE)
        first.is_alive = False
        await pool.put("a", HERE, first)
        first_closed = first.is_closed
        second, second_same = await pool.take("a", HERE)
        await pool.put("a", HERE, second)
        second.is_alive = False
        third, third_same = await pool.take("a", HERE)

        assert (second_same, third_same) == (False, False)
        assert (first_closed, second.is_closed, third.is_closed) == (True, True, False)

    play(case)


def test_an_owner_cannot_take_twice():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S)
        start.go.clear()
        taking = asyncio.ensure_future(pool.take("a", HERE))
        await loop.advance(0)
        with refused("the kernel is in use"):
            await pool.take("a", HERE)
        start.go.set()
        kernel, _ = await taking
        with refused("the kernel is in use"):
            await pool.take("a", HERE)

        assert start.made == [kernel]

    play(case)


def test_one_that_waits_too_long_is_closed():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S)
        kernel, _ = await pool.take("a", HERE)
        await loop.advance(2 * IDLE_S)
        alive_while_taken = kernel.is_alive
        await pool.put("a", HERE, kernel)
        await loop.advance(IDLE_S - 1)
        alive_before = kernel.is_alive
        await loop.advance(1)

        assert (alive_while_taken, alive_before, kernel.is_closed) == (True, True, True)

    play(case)


def test_one_that_was_put_over_another_waits_its_own_time():
    """The timer of the old one must not end the new one, as in kaml."""

    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S)
        old, new = [await start(HERE, warm=False) for _ in range(2)]
        await pool.put("a", HERE, old)
        await loop.advance(IDLE_S - 1)
        await pool.put("a", HERE, new)
        await loop.advance(IDLE_S - 1)
        alive = (old.is_alive, new.is_alive)
        await pool.put("a", HERE, new)
        await loop.advance(IDLE_S - 1)

        assert alive == (False, True)
        assert await pool.take("a", HERE) == (new, True)

    play(case)


def test_one_that_is_put_in_place_of_the_one_taken_ends_that_one():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S)
        taken, _ = await pool.take("a", HERE)
        made = await start(HERE, warm=False)
        await pool.put("a", HERE, made)

        assert taken.is_closed
        assert await pool.take("a", HERE) == (made, True)

    play(case)


@pytest.mark.parametrize("is_put", [True, False])
def test_destroy_ends_a_kernel_that_waits_or_is_in_use(is_put: bool):
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S)
        kernel, _ = await pool.take("a", HERE)
        if is_put:
            await pool.put("a", HERE, kernel)
        await pool.destroy("a")
        await pool.destroy("nobody")

        assert kernel.is_closed
        assert (await pool.take("a", HERE))[1] is False

    play(case)


def test_destroy_ends_a_kernel_that_just_starts():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S, max_kernels=1)
        start.go.clear()
        taking = asyncio.ensure_future(pool.take("a", HERE))
        await loop.advance(0)
        await pool.destroy("a")
        start.go.set()
        with refused("stopped while it was starting"):
            await taking

        assert [kernel.is_closed for kernel in start.made] == [True]
        assert (await pool.take("b", HERE))[0].is_alive

    play(case)


# ---------------------------------------------------------------------------- limits


def test_the_one_that_waits_longest_makes_room():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S, max_kernels=2)
        one, two = [(await pool.take(owner, HERE))[0] for owner in "ab"]
        await pool.put("b", HERE, two)
        await pool.put("a", HERE, one)
        three, _ = await pool.take("c", THERE)

        assert [kernel.is_alive for kernel in (one, two, three)] == [True, False, True]
        assert await pool.take("a", HERE) == (one, True)
        with refused("all 2 kernels are in use"):
            await pool.take("b", HERE)

    play(case)


def test_what_others_have_started_counts_as_well():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S, max_kernels=2)
        one, two, three = [await start(HERE, warm=False) for _ in range(3)]
        for owner, kernel in zip("abc", (one, two, three), strict=True):
            await pool.put(owner, HERE, kernel)

        assert [kernel.is_closed for kernel in (one, two, three)] == [True, False, False]

    play(case)


@pytest.mark.parametrize(("is_alive", "can_reset"), [(True, True), (True, False), (False, True)])
def test_a_kernel_changes_its_owner_only_when_nothing_of_the_old_one_is_left(is_alive: bool, can_reset: bool):
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S, max_kernels=1)
        first, _ = await pool.take("a", HERE)
        first.marks.append("a")
        await pool.put("a", HERE, first)
        first.is_alive, first.can_reset = is_alive, can_reset
        second, is_same = await pool.take("b", HERE)

        is_fit = is_alive and can_reset
        assert (second is first, first.is_closed) == (is_fit, not is_fit)
        assert (second.marks, is_same) == ([], False)

    play(case)


def test_a_start_that_fails_takes_no_room():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S, max_kernels=1)
        start.failure = ToolError("no Python")
        with refused("no Python"):
            await pool.take("a", HERE)
        start.failure = None

        assert (await pool.take("b", HERE))[1] is False

    play(case)


def test_a_start_that_is_cancelled_takes_no_room():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S, max_kernels=1)
        start.go.clear()
        taking = asyncio.ensure_future(pool.take("a", HERE))
        await loop.advance(0)
        taking.cancel()
        await asyncio.wait([taking])
        start.go.set()
        kernel, _ = await pool.take("b", HERE)

        assert (taking.cancelled(), start.list_living) == (True, [kernel])

    play(case)


def test_a_take_that_is_cancelled_while_room_is_made_leaves_nothing_behind():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, idle_s=IDLE_S, max_kernels=1)
        first, _ = await pool.take("a", HERE)
        await pool.put("a", HERE, first)
        for place in (THERE, HERE):
            taking = asyncio.ensure_future(pool.take("b", place))
            await asyncio.sleep(0)
            taking.cancel()
            await asyncio.wait([taking])
            await loop.advance(0)
            left = start.list_living
            await pool.put("a", HERE, await start(HERE, warm=False))

            assert (taking.cancelled(), left) == (True, [])

    play(case)


# ---------------------------------------------------------------------------- spares


def test_after_the_first_take_spares_wait_and_each_that_is_used_is_replaced():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, spares=2, idle_s=IDLE_S)
        await pool.take("a", HERE)
        await loop.advance(0)
        spares = start.made[1:]
        start.go.clear()
        second, is_same = await pool.take("b", HERE)
        start.go.set()
        await loop.advance(0)

        assert [kernel.warm for kernel in start.made] == [False, True, True, True]
        assert (second, is_same) == (spares[0], False)
        assert len(start.list_living) == 4
        assert (await pool.take("c", THERE))[0].place == THERE
        await pool.aclose()
        assert start.list_living == []

    play(case)


def test_a_spare_that_died_is_not_handed_out():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, spares=1, idle_s=IDLE_S)
        await pool.take("a", HERE)
        await loop.advance(0)
        dead = start.made[-1]
        dead.is_alive = False
        kernel, _ = await pool.take("b", HERE)

        assert (kernel is dead, kernel.is_alive, dead.is_closed) == (False, True, True)

    play(case)


def test_a_spare_that_cannot_be_started_is_no_trouble_for_anyone():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, spares=1, idle_s=IDLE_S)
        first, _ = await pool.take("a", HERE)
        start.failure = ToolError("no Python")
        await loop.advance(0)
        start.failure = None
        second, _ = await pool.take("b", HERE)

        assert [kernel.warm for kernel in (first, second)] == [False, False]

    play(case)


def test_spares_of_a_place_that_is_not_used_are_closed():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, spares=1, idle_s=IDLE_S)
        kernel, _ = await pool.take("a", HERE)
        await loop.advance(IDLE_S - 1)
        await pool.put("a", HERE, kernel)
        await loop.advance(IDLE_S - 1)
        alive = len(start.list_living)
        await loop.advance(1)

        assert (alive, start.list_living) == (2, [])

    play(case)


@pytest.mark.parametrize("are_ready", [True, False])
def test_spares_make_room_before_anything_that_is_somebodys(are_ready: bool):
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, spares=5, idle_s=IDLE_S, max_kernels=3)
        one, _ = await pool.take("a", HERE)
        await pool.put("a", HERE, one)
        if are_ready:
            await loop.advance(0)
        two, _ = await pool.take("b", THERE)
        three, _ = await pool.take("c", THERE)
        await loop.advance(0)

        assert start.list_living == [one, two, three]
        assert (start.under_way, start.peak) == (0, 3)

    play(case)


def test_a_spare_that_starts_although_it_is_unwanted_is_closed():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, spares=1, idle_s=IDLE_S)
        start.is_stubborn = True
        one, _ = await pool.take("a", HERE)
        start.go.clear()
        await loop.advance(0)
        await loop.advance(IDLE_S)

        assert (len(start.made), start.list_living) == (2, [one])
        assert start.made[1].is_closed

    play(case)


def test_aclose_ends_those_in_use_those_that_wait_and_those_that_start():
    async def case(loop: FakeLoop, start: Starter) -> None:
        pool = Pool(start, spares=1, idle_s=IDLE_S)
        used, _ = await pool.take("a", HERE)
        waits, _ = await pool.take("b", HERE)
        await pool.put("b", HERE, waits)
        await loop.advance(0)
        start.go.clear()
        taking = asyncio.ensure_future(pool.take("c", THERE))
        await loop.advance(0)
        await pool.aclose()
        start.go.set()
        with refused("stopped while it was starting"):
            await taking
        await pool.put("a", HERE, used)
        with refused("closing"):
            await pool.take("d", HERE)

        assert (start.list_living, start.under_way) == ([], 0)
        assert all(kernel.is_closed for kernel in start.made)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    play(case)


async def test_real_kernels_keep_their_state_for_their_owner_alone(tmp_path: Path):
    sandbox = LocalSandbox(home=str(tmp_path))
    settings = KernelSettings(environ=dict(os.environ))
    place = KernelEnvironment(str(tmp_path))
    rooms = count()

    async def start(place: KernelEnvironment, *, warm: bool) -> Kernel:
        room = SessionId(f"kernel-{next(rooms)}")
        return await start_kernel(sandbox, settings, place, room, specs=(), warm=warm)

    async def run(kernel: Kernel, code: str) -> str:
        result = await kernel.run(code, emit=lambda _: None, say=lambda _, __: None)
        return result.output or result.error.rpartition("\n")[2]

    pool = Pool(start, max_kernels=1)
    try:
        first, _ = await pool.take("a", place)
        await run(first, "secret = 42")
        await pool.put("a", place, first)
        again, is_same = await pool.take("a", place)
        kept = await run(again, "secret")
        await pool.put("a", place, again)
        other, is_other_same = await pool.take("b", place)
        lost = await run(other, "secret")
        pid = other.pid
    finally:
        await pool.aclose()

    assert (kept, is_same) == ("42\n", True)
    assert (lost, is_other_same) == ("NameError: name 'secret' is not defined", False)
    assert not os.path.exists(f"/proc/{pid}")


# ---------------------------------------------------------------------------- anything

OWNERS = st.sampled_from("abcd")
PLACES = st.sampled_from([HERE, THERE])
MAX = 2


class PoolMachine(RuleBasedStateMachine):
    """In any order of actions, no session gets another's kernel, and nothing is left behind."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=FakeLoop)
        self.held: dict[str, FakeKernel] = {}
        self.put_back: dict[str, FakeKernel] = {}

    @initialize(spares=st.integers(0, 2))
    def begin(self, spares: int) -> None:
        async def begin() -> None:
            self.start = Starter()
            self.pool = Pool(self.start, spares=spares, max_kernels=MAX, idle_s=IDLE_S)

        self.run(begin())

    def run(self, work: Awaitable[Any]) -> Any:
        async def settled() -> Any:
            try:
                return await work
            finally:
                await self.runner.get_loop().advance(0)

        return self.runner.run(settled())

    async def try_take(self, owner: str, place: KernelEnvironment) -> None:
        kept = self.put_back.get(owner)
        expects_same = kept is not None and kept.is_alive and (kept.place, kept.marks) == (place, [owner])
        try:
            kernel, is_same = await self.pool.take(owner, place)
        except ToolError as error:
            if "all 2" in str(error):
                assert len(self.held) == MAX
            else:
                assert owner in self.held or self.start.failure is not None
            return
        assert owner not in self.held
        assert (kernel.is_alive, kernel.place, kernel in self.held.values()) == (True, place, False)
        assert is_same == expects_same
        assert kernel.marks == ([owner] if is_same else [])
        kernel.marks = [owner]
        self.held[owner] = kernel
        self.put_back.pop(owner, None)

    @rule(owner=OWNERS, place=PLACES)
    def take(self, owner: str, place: KernelEnvironment) -> None:
        self.run(self.try_take(owner, place))

    @rule(owner=OWNERS, other=OWNERS, place=PLACES)
    def take_at_once(self, owner: str, other: str, place: KernelEnvironment) -> None:
        async def both() -> None:
            await asyncio.gather(*(self.try_take(one, place) for one in {owner, other}))

        if len(self.held) < MAX - 1:  # or whose was evicted depends on who came first
            self.put_back = {o: k for o, k in self.put_back.items() if o not in (owner, other)}
            self.run(self.pool.destroy(owner) if owner not in self.held else asyncio.sleep(0))
            self.run(self.pool.destroy(other) if other not in self.held else asyncio.sleep(0))
            self.run(both())

    @rule(owner=OWNERS, place=PLACES, steps=st.integers(0, 3))
    def take_and_cancel(self, owner: str, place: KernelEnvironment, steps: int) -> None:
        async def cancelled() -> None:
            taking = asyncio.ensure_future(self.try_take(owner, place))
            for _ in range(steps):
                await asyncio.sleep(0)
            taking.cancel()
            await asyncio.wait([taking])

        self.run(cancelled())

    @rule(owner=OWNERS)
    def put(self, owner: str) -> None:
        if owner in self.held:
            kernel = self.held.pop(owner)
            self.run(self.pool.put(owner, kernel.place, kernel))
            self.put_back[owner] = kernel

    @rule(owner=OWNERS)
    def destroy(self, owner: str) -> None:
        kernels = [self.held.pop(owner, None), self.put_back.pop(owner, None)]
        self.run(self.pool.destroy(owner))
        assert all(kernel.is_closed for kernel in kernels if kernel is not None and kernel.marks == [owner])

    @precondition(lambda self: self.start.list_living)
    @rule(data=st.data())
    def die(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.start.list_living)).is_alive = False

    @rule(seconds=st.sampled_from([IDLE_S / 3, IDLE_S]))
    def wait(self, seconds: float) -> None:
        self.run(self.runner.get_loop().advance(seconds))

    @rule(fails=st.booleans())
    def break_or_mend(self, fails: bool) -> None:
        self.start.failure = ToolError("no Python") if fails else None

    @invariant()
    def no_more_live_than_may(self) -> None:
        assert self.start.peak <= MAX

    @invariant()
    def what_is_in_use_is_not_closed(self) -> None:
        assert not any(kernel.is_closed for kernel in self.held.values())

    def teardown(self) -> None:
        self.run(self.pool.aclose())
        assert self.start.list_living == []
        assert self.start.under_way == 0
        self.runner.close()


TestPool = PoolMachine.TestCase
TestPool.settings = hypothesis_settings(max_examples=60, stateful_step_count=30, deadline=None)
