"""What is visible in Meerkat's events, over any wire."""

from collections.abc import Sequence
from typing import Any

from tests.conformance.scenario import Scenario
from tests.conformance.seen import Seen, began, called, ended, finished, said, started, thought

SHOWN = frozenset("began said thought called started finished failed retried compacted ended".split())
"""Not that a budget is used up: that looks like the warning before."""


def told_by_meerkat(scenario: Scenario) -> Sequence[Seen]:
    """Return what of a story is told: a compaction without its words, and a run that completes or fails.

    A call that is refused starts before it fails.
    """
    told: list[Seen] = []
    for line in scenario.story:
        kinds = {one.kind for one in told if one.call == line.call}
        if line.kind == "failed" and "called" in kinds and "started" not in kinds:
            told.append(started(line.call))
        if line.kind == "ended" and not line.what.startswith("completed"):
            line = ended("failed")
        elif line.kind == "resumed":
            line = began()
        elif line.kind == "compacted":
            line = Seen("compacted")
        told.append(line)
    return told


class MeerkatReducer:
    """Reduces events of one session, and compares what was streamed with what is told as a whole."""

    def __init__(self) -> None:
        self._text = ""
        self._reasoning = ""

    def feed(self, event: dict[str, Any]) -> list[Seen]:
        """Return the visible part of one event."""
        match event["type"]:
            case "run_started":
                return [began()]
            case "text_delta":
                self._text += event["delta"]
            case "reasoning_delta":
                self._reasoning += event["delta"]
            case "text_complete":
                streamed, self._text = self._text, ""
                assert streamed in ("", event["content"])
                return [said(event["content"])]
            case "reasoning_complete":
                streamed, self._reasoning = self._reasoning, ""
                assert streamed in ("", event["content"])
                return [thought(event["content"])]
            case "retrying":
                self._text = self._reasoning = ""
                return [Seen("retried", str(event["attempt"]))]
            case _:
                return _work(event)
        return []


def _work(event: dict[str, Any]) -> list[Seen]:
    match event["type"]:
        case "tool_call_requested":
            return [called(event["id"], event["name"], **event["args"])]
        case "tool_execution_started":
            return [started(event["id"])]
        case "tool_execution_completed":
            return [finished(event["id"], event["result"], is_error=event["is_error"])]
        case "compaction_completed":
            return [Seen("compacted")]
        case "run_completed":
            return [ended("completed", event["result"])]
        case "run_failed":
            return [ended("failed")]
        case _:
            return []
