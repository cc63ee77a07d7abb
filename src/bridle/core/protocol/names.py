"""The names of commands, events and deltas in stored and sent text."""


def snake(name: str) -> str:
    """Return a class's name as it is stored: `RunStarted` is `run_started`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
