"""The budget tree under random schedules: nothing is granted twice, lost, or drifts."""

import random
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from bridle.core.budget import Budget, Limits, Share, Spend
from bridle.core.budget_pool import Pool

MAX_DEPTH = 4
KINDS: tuple[Literal["tokens", "tool_calls", "cost"], ...] = ("tokens", "tool_calls", "cost")

amounts = st.builds(
    Spend,
    tokens=st.integers(0, 40),
    tool_calls=st.integers(0, 4),
    cost=st.integers(0, 40).map(lambda cents: cents / 100),  # 0.07 has no exact float
)
limits = st.builds(
    Limits,
    tokens=st.none() | st.integers(0, 200),
    tool_calls=st.none() | st.integers(0, 20),
    cost=st.none() | st.integers(0, 200).map(lambda cents: cents / 100),
)
shares = st.one_of(
    st.builds(Share, policy=st.just("remaining"), limits=st.just(Limits()) | limits),
    st.builds(Share, policy=st.just("equal"), among=st.integers(1, 5), limits=st.just(Limits()) | limits),
    st.builds(Share, policy=st.just("proportional"), weight=st.integers(0, 7), weights=st.integers(7, 9)),
    st.builds(Share, policy=st.just("fixed"), limits=limits),
)


class Agent:
    """A budget, and beside it what a careful bookkeeper would write down."""

    def __init__(self, budget: Budget, parent: "Agent | None") -> None:
        self.budget = budget
        self.parent = parent
        self.children: list[Agent] = []
        self.spent = Spend()
        self.open: list[Spend] = []
        self.extra = Spend()
        """What was used here beyond what was held for it."""
        self.is_closed = False

    @property
    def below(self) -> "list[Agent]":
        return [self, *(agent for child in self.children for agent in child.below)]

    @property
    def depth(self) -> int:
        return 1 if self.parent is None else self.parent.depth + 1

    def close(self) -> None:
        for agent in self.below:
            agent.is_closed = True


def cents(spend: Spend) -> tuple[int, int, int]:
    return spend.tokens, spend.tool_calls, round(spend.cost * 100)


def total(spends: list[Spend]) -> tuple[int, int, int]:
    columns = list(zip(*map(cents, spends), strict=True)) or [(), (), ()]
    tokens, tool_calls, cost = map(sum, columns)
    return tokens, tool_calls, cost


class Office(RuleBasedStateMachine):
    """Agents that share, reserve, settle and leave in any order."""

    agents = Bundle("agents")
    held = Bundle("held")

    @initialize(target=agents, limits=limits, used=amounts)
    def begin(self, limits: Limits, used: Spend) -> Agent:
        self.root = Agent(Budget(limits, 0.0, used), None)
        self.root.spent = used
        return self.root

    @rule(target=agents, parent=agents, share=shares)
    def hire(self, parent: Agent, share: Share) -> object:
        if parent.depth == MAX_DEPTH:
            return multiple()
        child = Agent(parent.budget.share(share, 0.0), parent)
        child.is_closed = parent.is_closed
        parent.children.append(child)
        return child

    @rule(target=held, agent=agents, amount=amounts)
    def reserve(self, agent: Agent, amount: Spend) -> object:
        left = (agent.budget.remaining_tokens(), agent.budget.remaining_cost())
        level = agent.budget.reserve(amount)
        if agent.is_closed:
            assert (level is None) == (amount == Spend())
        elif level is None:
            assert left[0] is None or amount.tokens <= left[0]
            assert left[1] is None or amount.cost <= left[1]
        elif level.kind == "tokens":
            assert left[0] is not None
            assert amount.tokens > left[0]
        elif level.kind == "cost":
            assert left[1] is not None
            assert amount.cost > left[1]
        if level is not None:
            return multiple()
        agent.open.append(amount)
        return agent, amount

    @rule(held=consumes(held), part=st.integers(0, 100))
    def settle(self, held: tuple[Agent, Spend], part: int) -> None:
        agent, amount = held
        actual = Spend(
            amount.tokens * part // 100, amount.tool_calls * part // 100, int(amount.cost * part) / 100
        )
        self.pay(agent, amount, actual)

    @rule(held=consumes(held), extra=amounts)
    def overshoot(self, held: tuple[Agent, Spend], extra: Spend) -> None:
        agent, amount = held
        self.pay(agent, amount, amount + extra)
        agent.extra += extra

    def pay(self, agent: Agent, amount: Spend, actual: Spend) -> None:
        agent.budget.settle(amount, actual)
        agent.open.remove(amount)
        agent.spent += actual
        if agent.is_closed:
            agent.extra += actual

    @rule(agent=agents)
    def leave(self, agent: Agent) -> None:
        agent.budget.close()
        agent.close()

    @invariant()
    def books_are_right(self) -> None:
        for agent in self.root.below:
            below, budget = agent.below, agent.budget
            held = [amount for one in below if not one.is_closed for amount in one.open]
            assert cents(budget.used) == total([one.spent for one in below])
            assert cents(budget.reserved) == total(held)
            assert min(cents(budget.set_aside)) >= 0
            if agent.is_closed or not any(not child.is_closed for child in agent.children):
                assert budget.set_aside == Spend()

    @invariant()
    def nothing_is_promised_twice(self) -> None:
        for agent in self.root.below:
            taken = total([agent.budget.used, agent.budget.reserved, agent.budget.set_aside])
            unforeseen = total([one.extra for one in agent.below])
            for place, kind in enumerate(KINDS):
                limit = getattr(agent.budget.limits, kind)
                if limit is None or agent.is_closed:
                    continue
                most = int(limit * 100 + 1e-6) if kind == "cost" else limit
                before = cents(agent.spent)[place] if agent.parent is None else 0
                assert (
                    taken[place] <= max(most, before) + unforeseen[place] + 1
                )  # a share may end in half a cent

    def teardown(self) -> None:
        for agent in self.root.below:
            for amount in list(agent.open):
                agent.budget.settle(amount, amount)
                agent.spent += amount
        self.root.budget.close()
        assert cents(self.root.budget.used) == total([agent.spent for agent in self.root.below])
        assert (self.root.budget.reserved, self.root.budget.set_aside) == (Spend(), Spend())


