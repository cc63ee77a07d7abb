"""Finds the part of a reply that was not streamed: late or slow watchers miss deltas.

A surface that shows only deltas sends the rest when the whole reply is recorded.
"""

from io import StringIO

from bridle.core.messages import Reasoning, Text
from bridle.core.protocol import Delta, ModelReplied, ReasoningDelta, Record, Retrying, TextDelta


class MissedText:
    """Tracks the deltas of one session."""

    def __init__(self) -> None:
        self._begin_anew()

    def take(self, item: Record | Delta) -> tuple[str, str]:
        """Apply an item; for a reply, return the rest of its text and of its reasoning."""
        match item.event if isinstance(item, Record) else item:
            case TextDelta(text=text):
                self._text.write(text)
            case ReasoningDelta(text=text):
                self._reasoning.write(text)
            case Retrying():
                self._begin_anew()
            case ModelReplied(message=message):
                said, thought = self._text.getvalue(), self._reasoning.getvalue()
                self._begin_anew()
                words = "".join(part.text for part in message.parts if isinstance(part, Text))
                thoughts = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
                return _rest(words, said), _rest(thoughts, thought)
            case _:
                pass
        return "", ""

    def _begin_anew(self) -> None:
        self._text, self._reasoning = StringIO(), StringIO()  # a str would be copied with each piece


def _rest(whole: str, said: str) -> str:
    """Return the missing part: the whole text if its start was missed."""
    return whole[len(said) :] if whole.startswith(said) else whole
