"""Prompts for every framework of the peer bench, and the answers of the scripted model.

The interpreters of all frameworks import this module, so it uses only the standard library.
"""

from types import ModuleType
from typing import Any

TURNS = 50
DELTAS = 2_000
CALLS = 8
CALL_S = 0.1
SESSIONS = 200
SHORT_TURNS = 5
MESSAGES = 5_000
PROMPT = "Look at every file of this project and say what you find."
SYSTEM = "You are a careful assistant."
ANSWER = "All files have been looked at."
OUTPUT = ": 40 lines of text\n" * 5


def said() -> list[str]:
    """Return a long conversation between the user and the model."""
    return [
        f"File {n // 2} has 40 lines of text." if n % 2 else f"What is in file number {n // 2}?"
        for n in range(MESSAGES)
    ]


def final(peer: ModuleType) -> dict[str, Any]:
    """Return the reply that ends a run of a framework."""
    return getattr(peer, "FINAL", {"text": ANSWER})


def script(peer: ModuleType, row: str) -> dict[str, Any]:
    """Return the model's answers for a row."""
    tool, argument = getattr(peer, "TOOL", ("look", "on"))
    match row:
        case "turns" | "many":
            count = TURNS if row == "turns" else SHORT_TURNS
            replies = [
                {
                    "text": f"I will look at file number {n} now and tell you what is in it.",
                    "calls": [{"name": tool, "args": {argument: f"file{n}.txt"}}],
                }
                for n in range(count - 1)
            ]
        case "parallel":
            calls = [{"name": "wait", "args": {"number": n}} for n in range(CALLS)]
            replies = [{"text": "I wait.", "calls": calls}]
        case "deltas":
            return {"replies": [final(peer) | {"text": [f" w{n % 1000:03}" for n in range(DELTAS)]}]}
        case _:
            replies = []
    return {"replies": [*replies, final(peer)]}
