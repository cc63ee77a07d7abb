"""Find flaws outside the lines of a session: in its labels, its end and its summary."""

import msgspec

from bridle.core.ids import SessionId
from bridle.core.summary import SessionSummary
from bridle.stores.postgres.pool import Postgres
from bridle.stores.record_lines import Flaw, fold_summary
from bridle.stores.summaries import decode_summary

_MISLABELLED = """
SELECT seq FROM bridle.records
WHERE session = %(id)s
AND left(encode(line, 'escape'), 64) NOT LIKE '{"seq":' || seq || ',"at":' || at || ',%%'
ORDER BY seq
"""
_ROW = """
SELECT seq, hash, summary,
    (SELECT max(seq) FROM bridle.records WHERE session = %(id)s),
    (SELECT substr(line, length(line) - 65, 64) FROM bridle.records r
     WHERE r.session = %(id)s AND r.seq = s.seq)
FROM bridle.sessions s WHERE id = %(id)s AND seq > 0
"""
_LINES = "SELECT line FROM bridle.records WHERE session = %s ORDER BY seq"
_MEND = "UPDATE bridle.sessions SET summary = %s, archived = %s WHERE id = %s"


async def find_flaws(postgres: Postgres, session: SessionId, *, repair: bool) -> list[Flaw]:
    """Return the flaws of one session; with `repair`, rebuild its summary if it is unreadable."""
    found = [
        Flaw("mislabelled", "the row's number or date is not that of its line", session, seq)
        for (seq,) in await postgres.rows(_MISLABELLED, {"id": session})
    ]
    rows = await postgres.rows(_ROW, {"id": session})
    if not rows:
        return found
    seq, hash_, data, last_seq, last_hash = rows[0]
    if (last_seq or 0) < seq:
        text = f"it had {seq} events and has {last_seq or 0}"
        found.append(Flaw("truncated", text, session, (last_seq or 0) + 1))
    elif last_seq > seq or bytes(last_hash or b"") != hash_.encode():
        found.append(Flaw("mislabelled", "its row and its records end differently", session, seq))
    if decode_summary(data) is None:
        mended = repair and await _repair(postgres, session)
        found.append(Flaw("missing_summary", "it has no readable summary", session, repaired=mended))
    return found


async def _repair(postgres: Postgres, session: SessionId) -> bool:
    lines = [bytes(line) for (line,) in await postgres.rows(_LINES, (session,))]
    summary: SessionSummary | None = fold_summary(session, lines)
    if summary is None:
        return False
    await postgres.rows(_MEND, (msgspec.json.encode(summary), summary.archived, session))
    return True
