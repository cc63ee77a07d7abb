"""Execute one statement and return its rows, in PostgreSQL's binary format instead of text."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from psycopg import AsyncConnection

Row: TypeAlias = tuple[Any, ...]
Connection: TypeAlias = AsyncConnection[Row]


async def fetch_rows(
    connection: Connection, statement: str, params: Sequence[Any] | dict[str, Any] = ()
) -> list[Row]:
    """Return the rows of a statement; none if it has no result. Raises psycopg.Error."""
    async with connection.cursor(binary=True) as cursor:
        await cursor.execute(statement.encode(), params or None)
        return await cursor.fetchall() if cursor.description else []
