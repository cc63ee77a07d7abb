"""The owner of a session, and the rights of a user."""

import inspect
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.budget import Limits
from bridle.core.errors import BridleError, ConfigError, NotAllowed, SessionNotFound, UsageError
from bridle.core.ids import is_session_id
from bridle.core.permission import Action, parse_rule
from bridle.core.protocol import AnyCommand
from bridle.core.protocol.values import snake
from bridle.core.session_api import SessionApi
from bridle.core.tenancy import (
    NEEDS,
    SCOPES,
    Bounds,
    Principal,
    Tenant,
    TenantLimits,
    audit_session,
    audited_tenant,
    check_tenant,
    check_user,
    may_see,
    qualify_session,
    tenant_of,
)

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,31}", fullmatch=True).filter(lambda name: name != "audit")
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", fullmatch=True).filter(is_session_id)


def test_everything_that_can_be_asked_for_needs_a_scope():
    methods = {
        name for name, _ in inspect.getmembers(SessionApi, inspect.isfunction) if not name.startswith("_")
    }
    commands = {snake(kind.__name__) for kind in get_args(AnyCommand)}

    assert set(NEEDS) == (methods - {"submit", "ask", "aclose"}) | commands


@pytest.mark.parametrize(
    ("session", "tenant"),
    [
        ("0198f2c1-1111", ""),
        ("acme.0198", "acme"),
        ("acme.a.b", "acme"),
        ("Acme.1", ""),
        ("a_b.1", ""),
        ("9a.1", ""),
        (f"{'a' * 33}.1", ""),
        ("audit.acme.n", "audit"),
    ],
)
def test_a_session_belongs_to_the_tenant_before_the_first_dot(session: str, tenant: str):
    assert tenant_of(session) == tenant


@given(NAMES, NAMES, IDS)
def test_no_name_of_one_tenant_means_a_session_of_another(mine: str, other: str, wanted: str):
    for name in (wanted, f"{other}.{wanted}"):
        try:
            session = qualify_session(mine, name)
        except UsageError:  # too long
            continue
        assert tenant_of(session) == mine
        assert is_session_id(session)
        assert qualify_session(mine, session) == session


def test_the_usual_tenant_has_no_words_for_the_sessions_of_others():
    assert qualify_session("", "0198-1") == "0198-1"
    with pytest.raises(SessionNotFound, match=r'^no session "acme\.1"'):
        qualify_session("", "acme.1")
    with pytest.raises(UsageError, match="cannot name a session"):
        qualify_session("acme", "../x")


def test_who_sees_what():
    ann, usual = Principal("acme", "ann", SCOPES), Principal("", "bob", ("read",))
    admin = Principal("", "root", SCOPES)
    sessions = ("1", "acme.1", "bolt.1", "audit.acme.n")

    assert [may_see(ann, one) for one in sessions] == [False, True, False, False]
    assert [may_see(usual, one) for one in sessions] == [True, False, False, False]
    assert [may_see(admin, one) for one in sessions] == [True, True, True, False]


@given(st.lists(st.sampled_from(SCOPES), unique=True), st.sampled_from(sorted(NEEDS)))
def test_an_action_needs_its_scope(scopes: list, action: str):
    who = Principal("acme", "ann", tuple(scopes))

    if NEEDS[action] in scopes:
        who.require(action, NEEDS[action])
    else:
        with pytest.raises(NotAllowed, match=f"^{action}: the token of ann has no scope"):
            who.require(action, NEEDS[action])


@pytest.mark.parametrize("name", ["", "A", "1a", "a_b", "a.b", "a" * 33, "audit", "a\n", "_"])
def test_what_cannot_name_a_tenant(name: str):
    with pytest.raises(UsageError):
        check_tenant(name)


@pytest.mark.parametrize("name", ["", " ann", "a/b", "a\nb", "x" * 101])
def test_what_cannot_name_a_user(name: str):
    with pytest.raises(UsageError):
        check_user(name)
    check_user("ann.b+c@d.example")


@pytest.mark.parametrize(
    ("tenant", "error"),
    [
        (Tenant("acme", deny=("bash(",)), ConfigError),
        (Tenant("acme", folders=("rel",)), UsageError),
        (Tenant("acme", folders=("/a/../b",)), UsageError),
        (Tenant("acme", limits=TenantLimits(day=Limits(tokens=-1))), UsageError),
        (Tenant("acme", allow=("bash",) * 201), ConfigError),
        (Tenant("Acme"), UsageError),
    ],
)
def test_what_cannot_hold_for_a_tenant(tenant: Tenant, error: type[BridleError]):
    with pytest.raises(error):
        tenant.check()
    Tenant("acme", deny=("bash(rm:*)",), folders=("/srv/acme",)).check()


@given(st.one_of(st.just(""), NAMES), st.text(max_size=100))
def test_audit_journals_are_told_by_their_name(tenant: str, node: str):
    session = audit_session(tenant, node)

    assert is_session_id(session)
    assert tenant_of(session) == "audit"
    assert audited_tenant(session) == tenant
    assert audited_tenant("acme.1") is None


@pytest.mark.parametrize(
    ("action", "text", "is_held"),
    [
        ("allow", "read_file", True),
        ("allow", "read_file(src/**)", True),
        ("allow", "read_file(/srv/acme/**)", True),
        ("allow", "*(/srv/acme/notes.md)", True),
        ("allow", "bash(/bin/ls:*)", True),
        ("allow", "read_file(/usr/include/**)", True),
        ("deny", "read_file(/etc/**)", True),
        ("allow", "read_file(/**)", False),
        ("allow", "read_file(//etc/passwd)", False),
        ("allow", "*(/srv/acme*/**)", False),
        ("allow", "write_file(/srv/acme2/x)", False),
        ("allow", "write_file(/srv/{acme,bolt}/x)", False),
        ("allow", "read_file(/usr/include/*)", False),
    ],
)
def test_a_rule_opens_the_folders_of_a_tenant_alone(action: Action, text: str, is_held: bool):
    bounds = Bounds(("/srv/acme/",), ("read_file(/usr/include/**)",))

    assert bounds.hold(parse_rule(action, text)) == is_held
