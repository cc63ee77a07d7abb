import os
from pathlib import Path

import pytest

from bridle.config.context_files import MAX_FILE_BYTES, MAX_TOTAL_BYTES, ContextText, read_context_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    (path / "src" / "deep").mkdir(parents=True)
    return path


def wrapped(label: str, text: str) -> str:
    return f'<instructions from="{label}">\n{text}\n</instructions>'


def test_files_are_read_from_the_general_to_the_particular(home: Path, root: Path):
    (home / "AGENTS.md").write_text("mine")
    (root / "AGENTS.md").write_text("root\n")
    (root / "src/deep/AGENTS.md").write_text("\ndeep")
    (root.parent / "AGENTS.md").write_text("above the root")

    assert read_context_files(home, root, root / "src/deep") == ContextText(
        "\n\n".join(
            [
                wrapped("your AGENTS.md", "mine"),
                wrapped("AGENTS.md", "root"),
                wrapped("src/deep/AGENTS.md", "deep"),
            ]
        ),
        (home / "AGENTS.md", root / "AGENTS.md", root / "src/deep/AGENTS.md"),
    )


def test_only_folders_on_the_way_count(home: Path, root: Path):
    (root / "src/deep/AGENTS.md").write_text("deep")

    assert read_context_files(home, root, root / "src") == ContextText()


def test_claude_md_is_read_where_there_is_no_agents_md(home: Path, root: Path):
    (root / "AGENTS.md").write_text("agents")
    (root / "CLAUDE.md").write_text("not read")
    (root / "src" / "CLAUDE.md").write_text("claude")

    assert read_context_files(home, root, root / "src").text == "\n\n".join(
        [wrapped("AGENTS.md", "agents"), wrapped("src/CLAUDE.md", "claude")]
    )


def test_an_empty_file_says_nothing_but_is_there(home: Path, root: Path):
    (root / "AGENTS.md").write_text(" \n")
    (root / "CLAUDE.md").write_text("not read")

    assert read_context_files(home, root, root) == ContextText()


def test_the_same_files_give_the_same_bytes(home: Path, root: Path):
    for folder in (home, root, root / "src"):
        (folder / "AGENTS.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo \xc3\xa9\r\n")

    texts = {read_context_files(home, root, root / "src").text for _ in range(3)}

    assert texts == {
        "\n\n".join(
            wrapped(label, "one\ntwo é") for label in ("your AGENTS.md", "AGENTS.md", "src/AGENTS.md")
        )
    }


