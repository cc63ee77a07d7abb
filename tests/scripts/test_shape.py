"""The figures of `scripts/shape.py` count correctly."""

from pathlib import Path
from textwrap import dedent

import pytest

from scripts.shape import Shape, findings, is_gerund, measure, read_modules

FILES = {
    "app/__init__.py": "",
    "app/one.py": """
        from app.helper import help_out
        from app.two import Thing

        class Place: ...

        def plan_rewind(events):
            for event in events:
                if isinstance(event, ToolStarted | ToolFinished):
                    return help_out(event)
    """,
    "app/two.py": """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from app.one import Place

        class Thing: ...

        def show(event):
            match event:
                case events.ToolFinished():
                    from app.reading import Place
    """,
    "app/helper.py": "def help_out(event): ...",
    "app/reading.py": "import app.two\nclass Place: ...",
    "app/api.py": """
        class SessionApi:
            class Place: ...
            def create(self): ...
            async def ask(self): ...
            def _keep(self): ...
        class Place: ...
    """,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text).lstrip())
    return tmp_path


def test_each_figure_counts_what_it_says(folder: Path):
    modules = read_modules(folder)

    assert measure(modules) == Shape(
        lines=29,
        modules=6,
        small_modules_with_one_importer=3,
        gerund_modules=1,
        shared_class_names=1,
        session_api_methods=2,
        modules_that_name_plan_rewind=1,
        modules_that_match_tool_finished=2,
        percent_of_short_functions=100.0,
        modules_in_cycles=0,
    )
    assert findings(modules) == {
        "small modules with one importer": ["app.helper", "app.one", "app.reading"],
        "gerund modules": ["app.reading"],
        "shared class names": ["Place ×3"],
        "methods of the session API": ["create", "ask"],
        "modules in cycles": [],
    }


def test_modules_that_load_each_other_are_a_cycle(folder: Path):
    (folder / "app/helper.py").write_text("from app import one\n")

    assert findings(read_modules(folder))["modules in cycles"] == ["app.helper", "app.one"]


def test_a_long_function_lowers_the_share_of_short_ones(folder: Path):
    (folder / "app/helper.py").write_text("def help_out(event):\n" + "    event()\n" * 25)

    assert measure(read_modules(folder)).percent_of_short_functions < 100


@pytest.mark.parametrize(
    ("name", "expected"),
    [("telling", True), ("run_reading", True), ("string", False), ("ring", False), ("reader", False)],
)
def test_a_gerund_is_known_by_its_last_word(name: str, expected: bool):
    assert is_gerund(name) is expected
