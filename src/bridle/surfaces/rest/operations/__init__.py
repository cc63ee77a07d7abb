"""All operations of the REST service, in the order of the OpenAPI document."""

from bridle.surfaces.rest.operation import Operation
from bridle.surfaces.rest.operations import folders, history, runs, service, sessions, streams

OPERATIONS: tuple[Operation, ...] = (
    *service.OPERATIONS,
    *sessions.OPERATIONS,
    *runs.OPERATIONS,
    *streams.OPERATIONS,
    *history.OPERATIONS,
    *folders.OPERATIONS,
)
