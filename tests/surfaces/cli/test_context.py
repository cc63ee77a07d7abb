import json
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle, Done, steady

READ = {"text": "I look.", "calls": [{"name": "read_file", "args": {"path": "a.txt"}}]}


@pytest.fixture(autouse=True)
def session(bridle: Bridle) -> None:
    (bridle.project / "a.txt").write_text("one\n")
    model = bridle.script(READ, {"text": "Done."}, window_tokens=10_000, max_output_tokens=1_000)
    bridle("config", "set", "model", model)
    bridle("run", "look")


def tools(bridle: Bridle) -> int:
    """Count the tools of the next turn: how many depends on the window."""
    return len(json.loads(bridle("context", "--json").out)["tools"])


def test_who_uses_the_window_and_what_is_sent(bridle: Bridle):
    done = bridle("context")

    head, *rest = steady(done.out).splitlines()
    bars = {line[:10].strip(): line[11:].split() for line in rest[:6]}
    assert (done.code, done.err) == (0, "")
    assert head == f"session ID · model {bridle('config', 'get', 'model').out.strip()} · window 10,000 tokens"
    assert list(bars) == ["system", "tools", "earlier", "this run", "reserve", "free"]
    assert all(len(bar) == 40 for bar, _, _ in bars.values())
    assert sum(int(tokens.replace(",", "")) for _, tokens, _ in bars.values()) == 10_000
    assert bars["reserve"][1:] == ["1,000", "10.0%"]
    assert rest[6:8] == ["", f"sends 4 messages (4 earlier, 0 of this run) and {tools(bridle)} tools"]
    assert [line.split()[0] for line in rest[8:]] == [
        "system",
        "tools",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert rest[-2:] == ["  tool       1: one", "  assistant  Done."]


def test_the_context_for_programs(bridle: Bridle):
    sent = json.loads(bridle("context", "0", "--json").out)

    assert sent.keys() == {"model", "system", "tools", "messages", "usage"}
    assert sent["usage"]["window"] == 10_000
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_what_does_not_fit_is_said(bridle: Bridle):
    big = bridle.script({"text": "x" * 16_000}, repeat=True, window_tokens=10_000)
    bridle("run", "--continue", "--model", big, "one")
    bridle("run", "--continue", "--model", big, "two")

    done = bridle("context")

    assert done.out.splitlines()[8:10] == [
        f"sends 2 messages (2 earlier, 0 of this run) and {tools(bridle)} tools",
        "6 older messages left out to fit; nothing is deleted",
    ]


def test_without_a_session(bridle: Bridle, tmp_path: Path):
    done = bridle("context", cwd=tmp_path)

    assert done == Done(1, "", f"error: no session was started in {tmp_path}\nhint: bridle session list\n")
