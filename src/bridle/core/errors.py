"""Every error that Bridle raises, in one class tree.

```
BridleError                    what happened, to which object; `hint` says what to do
├── UsageError                 the request makes no sense
├── NotAllowed                 the caller lacks the permission
├── BudgetSpent                the tenant has no budget left for a run
├── ConfigError                a setting, an agent or a rule is wrong (file, line, key)
├── DaemonGone                 the daemon has ended or speaks another protocol
├── SessionError
│   ├── SessionNotFound
│   ├── SessionBusy            a run is active and the command cannot wait
│   ├── SessionNotRunning      the command needs an active run
│   ├── SessionConflict        another writer appended first
│   │   └── SessionTaken       another worker holds the session: this one may not write to it
│   ├── NotDrivenHere          this worker does not run the session; look up which one does
│   ├── WorkspaceLost          the session's folder is not available
│   └── KeyTaken               the prompt's key belongs to another prompt
├── StoreError                 the journal cannot be read or written
│   ├── StoreCorrupt           it was edited, truncated or is not a Bridle journal
│   └── StoreFull              no space left on the device
├── ProviderError              the model call failed (`kind` says why)
├── ToolError                  a tool refused or failed; its text goes to the model
├── HookError                  a hook could not be called, or its answer is invalid
└── IllegalTransition          the loop's table does not have the requested move
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
"""Failures of a model or its vendor, which another model may not have; all other kinds are the request's."""


class BridleError(Exception):
    """The base of all errors: the message says what happened to which object, `hint` what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} (hint: {self.hint})" if self.hint else self.message


class UsageError(BridleError):
    """The request is invalid."""


class NotAllowed(BridleError):
    """The caller lacks the permission."""


class BudgetSpent(BridleError):
    """The tenant has no budget left for a run."""


class ConfigError(BridleError):
    """A setting, an agent or a rule is wrong; the message names file, line and key."""


class DaemonGone(BridleError):
    """The daemon that runs the sessions has ended, or speaks another protocol."""


class SessionError(BridleError):
    """A session could not accept a command."""


class SessionNotFound(SessionError):
    """No session has this id."""


class SessionBusy(SessionError):
    """A run is active and the command cannot wait."""


class SessionNotRunning(SessionError):
    """The command needs an active run."""


class SessionConflict(SessionError):
    """Another writer appended to the session first."""


class SessionTaken(SessionConflict):
    """Another worker holds the session, or this worker was declared dead: it may not write to the session."""


class NotDrivenHere(SessionError):
    """This worker does not run the session, or no longer does."""


class WorkspaceLost(SessionError):
    """The session's folder is not on this machine and cannot be restored there."""


class KeyTaken(SessionError):
    """The prompt's key belongs to another prompt."""


class StoreError(BridleError):
    """The journal cannot be read or written."""


class StoreCorrupt(StoreError):
    """The journal was edited, truncated or is not a Bridle journal."""


class StoreFull(StoreError):
    """No space is left for the journal; what it already holds stays readable."""


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
    """A tool refused or failed; the model sees the message as the result."""


class HookError(BridleError):
    """A hook could not be called, or its answer is invalid; `raw` is the answer."""

    def __init__(self, message: str, *, raw: bytes = b"") -> None:
        super().__init__(message)
        self.raw = raw


class IllegalTransition(BridleError):
    """The loop's table does not have the requested move; the state is unchanged."""
