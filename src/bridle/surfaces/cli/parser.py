"""The argument parser: every command, its flags and its help; no behavior.

A command names its function as `module:function` under `bridle.surfaces.cli`; that module is imported
only when the command runs, so that `--help` stays fast.
"""

import argparse
import importlib

from bridle import __version__
from bridle.core.errors import UsageError
from bridle.surfaces.cli.arguments import Parser

MAIN_EXAMPLES = """\
examples:
  bridle init
  bridle
  bridle run "what does this project do"
  bridle run --continue "and how is it tested"
  bridle session list
  bridle session export 019a8536-2b7c --html -o talk.html
  bridle doctor

`bridle COMMAND --help` describes a command.
"""

COMMAND_ADDERS = {
    "init": "basic_args:add_init",
    "tui": "daemon_args:add_tui",
    "run": "run_args:add_run",
    "session": "session_args:add_session",
    "context": "basic_args:add_context",
    "stats": "session_args:add_stats",
    "config": "basic_args:add_config",
    "agents": "agent_args:add_agents",
    "skills": "agent_args:add_skills",
    "hooks": "agent_args:add_hooks",
    "mcp": "mcp_args:add_mcp",
    "lsp": "mcp_args:add_lsp",
    "rules": "rule_args:add_rules",
    "trust": "rule_args:add_trust",
    "sandbox": "rule_args:add_sandbox",
    "kernel": "rule_args:add_kernel",
    "memory": "agent_args:add_memory",
    "comms": "agent_args:add_comms",
    "daemon": "daemon_args:add_daemon",
    "ps": "daemon_args:add_daemon",
    "attach": "daemon_args:add_daemon",
    "worker": "scale_args:add_worker",
    "gateway": "scale_args:add_gateway",
    "scale": "scale_args:add_scale",
    "tenant": "scale_args:add_tenant",
    "token": "scale_args:add_token",
    "audit": "scale_args:add_audit",
    "web": "daemon_args:add_web",
    "rpc": "daemon_args:add_rpc",
    "acp": "daemon_args:add_acp",
    "import": "basic_args:add_import",
    "models": "basic_args:add_models",
    "doctor": "basic_args:add_doctor",
    "schema": "basic_args:add_schema",
    "completion": "basic_args:add_completion",
}
"""The function that adds each command, in help-text order; imported on demand."""


def parse(argv: list[str]) -> argparse.Namespace:
    """Parse a command line; raises UsageError, or SystemExit after printing a help text."""
    parser = build_parser(argv[0] if argv else "")
    args, rest = parser.parse_known_args(argv)
    if rest and getattr(args, "prompt", None) is not None:
        args.prompt += _late_words(rest, f"{args.prog} --help; quote a prompt with dashes")
    elif rest and getattr(args, "words", None) is not None:
        args.words += _late_words(rest, f"{args.prog} --help; put the program after --")
    elif rest:
        raise UsageError(f"unknown argument {rest[0]}", hint=f"{args.prog} --help")
    return args


def _late_words(rest: list[str], hint: str) -> list[str]:
    """Return positional words after a flag, which argparse does not collect."""
    words = rest[: rest.index("--")] if "--" in rest else rest
    for word in words:
        if word.startswith("-") and " " not in word:
            raise UsageError(f"unknown flag {word}", hint=hint)
    return words + rest[len(words) + 1 :]


def build_parser(wanted: str = "") -> Parser:
    """Build the parser for one command, or for all; building all takes longer than many commands run."""
    parser = Parser(
        prog="bridle",
        description="Run LLM agents on your machine: they ask before they act, and everything is recorded.",
        epilog=MAIN_EXAMPLES,
    )
    parser.add_argument(
        "--version", action="version", version=f"bridle {__version__}", help="print the version"
    )
    parser.set_defaults(command=None, prog="bridle")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    for place in (
        [COMMAND_ADDERS[wanted]] if wanted in COMMAND_ADDERS else dict.fromkeys(COMMAND_ADDERS.values())
    ):
        module, _, add = place.partition(":")
        getattr(importlib.import_module(f"bridle.surfaces.cli.{module}"), add)(commands)
    return parser
