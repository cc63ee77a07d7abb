"""The texts that a model reads first: short, and true to the schemas. Every turn pays for them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.json import encode

import bridle.kernel
import bridle.memory
import bridle.tools
from bridle.app import open_blobs, open_sandbox, open_tools
from bridle.config.agents import DEFAULT_PROMPT_FILE
from bridle.config.settings import load_settings
from bridle.core.deferred_tools import is_rarely_used
from bridle.core.ports import Tool
from bridle.core.tool import ToolSpec
from bridle.tools.tool_search import ToolCaller, ToolSearch
from bridle.tools.tool_support import parameters
from tests.tools.code.fake import FakeLanguages

MAX_SHOWN_BYTES = 4200
"""Of what the first request of a session shows: the whole of it has less than 6,000 bytes on every wire."""
MAX_MEAN_BYTES = 308
"""Of one of the others, on average."""
MAX_PROMPT_BYTES = 850
MAX_LINE_CHARS = 400
FOLDER = Path(bridle.tools.__file__).parent
FILES = [
    *sorted(FOLDER.rglob("*.md")),
    Path(bridle.kernel.__file__).with_name("python.md"),
    Path(bridle.memory.__file__).with_name("memory_search.md"),
]
TEXTS = [*FILES, DEFAULT_PROMPT_FILE]
KINDS = ("string", "integer", "number", "boolean", "array", "object")

_NAME = re.compile(r"`([a-z_]+)`|(?<![\w./])([a-z]+(?:_[a-z]+)+)(?![\w./])")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tool]:
    """Give what a run of the default agent can use, by name."""
    home = tmp_path_factory.mktemp("home")
    (home / ".bridle").mkdir()
    (home / ".bridle" / "config.toml").write_text('[tools]\nsearch_url = "http://127.0.0.1:1"\n')
    environ = {"HOME": str(home), "BRIDLE_HOME": str(home / ".bridle"), "PATH": "/usr/bin:/bin"}
    settings = load_settings(environ, home)
    tools = open_tools(
        settings, environ, open_blobs(settings), open_sandbox(settings), languages=FakeLanguages()
    )
    return {tool.spec.name: tool for tool in (*tools, ToolSearch(()), ToolCaller())}


@pytest.fixture(scope="module")
def specs(tools: dict[str, Tool]) -> dict[str, ToolSpec]:
    """Give what the model sees of it."""
    return {name: tool.spec for name, tool in tools.items()}


def names_in(text: str) -> set[str]:
    """Return the names in a text, quoted or not."""
    return {quoted or bare for quoted, bare in _NAME.findall(text)}


def schemas_in(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all that it is made of."""
    yield schema
    for part in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else ())):
        yield from schemas_in(part)


def words_of(spec: ToolSpec) -> set[str]:
    """Return the parameters of a tool, and the values that they take."""
    schemas = list(schemas_in(spec.parameters))
    return {word for schema in schemas for word in (*schema.get("properties", ()), *schema.get("enum", ()))}


# ---------------------------------------------------------------------------- how long


def test_all_specs_together_are_short(tools: dict[str, Tool]):
    sizes = {name: len(encode(tool.spec)) for name, tool in tools.items()}
    shown = {name: size for name, size in sizes.items() if not is_rarely_used(tools[name])}
    only_with_skills_or_servers = {"skill", "tool_search", "web_search"}

    assert sum(shown[name] for name in set(shown) - only_with_skills_or_servers) <= MAX_SHOWN_BYTES, shown
    named = [size for name, size in sizes.items() if name not in shown]
    assert sum(named) <= MAX_MEAN_BYTES * len(named), sizes


def test_what_a_model_expects_is_shown_and_the_rest_is_named(tools: dict[str, Tool]):
    seldom = [name for name, tool in sorted(tools.items()) if is_rarely_used(tool)]
    named = ToolCaller([tools[name].spec for name in seldom]).spec.description

    assert sorted(set(tools) - set(seldom)) == (
        "ask_user bash edit_file glob grep python read_file skill todos tool_call tool_search web_fetch "
        "web_search write_file".split()
    )
    assert named.endswith(f" There are {', '.join(seldom)}.")


def test_the_default_prompt_is_short():
    assert len(DEFAULT_PROMPT_FILE.read_bytes()) <= MAX_PROMPT_BYTES


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_text_is_clean(path: Path):
    text = path.read_bytes().decode()
    lines = text.split("\n")

    assert text == text.strip() + "\n"
    assert [line for line in lines if line != line.rstrip() or len(line) > MAX_LINE_CHARS] == []
    assert "\n\n\n" not in text
    assert "\t" not in text


# ---------------------------------------------------------------------------- whether it is true


def test_every_tool_has_its_file_and_every_file_its_tool(specs: dict[str, ToolSpec]):
    assert {path.stem: path.read_text("utf-8").strip() for path in FILES} == {
        name: spec.description for name, spec in specs.items()
    }


def test_a_description_names_only_tools_and_its_own_parameters(specs: dict[str, ToolSpec]):
    strange = {name: names_in(spec.description) - words_of(spec) - set(specs) for name, spec in specs.items()}

    assert strange == {name: set() for name in specs}


def test_a_parameter_is_described_by_words_that_exist(specs: dict[str, ToolSpec]):
    for name, spec in specs.items():
        for schema in schemas_in(spec.parameters):
            text = schema.get("description", "none")

            assert text == text.strip() != "", name
            assert names_in(text) <= words_of(spec) | set(specs), name


def test_the_default_prompt_names_only_tools(specs: dict[str, ToolSpec]):
    assert names_in(DEFAULT_PROMPT_FILE.read_text("utf-8")) - set(specs) == set()


def test_names_are_found_in_a_text():
    text = (
        "Use `job_output` or web_fetch, `wait`; not `**/*.py`, a_b.py, src/x_y, GIT_DIR, `12: text` or cat."
    )

    assert names_in(text) == {"job_output", "web_fetch", "wait"}


def test_what_is_required_is_a_parameter(specs: dict[str, ToolSpec]):
    for spec in specs.values():
        for schema in schemas_in(spec.parameters):
            assert schema["type"] in KINDS
            assert set(schema.get("required", ())) <= set(schema.get("properties", ()))


def test_a_parameter_whose_name_says_it_all_has_no_description():
    assert parameters(1, path=("string", ""), limit=("integer", "Bytes")) == {
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "description": "Bytes"}},
        "required": ["path"],
    }
