import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.memory.local import hide_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key sk-proj-abcdefghijklmnop1234 end", "key [secret] end"),
        ("ghp_abcdefghijklmnopqrst0123456789abcdef", "[secret]"),
        ("id AKIAIOSFODNN7EXAMPLE.", "id [secret]."),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "[secret]"),
        ("xoxb-123456789012-abcdef", "[secret]"),
        ("t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl x", "t [secret] x"),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [secret]"),
        ("postgres://user:pa55w0rd@host/db", "postgres://user:[secret]@host/db"),
        ("password = 'correct horse'", "password = [secret]"),
        ('{"api_key": "1234567890"}', '{"api_key": [secret]}'),
        ("DB_PASSWORD=tr0ub4dor&3", "DB_PASSWORD=[secret]"),
        ("PASSWORD=letmein x", "PASSWORD=[secret] x"),
        ('password: "letmein"', "password: [secret]"),
        (
            "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----\nz",
            "a\n[secret]\nz",
        ),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE cut off here", "[secret]"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, shown: str):
    assert hide_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "the password is asked for at the start",
        "password: string or password: required",
        "api_key = os.environ['KEY']",
        "token=$TOKEN secret=<your secret>",
        "see https://example.org/a:b@c and git@github.com:a/b",
        "sk-learn and risk-free, -----BEGIN CERTIFICATE-----",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    ],
)
def test_what_only_speaks_of_secrets_stays(text: str):
    assert hide_secrets(text) == text


@given(st.text(max_size=300))
def test_hiding_twice_hides_nothing_more(text: str):
    once = hide_secrets(text)

    assert hide_secrets(once) == once
