"""Restricts the models of a tenant's runs, whether a client, a project or a run's model names them.

| a model | may be used |
|---|---|
| set by the node's operator, for itself or an agent | always |
| that is a file on the worker: a script, weights | if the tenant lists its full name |
| any other | if it matches a pattern of the tenant, or the tenant has none |

A file is read outside the sandbox, and weights by native code, so a tenant must not choose one freely.
"""

import asyncio
from collections.abc import Callable, Collection
from fnmatch import fnmatchcase

from msgspec.structs import replace

from bridle.core.errors import NotAllowed
from bridle.core.hook import HookOverride
from bridle.core.model import Model
from bridle.core.ports import LocalModels, Models, Provider, Tenants, implements
from bridle.core.protocol import AnyCommand, Configure, Decide, Prompt, Resume, RunOptions, SessionOptions
from bridle.core.tenancy import Tenant
from bridle.system.current_tenant import current

# ---------------------------------------------------------------------------- tenant limits
# Restricts a tenant's commands: adds the tenant's rules, refuses what would act outside the sandbox.
#
# | a client asks for | gets |
# |---|---|
# | its own rules | them and the tenant's: deny wins over ask, ask over allow |
# | mode `yolo`, a model | if the tenant is allowed to use it |
# | a model in `params` | an error |
# | hooks, `until` | an error: these run programs of the client's choice outside the sandbox |
# | variables for programs | none: they belong to another machine |
# | "always" as an answer | "session": always would be written into the settings of the worker |


MODEL_PARAMS = frozenset({"model", "models"})
"""Parameters override all else in a model request, so these would choose another model."""


def restrict_command(command: AnyCommand, tenant: Tenant) -> AnyCommand:
    """Return a command with a tenant's restrictions applied; raises NotAllowed."""
    if isinstance(command, Prompt | Resume):
        return replace(command, options=_restrict_options(command.options, tenant))
    if isinstance(command, Configure):
        check_options(command.options, tenant)
    if isinstance(command, Decide) and command.answer == "always":
        return replace(command, answer="session")
    return command


def get_requested_folder(command: AnyCommand) -> str | None:
    """Return the working folder that a command asks for; None if it names none."""
    return command.options.cwd if isinstance(command, Prompt | Resume) else None


def check_mode(options: SessionOptions, tenant: Tenant) -> None:
    """Raise NotAllowed for a mode that the tenant may not use."""
    if options.mode == "yolo" and not tenant.yolo:
        raise NotAllowed(
            f'mode "yolo" is not allowed for {_named(tenant)}',
            hint=f"bridle tenant set {tenant.name} --yolo on",
        )


def check_options(options: SessionOptions, tenant: Tenant) -> None:
    """Raise NotAllowed for options of a session or a run that the tenant may not use."""
    check_mode(options, tenant)
    if options.hooks != HookOverride():
        raise NotAllowed(f"hooks of a client are not for {_named(tenant)}")
    for name in MODEL_PARAMS & options.params.keys():
        raise NotAllowed(
            f"params: {name} is not allowed for {_named(tenant)}", hint="name the model as model"
        )
    if options.model is not None and not matches_model(options.model, tenant.models):
        raise NotAllowed(
            f'model "{options.model[:200]}" is not allowed for {_named(tenant)}',
            hint=f"it may use {', '.join(tenant.models)}",
        )


def _restrict_options(options: RunOptions, tenant: Tenant) -> RunOptions:
    check_options(options, tenant)
    if options.until:
        raise NotAllowed(
            f"until is not allowed for {_named(tenant)}: its command would run outside the sandbox"
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


# ---------------------------------------------------------------------------- tenant models


class TenantModels:
    """Resolves models, limited to those that the current tenant may use."""

    def __init__(
        self,
        models: Models,
        tenants: Tenants,
        *,
        own: Callable[[], Collection[str]],
        is_file: Callable[[str], bool],
    ) -> None:
        """Take all models; `own` returns those that the node's operator has set, and blocks."""
        self._models = models
        self._tenants = tenants
        self._own = own
        self._is_file = is_file

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        """Return the provider and the model; raises NotAllowed, StoreError, and what `models` raises."""
        name = current.get()
        if name and not await self._may_use(name, ref) and ref not in await asyncio.to_thread(self._own):
            raise NotAllowed(
                f'model "{ref[:200]}" is not allowed for tenant {name}',
                hint=f"bridle tenant set {name} --model MODEL",
            )
        return await self._models.resolve(ref)

    def server_pids(self) -> dict[str, int]:
        """Return the process ids of running model servers, by name."""
        return self._models.server_pids() if implements(self._models, LocalModels) else {}

    async def aclose(self) -> None:
        """Close every provider."""
        await self._models.aclose()

    async def _may_use(self, name: str, ref: str) -> bool:
        tenant = await self._tenants.tenant(name)
        if tenant is None:
            return False
        return ref in tenant.models if self._is_file(ref) else matches_model(ref, tenant.models)
