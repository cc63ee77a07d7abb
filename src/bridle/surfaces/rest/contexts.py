"""The `ServiceContext` of each client: the owner's, and one for every other token, limited to its tenant."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from bridle.core.session_api import LiveSession
from bridle.core.tenancy import Principal, may_see
from bridle.scale.token_auth import NODE, TokenGate
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.news_feed import NewsFeed
from bridle.surfaces.rest.operation import ServiceContext
from bridle.surfaces.rest.usage_by_hour import UsageHistory
from bridle.surfaces.shared.file_names import FileFinder
from bridle.surfaces.shared.folder_info import Folders

MAX_CONTEXTS = 256


class ServiceContexts:
    """Creates request contexts and caches the newest, so that the streams of one token share their logs."""

    def __init__(self, own: ServiceContext, gate: TokenGate | None) -> None:
        """Use `own` for the owner; without a gate, for everyone."""
        self._own = own
        self._gate = gate
        self._made: dict[Principal, ServiceContext] = {}
        self._is_stopped = False

    async def of(self, principal: Principal | None, read_path: str = "") -> ServiceContext:
        """Return the context of a principal, None being the owner; raises NotAllowed, StoreError.

        `read_path` is the path of a read-only operation; the principal must be allowed to read it.
        """
        if principal is None or self._gate is None or principal == NODE:
            return self._own
        if read_path:
            await self._gate.look(principal, read_path)
        folders = await folders_for(self._gate, principal, self._own.folders)
        context = self._made.pop(principal, None)
        if context is None:
            context = self._make(self._gate, principal, folders)
        elif context.folders != folders:
            context = replace(context, folders=folders)
        self._made[principal] = context
        for oldest in list(self._made)[:-MAX_CONTEXTS]:
            del self._made[oldest]
        return context

    def stop(self) -> None:
        """End all streams except the owner's."""
        self._is_stopped = True
        for context in self._made.values():
            context.streams.stop()
            context.news.stop()

    def _make(self, gate: TokenGate, principal: Principal, folders: Folders) -> ServiceContext:
        api = gate.api(principal)
        context = replace(
            self._own,
            api=api,
            folders=folders,
            streams=Streams(api),
            news=NewsFeed(api),
            files=FileFinder(),
            usage_history=UsageHistory(api),
            live=_seen_by(principal, self._own.live),
            metrics=self._own.metrics if principal.is_cluster_admin else None,
        )
        if self._is_stopped:
            context.streams.stop()
            context.news.stop()
        return context


async def folders_for(gate: TokenGate, principal: Principal, all_folders: Folders) -> Folders:
    """Return the folders that a principal may use; raises NotAllowed, StoreError."""
    tenant = await gate.standing(principal)
    if principal.is_cluster_admin:
        return all_folders
    if not tenant.name:
        return replace(all_folders, within=("/",))
    own = gate.folders.of(tenant)
    return replace(all_folders, usual=own[0] if own else "", within=own)


def _seen_by(
    principal: Principal, live: Callable[[], Sequence[LiveSession]]
) -> Callable[[], Sequence[LiveSession]]:
    return lambda: [session for session in live() if may_see(principal, session.id)]
