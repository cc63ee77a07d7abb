"""Secrets are found by name, and their values are masked in every encoding and across every split."""

import base64
import json
import time
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.tools.secrets import Masker, find_secrets, is_secret_name, password_within

SECRET = "s3cr/t+v@lue wïth"
MASKER = Masker({"KEY": SECRET})


# ---------------------------------------------------------------------------- names and values


@pytest.mark.parametrize(
    "name",
    """
    OPENAI_API_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY DB_PASSWORD PGPASSWORD MYSQL_PWD DOCKER_AUTH_CONFIG
    GOOGLE_APPLICATION_CREDENTIALS npm_config__auth MyAppSecret SSH_PRIVATE_KEY SESSION_ID COOKIE apikey
    """.split(),
)
def test_names_of_secrets(name: str):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    "PATH PWD OLDPWD KEYBOARD GIT_AUTHOR_NAME TOKENIZERS_PARALLELISM XDG_SESSION_TYPE".split(),
)
def test_names_of_other_things(name: str):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("value", "password"),
    [
        ("postgres://me:hunter22@db/x", "hunter22"),
        ("redis://:hunter22@cache:6379/0", "hunter22"),
        ("host=db user=me password=hunter22 sslmode=require", "hunter22"),
        ("Server=db;User=me;Pwd=hunter22;", "hunter22"),
        ("https://example.org/a:b@c", ""),
        ("git@example.org:me/it.git", ""),
        ("", ""),
    ],
)
def test_the_password_inside_a_value(value: str, password: str):
    assert password_within(value) == password


def test_only_values_that_can_be_secrets_are_found():
    environ = {
        "A_KEY": "0123456789abcdef",
        "A_TOKEN": "short",
        "AUTH_MODE": "disabled",
        "DB_PASSWORD": "postgres",
        "SSH_AUTH_SOCK": "/run/user/1000/agent",
        "KEY_FILE": "~/keys/id",
        "SESSION_NUMBER": "1234567890",
        "SECRET_BASE64": "/Ab+cd/efghijklmnop==",
        "DATABASE_URL": "postgres://me:correct-horse@db/x",
        "HARMLESS": "a long value of no interest",
    }

    assert find_secrets(environ) == {
        "A_KEY": "0123456789abcdef",
        "SECRET_BASE64": "/Ab+cd/efghijklmnop==",
        "DATABASE_URL": "correct-horse",
    }


# ---------------------------------------------------------------------------- whole texts


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower(),
        quote(SECRET),
        quote_plus(SECRET),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET).replace("/", "\\/")[1:-1],
    ],
)
def test_every_form_is_masked(form: str):
    assert MASKER.mask(f"<{form}>") == "<[secret KEY]>"


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
@pytest.mark.parametrize("after", ["", "x", "xy", "\n"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_is_masked_wherever_the_secret_begins(before: str, after: str, encode):
    masked = MASKER.mask(encode(f"{before}{SECRET}{after}".encode()).decode())

    assert "[secret KEY]" in masked
    assert len(masked.replace("[secret KEY]", "")) <= 4 + len(before) * 2 + 4


def test_the_longest_secret_wins_and_short_ones_are_left_alone():
    masker = Masker({"LONG": "abcdefgh-ijkl", "PART": "abcdefgh", "SHORT": "abc"})

    assert masker.mask("abcdefgh-ijkl abcdefgh-ijk abc") == "[secret LONG] [secret PART]-ijk abc"


def test_a_masker_without_secrets_changes_nothing():
    assert Masker({}).mask("text \ud800 ïs text") == "text \ud800 ïs text"


def test_a_secret_of_many_lines_and_one_that_is_very_long_are_masked():
    key = "-----BEGIN-----\n" + "QUJD" * 3000 + "\n-----END-----"
    masker = Masker({"PEM": key})

    assert masker.mask(key).replace("[secret PEM]", "") == ""
    assert "QUJDQUJD" not in masker.mask(json.dumps({"pem": key}))


def test_two_hundred_secrets_cost_little():
    secrets = {f"K{number}": f"{number:03}-" + "x1y2" * 8 + str(number) for number in range(200)}
    masker = Masker(secrets)
    near = (secrets["K7"][:-1] + "!") * 25_000
    masker.mask(near[:100])

    started = time.thread_time()
    masked = masker.mask(near + secrets["K199"])

    assert time.thread_time() - started < 5
    assert masked == near + "[secret K199]"


# ---------------------------------------------------------------------------- texts in pieces

ALPHABET = "abc"


@given(
    values=st.lists(st.text(ALPHABET, min_size=8, max_size=12), min_size=1, max_size=4),
    text=st.text(ALPHABET, max_size=80),
    cuts=st.lists(st.integers(0, 80), max_size=8),
    at=st.integers(0, 80),
)
def test_pieces_give_what_the_whole_text_gives(values: list[str], text: str, cuts: list[int], at: int):
    masker = Masker({str(number): value for number, value in enumerate(values)})
    text = text[:at] + values[0] + text[at:]
    places = [0, *sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    stream = masker.stream()

    pieces = [stream.feed(text[start:end]) for start, end in pairwise(places)]

    assert "".join([*pieces, stream.flush()]) == masker.mask(text)
    assert values[0] not in masker.mask(text)


def test_only_what_may_be_a_secret_is_held_back():
    stream = Masker({"KEY": "0123456789"}).stream()

    assert stream.feed("hello 01234") == "hello "
    assert stream.feed("5 6789") == "012345 6789"
    assert stream.feed("0123456789") == "[secret KEY]"
    assert stream.feed("01") == ""
    assert stream.flush() == "01"
