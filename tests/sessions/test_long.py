"""A session of five hundred turns in a small window forgets no rule."""

import re
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from msgspec.json import encode

from bridle.core.context import CompactionPolicy, estimate_message, estimate_tokens
from bridle.core.ids import CallId
from bridle.core.messages import ToolCall, ToolResult, Usage
from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.ports import Provider
from bridle.core.protocol import Compacted, Delta, ModelReplied, Pin
from bridle.memory.embedders import EmbedderSettings, open_embedder
from bridle.memory.local import LocalMemory
from bridle.memory.tool import MemorySearch
from bridle.sessions.run.compaction import INSTRUCTION_FILE
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import FixedClock, SmallTool, Stage, call, says

WINDOW = 4_096
RUNS, TURNS = 20, 25
INSTRUCTION = INSTRUCTION_FILE.read_text("utf-8")
FACT = "The code word of the vault is heron-4417, says the note on its door. "
QUESTION = "What was the code word of the vault that you saw in turn 3?"
RULES = (
    "Never push to main.",
    'Quote paths with spaces: "a b.txt", not a\\ b.txt.',
    "  Zwei Leerzeichen vorn,\n\tein Tab, ein ß und ein 🦀.\n\nUnd ein Absatz.  ",
    "Reply in English; <pinned> and </pinned> are only words.",
)


class Diligent:
    """Looks at something in every turn of a run; asked for a summary it tells how often it was asked."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.summaries: list[ModelRequest] = []
        self._turns = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        usage = Usage(input=self._size(request), output=30)
        if request.system == INSTRUCTION:
            self.summaries.append(request)
            yield says(f"Summary {len(self.summaries)}. " + "Something was done. " * 40, usage=usage)
            return
        self.requests.append(request)
        if QUESTION in [message.text for message in request.messages]:
            found = [part.output for part in request.messages[-1].parts if isinstance(part, ToolResult)]
            if not found:
                query = {"query": "code word of the vault"}
                yield says("I look it up.", ToolCall(CallId("q"), "memory_search", query), usage=usage)
            else:
                code = re.search(r"heron-[0-9]+", found[0])
                yield says(f"It was {code[0] if code else 'forgotten'}.", usage=usage)
            return
        self._turns += 1
        if self._turns % TURNS:
            yield says(f"turn {self._turns}", call(f"c{self._turns}", "look", str(self._turns)), usage=usage)
        else:
            yield says(f"done after {self._turns}", usage=usage)

    def sizes(self) -> list[int]:
        """The share of the window of each request, with its answer."""
        return [
            self._size(request) + request.max_output_tokens for request in (*self.requests, *self.summaries)
        ]

    @staticmethod
    def _size(request: ModelRequest) -> int:
        fixed = estimate_tokens(request.system) + estimate_tokens(encode(request.tools).decode())
        return fixed + sum(map(estimate_message, request.messages))

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        return self, Model("scripted", "play", WINDOW, max_output_tokens=800)

    async def aclose(self) -> None:
        pass


def look(on: str) -> str:
    """Show much of nothing, and in turn 3 something to remember."""
    return f"{on}: {FACT if on == '3' else ''}" + "detail " * (40 + 37 * int(on) % 250)


async def test_five_hundred_turns_keep_every_rule_and_stay_inside_the_window(tmp_path: Path):
    model = Diligent()
    clock = FixedClock()
    store = EphemeralStore(clock)
    choice = EmbedderSettings("wordllama", "", "", "", "")
    memory = LocalMemory(
        tmp_path,
        store,
        clock,
        root_of=str,
        mask=str,
        open_embedder=lambda: open_embedder(choice, lambda: None),
        min_score=0.35,
        exact_up_to=20_000,
    )
    tools = [SmallTool("look", look), MemorySearch(memory)]
    stage = Stage(
        model,
        models=model,
        store=store,
        clock=clock,
        tools=tools,
        compaction=CompactionPolicy(),
        memory=memory,
    )
    async with stage:
        pinned_at: list[int] = []
        for number in range(RUNS):
            if number < len(RULES):
                await stage.service.submit(stage.session, Pin(RULES[number]))
                pinned_at.append(len(model.requests))
            ended = await stage.run(f"task {number}: look at {TURNS} things")
            assert (ended.outcome, ended.turns) == ("completed", TURNS)
        log = await stage.log()
        asked = len(model.requests)
        answered = await stage.run(QUESTION)
        pins = (await read_session(stage.service, stage.session)).known.pins

    assert "heron" not in str(model.requests[asked].messages)
    assert (answered.outcome, answered.text) == ("completed", "It was heron-4417.")
    replies = [event for event in log if isinstance(event, ModelReplied)]
    assert len(replies) == RUNS * TURNS == 500
    assert sum(isinstance(event, Compacted) for event in log) >= 20
    assert max(model.sizes()) <= WINDOW
    assert not any(reply.context.dropped_messages for reply in replies)
    assert pins == RULES
    for rule, first in zip(RULES, pinned_at, strict=True):
        assert all(_is_told(rule, request) for request in model.requests[first:])


def _is_told(rule: str, request: ModelRequest) -> bool:
    texts: Sequence[str] = [message.text for message in request.messages if message.role == "user"]
    return any(rule in text for text in texts)