def test_a_long_file_is_cut_at_a_line_and_says_so(home: Path, root: Path):
    line = "é" * 50 + "\n"
    (root / "AGENTS.md").write_text(line * 1000)

    text = read_context_files(home, root, root).text

    note = f"[cut: the file has 101000 bytes, of which {MAX_FILE_BYTES} are read]"
    assert text == wrapped("AGENTS.md", line * (MAX_FILE_BYTES // 101) + note)


@pytest.mark.parametrize("prefix", ["", "x"])
def test_a_cut_inside_a_character_is_no_error(home: Path, root: Path, prefix: str):
    (root / "AGENTS.md").write_text(prefix + "é" * MAX_FILE_BYTES)

    found = read_context_files(home, root, root)

    assert found.warnings == ()
    assert f"{prefix}{'é' * ((MAX_FILE_BYTES - len(prefix)) // 2)}\n[cut: " in found.text


def test_a_file_of_exactly_the_limit_is_whole(home: Path, root: Path):
    (root / "AGENTS.md").write_text("x" * MAX_FILE_BYTES)

    assert read_context_files(home, root, root).text == wrapped("AGENTS.md", "x" * MAX_FILE_BYTES)


def test_all_files_together_have_a_limit_too(home: Path, root: Path):
    """Each folder on the way may have a file, and there may be hundreds of folders."""
    line = "é" * 49 + "\n"
    lines = 300
    deep = root / "src" / "deep"
    for folder in (home, root, root / "src", deep):
        (folder / "AGENTS.md").write_text(line * lines)

    found = read_context_files(home, root, deep)

    size = lines * 99 - 1  # the last line's end is stripped
    rest = (MAX_TOTAL_BYTES - 2 * size) // 99
    whole = (line * lines).strip()
    note = f"these files together exceed {MAX_TOTAL_BYTES} bytes"
    assert found == ContextText(
        "\n\n".join(
            [
                wrapped("your AGENTS.md", whole),
                wrapped("AGENTS.md", whole),
                wrapped("src/AGENTS.md", f"{line * rest}[cut: {note}]"),
            ]
        ),
        (home / "AGENTS.md", root / "AGENTS.md", root / "src/AGENTS.md"),
        (f"{root}/src/AGENTS.md: is cut: {note}", f"{deep}/AGENTS.md: is left out: {note}"),
    )


def test_a_file_that_fills_the_limit_is_whole(home: Path, root: Path):
    (home / "AGENTS.md").write_text("x" * MAX_FILE_BYTES)
    (root / "AGENTS.md").write_text("y" * MAX_FILE_BYTES)
    (root / "src" / "AGENTS.md").write_text("z")

    found = read_context_files(home, root, root / "src")

    assert [len(found.text) > 2 * MAX_FILE_BYTES, "z" in found.text, len(found.warnings)] == [True, False, 1]


def test_a_file_that_another_one_names_is_not_read(home: Path, root: Path):
    (root / "AGENTS.md").write_text("@other.md\n@~/.ssh/id_rsa")
    (root / "other.md").write_text("other")

    assert read_context_files(home, root, root).text == wrapped("AGENTS.md", "@other.md\n@~/.ssh/id_rsa")


def test_a_link_out_of_the_project_is_not_followed(home: Path, root: Path, tmp_path: Path):
    (tmp_path / "id_rsa").write_text("PRIVATE")
    (root / "AGENTS.md").symlink_to(tmp_path / "id_rsa")
    (root / "CLAUDE.md").write_text("claude")
    (root / "src" / "AGENTS.md").symlink_to("../CLAUDE.md")

    assert read_context_files(home, root, root / "src") == ContextText(
        "\n\n".join([wrapped("CLAUDE.md", "claude"), wrapped("src/AGENTS.md", "claude")]),
        (root / "CLAUDE.md", root / "src/AGENTS.md"),
        (f"{root}/AGENTS.md: points outside the project, to {tmp_path}/id_rsa (skipped)",),
    )


def test_the_users_own_file_may_be_a_link(home: Path, root: Path, tmp_path: Path):
    (tmp_path / "dotfile").write_text("mine")
    (home / "AGENTS.md").symlink_to(tmp_path / "dotfile")

    assert read_context_files(home, root, root).text == wrapped("your AGENTS.md", "mine")


def test_what_cannot_be_read_is_left_out_with_a_warning(home: Path, root: Path):
    os.mkfifo(home / "AGENTS.md")
    (root / "AGENTS.md").write_bytes(b"one\n\xff\n")
    (root / "src" / "AGENTS.md").mkdir()
    (root / "src" / "deep" / "AGENTS.md").write_text("deep")

    assert read_context_files(home, root, root / "src/deep") == ContextText(
        wrapped("src/deep/AGENTS.md", "deep"),
        (root / "src/deep/AGENTS.md",),
        (
            f"{home}/AGENTS.md: is not a regular file (skipped)",
            f"{root}/AGENTS.md:2: is not UTF-8 text (skipped)",
            f"{root}/src/AGENTS.md: is not a regular file (skipped)",
        ),
    )


def test_a_folder_with_a_strange_name_cannot_break_the_frame(home: Path, root: Path):
    strange = root / 'a">\nb'
    strange.mkdir()
    (strange / "AGENTS.md").write_text("text")

    assert read_context_files(home, root, strange).text == wrapped('a\\">\\nb/AGENTS.md', "text")


def test_the_users_folder_inside_of_the_project_counts_once(root: Path):
    (root / "AGENTS.md").write_text("root")

    assert read_context_files(root, root, root).text == wrapped("your AGENTS.md", "root")
