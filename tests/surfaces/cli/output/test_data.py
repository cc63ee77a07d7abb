import io
from pathlib import Path

from bridle.config.settings import load_settings
from bridle.surfaces.cli.output.data import short_path, write_table
from bridle.surfaces.shared.terminal import Screen


class Wide(io.StringIO):
    """A screen; 80 columns wide by default."""

    def isatty(self) -> bool:
        return True


def test_rows_stand_below_their_headings():
    file = io.StringIO()

    write_table(Screen(file, {}), ("A", "B", "C"), [("x", "long", "1\n2"), ("日本", "y", "")])

    assert file.getvalue() == "A     B     C\nx     long  1 2\n日本  y\n"


def test_on_a_screen_the_last_column_is_cut():
    file = Wide()

    write_table(Screen(file, {"NO_COLOR": "1"}), ("A", "B"), [("x", "y" * 100), ("x" * 75, "y" * 100)])

    assert [len(line) for line in file.getvalue().splitlines()] == [78, 97, 97]


def test_a_path_is_written_as_a_person_would(home: Path, tmp_path: Path):
    cwd = home.parent / "work"
    cwd.mkdir()
    settings = load_settings({"HOME": str(home.parent)}, cwd)

    assert [short_path(str(path), settings) for path in (cwd / "a", home / "b", tmp_path / "c")] == [
        "a",
        "~/.bridle/b",
        str(tmp_path / "c"),
    ]
