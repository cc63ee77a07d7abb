"""Agents of two homes, in separate processes, exchange messages."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.surfaces.command import Bridle, Done

OTHER_ID = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="


class Listener:
    """`bridle comms listen`, once it listens."""

    def __init__(self, bridle: Bridle, *args: str) -> None:
        self.process = bridle.start("comms", "listen", *args)
        assert self.process.stderr is not None
        line = self.process.stderr.readline().decode()
        assert line.startswith("listening at "), line + self.process.stderr.read().decode()
        self.address = line.removeprefix("listening at ").strip()

    def end(self) -> Done:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return Done(self.process.returncode, out.decode(), err.decode())


@pytest.fixture
def other(bridle: Bridle, tmp_path: Path) -> Bridle:
    """Return the program with another home."""
    home = tmp_path / "other/.bridle"
    home.mkdir(parents=True)
    return Bridle({**bridle.env, "HOME": str(home.parent), "BRIDLE_HOME": str(home)}, bridle.project)


@pytest.fixture
def listeners() -> Iterator[list[Listener]]:
    """Collect listeners, which are ended if a test has not done so."""
    started: list[Listener] = []
    yield started
    for listener in started:
        if listener.process.poll() is None:
            listener.process.kill()
        listener.process.communicate()


def identity(bridle: Bridle) -> dict[str, str]:
    done = bridle("comms", "id", "--json")
    assert done.code == 0, done.err
    found: dict[str, str] = json.loads(done.out)
    return found


def introduce(one: Bridle, other: Bridle, address: str) -> None:
    """Let two trust each other: `one` sends to `other`."""
    assert one("comms", "trust", "other", identity(other)["peer_id"], address) == Done(0, "", "")
    assert other("comms", "trust", "one", *identity(one).values()) == Done(0, "", "")


# ---------------------------------------------------------------------------- who is who


def test_the_id_stays_the_same_and_is_what_trust_takes(bridle: Bridle):
    first = bridle("comms", "id")

    assert first == bridle("comms", "id")
    assert first.out == f"{identity(bridle)['peer_id']} uds://{bridle.home}/run/comms/bridle.sock\n"
    key = bridle.home / "identity/identity.key"
    assert (key.stat().st_mode & 0o777, key.stat().st_size) == (0o600, 32)


def test_peers_are_trusted_listed_and_forgotten(bridle: Bridle):
    empty = bridle("comms", "peers")
    bridle("comms", "trust", "builder", OTHER_ID, "tcp://127.0.0.1:4200")
    listed, as_json = bridle("comms", "peers"), bridle("comms", "peers", "--json")

    assert empty == Done(0, "", "no trusted peers yet\nhint: bridle comms trust NAME PEER_ID ADDRESS\n")
    assert listed == Done(
        0,
        "PEER     PEER ID                                               ADDRESS\n"
        f"builder  {OTHER_ID}  tcp://127.0.0.1:4200\n",
        "",
    )
    assert json.loads(as_json.out) == [
        {"name": "builder", "address": "tcp://127.0.0.1:4200", "peer_id": OTHER_ID}
    ]
    assert bridle("comms", "untrust", "builder") == Done(0, "", "")
    assert bridle("comms", "peers") == empty
    assert bridle("comms", "untrust", "builder") == Done(
        1, "", "error: unknown peer builder\nhint: bridle comms peers\n"
    )


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("trust", "a b", OTHER_ID, "tcp://h:1"), 'error: "a b" is not a valid peer name'),
        (("trust", "a", "ed25519:x", "tcp://h:1"), 'error: "ed25519:x" is not a peer id'),
        (("trust", "a", OTHER_ID, "h:1"), 'error: "h:1" is not an address'),
        (("send", "nobody", "hi"), "error: unknown peer 'nobody'"),
        (("listen", "--limit", "0"), "error: --limit must be 1 or more"),
        (("listen", "--allow", "("), 'error: --allow: malformed rule "("'),
    ],
)
def test_a_mistake_is_told(bridle: Bridle, args: tuple[str, ...], why: str):
    done = bridle("comms", *args)

    assert done.code in (1, 64)
    assert done.err.startswith(why)
    assert "Traceback" not in done.err


def test_a_key_that_others_can_read_is_told(bridle: Bridle):
    identity(bridle)
    (bridle.home / "identity/identity.key").chmod(0o644)

    done = bridle("comms", "id")

    path = f"{bridle.home}/identity/identity.key"
    assert done == Done(1, "", f"error: {path}: others can read it\nhint: chmod 600 {path}\n")


def test_tcp_needs_an_address(bridle: Bridle):
    bridle("config", "set", "comms.mode", "tcp")

    assert bridle("comms", "id") == Done(
        1,
        "",
        'error: comms.mode is "tcp", but comms.address is not set\nhint: set it to 127.0.0.1:4200\n',
    )


def test_a_project_has_no_say_in_who_we_are(bridle: Bridle):
    before = bridle("comms", "id")
    (bridle.project / ".bridle").mkdir()
    (bridle.project / ".bridle/config.toml").write_text('[comms]\nname = "evil"\nmode = "tcp"\n')

    assert bridle("comms", "id").out == before.out


# ---------------------------------------------------------------------------- two processes


@pytest.mark.parametrize("mode", ["unix", "tcp"])
def test_a_message_goes_from_one_process_to_another(
    bridle: Bridle, other: Bridle, listeners: list[Listener], mode: str
):
    if mode == "tcp":
        other("config", "set", "comms.address", "127.0.0.1:0")
        other("config", "set", "comms.mode", "tcp")
    listener = Listener(other, "--no-run", "--limit", "2")
    listeners.append(listener)
    introduce(bridle, other, listener.address)

    sent = [bridle("comms", "send", "other", *words) for words in (("hello", "you"), ("again",))]

    assert sent == [Done(0, "", "")] * 2
    assert listener.end() == Done(
        0, "[COMMS MESSAGE from one]\nhello you\n[COMMS MESSAGE from one]\nagain\n", ""
    )
    gone = bridle("comms", "send", "other", "still there?")
    assert gone.code == 1
    assert gone.err.startswith(f"error: nothing is listening at {listener.address}: ")


def test_who_is_not_trusted_is_not_heard(bridle: Bridle, other: Bridle, listeners: list[Listener]):
    listener = Listener(other, "--no-run", "--limit", "1")
    listeners.append(listener)
    introduce(bridle, other, listener.address)
    other("comms", "untrust", "one")

    refused = bridle("comms", "send", "other", "secret")
    other("comms", "trust", "one", *identity(bridle).values())
    bridle("comms", "send", "other", "heard")

    assert refused == Done(
        1,
        "",
        f"error: {listener.address} did not accept it\n"
        "hint: it may not trust you, be another peer, or have a full inbox\n",
    )
    assert listener.end().out == "[COMMS MESSAGE from one]\nheard\n"


def test_an_agent_answers_until_it_is_dismissed(bridle: Bridle, other: Bridle, listeners: list[Listener]):
    model = other.script({"text": "I am well"}, {"text": "as I said"})
    listener = Listener(other, "--model", model)
    listeners.append(listener)
    introduce(bridle, other, listener.address)

    for body in ("how are you", "really", "DISMISS"):
        assert bridle("comms", "send", "other", body) == Done(0, "", "")

    assert listener.end() == Done(
        0,
        "[COMMS MESSAGE from one]\nhow are you\nI am well\n[COMMS MESSAGE from one]\nreally\nas I said\n",
        "",
    )
    assert [(session["title"], session["outcome"]) for session in other.sessions()] == [
        ("peer one", "completed")
    ]


def test_a_session_can_be_chosen(bridle: Bridle, other: Bridle, listeners: list[Listener]):
    model = other.script({"text": "first"}, {"text": "second"})
    other("run", "-p", "--model", model, "begin")
    (session,) = other.sessions()
    listener = Listener(other, "--session", session["id"][:13], "--model", model, "--limit", "1")
    listeners.append(listener)
    introduce(bridle, other, listener.address)

    bridle("comms", "send", "other", "go on")

    assert listener.end().out == "[COMMS MESSAGE from one]\ngo on\nsecond\n"
    assert [found["id"] for found in other.sessions()] == [session["id"]]


def test_what_fails_is_said_and_the_host_goes_on(bridle: Bridle, other: Bridle, listeners: list[Listener]):
    listener = Listener(other, "--model", "scripted/none.json", "--limit", "2")
    listeners.append(listener)
    introduce(bridle, other, listener.address)

    bridle("comms", "send", "other", "1")
    bridle("comms", "send", "other", "2")

    done = listener.end()
    assert (done.code, done.out) == (0, "[COMMS MESSAGE from one]\n1\n[COMMS MESSAGE from one]\n2\n")
    assert done.err.count("error: ") == 2


def test_two_processes_do_not_listen_at_one_place(other: Bridle, listeners: list[Listener]):
    listeners.append(Listener(other, "--no-run"))

    done = other("comms", "listen", "--no-run")

    assert done == Done(
        1,
        "",
        f"error: another process is listening at {other.home}/run/comms/bridle.sock\n"
        "hint: stop it, or change comms.name\n",
    )


def test_a_host_ends_when_nobody_reads_its_output(bridle: Bridle, other: Bridle, listeners: list[Listener]):
    listener = Listener(other, "--no-run")
    listeners.append(listener)
    introduce(bridle, other, listener.address)
    assert listener.process.stdout is not None
    listener.process.stdout.close()

    bridle("comms", "send", "other", "hello")

    assert listener.process.wait(PATIENCE_S) == 141


WAIT = {"name": "bash", "args": {"command": "touch begun; until [ -e go ]; do sleep 0.05; done"}}


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.02)


def test_a_run_without_a_daemon_hears_its_peers(bridle: Bridle, other: Bridle):
    other("config", "set", "comms.mode", "unix")
    introduce(bridle, other, identity(other)["address"])
    model = other.script({"calls": [WAIT]}, {"text": "I heard"})
    running = other.start("run", "-p", "--model", model, "--allow", "bash", "work")
    wait_for(other.project / "begun")

    sent = bridle("comms", "send", "other", "the tests are red")
    (other.project / "go").touch()
    out, err = running.communicate(timeout=PATIENCE_S)
    shown = other("session", "show", other.sessions()[0]["id"])

    assert sent == Done(0, "", "")
    assert (running.returncode, out) == (0, b"I heard\n"), err
    assert "another agent\n  Messages from other agents, not from the user" in shown.out
    assert "  [COMMS MESSAGE from one]\n  the tests are red\n\nassistant\n  I heard\n" in shown.out
    gone = bridle("comms", "send", "other", "still there?")
    assert gone.err.startswith("error: nothing is listening")


def test_a_run_beside_a_listener_says_that_it_hears_nothing(
    bridle: Bridle, other: Bridle, listeners: list[Listener]
):
    other("config", "set", "comms.mode", "unix")
    introduce(bridle, other, identity(other)["address"])
    listeners.append(Listener(other, "--no-run"))

    done = other("run", "--model", other.script({"text": "done"}), "work")

    assert (done.code, done.out) == (0, "done\n")
    assert "no messages from peers reach this process: another process is listening" in done.err


def test_a_listening_agent_gets_the_replies_to_its_requests(
    bridle: Bridle, other: Bridle, listeners: list[Listener]
):
    request = {"name": "peer_request", "args": {"to": "one", "intent": "count"}}
    model = other.script({"calls": [request]}, {"calls": [WAIT]}, {"text": "three"})
    asker = Listener(
        other, "--model", model, "--limit", "1", "--allow", "peer_request(one)", "--allow", "bash"
    )
    answerer = Listener(bridle, "--no-run", "--limit", "1")
    listeners += [asker, answerer]
    introduce(bridle, other, asker.address)
    bridle("comms", "send", "other", "how many?")
    asked = answerer.end().out
    request_id = asked.partition("(id: ")[2].partition(")")[0]
    wait_for(other.project / "begun")

    respond = {"name": "peer_respond", "args": {"to": "other", "in_reply_to": request_id}}
    respond["args"] |= {"status": "completed", "result": 3}
    bridle("config", "set", "comms.mode", "unix")
    replies = bridle.script({"calls": [respond]}, {"text": "answered"})
    answered = bridle("run", "-p", "--model", replies, "--allow", "peer_respond(other)", "answer")
    (other.project / "go").touch()
    done = asker.end()
    (session,) = other.sessions()

    assert answered.out == "answered\n"
    assert done.out.endswith("three\n")
    shown = other("session", "show", session["id"]).out
    assert f"[COMMS RESPONSE from one (to request: {request_id})]" in shown


def test_ctrl_c_ends_a_host_and_leaves_nothing(other: Bridle, listeners: list[Listener]):
    listener = Listener(other, "--no-run")
    listeners.append(listener)

    os.killpg(listener.process.pid, signal.SIGINT)

    assert listener.end() == Done(130, "", "")
    assert not (other.home / "run/comms/bridle.sock").exists()
