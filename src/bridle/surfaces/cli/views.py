"""The forms `bridle run` writes its output in."""

from typing import Protocol

from bridle.core.codec import encode
from bridle.core.protocol import Delta, Record
from bridle.surfaces.live import TextView
from bridle.surfaces.terminal import Screen
from bridle.surfaces.wire import Result


class View(Protocol):
    """Where the items of a run go."""

    def show(self, item: Record | Delta) -> None:
        """Write the next item of the stream."""
        ...

    def pause(self) -> None:
        """Leave the screen clean for somebody else to write on."""
        ...

    def finish(self, result: Result) -> None:
        """Write what is known only at the end."""
        ...


class ValueView:
    """Only the value that fits the output schema, when there is one; all else goes to stderr."""

    def __init__(self, out: Screen, notes: TextView) -> None:
        self._out = out
        self._notes = notes

    def show(self, item: Record | Delta) -> None:
        """Write what is no answer."""
        self._notes.show(item)

    def pause(self) -> None:
        """Leave the screen clean for somebody else to write on."""
        self._notes.pause()

    def finish(self, result: Result) -> None:
        """Write the value as one line of JSON."""
        self._notes.finish(result)
        if result.outcome == "completed":
            self._out.json(encode(result.structured_output))
            self._out.flush()


class JsonView:
    """One JSON result at the end; with `stream` also every record and delta, as it comes."""

    def __init__(self, out: Screen, notes: TextView, *, stream: bool) -> None:
        self._out = out
        self._notes = notes
        self._stream = stream

    def show(self, item: Record | Delta) -> None:
        """Write an item as one line."""
        if self._stream:
            self._out.json(encode(item))
            self._out.flush()
        self._notes.show(item)

    def pause(self) -> None:
        """Leave the screen clean for somebody else to write on."""
        self._notes.pause()

    def finish(self, result: Result) -> None:
        """Write the result as the last line."""
        self._out.json(encode(result))
        self._out.flush()
        self._notes.finish(result)
