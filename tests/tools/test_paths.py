"""Paths from a model stay inside the working directory."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.tools.paths import ResolvedPath, clean_path, printable, resolve


def test_the_vectors_of_safe_paths(vectors):
    for vector in vectors("safe_relative"):
        if vector["safe"]:
            clean_path(vector["path"])
            continue
        with pytest.raises(ToolError) as caught:
            clean_path(vector["path"])
        assert str(caught.value) == "absolute or parent paths are not allowed"


def test_a_path_is_cleaned():
    assert [clean_path(path) for path in ("./a", "a/../b", "a//b/", "a/..", "~/x", "a\\..\\b")] == [
        "a",
        "b",
        "a/b",
        ".",
        "~/x",
        "a\\..\\b",
    ]


def test_a_nul_character_is_refused():
    with pytest.raises(ToolError, match="a path cannot contain a NUL character"):
        clean_path("a\0b")


def test_a_plain_path_resolves_to_itself(cwd: Path):
    place = resolve(str(cwd), "./a/b.txt")

    assert place == ResolvedPath(
        root=os.path.realpath(cwd), name="a/b.txt", real="a/b.txt", shown=f"{cwd}/a/b.txt"
    )
    assert place.parts == ("a", "b.txt")


def test_the_working_directory_itself_has_no_parts(cwd: Path):
    place = resolve(str(cwd), "a/..")

    assert place == ResolvedPath(root=os.path.realpath(cwd), name=".", real=".", shown=str(cwd))
    assert place.parts == ()


@pytest.mark.parametrize("target", ["data/x", "./data/../data/x", "{cwd}/data/x", "../{cwd.name}/data/x"])
def test_a_link_to_the_inside_is_followed(cwd: Path, target: str):
    (cwd / "lnk").symlink_to(target.format(cwd=cwd))

    assert resolve(str(cwd), "lnk").real == "data/x"


@pytest.mark.parametrize("target", ["..", "../outside", "/etc", "/", "../work-too", "data/../../outside"])
def test_a_link_to_the_outside_is_refused(cwd: Path, outside: Path, target: str):
    (cwd / "data").mkdir()
    (cwd / "lnk").symlink_to(target)
    (cwd / "chain").symlink_to("lnk")

    for path in ("lnk", "lnk/x", "chain", "chain/x/y"):
        with pytest.raises(ToolError) as caught:
            resolve(str(cwd), path)
        assert str(caught.value) == f"{path} leads outside the working directory through a symbolic link"


def test_a_linked_working_directory_is_the_one_it_leads_to(cwd: Path, tmp_path: Path):
    (tmp_path / "alias").symlink_to(cwd)
    (cwd / "lnk").symlink_to(tmp_path / "alias" / "x")

    place = resolve(str(tmp_path / "alias"), "lnk")

    assert place == ResolvedPath(
        root=os.path.realpath(cwd), name="lnk", real="x", shown=f"{tmp_path}/alias/lnk"
    )


def test_the_whole_file_system_can_be_the_working_directory():
    assert resolve("/", "etc").parts == ("etc",)


def test_names_are_shown_without_line_breaks_and_broken_bytes():
    names = ["plain é 日本", "two\nlines", "esc\x1b[0m", os.fsdecode(b"latin\xe9"), "rtl\u202egnp.exe"]

    assert [printable(name) for name in names] == [
        "plain é 日本",
        "two\\nlines",
        "esc\\x1b[0m",
        "latin\\xe9",
        "rtl\\u202egnp.exe",
    ]


def test_a_place_outside_is_found_where_that_is_allowed(cwd: Path, outside: Path):
    (cwd / "lnk").symlink_to(outside)
    real = os.path.realpath(outside)
    asked: list[str] = []

    def allow(path: str) -> bool:
        asked.append(path)
        return True

    for path, name in (
        (f"{outside}/x", f"{outside}/x"),
        (f"//{outside}//y/../x", f"{outside}/x"),
        (f"../{outside.name}/x", f"{outside}/x"),
        ("lnk/x", "lnk/x"),
    ):
        place = resolve(str(cwd), path, outside=allow)
        shown = name if name.startswith("/") else f"{cwd}/{name}"
        assert place == ResolvedPath(root="/", name=name, real=f"{real[1:]}/x", shown=shown, outside=True)
        assert place.subject == f"{real}/x"
    assert set(asked) == {f"{real}/x"}
    assert resolve(str(cwd), "/", outside=allow).subject == "/"


def test_a_way_through_the_outside_that_leads_back_is_inside(cwd: Path):
    place = resolve(str(cwd), f"../{cwd.name}/a", outside=lambda _: True)

    assert (place.name, place.real, place.subject, place.outside) == ("a", "a", "a", False)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "lnk/x", "..", "/", "{cwd}/a", "..foo"])
def test_what_is_not_allowed_outside_is_refused_in_the_same_words(cwd: Path, outside: Path, path: str):
    (cwd / "lnk").symlink_to(outside)
    messages = []
    for allowed in (None, lambda _: False):
        with pytest.raises(ToolError) as caught:
            resolve(str(cwd), path.format(cwd=cwd), outside=allowed)
        messages.append(str(caught.value))

    assert messages[0] == messages[1]


@pytest.mark.parametrize("path", ["", "\\\\host\\x", "/a\0b", "\\x"])
def test_what_is_no_path_is_refused_everywhere(cwd: Path, path: str):
    with pytest.raises(ToolError):
        resolve(str(cwd), path, outside=lambda _: True)


STEPS = st.sampled_from(["a", "b", "in", "out", "up", "loop", "f", ".", "..", "", "x"])


@given(path=st.lists(STEPS, max_size=7).map("/".join), links=st.permutations(["in", "out", "up", "loop"]))
def test_no_path_escapes(path: str, links: list[str]):
    """Whatever is walked through, a resolved place lies inside and is free of links, or is refused."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder), "work")
        (root / "a" / "b").mkdir(parents=True)
        (root.parent / "x").touch()
        for place in (root, root / "a", root / "a" / "b"):
            (place / "in").symlink_to(f"{root}/a/{links[0]}")
            (place / "out").symlink_to(root.parent)
            (place / "up").symlink_to("..")
            (place / "loop").symlink_to(links[1])
        try:
            place = resolve(str(root), path)
        except ToolError:
            return

        assert not {"", ".", ".."} & set(place.parts)
        try:
            real = os.path.realpath(root / place.name, strict=True)
        except OSError:  # it does not exist, or its links form a ring, which is refused when it is opened
            return
        assert real == str(root.joinpath(*place.parts))
