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
    assert rest[8:10] == [
        f"message 1 goes next, when more than {bars['free'][1]} tokens are added",
        "    #    tokens  part      what",
    ]
    tokens = {row.split()[0]: row.split()[1] for row in rest[10:12]}
    assert tokens == {bars["system"][1]: "system", bars["tools"][1]: "tools"}
    rows = [row.split(None, 4) for row in rest[12:]]
    assert [(number, part, role) for number, _, part, role, _ in rows] == [
        ("1", "earlier", "user"),
        ("2", "earlier", "assistant"),
        ("3", "earlier", "tool"),
        ("4", "earlier", "assistant"),
    ]
    assert sum(int(row[1].replace(",", "")) for row in rows) == int(bars["earlier"][1].replace(",", ""))
    assert [what for *_, what in rows[2:]] == ["1: one", "Done."]


def test_the_context_for_programs(bridle: Bridle):
    sent = json.loads(bridle("context", "0", "--json").out)

    assert sent.keys() == {"model", "system", "tools", "messages", "usage", "tokens"}
    assert sum(sent["tokens"]) == sent["usage"]["earlier"]
    assert sent["usage"]["window"] == 10_000
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_what_does_not_fit_is_said(bridle: Bridle):
    bridle("config", "set", "compaction.auto", "false")
    big = bridle.script({"text": "x" * 16_000}, repeat=True, window_tokens=10_000)
    bridle("run", "--continue", "--model", big, "one")
    bridle("run", "--continue", "--model", big, "two")

    done = bridle("context")

    assert done.out.splitlines()[8:10] == [
        f"sends 2 messages (2 earlier, 0 of this run) and {tools(bridle)} tools",
        "6 older messages left out to fit; nothing is deleted",
    ]


def test_of_a_run_results_go_with_their_calls_and_its_prompt_never(bridle: Bridle):
    model = bridle.script(READ, READ, {"fault": {"kind": "hang"}}, window_tokens=10_000)
    running = bridle.start("run", "--output", "stream-json", "--model", model, "look twice")
    assert running.stdout is not None
    turns = 0
    while turns < 3:
        turns += b'"turn_started"' in running.stdout.readline()
    running.kill()
    running.communicate()

    lines = bridle("context", bridle.sessions()[0]["id"]).out.splitlines()

    assert lines[8].startswith("sends 5 messages (0 earlier, 5 of this run)")
    assert lines[9].startswith("messages 2 to 3 go next, when more than ")


def test_without_a_session(bridle: Bridle, tmp_path: Path):
    done = bridle("context", cwd=tmp_path)

    assert done == Done(1, "", f"error: no session was started in {tmp_path}\nhint: bridle session list\n")


def test_how_it_differs_from_what_the_last_turn_sent(bridle: Bridle):
    done = bridle("context", "--diff")

    _, *rest = steady(done.out).splitlines()
    changes = {line[:10].strip(): line[10:].split(None, 3) for line in rest[:6]}
    assert (done.code, done.err) == (0, "")
    assert [changes[part][3] for part in ("system", "tools", "reserve")] == ["the same"] * 3
    assert changes["earlier"][0] == "0"  # then it was all of the run
    assert changes["this run"][2] == "0"
    assert rest[6:] == ["", "+ assistant Done."]


def test_what_was_sent_and_is_not_any_more_is_shown_too(bridle: Bridle):
    bridle("config", "set", "compaction.auto", "false")
    big = bridle.script({"text": "x" * 16_000}, repeat=True, window_tokens=10_000)
    bridle("run", "--continue", "--model", big, "one")
    bridle("run", "--continue", "--model", big, "two")

    diff = json.loads(bridle("context", "--diff", "--json").out)

    said = [message["parts"][0].get("text", "")[:3] for message in diff["gone"]]
    assert said[-2:] == ["one", "xxx"]
    assert [message["parts"][0]["text"][:3] for message in diff["new"]] == ["xxx"]
    assert (diff["system_changed"], diff["tools_changed"]) == (False, False)


def test_there_is_no_difference_before_the_first_turn(bridle: Bridle, tmp_path: Path):
    session = bridle("session", "fork", "0").out.strip()

    done = bridle("context", session, "--diff")

    assert done == Done(64, "", "error: this session has no turns yet\nhint: run it without --diff\n")
