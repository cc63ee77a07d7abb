"""What of a reply was not streamed: who begins to watch in its middle, or falls behind, misses pieces.

A surface that shows a reply by its pieces alone tells the rest when the whole is recorded.
"""

from io import StringIO

from bridle.core.messages import Reasoning, Text
from bridle.core.protocol import Delta, ModelReplied, ReasoningDelta, Record, Retrying, TextDelta


class Unsaid:
    """Follows one session."""

    def __init__(self) -> None:
        self._begin_anew()

    def take(self, item: Record | Delta) -> tuple[str, str]:
        """Take in what happens; with a reply, return the rest of its text and of its reasoning."""
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
        self._text, self._reasoning = StringIO(), StringIO()  # a str would be copied whole with each piece


def _rest(whole: str, said: str) -> str:
    """Return what is left to say: all of it, when the beginning was missed."""
    return whole[len(said) :] if whole.startswith(said) else whole
