"""What sessions do while processes die: tools that leave a trace, approvals, sub-agents, queued prompts.

Each call of `bash` writes one line into a file that is named by the call: so it is known how often it ran.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from bridle.core.ids import SessionId

ACT = "date +%s%3N >> effects/$1\nsleep $2\necho did $1\n"
REST = ({"text": "Done."},) * 12  # for prompts that come later, and for answers of sub-agents


class Play(Struct, frozen=True):
    """One session and what its client does."""

    session: SessionId
    folder: Path
    model: str
    prompts: tuple[str, ...]
    """The first one, and those that are sent while it runs."""
    steer: str = ""


Extras = Sequence[tuple[str, dict[str, Any]]]
"""More calls to choose from, by their tools and arguments."""


def make_play(root: Path, number: int, chance: random.Random, extras: Extras = ()) -> Play:
    """Write the scripts of a session into its folder."""
    name = f"s{number:03}"
    folder = root / name
    (folder / "effects").mkdir(parents=True)
    (folder / "act.sh").write_text(ACT)
    writer = _Writer(folder, name, chance, extras)
    turns = [writer.turn(depth=0) for _ in range(chance.randint(2, 4))]
    model = writer.script("parent", turns)
    later = chance.choice((0, 0, 1, 2))
    steer = f"{name}: turn left" if chance.random() < 0.3 else ""
    prompts = tuple(f"{name}: prompt {one}" for one in range(1 + later))
    return Play(SessionId(f"chaos-{name}"), folder, model, prompts, steer)


class _Writer:
    """Makes turns whose calls have separate names."""

    def __init__(self, folder: Path, name: str, chance: random.Random, extras: Extras) -> None:
        self._folder = folder
        self._name = name
        self._chance = chance
        self._extras = extras
        self._calls = 0

    def script(self, name: str, turns: list[dict[str, Any]]) -> str:
        path = self._folder / f"{name}.json"
        path.write_text(json.dumps({"replies": [*turns, *REST]}))
        return f"scripted/{path}"

    def turn(self, depth: int) -> dict[str, Any]:
        kinds = [self._effect, self._effect, self._approval]
        if not depth:
            kinds.append(self._child)
        if self._extras:
            kinds += [self._extra, self._extra]
        calls = [self._chance.choice(kinds)() for _ in range(self._chance.choice((1, 1, 2)))]
        return {"text": "I work.", "calls": calls, "delay_ms": self._chance.choice((0, 50, 200))}

    def _call(self, tool: str, **args: Any) -> dict[str, Any]:
        return {"id": self._next(), "name": tool, "args": args}

    def _next(self) -> str:
        self._calls += 1
        return f"{self._name}-c{self._calls}"

    def _effect(self) -> dict[str, Any]:
        call = self._call("bash")
        seconds = self._chance.choice((0, 0, 0.1, 0.5, 1))
        call["args"] = {"command": f"sh act.sh {call['id']} {seconds}"}
        return call

    def _approval(self) -> dict[str, Any]:
        call = self._call("write_file")
        call["args"] = {"path": f"{call['id']}.txt", "content": call["id"]}
        return call

    def _extra(self) -> dict[str, Any]:
        tool, args = self._chance.choice(self._extras)
        return self._call(tool, **args)

    def _child(self) -> dict[str, Any]:
        call = self._call("agent_spawn")
        turns = [self.turn(depth=1) for _ in range(self._chance.randint(1, 2))]
        model = self.script(f"child-{call['id']}", turns)
        call["args"] = {"prompt": f"be {call['id']}", "model": model}
        if self._chance.random() < 0.5:
            call["args"]["background"] = True
        return call
