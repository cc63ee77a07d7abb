import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bridle.providers.embedded import DEFAULT_WEIGHTS
from bridle.providers.model_data import known_models
from tests.providers.llama.conftest import weights
from tests.surfaces.command import Bridle, Done, steady

__all__ = ["weights"]  # a fixture

CONFIG = """
[providers.acme]
base_url = "http://127.0.0.1:9/v1"
api_key_env = "ACME_KEY"

[models."acme/anvil"]
window_tokens = 50000
price = { input = 0.0375, output = 12 }

[models."acme/free"]
max_output_tokens = 100
price = { input = 0, output = 0 }

[models."local/mine"]
"""


@pytest.fixture
def acme(bridle: Bridle) -> Bridle:
    (bridle.home / "config.toml").write_text(CONFIG)
    return bridle


def test_the_models_that_can_be_asked_now(acme: Bridle):
    assert acme("models", "list") == Done(
        0,
        "MODEL                   WINDOW    INPUT   OUTPUT  KEY\n"
        "embedded/smollm2-135m    4,096     free     free  not needed\n"
        "local/mine             128,000  unknown  unknown  not needed\n",
        "",
    )
    assert acme("models", "list", ACME_KEY="x") == Done(
        0,
        "MODEL                   WINDOW    INPUT   OUTPUT  KEY\n"
        "acme/anvil              50,000  $0.0375   $12.00  ACME_KEY is set\n"
        "acme/free              128,000     free     free  ACME_KEY is set\n"
        "embedded/smollm2-135m    4,096     free     free  not needed\n"
        "local/mine             128,000  unknown  unknown  not needed\n",
        "",
    )


def test_a_filter_looks_through_every_known_model(acme: Bridle):
    assert acme("models", "list", "ANVIL") == Done(
        0,
        "MODEL       WINDOW    INPUT  OUTPUT  KEY\n"
        "acme/anvil  50,000  $0.0375  $12.00  ACME_KEY is not set\n",
        "",
    )
    assert acme("models", "list", "no such model") == Done(0, "", "")


def test_all_of_them(acme: Bridle):
    refs = [line.split()[0] for line in acme("models", "list", "--all").out.splitlines()[1:]]

    known = sum(len(models) for models in known_models().vendors.values())
    assert len(refs) == known + 6
    assert refs == sorted(refs)
    assert {"acme/anvil", "embedded/smollm2-135m", "scripted/demo", "scripted/tutorial"} < set(refs)


def test_a_list_for_programs(acme: Bridle):
    done = acme("models", "list", "acme/a", "--json")

    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == [
        {
            "ref": "acme/anvil",
            "kind": "openai",
            "window_tokens": 50_000,
            "max_output_tokens": 8_192,
            "longest_output_tokens": None,
            "images": None,
            "reasoning": None,
            "tools": None,
            "price": {
                "input": 0.0375,
                "output": 12.0,
                "cache_read": 0.0375,
                "cache_write": 0.0375,
                "above_tokens": 0,
                "above": None,
            },
            "later_prices": {},
            "key_env": "ACME_KEY",
            "has_key": False,
            "is_listed": False,
        }
    ]


def test_on_a_terminal_a_list_says_what_it_leaves_out(acme: Bridle):
    with acme.terminal("models", "list") as terminal:
        terminal.finish()
    assert re.search(
        r"hint: bridle models list --all shows \d+ more, most of which need a key\n$", terminal.screen
    )

    with acme.terminal("models", "list", "no such model") as terminal:
        terminal.finish()
    assert terminal.screen == 'no known model matches "no such model"\n'


def test_what_is_known_about_a_model(bridle: Bridle):
    """Whatever the data says today: each fact of it is shown."""
    model = known_models().vendors["anthropic"]["claude-haiku-5-5"]
    price = model.price
    assert price
    assert price.above

    done = bridle("models", "info", "anthropic/claude-haiku-5-5", ANTHROPIC_API_KEY="sk")

    def dollars(amount: float) -> str:
        return f"${amount:.2f}" if round(amount, 2) == amount else f"${amount:g}"

    sources = ", ".join(f"{name} {version}" for name, version in known_models().sources.items())
    assert done == Done(
        0,
        "anthropic/claude-haiku-5-5\n"
        f"window        {model.window:,} tokens\n"
        f"answer        up to {model.output:,}, 32,000 tokens asked for\n"
        "abilities     images, reasoning, tools\n"
        f"input         {dollars(price.input)} per million tokens\n"
        f"output        {dollars(price.output)}\n"
        f"cache read    {dollars(price.cache_read)}\n"
        f"cache write   {dollars(price.cache_write)}\n"
        f"long context  {dollars(price.above.input)} input, {dollars(price.above.output)} output"
        f" in a context of more than {price.above_tokens:,} tokens\n"
        "kind          anthropic\n"
        "address       https://api.anthropic.com\n"
        "key           ANTHROPIC_API_KEY is set\n"
        f"source        {sources}, of {known_models().made}\n",
        "",
    )


