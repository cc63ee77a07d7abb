"""Forks: which messages, pins and kernel state a new session copies from its parent."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from bridle.core.facts import pins_after
from bridle.core.messages import Usage
from bridle.core.protocol import Event, KernelSaved, MessageAdded, Pinned, Record, SessionCreated
from bridle.core.transcript import Transcript, drop_rewound, transcript_of


def fork_at(records: Iterable[Record], seq: int, child: SessionCreated) -> list[Event]:
    """Return the first events of a child session, with the parent's messages up to `seq`.

    A message with a call whose result comes after `seq` is left out, so that the child can take a prompt at
    once.
    """
    before = [record for record in records if record.seq <= seq]
    past = drop_rewound(before).records
    transcript = transcript_of(past)
    while transcript.messages and transcript.messages[-1].message.calls:
        transcript.messages.pop()
    snapshot = snapshot_at(past)
    kernel = [KernelSaved(snapshot)] if snapshot else []
    pins = [Pinned(text) for text in _pins_of(before)]
    return [replace(child, forked_at=seq), *_copies(transcript), *kernel, *pins]


def _copies(transcript: Transcript) -> Iterator[Event]:
    for item in transcript.messages:
        if item.kind == "summary" and transcript.compacted is not None:
            summary = replace(transcript.compacted, kept=0, messages_after=1, left_out=())
            yield replace(summary, model="", usage=Usage(), cost=None)
        else:
            yield MessageAdded(item.message, "steer" if item.kind == "correction" else "fork", item.tokens)


def _pins_of(records: Iterable[Record]) -> tuple[str, ...]:
    pins: tuple[str, ...] = ()
    for record in records:
        if isinstance(record.event, Pinned):
            pins = pins_after(pins, record.event)
    return pins


def snapshot_at(past: Sequence[Record]) -> str:
    """Return the digest of the kernel's last snapshot in these live records; empty for none."""
    found = (record.event.snapshot for record in reversed(past) if isinstance(record.event, KernelSaved))
    return next(found, "")
