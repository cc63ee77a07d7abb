"""All operations of the REST service, in the order of the OpenAPI document."""

from bridle.surfaces.rest.operation import Operation
from bridle.surfaces.rest.operations import (
    about,
    commands,
    config,
    files,
    folders,
    fork_delete,
    health,
    history,
    news,
    runs,
    sessions,
    streams,
    view,
)

OPERATIONS: tuple[Operation, ...] = (
    *health.OPERATIONS,
    *about.OPERATIONS,
    *sessions.OPERATIONS,
    *runs.OPERATIONS,
    *streams.OPERATIONS,
    *view.OPERATIONS,
    *commands.OPERATIONS,
    *history.OPERATIONS,
    *fork_delete.OPERATIONS,
    *folders.OPERATIONS,
    *files.OPERATIONS,
    *news.OPERATIONS,
    *config.OPERATIONS,
)
