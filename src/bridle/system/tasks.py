"""Helpers for asyncio tasks."""

import asyncio


def is_cancelled() -> bool:
    """Return True if this task itself was cancelled.

    False if a CancelledError only came out of awaited code, for example from another, cancelled task.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
