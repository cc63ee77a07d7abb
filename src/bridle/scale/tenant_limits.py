"""Restricts a tenant's commands: adds the tenant's rules, refuses what would act outside the sandbox.

| a client asks for | gets |
|---|---|
| its own rules | them and the tenant's: deny wins over ask, ask over allow |
| mode `yolo`, a model | if the tenant is allowed to use it |
| a model in `params` | an error |
| hooks, `until` | an error: these run programs of the client's choice outside the sandbox |
| variables for programs | none: they belong to another machine |
| "always" as an answer | "session": always would be written into the settings of the worker |
"""

from fnmatch import fnmatchcase

from msgspec.structs import replace

from bridle.core.errors import NotAllowed
from bridle.core.hook import HookOverride
from bridle.core.protocol import AnyCommand, Decide, Prompt, Resume, RunOptions
from bridle.core.tenancy import Tenant

MODEL_PARAMS = frozenset({"model", "models"})
"""Parameters override all else in a model request, so these would choose another model."""


def restrict_command(command: AnyCommand, tenant: Tenant) -> AnyCommand:
    """Return a command with a tenant's restrictions applied; raises NotAllowed."""
    if isinstance(command, Prompt | Resume):
        return replace(command, options=_tamed(command.options, tenant))
    if isinstance(command, Decide) and command.answer == "always":
        return replace(command, answer="session")
    return command


def get_requested_folder(command: AnyCommand) -> str | None:
    """Return the working folder that a command asks for; None if it names none."""
    return command.options.cwd if isinstance(command, Prompt | Resume) else None


def _tamed(options: RunOptions, tenant: Tenant) -> RunOptions:
    if options.mode == "yolo" and not tenant.yolo:
        raise NotAllowed(
            f'mode "yolo" is not allowed for {_named(tenant)}',
            hint=f"bridle tenant set {tenant.name} --yolo on",
        )
    if options.hooks != HookOverride():
        raise NotAllowed(f"hooks of a client are not for {_named(tenant)}")
    if options.until:
        raise NotAllowed(
            f"until is not allowed for {_named(tenant)}: its command would run outside the sandbox"
        )
    for name in MODEL_PARAMS & options.params.keys():
        raise NotAllowed(
            f"params: {name} is not allowed for {_named(tenant)}", hint="name the model as model"
        )
    if options.model is not None and not matches_model(options.model, tenant.models):
        raise NotAllowed(
            f'model "{options.model[:200]}" is not allowed for {_named(tenant)}',
            hint=f"it may use {', '.join(tenant.models)}",
        )
    return replace(
        options,
        allow=(*tenant.allow, *options.allow),
        ask=(*tenant.ask, *options.ask),
        deny=(*tenant.deny, *options.deny),
        env={},
    )


def matches_model(model: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a model matches one of a tenant's patterns; without patterns every model matches."""
    return not patterns or any(fnmatchcase(model, pattern) for pattern in patterns)


def _named(tenant: Tenant) -> str:
    return f"tenant {tenant.name}" if tenant.name else "this token"
