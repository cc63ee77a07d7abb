import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bridle.config.textfile import MAX_TEXT_BYTES, Head, read_head, read_text, write_text
from bridle.core.errors import ConfigError


def refusal(path: Path, within: Path | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        read_text(path, within=within)
    return str(caught.value)


def test_a_text_is_read_without_its_byte_order_mark(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\xc3\xa9")

    assert read_text(tmp_path / "a") == "one\r\ntwoé"


def test_a_missing_file_is_nothing(tmp_path: Path):
    (tmp_path / "file").touch()

    assert [read_text(tmp_path / "none"), read_text(tmp_path / "file" / "none")] == [None, None]


def test_a_head_says_how_long_the_file_is(tmp_path: Path):
    (tmp_path / "a").write_text("12345")

    assert read_head(tmp_path / "a", 3) == Head(b"123", 5)
    assert read_head(tmp_path / "a", 5) == Head(b"12345", 5)


def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"one\ntwo\nthr\xffee\n")

    assert refusal(path) == f"{path}:3: is not UTF-8 text (byte 0xff) (hint: save the file as UTF-8)"


def test_a_giant_is_refused_without_reading_it(tmp_path: Path):
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(1 << 40)

    assert refusal(path) == f"{path}: is larger than 1 MiB"


def test_a_text_may_be_exactly_as_long_as_allowed(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"x" * MAX_TEXT_BYTES)

    assert len(read_text(tmp_path / "a") or "") == MAX_TEXT_BYTES


def test_a_fifo_does_not_block(tmp_path: Path):
    os.mkfifo(tmp_path / "a")

    assert refusal(tmp_path / "a") == f"{tmp_path}/a: is not a regular file"


@pytest.mark.parametrize("path", ["/dev/zero", "/dev", "/dev/null"])
def test_what_is_no_file_is_refused(path: str):
    assert refusal(Path(path)) == f"{path}: is not a regular file"


def test_a_link_to_itself_is_refused(tmp_path: Path):
    path = tmp_path / "a"
    path.symlink_to(path)

    assert refusal(path) == f"{path}: cannot be read: Too many levels of symbolic links"


def test_a_link_is_followed_inside_the_folder_only(tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "real").write_text("inside")
    (project / "near").symlink_to("real")
    (tmp_path / "key").write_text("secret")
    (project / "far").symlink_to(tmp_path / "key")
    (project / "up").symlink_to(tmp_path)

    assert read_text(project / "near", within=project) == "inside"
    assert read_text(project / "far") == "secret"
    assert [refusal(project / "far", within=project), refusal(project / "up/key", within=project)] == [
        f"{project}/far: points outside the project, to {tmp_path}/key (hint: replace the link with a file)",
        (
            f"{project}/up/key: points outside the project, to {tmp_path}/key"
            " (hint: replace the link with a file)"
        ),
    ]


def test_a_written_file_is_private_and_its_folder_is_made(tmp_path: Path):
    path = tmp_path / "new" / "config.toml"

    write_text(path, "one\n")

    assert path.read_text() == "one\n"
    assert [stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)] == [0o600, 0o700]
    assert list(path.parent.iterdir()) == [path]


def test_an_open_file_becomes_private_when_it_is_written(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.touch(mode=0o666)

    write_text(path, "two")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_writing_keeps_a_link(tmp_path: Path):
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "real").write_text("old")
    (tmp_path / "link").symlink_to("dotfiles/real")

    write_text(tmp_path / "link", "new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dotfiles" / "real").read_text() == "new"


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path):
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError) as caught:
        write_text(tmp_path / "file" / "config.toml", "x")

    assert str(caught.value) == f"{tmp_path}/file/config.toml: cannot be written: File exists"


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("old")
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from bridle.config.textfile import write_text\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))\n"
        "write_text(Path(sys.argv[1]), 'x' * 100)\n"
    )

    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)

    assert done.stderr.endswith(f"ConfigError: {path}: cannot be written: File too large\n")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
