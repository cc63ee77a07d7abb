"""Which session is in front, and what was chosen in each."""

from bridle.core.ids import SessionId
from bridle.core.protocol import RunOptions
from bridle.surfaces.tui.open_sessions import OpenSessions, PromptOptions

A, B, C = SessionId("a"), SessionId("b"), SessionId("c")


def opened(*sessions: SessionId) -> OpenSessions:
    front = OpenSessions("/home")
    for session in sessions:
        front.show(session)
    return front


def test_open_sessions_go_round():
    front = opened(A, B, C)

    assert (front.adjacent_session(1), front.adjacent_session(-1)) == (A, B)
    front.show(None)
    assert (front.adjacent_session(1), front.adjacent_session(-1)) == (A, C)
    assert OpenSessions("/").adjacent_session(1) is None


def test_choices_belong_to_a_session_and_go_along_when_one_begins():
    front = opened(A)
    front.choose(PromptOptions(model="x/y"))
    front.show(None)
    assert front.choice == PromptOptions()
    front.choose(PromptOptions(mode="plan", agent="coder"))
    front.began(B)

    assert front.choice.options() == RunOptions(mode="plan", agent="coder")
    assert (front.open, front.session) == ([A, B], B)
    front.show(A)
    assert front.choice == PromptOptions(model="x/y")
    front.show(None)
    assert front.choice == PromptOptions()


def test_modes_go_round_without_yolo():
    front = opened(A)

    assert [front.next_mode() for _ in range(4)] == ["plan", "accept-edits", "ask", "plan"]
    front.choose(PromptOptions(mode="yolo"))
    assert front.next_mode() == "ask"


def test_a_session_that_is_gone_leaves_nothing():
    front = opened(A, B)
    front.drafts[A] = "typed"
    front.close(A)
    front.close(A)

    assert (front.open, front.drafts) == ([B], {})


def test_drafts_of_new_sessions_belong_to_their_folder():
    front = OpenSessions("/home")
    assert front.draft_key == "new /home"
    front.show(None, "/other")
    assert front.draft_key == "new /other"
    front.show(A)
    assert front.draft_key == "a"
