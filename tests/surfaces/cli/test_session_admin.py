import json

import pytest

from tests.surfaces.command import Bridle, Done, steady


@pytest.fixture
def session(bridle: Bridle) -> str:
    bridle("run", "--model", bridle.script({"text": "one"}, {"text": "two"}), "the first")
    return str(bridle.sessions()[0]["id"])


def test_a_fork_has_the_messages_and_goes_its_own_way(bridle: Bridle, session: str):
    forked = bridle("session", "fork", session)
    child = forked.out.strip()

    assert (forked.code, forked.err) == (0, "")
    assert [(s["id"], s["title"], s.get("parent")) for s in bridle.sessions()] == [
        (child, "the first (fork)", session),
        (session, "the first", None),
    ]
    model = bridle.script({"text": "one"}, {"text": "two"})
    assert bridle("run", "--session", child, "--model", model, "more") == Done(0, "two\n", "")


def test_a_fork_at_an_event(bridle: Bridle, session: str):
    child = bridle("session", "fork", session, "--at", "3").out.strip()
    beyond = bridle("session", "fork", session, "--at", "999")

    assert bridle("session", "show", child).out.endswith("\nyou\n  the first\n")
    assert (beyond.code, beyond.out) == (64, "")
    last = next(s["last_seq"] for s in bridle.sessions() if s["id"] == session)
    assert steady(beyond.err) == f"error: session ID has events 1 to {last}, not 999\n"


def test_a_message_is_added_without_a_run_and_a_fork_takes_the_first(bridle: Bridle, session: str):
    pushed = bridle("session", "push", session, "know", "this", "--role", "assistant")
    forks = [bridle("session", "fork", session, "--messages", count).out.strip() for count in ("1", "3")]
    beyond = bridle("session", "fork", session, "--messages", "9")

    assert pushed == Done(0, "", "")
    assert bridle("session", "show", forks[0]).out.endswith("\nyou\n  the first\n")
    assert bridle("session", "show", forks[1]).out.endswith("assistant\n  one\n  know this\n")
    assert beyond == Done(64, "", "error: the session has 3 messages, not 9\n")


def test_a_new_title(bridle: Bridle, session: str):
    assert bridle("session", "rename", session, "  a better\n title ") == Done(0, "", "")
    assert bridle.sessions()[0]["title"] == "a better title"
    assert bridle("session", "rename", session, " ") == Done(64, "", "error: the title is empty\n")


def test_the_options_of_a_session_are_shown_and_changed(bridle: Bridle, session: str):
    def shown() -> list[str]:
        return bridle("session", "configure", session).out.splitlines()

    before = shown()
    changed = bridle("session", "configure", session, "--plan", "--no-shell", "--deny", "read_file(x)")
    configured = shown()
    reset = bridle("session", "configure", session, "--reset", "mode", "--reset", "without_builtins")
    unknown = bridle("session", "configure", session, "--reset", "mood")

    assert [line.split()[0] for line in before] == ["model"]
    assert (changed, reset) == (Done(0, "", ""), Done(0, "", ""))
    assert configured == [
        *before[:1],
        "mode  plan",
        'deny  ["read_file(x)"]',
        'without_builtins  ["bash","jobs","job_output","job_kill"]',
    ]
    assert shown() == [*before[:1], 'deny  ["read_file(x)"]']
    assert (unknown.code, unknown.err.splitlines()[0]) == (64, 'error: a session has no option "mood"')


def test_labels_are_set_shown_removed_and_found(bridle: Bridle, session: str):
    model = bridle.script({"text": "one"}, {"text": "two"})
    bridle("run", "--model", model, "--label", "team=blue", "--label", "note=a=b", "the second")
    set_ = bridle("session", "label", session, "team=red", "size=")
    removed = bridle("session", "label", session, "--remove", "size")
    shown = {bridle("session", "label", one["id"]).out for one in bridle.sessions()}
    found = bridle("session", "list", "--json", "--label", "team=red", "--label", "team=red")
    none = bridle("session", "list", "--label", "team=red", "--label", "note=a=b")

    assert (set_, removed) == (Done(0, "", ""), Done(0, "", ""))
    assert shown == {"team=blue\nnote=a=b\n", "team=red\n"}
    assert json.loads(bridle("session", "label", session, "--json").out) == {"team": "red"}
    assert [one["id"] for one in json.loads(found.out)] == [session]
    assert none == Done(0, "", "warning: no session has these labels\n")


def test_what_is_no_label_is_refused(bridle: Bridle, session: str):
    not_one = bridle("session", "label", session, "red")
    going_on = bridle("run", "--continue", "--label", "team=red", "more")

    assert not_one.code == 64
    assert not_one.err.startswith("error: 'red' is not a label\nhint: write it as NAME=VALUE")
    assert going_on.code == 64
    assert going_on.err.startswith("error: --label is for a new session\nhint: bridle session label")


def test_archiving_and_bringing_back(bridle: Bridle, session: str):
    assert bridle("session", "archive", session) == Done(0, "", "")
    assert bridle.sessions()[0]["archived"] is True
    assert bridle("session", "archive", session, "--undo") == Done(0, "", "")
    assert "archived" not in bridle.sessions()[0]


def test_deleting_needs_a_yes(bridle: Bridle, session: str):
    refused = bridle("session", "delete", session)
    kept = len(bridle.sessions())
    done = bridle("session", "delete", session, "--yes")

    assert refused == Done(
        64, "", f"error: deleting needs confirmation\nhint: bridle session delete {session} --yes\n"
    )
    assert (kept, done, bridle.sessions()) == (1, Done(0, "", ""), [])


@pytest.mark.parametrize(("answer", "left"), [("y", 0), ("n", 1), ("", 1)])
def test_deleting_asks_on_a_terminal(bridle: Bridle, session: str, answer: str, left: int):
    with bridle.terminal("session", "delete", session[:13]) as terminal:
        terminal.expect("[y/N] ")
        terminal.send(f"{answer}\n")
        assert terminal.finish() == 0

    assert steady(terminal.screen) == (
        f'permanently delete "the first" (ID)? [y/N] {answer}\n'
        + ("nothing was deleted\n" if left else "session ID is deleted\n")
    )
    assert len(bridle.sessions()) == left


def test_changes_are_told_on_a_terminal(bridle: Bridle, session: str):
    with bridle.terminal("session", "rename", session, "new") as terminal:
        assert terminal.finish() == 0

    assert steady(terminal.screen) == "session ID renamed to new\n"
