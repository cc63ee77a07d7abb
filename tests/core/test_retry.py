import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.retry import RetryPolicy

jitters = st.floats(0.9, 1.1)
policies = st.builds(
    RetryPolicy,
    max_retries=st.integers(0, 10),
    initial_s=st.floats(0.001, 100),
    max_s=st.floats(0.001, 1000),
    multiplier=st.floats(1, 10),
)


def test_the_delay_doubles_from_half_a_second_up_to_thirty():
    delays = [RetryPolicy().delay_s(attempt, 1.0) for attempt in range(9)]

    assert delays == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


@pytest.mark.parametrize(("jitter", "delay_s"), [(0.9, 0.45), (1.1, 0.55)])
def test_jitter_scales_the_delay(jitter: float, delay_s: float):
    assert RetryPolicy().delay_s(0, jitter) == pytest.approx(delay_s)


@given(policies, st.integers(0, 200), jitters)
def test_the_delay_follows_the_formula(policy: RetryPolicy, attempt: int, jitter: float):
    grown = policy.initial_s * policy.multiplier**attempt

    assert policy.delay_s(attempt, jitter) == min(grown, policy.max_s) * jitter


@given(policies, st.integers(0, 10**6), jitters, st.none() | st.floats(0, 1e6))
def test_the_delay_lies_between_its_bounds(
    policy: RetryPolicy, attempt: int, jitter: float, retry_after_s: float | None
):
    asked_s = retry_after_s or 0.0
    least = min(policy.initial_s, policy.max_s) * 0.9
    most = policy.max_s * 1.1

    assert max(least, asked_s) <= policy.delay_s(attempt, jitter, retry_after_s) <= max(most, asked_s)


@given(policies, st.integers(0, 2000), jitters)
def test_a_later_attempt_never_waits_less(policy: RetryPolicy, attempt: int, jitter: float):
    assert policy.delay_s(attempt, jitter) <= policy.delay_s(attempt + 1, jitter)


@pytest.mark.parametrize("multiplier", [2, 2.0, 1e308])
def test_growth_beyond_any_number_is_the_maximum(multiplier: float):
    assert RetryPolicy(multiplier=multiplier).delay_s(10_000, 1.0) == 30.0


@pytest.mark.parametrize(("retry_after_s", "delay_s"), [(None, 0.5), (0.0, 0.5), (0.2, 0.5), (60.0, 60.0)])
def test_the_vendors_wait_is_a_lower_bound(retry_after_s: float | None, delay_s: float):
    assert RetryPolicy().delay_s(0, 1.0, retry_after_s) == delay_s


def test_three_retries_are_allowed():
    assert [RetryPolicy().allows(attempt) for attempt in range(5)] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("retry_after_s", "allowed"),
    [
        (0.0, True),
        (300.0, True),
        (300.1, False),
        (float("inf"), False),
        (float("nan"), False),
    ],
)
def test_a_wait_beyond_five_minutes_is_not_made(retry_after_s: float, allowed: bool):
    assert RetryPolicy().allows(0, retry_after_s) is allowed


def test_a_policy_without_retries_allows_none():
    assert not RetryPolicy(max_retries=0).allows(0)
