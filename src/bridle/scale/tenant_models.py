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

from bridle.core.errors import NotAllowed
from bridle.core.model import Model
from bridle.core.ports import LocalModels, Models, Provider, Tenants, implements
from bridle.scale.tenant_limits import matches_model
from bridle.system.current_tenant import current


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
