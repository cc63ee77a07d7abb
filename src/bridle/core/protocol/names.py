"""The names of commands, events and deltas in stored and sent JSON."""


def snake(name: str) -> str:
    """Convert a class name to its stored form: `RunStarted` becomes `run_started`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
