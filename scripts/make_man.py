"""Generate the manual pages from the command line's help: `python -m scripts.make_man [--check] [FOLDER]`.

`bridle.1` lists all commands, `bridle-COMMAND.1` describes one. The pages are in `man/`, and wheels include
them; `--check` only checks that they are up to date.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bridle import __version__
from bridle.surfaces.cli.parser import build_parser

FOLDER = Path(__file__).parents[1] / "man"

Commands = dict[str, tuple[str, argparse.ArgumentParser]]
"""The summary and the parser of each command."""

FILES = (
    ("~/.bridle", "settings, agents, skills, sessions and logs; BRIDLE_HOME changes the folder"),
    ("~/.bridle/config.toml", "the settings"),
    (".bridle/", "settings, agents and skills of a project"),
    ("AGENTS.md, CLAUDE.md", "a project's instructions for every agent"),
)
VARIABLES = (
    ("BRIDLE_HOME", "the folder for all of Bridle's files; ~/.bridle by default"),
    (
        "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, ...",
        "keys of model providers; the settings may name other variables",
    ),
    ("NO_COLOR", "no colours, if set"),
    ("VISUAL, EDITOR", "the editor for files"),
)
STATUS = (
    ("0", "success; the run completed"),
    ("1", "failure, or the run repeated itself or made no progress"),
    ("2", "a budget is used up: tokens, cost, time, tool calls or turns"),
    ("64", "wrong usage"),
    ("77", "denied: a call was not approved and the run stopped"),
    ("130", "cancelled with Ctrl-C"),
    ("141", "the program that reads the output has exited"),
)

_UNSAFE_START = re.compile(r"^([.'])", re.MULTILINE)


def main() -> int:
    """Write the pages, or check them; return 1 if they are out of date."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    args = arguments.parse_args()
    pages = make_pages()
    there = {path.name: path.read_text() for path in args.folder.glob("*.1")}
    if args.check:
        old = sorted(name for name in pages.keys() | there.keys() if pages.get(name) != there.get(name))
        print(f"out of date: {', '.join(old)} (hint: make man)" if old else f"{len(pages)} pages up to date")
        return 1 if old else 0
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in there.keys() - pages.keys():
        (args.folder / name).unlink()
    for name, text in pages.items():
        (args.folder / name).write_text(text)
    print(f"{len(pages)} pages in {args.folder}")
    return 0


def make_pages() -> dict[str, str]:
    """Return every page by its file name."""
    whole = build_parser()
    commands = _commands(whole)
    pages = {"bridle.1": _main_page(whole, commands)}
    for name, (summary, parser) in commands.items():
        pages[f"bridle-{name}.1"] = _page(f"bridle-{name}", summary, [*_about(parser)], ".BR bridle (1)")
    return pages


def _main_page(parser: argparse.ArgumentParser, commands: Commands) -> str:
    listed = [(f"bridle {name}", summary) for name, (summary, _) in commands.items()]
    lines = [
        *_synopsis([parser]),
        ".SH DESCRIPTION",
        text(parser.description or ""),
        ".PP",
        text("Without a command, it starts the terminal interface. Data goes to stdout, the rest to stderr."),
        ".SH COMMANDS",
        *_tagged(listed),
        *_epilog(parser),
        ".SH EXIT STATUS",
        *_tagged(STATUS),
        ".SH ENVIRONMENT",
        *_tagged(VARIABLES),
        ".SH FILES",
        *_tagged(FILES),
    ]
    return _page(
        "bridle",
        "run LLM agents on your machine",
        lines,
        "\n".join(f".BR bridle\\-{name} (1)" for name in commands),
    )


def _page(name: str, summary: str, lines: Sequence[str], also: str) -> str:
    head = f'.TH {name.upper()} 1 "" "bridle {__version__}" "Bridle"'
    name_line = f"{text(name)} \\- {text(summary)}"
    return "\n".join([head, ".SH NAME", name_line, *lines, ".SH SEE ALSO", also, ""])


