import json
import os
from pathlib import Path

import pytest

from bridle.app.shared_programs import MAX_FOLDERS, SettingsCache
from bridle.config.settings import Settings
from bridle.config.trust_record import fingerprint, set_trust
from bridle.core.errors import ConfigError


class Names:
    """Reads the servers of a folder, and counts how often it is asked to."""

    def __init__(self, home: Path) -> None:
        self.reads = 0
        self.watched = SettingsCache({"HOME": str(home.parent)}, self._read)

    def _read(self, settings: Settings) -> list[tuple[str, bool]]:
        self.reads += 1
        return [(server.name, server.trusted) for server in settings.servers_found]


@pytest.fixture
def project(home: Path) -> Path:
    path = home.parent / "project"
    (path / ".bridle").mkdir(parents=True)
    return path


def test_a_folder_is_read_again_only_when_something_changed(home: Path, project: Path):
    names = Names(home)
    cwd = str(project)
    found = [names.watched(cwd), names.watched(cwd)]
    (home / "config.toml").write_text('[mcp.servers.a]\ncommand = "x"\n')
    found += [names.watched(cwd), names.watched(cwd)]
    (project / "run").touch()
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"b": {"command": "./run"}}}))
    found += [names.watched(cwd), names.watched(cwd)]
    set_trust(home, str(project), fingerprint(project))
    found += [names.watched(cwd), names.watched(cwd)]
    (project / "run").write_text("evil")
    found += [names.watched(cwd), names.watched(cwd)]

    one, both, trusted = [("a", True)], [("a", True), ("b", False)], [("a", True), ("b", True)]
    assert found == [[], [], one, one, both, both, trusted, trusted, both, both]
    assert names.reads == 5


def test_a_project_that_appears_above_is_noticed(home: Path):
    names = Names(home)
    deep = home.parent / "a" / "b"
    deep.mkdir(parents=True)
    before = names.watched(str(deep))
    (home.parent / "a" / ".git").mkdir()
    (home.parent / "a" / ".mcp.json").write_text('{"mcpServers": {"c": {"command": "x"}}}')

    assert (before, names.watched(str(deep))) == ([], [("c", False)])


def test_what_is_wrong_is_said_each_time(home: Path, project: Path):
    names = Names(home)
    file = project / ".bridle" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("model =")
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"config\.toml:1: not valid TOML"):
            names.watched(str(project))
    file.unlink()

    assert names.watched(str(project)) == []


def test_only_so_many_folders_are_remembered(home: Path, tmp_path: Path):
    names = Names(home)
    folders = [str(tmp_path / str(number)) for number in range(MAX_FOLDERS + 1)]
    for folder in folders:
        os.mkdir(folder)
        names.watched(folder)
    names.watched(folders[-1])
    before = names.reads
    names.watched(folders[0])

    assert (before, names.reads) == (MAX_FOLDERS + 1, MAX_FOLDERS + 2)
