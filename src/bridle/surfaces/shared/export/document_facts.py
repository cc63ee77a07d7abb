"""The title and the facts at the top of an exported document."""

from bridle.core.session import Session
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.transcript import describe_origin, describe_totals, local_time


def title_of(session: Session) -> str:
    """Return the title of a session, on one line."""
    return one_line(session.known.title) or "Untitled session"


def facts_of(session: Session) -> list[str]:
    """Return the facts about a session, one per line."""
    facts = session.known
    lines = [
        f"session {facts.created.session_id}",
        f"agent {one_line(facts.created.agent)} in {one_line(facts.created.cwd)}",
        f"from {local_time(facts.created_at)} to {local_time(session.updated_at)}",
        describe_totals(facts.totals),
    ]
    return [*lines, *filter(None, [describe_origin(facts.created)])]
