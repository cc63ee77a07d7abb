"""Every error Bridle raises, in one tree.

```
BridleError                    what happened, to which thing; `hint` says what to do
├── UsageError                 the caller asked for something that makes no sense
├── NotAllowed                 whoever asks has no right to it
├── BudgetSpent                a tenant has nothing left that a run could use
├── ConfigError                a settings, agent or rule text is wrong (file, line, key)
├── DaemonGone                 the process that has the sessions has ended, or is not ours
├── SessionError
│   ├── SessionNotFound
│   ├── SessionBusy            a run is active and the command cannot wait
│   ├── SessionNotRunning      the command needs an active run
│   ├── SessionConflict        another writer appended first
│   │   └── SessionTaken       another worker holds the session: this one may not write to it
│   ├── NotDrivenHere          another worker may drive it by now: look again
│   ├── WorkspaceLost          the folder it works in is not to be had
│   └── KeyTaken               the key of a prompt belongs to another prompt
├── StoreError                 the journal cannot be read or written
│   ├── StoreCorrupt           it was edited, truncated or is not ours
│   └── StoreFull              no space left on the device
├── ProviderError              the model call failed (`kind` is the taxonomy)
├── ToolError                  a tool refused or failed; its text goes to the model
├── HookError                  a hook could not be asked, or its answer makes no sense
└── IllegalTransition          the loop was asked for a move its table does not have
```
"""

from typing import Literal

ProviderErrorKind = Literal[
    "rate_limited",
    "server_overloaded",
    "network_timeout",
    "connection_reset",
    "server_error",
    "invalid_request",
    "authentication_failed",
    "invalid_api_key",
    "content_filtered",
    "context_length_exceeded",
    "model_not_found",
    "empty_reply",
    "unknown",
]

RETRYABLE_KINDS: frozenset[ProviderErrorKind] = frozenset(
    {
        "rate_limited",
        "server_overloaded",
        "network_timeout",
        "connection_reset",
        "server_error",
        "empty_reply",
    }
)

FALLBACK_KINDS: frozenset[ProviderErrorKind] = RETRYABLE_KINDS | {
    "model_not_found",
    "authentication_failed",
    "invalid_api_key",
    "unknown",
}
"""Failures of a model or its vendor, which another model may not have; the others are the request's."""


class BridleError(Exception):
    """Say what happened and to which thing; `hint` says what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} (hint: {self.hint})" if self.hint else self.message


class UsageError(BridleError):
    """The caller asked for something that makes no sense."""


class NotAllowed(BridleError):
    """Whoever asks has no right to it."""


class BudgetSpent(BridleError):
    """A tenant has nothing left that a run could use."""


class ConfigError(BridleError):
    """A settings, agent or rule text is wrong; the message names file, line and key."""


class DaemonGone(BridleError):
    """The process that has the sessions has ended, or does not speak our language."""


class SessionError(BridleError):
    """A command could not be taken by a session."""


class SessionNotFound(SessionError):
    """No session has this id."""


class SessionBusy(SessionError):
    """A run is active and the command cannot wait."""


class SessionNotRunning(SessionError):
    """The command needs an active run."""


class SessionConflict(SessionError):
    """Another writer appended to the session first."""


class SessionTaken(SessionConflict):
    """Another worker holds the session, or this one was declared gone: it may not write to it."""


class NotDrivenHere(SessionError):
    """This worker does not drive the session, or not any more."""


class WorkspaceLost(SessionError):
    """The folder that the session works in is not on this machine, and cannot be brought there."""


class KeyTaken(SessionError):
    """A prompt came with the key of another one."""


class StoreError(BridleError):
    """The journal cannot be read or written."""


class StoreCorrupt(StoreError):
    """The journal was edited, truncated or is not one of ours."""


class StoreFull(StoreError):
    """No space is left for the journal; what was stored before stays readable."""


class ProviderError(BridleError):
    """A model call failed; `kind` is the vendor-neutral reason."""

    def __init__(
        self,
        message: str,
        *,
        kind: ProviderErrorKind = "unknown",
        retry_after_s: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.retry_after_s = retry_after_s


class ToolError(BridleError):
    """A tool refused or failed; its text is the result the model sees."""


class HookError(BridleError):
    """A hook could not be asked, or its answer makes no sense; `raw` is what it answered."""

    def __init__(self, message: str, *, raw: bytes = b"") -> None:
        super().__init__(message)
        self.raw = raw


class IllegalTransition(BridleError):
    """The loop was asked for a move its table does not have; its state is unchanged."""
