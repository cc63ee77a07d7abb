"""What a task can know about itself."""

import asyncio


def is_cancelled() -> bool:
    """Tell whether somebody wants this task to stop.

    What a function of somebody else raises by itself does not: it may await a task that was cancelled.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
