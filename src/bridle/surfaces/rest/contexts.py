"""The `Desk` of each client: the owner's, and one for every other token, which sees only its tenant."""

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

MAX_DESKS = 256


class ServiceContexts:
    """Creates request contexts and caches the newest, so that the streams of one token share their logs."""

    def __init__(self, own: ServiceContext, gate: TokenGate | None) -> None:
        """Use `own` for the owner; without a gate, for everyone."""
        self._own = own
        self._gate = gate
        self._made: dict[Principal, ServiceContext] = {}
        self._is_stopped = False

    async def of(self, principal: Principal | None, looks_at: str = "") -> ServiceContext:
        """Return the context of a principal, None being the owner; raises NotAllowed, StoreError.

        `looks_at` is the path of a read-only operation; the principal must be allowed to read it.
        """
        if principal is None or self._gate is None or principal == NODE:
            return self._own
        if looks_at:
            await self._gate.look(principal, looks_at)
        folders = await folders_for(self._gate, principal, self._own.folders)
        desk = self._made.pop(principal, None)
        if desk is None:
            desk = self._make(self._gate, principal, folders)
        elif desk.folders != folders:
            desk = replace(desk, folders=folders)
        self._made[principal] = desk
        for oldest in list(self._made)[:-MAX_DESKS]:
            del self._made[oldest]
        return desk

    def stop(self) -> None:
        """End all streams except the owner's."""
        self._is_stopped = True
        for desk in self._made.values():
            desk.streams.stop()
            desk.news.stop()

    def _make(self, gate: TokenGate, principal: Principal, folders: Folders) -> ServiceContext:
        api = gate.api(principal)
        desk = replace(
            self._own,
            api=api,
            folders=folders,
            streams=Streams(api),
            news=NewsFeed(api),
            files=FileFinder(),
            books=UsageHistory(api),
            live=_seen_by(principal, self._own.live),
            metrics=self._own.metrics if principal.is_cluster_admin else None,
        )
        if self._is_stopped:
            desk.streams.stop()
            desk.news.stop()
        return desk


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