TestOffice = Office.TestCase
TestOffice.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


def tree_of_15(root: Budget, share: Share) -> list[Budget]:
    """Return a root with two helpers, four below them and eight below those."""
    agents = [root]
    for above in range(7):
        agents += [agents[above].share(share, 0.0) for _ in range(2)]
    return agents


@pytest.mark.parametrize("share", [Share(), Share(limits=Limits(cost=0.9))])
@given(seed=st.integers(0, 2**32), limit=st.integers(1, 300).map(lambda cents: cents / 100))
def test_15_agents_under_one_cost_limit_stop_within_one_reservation_of_it(
    share: Share, seed: int, limit: float
):
    """Each uses at most what it has reserved; several requests are on their way at any time."""
    chance = random.Random(seed)
    one = 0.07
    root = Budget(Limits(cost=limit), 0.0)
    agents = tree_of_15(root, share)
    working: list[Budget] = []
    busy = list(range(15))
    while busy or working:
        if working and (not busy or chance.random() < 0.5):
            agent = working.pop(chance.randrange(len(working)))
            agent.settle(Spend(cost=one), Spend(cost=one if chance.random() < 0.8 else 0.03))
        else:
            which = chance.choice(busy)
            if agents[which].reserve(Spend(cost=one)) is None:
                working.append(agents[which])
            elif not working:
                busy.remove(which)
        assert root.used.cost + root.reserved.cost <= limit + 1e-9

    own_limits_hold_them_up = share.limits.cost is not None
    assert root.used.cost <= limit
    assert root.used.cost > limit - one or own_limits_hold_them_up
    assert root.reserved == Spend()
    for agent in reversed(agents):
        agent.close()
    assert (root.reserved, root.set_aside) == (Spend(), Spend())


@given(st.permutations(range(15)), st.integers(1, 10**6))
def test_equal_shares_of_a_tree_can_all_be_used_up_in_any_order(order: list[int], tokens: int):
    root = Budget(Limits(tokens=tokens), 0.0)
    agents = tree_of_15(root, Share("equal", among=3))
    for which in order:
        left = agents[which].remaining_tokens()
        assert left is not None
        assert agents[which].reserve(Spend(tokens=left)) is None
        agents[which].settle(Spend(tokens=left), Spend(tokens=left))

    assert root.used.tokens <= tokens
    assert root.used.tokens + (root.remaining_tokens() or 0) == tokens
    assert all(agent.remaining_tokens() == 0 for agent in agents)


def test_a_pool_tells_who_stands_in_the_way():
    root = Pool({"a": 5}, {"a": 0, "b": 0})
    middle = root.child({"b": 3}, frozenset())
    leaf = middle.child({}, frozenset())

    assert leaf.hold({"a": 5, "b": 4}) == ("b", middle)
    assert leaf.hold({"a": 6, "b": 3}) == ("a", root)
    assert leaf.hold({"a": 5, "b": 3}) is None
    assert (root.held, root.own, leaf.own) == ({"a": 5, "b": 3}, {"a": 0, "b": 0}, {"a": 5, "b": 3})
