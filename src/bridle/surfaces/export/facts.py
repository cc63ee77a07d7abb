"""What stands at the head of a document: the title of a session, and the facts about it."""

from bridle.core.session import Session
from bridle.surfaces.terminal import one_line
from bridle.surfaces.transcript import describe_origin, describe_totals, local_time


def title_of(session: Session) -> str:
    """Return what a session is called, on one line."""
    return one_line(session.known.title) or "Untitled session"


def facts_of(session: Session) -> list[str]:
    """Return what is known of a session, one fact on each line."""
    facts = session.known
    lines = [
        f"session {facts.created.session_id}",
        f"agent {one_line(facts.created.agent)} in {one_line(facts.created.cwd)}",
        f"from {local_time(facts.created_at)} to {local_time(session.updated_at)}",
        describe_totals(facts.totals),
    ]
    return [*lines, *filter(None, [describe_origin(facts.created)])]
