import re
from typing import get_args

import pytest

from bridle.core import errors
from bridle.core.errors import (
    FALLBACK_KINDS,
    RETRYABLE_KINDS,
    BridleError,
    ConfigError,
    ProviderError,
    ProviderErrorKind,
    SessionNotFound,
)


def classes_below(parent: type[BridleError], depth: int = 0) -> list[tuple[int, str]]:
    children = [child for child in parent.__subclasses__() if child.__module__ == errors.__name__]
    below = [line for child in children for line in classes_below(child, depth + 1)]
    return [(depth, parent.__name__), *below]


def drawn_tree() -> list[tuple[int, str]]:
    """Read the drawing in the module's docstring: each level is indented by four characters."""
    drawing = (errors.__doc__ or "").split("```")[1]
    lines = [re.match(r"([│├└─ ]*)(\w+)", line) for line in drawing.strip().splitlines()]
    return [(len(line[1]) // 4, line[2]) for line in lines if line is not None]


def test_the_drawn_tree_is_the_tree():
    assert drawn_tree() == classes_below(BridleError)


def test_an_error_says_what_happened_and_what_to_do():
    error = SessionNotFound('no session "x"', hint="bridle session list")

    assert (error.message, error.hint) == ('no session "x"', "bridle session list")
    assert str(error) == 'no session "x" (hint: bridle session list)'
    assert error.args == ('no session "x"',)


def test_an_error_without_a_hint_is_its_message():
    assert str(ConfigError("bridle.toml:3: no key x")) == "bridle.toml:3: no key x"


def test_a_provider_error_carries_its_kind_and_the_wait_the_vendor_asked_for():
    error = ProviderError("slow down", kind="rate_limited", retry_after_s=7.5, hint="wait")

    assert (error.kind, error.retry_after_s, str(error)) == ("rate_limited", 7.5, "slow down (hint: wait)")


def test_a_provider_error_is_unknown_unless_told():
    error = ProviderError("odd")

    assert (error.kind, error.retry_after_s) == ("unknown", None)


@pytest.mark.parametrize("kind", get_args(ProviderErrorKind))
def test_another_model_may_do_better_unless_the_request_itself_is_at_fault(kind: ProviderErrorKind):
    of_the_request = {"invalid_request", "content_filtered", "context_length_exceeded"}

    assert (kind in FALLBACK_KINDS) == (kind not in of_the_request)


@pytest.mark.parametrize("kind", get_args(ProviderErrorKind))
def test_only_failures_that_may_pass_are_retried(kind: ProviderErrorKind):
    permanent = {
        "invalid_request",
        "authentication_failed",
        "invalid_api_key",
        "content_filtered",
        "context_length_exceeded",
        "model_not_found",
        "unknown",
    }

    assert (kind in RETRYABLE_KINDS) == (kind not in permanent)
