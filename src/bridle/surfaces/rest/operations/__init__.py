"""All operations of the REST service, in the order of the OpenAPI document."""

from bridle.surfaces.rest.operation import Operation
from bridle.surfaces.rest.operations import (
    about,
    board,
    changing,
    commanding,
    config,
    files,
    folders,
    health,
    news,
    reading,
    running,
    sessions,
    streaming,
)

OPERATIONS: tuple[Operation, ...] = (
    *health.OPERATIONS,
    *about.OPERATIONS,
    *sessions.OPERATIONS,
    *running.OPERATIONS,
    *streaming.OPERATIONS,
    *board.OPERATIONS,
    *commanding.OPERATIONS,
    *reading.OPERATIONS,
    *changing.OPERATIONS,
    *folders.OPERATIONS,
    *files.OPERATIONS,
    *news.OPERATIONS,
    *config.OPERATIONS,
)
