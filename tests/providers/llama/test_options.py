"""Options become a command line; impossible ones are rejected before anything starts."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ConfigError
from bridle.providers.llama.options import LlamaOptions, build_command, check_options


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    return path


def test_every_option_is_a_flag(model: Path) -> None:
    options = LlamaOptions(
        model=str(model),
        program=(sys.executable, "-P"),
        ctx_size=2048,
        n_gpu_layers=7,
        threads=3,
        slots=2,
        extra_args=("--mlock",),
    )

    assert build_command(options, 9000) == [
        *(sys.executable, "-P"),
        *("--host", "127.0.0.1", "--port", "9000"),
        *("--model", str(model), "--alias", "tiny"),
        *("--ctx-size", "2048", "--parallel", "2", "--threads", "3", "--n-gpu-layers", "7"),
        *("--jinja", "--reasoning-format", "deepseek", "--mlock"),
    ]


def test_a_folder_of_models_is_handed_over(tmp_path: Path) -> None:
    options = LlamaOptions(models_dir=str(tmp_path), program=(sys.executable,), threads=1, jinja=False)

    check_options(options)

    assert build_command(options, 1)[5:7] == ["--models-dir", str(tmp_path)]
    assert "--jinja" not in build_command(options, 1)


def test_a_missing_program_is_named(model: Path) -> None:
    with pytest.raises(
        ConfigError, match=r'no program "no-such-llama": it is not on PATH \(hint: install llama.cpp'
    ):
        build_command(LlamaOptions(model=str(model), program=("no-such-llama",)), 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": ""}, "exactly one of model and models_dir"),
        ({"models_dir": "/"}, "exactly one of model and models_dir"),
        ({"model": "/no/such.gguf"}, "file not found"),
        ({"model": "", "models_dir": "/no/such"}, "models_dir /no/such: folder not found"),
        ({"port": 70000}, "out of range"),
        ({"slots": 0}, "out of range"),
        ({"extra_args": ("--api-key=x",)}, "may not contain --api-key: Bridle sets it"),
    ],
)
def test_what_cannot_work_is_refused(model: Path, changes: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_options(replace(LlamaOptions(model=str(model)), **changes))


@pytest.mark.parametrize(
    ("options", "guess"),
    [
        (LlamaOptions(ctx_size=4096, slots=2), 2048),
        (LlamaOptions(ctx_size=0), 0),
        (LlamaOptions(ctx_size=0, model="/no/such.gguf"), 0),
    ],
)
def test_the_window_is_known_before_the_start_as_far_as_it_can_be(options: LlamaOptions, guess: int) -> None:
    assert options.window_guess == guess


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("h", "h")])
def test_a_server_that_listens_everywhere_is_reached_by_loopback(host: str, reached: str) -> None:
    assert LlamaOptions(host=host).connect_host == reached


def test_a_program_where_agents_can_write_is_not_run(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "project/bin/llama-server"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    options = LlamaOptions(model=str(model))
    theirs = replace(options, outside=(str(tmp_path / "project"),))

    assert build_command(options, 1)[0] == str(program)
    with pytest.raises(ConfigError, match=f"it is not used: {program} is in a folder that agents can write"):
        build_command(theirs, 1)
    assert build_command(replace(theirs, program=(str(program),)), 1)[0] == str(
        program
    )  # the user's own word
