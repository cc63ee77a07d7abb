"""Output formats of `bridle run`."""

from typing import Protocol

from bridle.core.codec import encode
from bridle.core.protocol import Delta, Record
from bridle.surfaces.cli.output.run_view import RunView
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.terminal import Screen


class View(Protocol):
    """Displays the items of a run."""

    def show(self, item: Record | Delta) -> None:
        """Show the next item of the stream."""
        ...

    def pause(self) -> None:
        """Erase transient output and end the line, so that something else can write to the screen."""
        ...

    def finish(self, result: Result) -> None:
        """Write what is known only at the end of the run."""
        ...


class ValueView:
    """Writes only the value that fits the output schema, if there is one; everything else goes to stderr."""

    def __init__(self, out: Screen, notes: RunView) -> None:
        self._out = out
        self._notes = notes

    def show(self, item: Record | Delta) -> None:
        """Show an item on stderr."""
        self._notes.show(item)

    def pause(self) -> None:
        """Erase transient output and end the line, so that something else can write to the screen."""
        self._notes.pause()

    def finish(self, result: Result) -> None:
        """Write the value as one line of JSON."""
        self._notes.finish(result)
        if result.outcome == "completed":
            self._out.json(encode(result.structured_output))
            self._out.flush()


class JsonView:
    """Writes one JSON result at the end; with `stream`, also every record and delta as it arrives."""

    def __init__(self, out: Screen, notes: RunView, *, stream: bool) -> None:
        self._out = out
        self._notes = notes
        self._stream = stream

    def show(self, item: Record | Delta) -> None:
        """Write an item as one line of JSON, if streaming."""
        if self._stream:
            self._out.json(encode(item))
            self._out.flush()
        self._notes.show(item)

    def pause(self) -> None:
        """Erase transient output and end the line, so that something else can write to the screen."""
        self._notes.pause()

    def finish(self, result: Result) -> None:
        """Write the result as the last line."""
        self._out.json(encode(result))
        self._out.flush()
        self._notes.finish(result)
