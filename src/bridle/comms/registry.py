"""The listeners of this process by name, which exchange messages without a connection."""

from bridle.comms.inbox import Inbox
from bridle.core.errors import ConfigError


class Registry:
    """Maps names to inboxes; one per process, or per group of listeners that may talk to each other."""

    def __init__(self) -> None:
        self._inboxes: dict[str, Inbox] = {}

    def add(self, name: str, inbox: Inbox) -> None:
        """Add a listener; raises ConfigError if the name is taken."""
        if name in self._inboxes:
            raise ConfigError(f'"{name}" is already listening in this process', hint="give it another name")
        self._inboxes[name] = inbox

    def remove(self, name: str) -> None:
        """Remove a listener."""
        self._inboxes.pop(name, None)

    def find(self, name: str) -> Inbox | None:
        """Return the inbox of a name; None if there is no such listener."""
        return self._inboxes.get(name)

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted(self._inboxes)
