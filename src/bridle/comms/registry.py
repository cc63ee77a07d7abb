"""The listeners of this process by name, which reach each other without a wire."""

from bridle.comms.inbox import Inbox
from bridle.core.errors import ConfigError


class Registry:
    """Finds the inbox of a name; one for a whole process, or for as much of it as may talk to each other."""

    def __init__(self) -> None:
        self._inboxes: dict[str, Inbox] = {}

    def add(self, name: str, inbox: Inbox) -> None:
        """Make a listener known; raises ConfigError when the name is taken."""
        if name in self._inboxes:
            raise ConfigError(f'"{name}" listens in this process already', hint="give it another name")
        self._inboxes[name] = inbox

    def remove(self, name: str) -> None:
        """Forget a listener."""
        self._inboxes.pop(name, None)

    def find(self, name: str) -> Inbox | None:
        """Return the inbox of a name; None when nobody has it."""
        return self._inboxes.get(name)

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted(self._inboxes)
