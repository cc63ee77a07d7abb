import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bridle.config.edit import get_value, set_in_file, set_value
from bridle.config.keys import ConfigFile
from bridle.config.layers import Layer, Source, check
from bridle.config.settings import load_settings
from bridle.config.starter_config import STARTER, WrittenSettings, starter_text, write_settings
from bridle.config.toml_document import key_text
from bridle.core.errors import ConfigError

UNSET = re.compile(r"^#(?=[a-z\[])", re.MULTILINE)
EXAMPLE = "# an example"
MODEL = "ollama/qwen3-coder:30b"


def leaves(tree: dict[str, Any], path: tuple[str, ...] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            found |= leaves(value, (*path, key))
        else:
            found[key_text((*path, key))] = value
    return found


def with_defaults() -> str:
    """Return the text with every key set that has a default."""
    lines = STARTER.read_text().splitlines()
    return "\n".join(line if EXAMPLE in line else UNSET.sub("", line) for line in lines)


def test_the_model_and_the_mode_are_all_that_is_set():
    assert leaves(tomllib.loads(starter_text(MODEL, "accept-edits"))) == {
        "model": MODEL,
        "rules.mode": "accept-edits",
    }


def test_what_is_commented_out_can_be_set_as_it_stands():
    text = UNSET.sub("", STARTER.read_text())
    tree = tomllib.loads(text)

    check(Layer(Source("user", "config.toml"), tree, text), ConfigFile)
    assert len(leaves(tree)) > 30


def test_what_is_no_example_is_the_default(tmp_path: Path):
    settings = load_settings({"HOME": str(tmp_path)}, tmp_path)
    shown = leaves(tomllib.loads(with_defaults()))
    (tmp_path / ".bridle").mkdir()
    (tmp_path / ".bridle" / "config.toml").write_text(with_defaults())
    read = load_settings({"HOME": str(tmp_path)}, tmp_path)

    assert {key: get_value(read, key) for key in shown} == {key: get_value(settings, key) for key in shown}
    assert len(shown) > 15


@pytest.mark.parametrize("key", sorted(leaves(tomllib.loads(with_defaults()))))
def test_it_can_be_edited_further_without_losing_a_comment(key: str):
    text = starter_text(MODEL, "ask")
    value = leaves(tomllib.loads(with_defaults()))[key]
    wanted = str(value).lower() if isinstance(value, bool) else str(value)

    edited = set_value(text, key, wanted)

    assert leaves(tomllib.loads(edited)) == leaves(tomllib.loads(text)) | {key: value}
    assert [line for line in edited.splitlines() if line.startswith("#")] == [
        line for line in text.splitlines() if line.startswith("#")
    ]


def test_every_key_of_the_top_stands_above_the_tables():
    tables = STARTER.read_text().index("\n[")

    for key in ("model", "#small_model", "#fallbacks", "#agent", "#daemon"):
        assert STARTER.read_text().index(f"\n{key} = ") < tables


def test_a_first_file_is_written_for_its_owner_alone(tmp_path: Path):
    file = tmp_path / "home" / "config.toml"

    assert write_settings(file, MODEL, "plan") == WrittenSettings(file, None)
    assert file.read_text() == starter_text(MODEL, "plan")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_keeps_all_but_the_two(tmp_path: Path):
    file = tmp_path / "config.toml"
    before = '# mine\nmodel = "a/b" # for now\n\n[providers.box]\nbase_url = "http://127.0.0.1:9"\n'
    file.write_text(before)

    written = write_settings(file, MODEL, "ask")

    assert written == WrittenSettings(file, tmp_path / "config.toml.bak")
    assert (tmp_path / "config.toml.bak").read_text() == before
    assert file.read_text() == before.replace('"a/b"', f'"{MODEL}"') + '\n[rules]\nmode = "ask"\n'


def test_copies_are_kept_of_every_version_and_of_each_once(tmp_path: Path):
    file = tmp_path / "config.toml"
    for model in ("a/1", "a/2", "a/3", "a/1", "a/1", "a/2"):
        write_settings(file, model, "ask")
    set_in_file(file, "limits.max_cost", "1")
    write_settings(file, "a/2", "ask")

    models = {path.name: tomllib.loads(path.read_text())["model"] for path in tmp_path.glob("config.toml*")}
    assert models == {
        "config.toml": "a/2",
        "config.toml.bak": "a/1",
        "config.toml.bak2": "a/2",
        "config.toml.bak3": "a/3",
    }


@pytest.mark.parametrize("broken", [b"x = [", b"\xff\xfe", b"no_such_key = 1\n"])
def test_a_broken_file_is_changed_only_when_it_is_to_be_made_anew(tmp_path: Path, broken: bytes):
    file = tmp_path / "config.toml"
    file.write_bytes(broken)

    with pytest.raises(ConfigError):
        write_settings(file, MODEL, "ask")
    untouched = (file.read_bytes(), sorted(path.name for path in tmp_path.iterdir()))
    written = write_settings(file, MODEL, "ask", anew=True)

    assert untouched == (broken, [".config.toml.lock", "config.toml"])
    assert file.read_text() == starter_text(MODEL, "ask")
    assert written.copy is not None
    assert written.copy.read_text() == broken.decode(errors="replace")


@pytest.mark.parametrize("model", ["no-slash", "a/\x1b[31m", "", "a/" + "x" * 600])
def test_a_name_that_is_no_model_changes_nothing(tmp_path: Path, model: str):
    file = tmp_path / "config.toml"
    file.write_text("# mine\n")

    with pytest.raises(ConfigError):
        write_settings(file, model, "ask")
    assert [path.read_text() for path in tmp_path.glob("config*")] == ["# mine\n"]


def test_there_is_an_end_to_copies(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text('model = "a/b"\n')
    for number in range(1, 51):
        (tmp_path / f"config.toml.bak{number if number > 1 else ''}").write_text(f"# {number}\n")

    with pytest.raises(ConfigError, match="50 backups of it already exist"):
        write_settings(file, MODEL, "ask")
    assert file.read_text() == 'model = "a/b"\n'
