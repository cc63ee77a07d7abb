"""The names of sub-agents' sessions."""

from bridle.core.ids import CallId, RunId, SessionId, is_session_id
from bridle.core.sub_agent import child_session_id
from bridle.core.tenancy import tenant_of


def named(parent: str = "p", run: str = "r", call: str = "c", place: int = 0) -> SessionId:
    return child_session_id(SessionId(parent), 1_000, RunId(run), CallId(call), place)


def test_a_call_names_the_same_session_each_time():
    assert named() == named()


def test_everything_else_names_another():
    names = [
        named(),
        named(parent="q"),
        named(run="s"),
        named(call="d"),
        named(place=1),
        named("p", "r\0c", ""),
    ]

    assert len(set(names)) == len(names)


def test_children_of_one_call_differ_in_the_part_that_is_shown():
    shown = {named(place=place)[:13] for place in range(50)}

    assert len(shown) == 50


def test_it_belongs_to_the_tenant_of_its_parent():
    assert tenant_of(named("acme.p")) == "acme"
    assert tenant_of(named()) == ""


def test_a_call_may_have_any_id():
    assert is_session_id(named(call="\ud800 / ../"))