def _about(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the description of a command and of its subcommands."""
    below = [one for _, one in _commands(parser).values()]
    parsers = [one for one in below if not _commands(one)] or [parser]
    yield from _synopsis(parsers)
    yield ".SH DESCRIPTION"
    yield text(parser.description or "")
    yield from _options(parser, ".SH")
    for one in below:
        yield f".SH {quoted(one.prog.upper())}"
        yield text(one.description or "")
        yield from _options(one, ".SS")
        yield from _epilog(one, ".SS")
        for _, inner in _commands(one).values():
            yield f".SS {quoted(inner.prog)}"
            yield text(inner.description or "")
            yield from _options(inner, ".PP\n.B")
    yield from _epilog(parser)


def _options(parser: argparse.ArgumentParser, request: str) -> Iterator[str]:
    for group in parser._action_groups:  # noqa: SLF001  argparse has no public way to walk its arguments
        actions = [one for one in group._group_actions if _is_shown(one)]  # noqa: SLF001  the same
        if actions:
            yield f"{request} {quoted((group.title or 'options').upper())}"
            yield from _tagged([(_spelled(one), _help(one)) for one in actions])


def _is_shown(action: argparse.Action) -> bool:
    is_command = isinstance(action, argparse._SubParsersAction)  # noqa: SLF001  the same
    return action.dest != "help" and action.help != argparse.SUPPRESS and not is_command


def _commands(parser: argparse.ArgumentParser) -> Commands:
    """Return the subcommands of a command."""
    for action in parser._actions:  # noqa: SLF001  the same
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  the same
            told = {one.dest: one.help or "" for one in action._get_subactions()}  # noqa: SLF001  the same
            return {name: (told.get(name, ""), one) for name, one in action.choices.items() if name in told}
    return {}


def _synopsis(parsers: Sequence[argparse.ArgumentParser]) -> Iterator[str]:
    yield ".SH SYNOPSIS"
    for index, parser in enumerate(parsers):
        if index:
            yield ".br"
        words = [_short(one) for one in parser._actions if _is_shown(one)]  # noqa: SLF001
        words += ["COMMAND ..."] if _commands(parser) else []
        yield f".B {text(parser.prog)}"
        yield text(" ".join(words)) if words else "\\&"


def _short(action: argparse.Action) -> str:
    shown = _with_value(action, action.option_strings[0]) if action.option_strings else _value(action)
    return shown if action.required and action.nargs != "?" else f"[{shown.strip('[]')}]"


def _spelled(action: argparse.Action) -> str:
    if not action.option_strings:
        return _value(action)
    return ", ".join(_with_value(action, one) for one in action.option_strings)


def _with_value(action: argparse.Action, flag: str) -> str:
    return flag if action.nargs == 0 else f"{flag} {_value(action)}"


def _value(action: argparse.Action) -> str:
    name = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    name = " ".join(name) if isinstance(name, tuple) else name
    return f"[{name} ...]" if action.nargs == "*" else f"{name} ..." if action.nargs in ("+", "...") else name


def _help(action: argparse.Action) -> str:
    said = (action.help or "") % {**vars(action), "prog": "bridle"}
    choices = ", ".join(map(str, action.choices)) if action.choices and action.metavar else ""
    return f"{said} ({choices})" if choices and choices not in said else said


def _epilog(parser: argparse.ArgumentParser, request: str = ".SH") -> Iterator[str]:
    if not parser.epilog:
        return
    title, _, rest = parser.epilog.partition("\n")
    is_titled = title.endswith(":")
    yield f"{request} {quoted(title[:-1].upper() if is_titled else 'NOTES')}"
    yield ".nf"
    yield text((rest if is_titled else parser.epilog).strip("\n"))
    yield ".fi"


def _tagged(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in pairs:
        yield ".TP"
        yield f".B {text(name)}"
        yield text(meaning) or "\\&"


def text(words: str) -> str:
    """Escape text so that roff reads no part of it as a request."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    escaped = escaped.replace("…", "...").replace("×", "\\(mu").replace("–", "\\(en")
    lines = [line or ".sp" if line.strip() or "\n" in words else "" for line in escaped.split("\n")]
    return "\n".join(line if line == ".sp" else _UNSAFE_START.sub(r"\\&\1", line) for line in lines)


def quoted(words: str) -> str:
    """Quote text as one argument of a request."""
    return '"{}"'.format(text(words).replace('"', "\\(dq"))


if __name__ == "__main__":
    sys.exit(main())
