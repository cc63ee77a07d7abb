"""Measure how the code reads: `python -m scripts.shape [--json] [FOLDER]`.

| figure | counts |
|---|---|
| lines, modules | every `.py` file of the package, without generated code |
| small modules with one importer | under 80 lines, imported by a single module of the same folder |
| gerund modules | names whose last word ends in `-ing` |
| shared class names | public classes with a name that more than two modules define |
| session API methods | public methods of the protocol that every surface uses |
| plan_rewind, ToolFinished | modules that name the question, or match on the event |
| short functions | functions and methods of at most 25 lines |
| cycles | modules that import each other, directly or through others, while they load |
"""

import argparse
import ast
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, to_builtins

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
GENERATED = "generated"
SMALL_LINES = 80
SHORT_LINES = 25
MAX_NAMESAKES = 2
API_NAMES = ("SessionApi",)


class Module(Struct, frozen=True):
    """The source of a module."""

    name: str
    text: str
    tree: ast.Module
    is_package: bool

    @property
    def lines(self) -> int:
        """The number of its lines."""
        return len(self.text.splitlines())

    @property
    def folder(self) -> str:
        """The package that contains it."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


class Shape(Struct, frozen=True):
    """The figures of a code base."""

    lines: int
    modules: int
    small_modules_with_one_importer: int
    gerund_modules: int
    shared_class_names: int
    session_api_methods: int
    modules_that_name_plan_rewind: int
    modules_that_match_tool_finished: int
    percent_of_short_functions: float
    modules_in_cycles: int


def main() -> int:
    """Print the figures."""
    arguments = argparse.ArgumentParser(prog="shape", description="measure how the code reads")
    arguments.add_argument("folder", nargs="?", type=Path, default=SOURCE, help="folder of the package")
    arguments.add_argument("--json", action="store_true", help="print JSON")
    arguments.add_argument("--names", action="store_true", help="list the counted modules and classes")
    args = arguments.parse_args()
    modules = read_modules(args.folder)
    figures = to_builtins(measure(modules))
    if args.json:
        print(json.dumps(figures, indent=2))
        return 0
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):{width}}  {value:,}")
    if args.names:
        for title, names in findings(modules).items():
            print(f"\n{title}\n  " + "\n  ".join(names))
    return 0


def read_modules(folder: Path) -> dict[str, Module]:
    """Read every module in a folder, by name."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if GENERATED in parts:
            continue
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        text = path.read_text(encoding="utf-8")
        found[name] = Module(name, text, ast.parse(text), is_package)
    return found


def measure(modules: Mapping[str, Module]) -> Shape:
    """Return the figures of modules."""
    lengths = [length for module in modules.values() for length in function_lengths(module.tree)]
    short = sum(length <= SHORT_LINES for length in lengths)
    named = findings(modules)
    return Shape(
        lines=sum(module.lines for module in modules.values()),
        modules=len(modules),
        small_modules_with_one_importer=len(named["small modules with one importer"]),
        gerund_modules=len(named["gerund modules"]),
        shared_class_names=len(named["shared class names"]),
        session_api_methods=len(named["methods of the session API"]),
        modules_that_name_plan_rewind=sum(names_rewind_plan(module) for module in modules.values()),
        modules_that_match_tool_finished=sum(
            matches(module.tree, "ToolFinished") for module in modules.values()
        ),
        percent_of_short_functions=round(100 * short / max(1, len(lengths)), 1),
        modules_in_cycles=len(named["modules in cycles"]),
    )


def findings(modules: Mapping[str, Module]) -> dict[str, list[str]]:
    """Return the names that each figure counts."""
    imports = {name: set(imported(module, modules, at_load=False)) for name, module in modules.items()}
    at_load = {name: set(imported(module, modules, at_load=True)) for name, module in modules.items()}
    return {
        "small modules with one importer": sorted(lonely(modules, imports)),
        "gerund modules": sorted(name for name in modules if is_gerund(name.rpartition(".")[2])),
        "shared class names": shared_classes(modules),
        "methods of the session API": api_methods(modules),
        "modules in cycles": sorted(cycles(at_load)),
    }


def names_rewind_plan(module: Module) -> bool:
    """Return whether a module names the rewind-plan question."""
    return "plan_rewind" in module.text or "PlanRewind" in module.text


def is_gerund(name: str) -> bool:
    """Return whether a module name ends in a gerund."""
    last = name.rpartition("_")[2]
    return last.endswith("ing") and last not in {"string", "ring", "thing", "setting", "king"}


def function_lengths(tree: ast.Module) -> Iterator[int]:
    """Yield the number of lines of each function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def shared_classes(modules: Mapping[str, Module]) -> list[str]:
    """Return the public class names that too many modules define, with their counts."""
    counted = Counter(
        node.name
        for module in modules.values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return [f"{name} ×{count}" for name, count in counted.most_common() if count > MAX_NAMESAKES]


def api_methods(modules: Mapping[str, Module]) -> list[str]:
    """Return the public methods of the protocol that surfaces talk to."""
    named = [
        one.name
        for module in modules.values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and node.name in API_NAMES
        for one in node.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and not one.name.startswith("_")
        if not any(_last_name(decorator) == "property" for decorator in one.decorator_list)
    ]
    return list(dict.fromkeys(named))  # overloads count once


def matches(tree: ast.Module, event: str) -> bool:
    """Return whether a module matches on an event type."""
    return any(
        (isinstance(node, ast.MatchClass) and _last_name(node.cls) == event)
        or (
            isinstance(node, ast.Call)
            and _last_name(node.func) == "isinstance"
            and any(_last_name(part) == event for part in ast.walk(node.args[-1]))
        )
        for node in ast.walk(tree)
    )


def _last_name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def imported(module: Module, modules: Mapping[str, Module], *, at_load: bool) -> Iterator[str]:
    """Yield the modules that a module imports: all of them, or only those it needs while it loads."""
    for node in _statements(module.tree, at_load=at_load):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules:
                    yield inner
                elif node.module in modules and node.module != module.name:
                    yield node.module


def _statements(tree: ast.Module, *, at_load: bool) -> Iterator[ast.AST]:
    if not at_load:
        yield from ast.walk(tree)
        return
    for node in tree.body:
        if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
            continue
        yield from ast.walk(node) if isinstance(node, ast.If | ast.Try) else (node,)


def lonely(modules: Mapping[str, Module], imports: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield small modules that only one module of the same folder imports."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for name, found in imports.items():
        for one in found - {name}:
            importers[one].add(name)
    for name, module in modules.items():
        if module.is_package or module.lines >= SMALL_LINES or len(importers[name]) != 1:
            continue
        (importer,) = importers[name]
        if modules[importer].folder == module.folder:
            yield name


def cycles(imports: Mapping[str, set[str]]) -> set[str]:
    """Return the modules that import each other, and the modules between two such groups."""
    left = {name: set(found) for name, found in imports.items()}
    while True:
        wanted = set().union(*left.values())
        inner = {name: found & left.keys() for name, found in left.items() if name in wanted}
        inner = {name: found for name, found in inner.items() if found}
        if inner == left:
            return set(left)
        left = inner


if __name__ == "__main__":
    sys.exit(main())
