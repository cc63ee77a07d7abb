"""Jobs and receipts survive the conversion to text and back."""

import msgspec
import pytest

from bridle.core.errors import ProviderError, SessionBusy, WorkspaceLost
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Cancel, Decide, Prompt, Resume, RunOptions
from bridle.core.session_api import Receipt
from bridle.scale.jobs import Job, decode_job, decode_outcome, encode_job, encode_outcome

S = SessionId("acme.s")


@pytest.mark.parametrize(
    "order",
    [
        Job(S, Prompt(user_message("héllo"), RunOptions(model="a/b", deny=("bash(rm:*)",)), key="k"), 7),
        Job(S, Decide(CallId("c"), "always", rules=("bash(ls)",))),
        Job(S, Resume(), tries=3),
        Job(S, Cancel("enough")),
    ],
)
def test_an_order_comes_back_as_it_was(order: Job):
    assert decode_job(encode_job(order)) == order


@pytest.mark.parametrize("text", ["", "{}", '{"session":"s","command":{"type":"fly"}}', "[1]", "\ud800"])
def test_what_is_no_order_is_refused(text: str):
    with pytest.raises((msgspec.MsgspecError, UnicodeEncodeError)):
        decode_job(text)


def test_a_receipt_comes_back_as_it_was():
    receipt = Receipt(9, RunId("r"), "item", repeated=True)

    assert decode_outcome(encode_outcome(receipt)) == receipt


@pytest.mark.parametrize(
    "error",
    [
        SessionBusy("it runs", hint="wait"),
        WorkspaceLost("gone"),
        ProviderError("slow down", kind="rate_limited", hint="later"),
    ],
)
def test_an_error_comes_back_as_what_it_was(error: SessionBusy | WorkspaceLost | ProviderError):
    with pytest.raises(type(error)) as raised:
        decode_outcome(encode_outcome(error))

    assert (raised.value.message, raised.value.hint) == (error.message, error.hint)


def test_an_error_that_is_not_ours_is_told_by_its_kind():
    with pytest.raises(Exception, match="ZeroDivisionError: by zero"):
        decode_outcome(encode_outcome(ZeroDivisionError("by zero")))
