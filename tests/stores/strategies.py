"""Random events, for properties that hold for any session."""

from hypothesis import strategies as st

from bridle.core.ids import CallId
from bridle.core.messages import Media, Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    MessageAdded,
    ModelReplied,
    RunEnded,
    SessionArchived,
    SessionTitled,
    ToolFinished,
)
from tests.stores.sample import RUN, SAMPLES

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_call_ids = st.sampled_from([CallId("c1"), CallId("c2"), CallId("c3")])
_args = st.dictionaries(_texts, st.none() | st.booleans() | st.integers() | _texts, max_size=3)
_results = st.builds(ToolResult, _call_ids, st.just("read_file"), _texts, st.booleans())
_calls = st.builds(ToolCall, _call_ids, st.just("read_file"), _args)
_messages = st.one_of(
    st.builds(user_message, _texts),
    st.builds(
        Message, st.just("user"), st.tuples(st.builds(Text, _texts), st.just(Media("image/png", "AA")))
    ),
    st.builds(Message, st.just("assistant"), st.lists(_calls, max_size=2).map(tuple)),
    st.builds(Message, st.just("tool"), st.lists(_results, min_size=1, max_size=2).map(tuple)),
)
_replies = st.builds(
    lambda text, calls: Message("assistant", (Text(text), *calls)),
    _texts,
    st.lists(_calls, max_size=3, unique_by=lambda made: made.id),
)
_tokens = st.integers(0, 1000)
events = st.one_of(
    st.sampled_from(SAMPLES),
    st.builds(SessionTitled, _texts),
    st.builds(SessionArchived, st.booleans()),
    st.builds(MessageAdded, _messages, st.just("prompt"), _tokens),
    st.builds(
        ModelReplied,
        st.just(RUN),
        st.just(1),
        _replies,
        st.just("end_turn"),
        st.just(Usage()),
        tokens=_tokens,
    ),
    st.builds(ToolFinished, _results, st.just(1), _tokens),
    st.builds(RunEnded, st.just(RUN), st.sampled_from(["completed", "failed"]), _texts, _texts),
)
"""Any event; those that make up messages come often."""
