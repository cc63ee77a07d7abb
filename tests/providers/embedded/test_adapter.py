"""The adapter is used only if it is the one of this release, beside the weights it was trained for."""

from pathlib import Path

from bridle.providers.embedded.adapter import ADAPTER_FILE, adapter_problem, file_problem
from bridle.providers.embedded.provider import embedded_provider
from bridle.providers.embedded.weights import DEFAULT_WEIGHTS
from bridle.providers.llama.gguf import read_header
from bridle.providers.llama.server import LlamaServer

MAX_BYTES = 16 * 1024 * 1024


def put_weights(folder: Path, size: int = DEFAULT_WEIGHTS.size_bytes) -> None:
    with (folder / f"{DEFAULT_WEIGHTS.name}.gguf").open("wb") as file:
        file.write(b"GGUF")
        file.truncate(size)


def extra_args(folder: Path, model: str = DEFAULT_WEIGHTS.name) -> tuple[str, ...]:
    server = embedded_provider("embedded", model, folder).server
    assert isinstance(server, LlamaServer)
    return server.options.extra_args


def test_the_adapter_of_the_package_is_small_and_whole() -> None:
    assert file_problem() == ""
    assert ADAPTER_FILE.stat().st_size < MAX_BYTES
    assert read_header(ADAPTER_FILE).architecture == "llama"


def test_the_default_weights_are_served_with_it(tmp_path: Path) -> None:
    put_weights(tmp_path)

    assert extra_args(tmp_path) == ("--lora", str(ADAPTER_FILE))


def test_a_file_of_the_user_is_served_without_it(tmp_path: Path) -> None:
    put_weights(tmp_path)
    (tmp_path / "mine.gguf").write_bytes(b"GGUF")

    assert extra_args(tmp_path, "mine") == ()
    assert extra_args(tmp_path, str(tmp_path / "mine.gguf")) == ()


def test_other_weights_under_the_name_are_served_without_it(tmp_path: Path) -> None:
    put_weights(tmp_path, 1000)

    assert "not those that its adapter was trained for" in adapter_problem(tmp_path)
    assert extra_args(tmp_path) == ()


def test_a_missing_or_changed_adapter_is_named(tmp_path: Path) -> None:
    put_weights(tmp_path)
    changed = tmp_path / "changed.gguf"
    changed.write_bytes(b"GGUF")

    assert "cannot be read: No such file" in adapter_problem(tmp_path, tmp_path / "missing.gguf")
    assert "changed.gguf is not the one of this release" in adapter_problem(tmp_path, changed)
