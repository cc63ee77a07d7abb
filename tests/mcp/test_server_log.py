"""The log output of servers."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.mcp.server_log import MAX_LINE_CHARS, MAX_LINES, ServerLog, clean, clean_line
from bridle.mcp.settings import OAuth, ServerSettings


def test_what_steers_a_terminal_is_taken_out():
    text = "\x1b[31mred\x1b[0m \x1b]0;title\x07plain\x1b]8;;x\x1b\\link\x07 a\u202eb\u200bc\x00\r\nnext\ttab"

    assert clean(text, 100) == "red plainlink abc\nnext\ttab"


def test_a_long_text_is_cut():
    assert clean("x" * 100, 10) == "x" * 9 + "…"
    assert clean_line("a\n b\t c", 10) == "a b c"


@given(st.text(), st.integers(1, 50))
def test_nothing_longer_and_no_control_character_is_left(text: str, limit: int):
    found = clean(text, limit)

    assert len(found) <= limit
    assert not [one for one in found if ord(one) < 32 and one not in "\n\t"]
    assert "\x1b" not in found


def test_the_last_lines_are_kept_without_secrets():
    settings = ServerSettings(
        "x",
        "stdio",
        env={"API_KEY": "sk-123456", "PATH": "/usr/bin", "DB_PASSWORD": "short"},
        headers={"Authorization": "Bearer abcdef"},
        oauth=OAuth(client_secret="oauth-secret"),
    )
    words = ServerLog(settings)
    words.say("key sk-123456, Bearer abcdef, oauth-secret, /usr/bin, short")
    words.say("   ")

    assert words.lines == ("key (hidden), (hidden), (hidden), /usr/bin, short",)


def test_old_lines_make_room_and_long_ones_are_cut():
    words = ServerLog(ServerSettings("x", "stdio"))
    for number in range(MAX_LINES + 5):
        words.say(f"{number} " + "y" * 1000)

    assert len(words.lines) == MAX_LINES
    assert words.lines[0].startswith("5 ")
    assert len(words.lines[0]) == MAX_LINE_CHARS
    assert words.last(2) == "\n".join(words.lines[-2:])


def test_a_token_is_hidden_also_without_the_word_before_it():
    headers = {"Authorization": "Bearer abcdef123", "User-Agent": "my client"}
    words = ServerLog(ServerSettings("a", "http", headers=headers))

    assert words.mask("abcdef123 is no token of a client, Bearer abcdef123") == (
        "(hidden) is no token of a client, (hidden)"
    )
