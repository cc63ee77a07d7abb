"""The HTML export: one self-contained page without scripts or requests, for light, dark and print."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise

from bridle.core.ids import CallId
from bridle.core.protocol import ApprovalDecided, ApprovalRequested, ModelReplied, Record, RunStarted
from bridle.core.session import Session, fold
from bridle.core.transcript import drop_rewound
from bridle.surfaces.shared.export.document_facts import title_of
from bridle.surfaces.shared.export.html_code import escaped
from bridle.surfaces.shared.export.html_items import ApprovalResult, render_item
from bridle.surfaces.shared.export.svg_charts import time_chart, token_chart
from bridle.surfaces.shared.terminal import cut, one_line
from bridle.surfaces.shared.timeline import timeline
from bridle.surfaces.shared.transcript import describe_origin, describe_totals, local_time
from bridle.surfaces.shared.view_model.conversation import Conversation
from bridle.surfaces.shared.view_model.view_types import Item, Said

PROMPT_CHARS = 90  # of a prompt in the table of contents
ASKED = ("prompt", "steer")

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="Bridle">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{about}
{contents}
{charts}
</header>
<main>
{items}
</main>
<footer>Written by Bridle. Long outputs are shortened here; <code>bridle session export --format json</code>
has all of it.</footer>
</body>
</html>
"""


def page_of(records: Sequence[Record]) -> str:
    """Return a session as one HTML page."""
    session, counted = fold(records), drop_rewound(records)
    conversation = Conversation()
    for record in counted:
        conversation.add(record)
    items, verdicts = conversation.items.in_order, verdicts_of(counted)
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return PAGE.format(
        title=escaped(title_of(session)),
        policy=policy_for(style),
        style=style,
        about=_about(session),
        contents=_contents(items),
        charts=_charts(counted),
        items="\n".join(render_item(item, verdicts) for item in items),
    )


def policy_for(style: str) -> str:
    """Return a content security policy that allows only this style and embedded images."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def verdicts_of(records: Sequence[Record]) -> dict[CallId, ApprovalResult]:
    """Return the decisions made by a person, by call."""
    verdicts: dict[CallId, ApprovalResult] = {}
    for record in records:
        match record.event:
            case ApprovalRequested(call_id=call_id, why=why, child=None):
                verdicts[call_id] = ApprovalResult(why)
            case ApprovalDecided(call_id=call_id) as event if call_id in verdicts:
                asked = verdicts[call_id]
                verdicts[call_id] = ApprovalResult(asked.why, event.answer, event.reason, event.rules)
            case _:
                pass
    return verdicts


def _about(session: Session) -> str:
    facts = session.known
    rows = {
        "session": str(facts.created.session_id),
        "from": describe_origin(facts.created),
        "folder": facts.created.cwd,
        "agent": facts.created.agent,
        "model": facts.model,
        "time": f"{local_time(facts.created_at)} to {local_time(session.updated_at)}",
        "used": describe_totals(facts.totals),
    }
    shown = (f"<dt>{name}</dt><dd>{escaped(one_line(fact))}</dd>" for name, fact in rows.items() if fact)
    return f'<dl class="about">\n{chr(10).join(shown)}\n</dl>'


def _charts(records: Sequence[Record]) -> str:
    turns = [record.event.usage for record in records if isinstance(record.event, ModelReplied)]
    starts = [place for place, record in enumerate(records) if isinstance(record.event, RunStarted)]
    runs = [timeline(records[first:after]).spans for first, after in pairwise([*starts, len(records)])]
    return "\n".join(filter(None, [time_chart(runs), token_chart(turns)]))


def _contents(items: Sequence[Item]) -> str:
    """Return links to the prompts; empty if there is only one."""
    prompts = [item for item in items if isinstance(item, Said) and item.source in ASKED]
    if len(prompts) < 2:
        return ""
    links = "\n".join(f'<li><a href="#said-{said.seq}">{_brief(said.text)}</a></li>' for said in prompts)
    summary = "<summary>Prompts</summary>"
    return f'<nav aria-label="Prompts"><details open>{summary}\n<ol>\n{links}\n</ol></details></nav>'


def _brief(text: str) -> str:
    return escaped(cut(one_line(text[: 4 * PROMPT_CHARS]), PROMPT_CHARS)) or "(no words)"
