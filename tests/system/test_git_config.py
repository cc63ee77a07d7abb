"""Git's config files: what is read from them, and what is not trusted."""

import os
import time
from pathlib import Path

import pytest

from bridle.system.git_config import read_settings, read_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("# x\n; y\n\n[core]\n", []),
        ("[core]\n\tbare = false\n", [("core.bare", "false")]),
        ("[CORE]\n\tBare\n", [("core.bare", "")]),
        ('[remote "O.x"]\nurl = a b\n', [("remote.O.x.url", "a b")]),
        ("\ufeff[core]\neol=lf", [("core.eol", "lf")]),
        ("[core] bare = true\n", [("", "[core] bare = true")]),
        ("bare = true\n", [("", "bare = true")]),
        ("[core]\nx = a \\\nb\n", [("", "x = a \\"), ("core.b", "")]),
        ("[core\nx = 1\n", [("", "[core"), ("", "x = 1")]),
    ],
)
def test_settings_and_what_is_none(text: str, expected: list[tuple[str, str]]):
    assert list(read_settings(text)) == expected


def test_only_plain_files_of_a_bounded_size_are_read(tmp_path: Path):
    (tmp_path / "plain").write_text("x")
    (tmp_path / "link").symlink_to("plain")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "long").write_text("x" * 300_000)

    found = [read_text(str(tmp_path / name)) for name in ("plain", "link", "fifo", "long", "missing", ".")]
    assert found == ["x", None, None, None, None, None]


@pytest.mark.parametrize(
    "line", [f"x = a{' ' * 200_000}b", "x" * 200_000, f'[a "{chr(92) * 200_000}', " =" * 100_000]
)
def test_no_line_takes_long(line: str):
    start = time.thread_time()
    list(read_settings(f"[core]\n{line}\n"))

    assert time.thread_time() - start < 5
