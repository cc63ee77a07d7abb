"""The addresses of sessions."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.ids import SessionId, is_session_id
from bridle.surfaces.mcp_server.uris import LIST, parse_uri, session_uri


@given(st.text(alphabet="abc019.-_/%?#", min_size=1, max_size=12))
def test_an_address_names_its_session_and_no_other(name: str):
    found = parse_uri(session_uri(SessionId(name)))

    assert found in (None, (SessionId(name), False), (SessionId(name.removesuffix("/records")), True))
    assert found is None or is_session_id(found[0])


def test_records_have_an_address_of_their_own():
    assert parse_uri(f"{LIST}/s1/records") == (SessionId("s1"), True)
    assert parse_uri(f"{LIST}/s1") == (SessionId("s1"), False)
    assert parse_uri(LIST) is None
