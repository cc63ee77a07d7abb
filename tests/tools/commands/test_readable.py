"""Command lines that are rejected without parsing."""

import pytest

from bridle.tools.commands.syntax_tree import MAX_BYTES, MAX_LOOSE_BYTES, find_unreadable

LONG = "x" * (MAX_LOOSE_BYTES + 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ls\n\tpwd é ü 漢", ""),
        ("ls\0", "the command line contains control characters"),
        ("ls\r", "the command line contains control characters"),
        ("ls\x7f", "the command line contains control characters"),
        ("ls\u200b", "the command line contains invisible characters"),
        ("ls\u2028", "the command line contains invisible characters"),
        ("ls\u3000x", "the command line contains invisible characters"),
        ("ls\x85", "the command line contains invisible characters"),
        ("ls \ud800", "the command line contains invisible characters"),
        ("x" * (MAX_BYTES + 1), f"the command line is longer than {MAX_BYTES} bytes"),
        (LONG, f"the command line contains more than {MAX_LOOSE_BYTES} bytes of commands"),
        (f"echo '{LONG}'", ""),
        (f'echo "{LONG}"', ""),
        (f'echo "$(a) {LONG}"', f"the command line contains more than {MAX_LOOSE_BYTES} bytes of commands"),
        (f"cat <<EOF\n{LONG}\nEOF\nls", ""),
        (
            f"cat <<'E'\n{LONG}\nE\n{LONG}",
            f"the command line contains more than {MAX_LOOSE_BYTES} bytes of commands",
        ),
        (f"cat <<EOF\n{LONG}", f"the command line contains more than {MAX_LOOSE_BYTES} bytes of commands"),
    ],
)
def test_what_is_not_tried(text: str, why: str):
    assert find_unreadable(text) == why
