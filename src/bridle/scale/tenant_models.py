"""The models that runs of a tenant may use, whoever names them: a client, a project, or the model of a run.

| a model | may be used |
|---|---|
| that whoever runs the node has set, for itself or an agent | always |
| that is a file of the worker: a script, weights | if the tenant has it by its whole name |
| any other | if a pattern of the tenant fits, or it has none |

A file is read outside the sandbox, and weights by native code, so that a tenant must not choose one.
"""

import asyncio
from collections.abc import Callable, Collection

from bridle.core.errors import NotAllowed
from bridle.core.model import Model
from bridle.core.ports import LocalModels, Models, Provider, Tenants, offers
from bridle.scale.tamed import is_among
from bridle.system.tenant import current


class TenantModels:
    """Finds models, within what the tenant may that is being worked for."""

    def __init__(
        self,
        models: Models,
        tenants: Tenants,
        *,
        own: Callable[[], Collection[str]],
        is_file: Callable[[str], bool],
    ) -> None:
        """Take all models; `own` reads which of them whoever runs the node has set, and is blocking."""
        self._models = models
        self._tenants = tenants
        self._own = own
        self._is_file = is_file

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        """Return the adapter and the facts; raises NotAllowed, StoreError, and what the models raise."""
        name = current.get()
        if name and not await self._may_use(name, ref) and ref not in await asyncio.to_thread(self._own):
            raise NotAllowed(
                f'model "{ref[:200]}" is not for tenant {name}',
                hint=f"bridle tenant set {name} --model MODEL",
            )
        return await self._models.resolve(ref)

    def server_pids(self) -> dict[str, int]:
        """Return the processes that live, by what they serve."""
        return self._models.server_pids() if offers(self._models, LocalModels) else {}

    async def aclose(self) -> None:
        """Release every provider."""
        await self._models.aclose()

    async def _may_use(self, name: str, ref: str) -> bool:
        tenant = await self._tenants.tenant(name)
        if tenant is None:
            return False
        return ref in tenant.models if self._is_file(ref) else is_among(ref, tenant.models)