def test_what_is_not_known_is_called_unknown(bridle: Bridle):
    near = known_models().near("openai", "gpt-5-minni")

    assert near[0] == "gpt-5-mini"
    assert bridle("models", "info", "openai/gpt-5-minni") == Done(
        0,
        "openai/gpt-5-minni\n"
        "window        128,000 tokens\n"
        "answer        8,192 tokens asked for\n"
        f"unknown       not in the catalogue; similar: {', '.join(near)}\n"
        "price         unknown\n"
        "kind          openai-responses\n"
        "address       https://api.openai.com/v1\n"
        "key           OPENAI_API_KEY is not set\n",
        "",
    )


def test_the_built_in_model_is_shown_with_what_it_can_do(bridle: Bridle):
    assert bridle("models", "info", "embedded/smollm2-135m") == Done(
        0,
        "embedded/smollm2-135m\n"
        "window        4,096 tokens\n"
        "answer        1,024 tokens asked for\n"
        "price         free\n"
        "kind          embedded\n"
        "key           not needed\n"
        "weights       not installed: bridle models pull\n"
        "adapter       smollm2-135m-adapter.gguf\n"
        f"note          {DEFAULT_WEIGHTS.honest_line}\n",
        "",
    )


@pytest.mark.parametrize(
    ("ref", "error"),
    [
        ("gpt-5", 'error: model "gpt-5": write it as PROVIDER/MODEL\n'),
        ("opnai/x", 'error: model "opnai/x": no provider named "opnai"\nhint: did you mean openai?\n'),
    ],
)
def test_a_model_that_does_not_exist(bridle: Bridle, ref: str, error: str):
    done = bridle("models", "info", ref)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(error)


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (
            ["smollm"],
            'error: no downloadable weights named "smollm"\nhint: did you mean smollm2-135m?\n',
        ),
        (["qwen"], 'error: no downloadable weights named "qwen"\nhint: available: smollm2-135m and minilm\n'),
    ],
)
def test_weights_that_cannot_be_pulled(bridle: Bridle, args: list[str], error: str):
    assert bridle("models", "pull", *args) == Done(64, "", error)


def test_weights_are_taken_from_a_file_only_if_they_are_the_right_ones(bridle: Bridle):
    (bridle.project / "other.gguf").write_bytes(b"GGUF and something else")

    done = bridle("models", "pull", "--from", "other.gguf")

    assert (done.code, done.out) == (1, "")
    assert "error: other.gguf: holds another file than smollm2-135m" in done.err
    assert list((bridle.home / "models").iterdir()) == []


def test_no_heavy_library_is_loaded_to_list_models(bridle: Bridle):
    code = (
        "import sys; from bridle.surfaces.cli import main; main(['models', 'list', '--all', '--json']);"
        "print({'aiohttp', 'xllamacpp'} & set(sys.modules), file=sys.stderr)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], env=bridle.env, cwd=bridle.project, capture_output=True, check=True
    )

    assert done.stderr == b"set()\n"


@pytest.mark.slow
def test_a_fresh_installation_fetches_its_model_and_answers(bridle: Bridle, weights: Path):
    """The weights come from a file here, as no test leaves this machine; all else is as on the first day."""
    pulled = bridle("models", "pull", "--from", str(weights))
    with bridle.terminal("run", "Say hello.") as terminal:
        code = terminal.finish()
    answered = bridle("run", "-p", "Say hello.")

    file = bridle.home / "models" / "smollm2-135m.gguf"
    assert pulled == Done(0, f"{file}\n", f"fetching smollm2-135m (98 MB, Apache-2.0) from {weights}\n")
    assert code == 0
    assert terminal.screen.count(DEFAULT_WEIGHTS.honest_line) == 1
    assert "$0.0000" in steady(terminal.screen)
    assert (answered.code, answered.err) == (0, "")
    assert answered.out.strip()


@pytest.mark.slow
def test_on_a_terminal_a_pull_shows_how_far_it_is(bridle: Bridle, weights: Path):
    with bridle.terminal("models", "pull", "--from", str(weights)) as terminal:
        terminal.expect("unpack   ")
        terminal.expect("██████████████████████████████ 98 of 98 MB")
        terminal.expect(f"\r\x1b[K{bridle.home}/models/smollm2-135m.gguf\n")
        code = terminal.finish()
    with bridle.terminal("models", "pull") as again:
        again.finish()

    assert code == 0
    assert again.screen == f"smollm2-135m is already installed\n{bridle.home}/models/smollm2-135m.gguf\n"
