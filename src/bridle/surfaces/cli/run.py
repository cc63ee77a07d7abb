"""`bridle run`: run a prompt, show its progress and answer, and report how it ended.

```
prompt ─▶ submit ─▶ watch ─▶ view (text, json, stream-json)
                      │
                      └─ ApprovalRequested ─▶ the user, or stop without a terminal ─▶ Decide
Ctrl-C ─▶ Cancel ─▶ RunEnded ─▶ exit 130          Ctrl-C again ─▶ exit at once, the run can be resumed
```
"""

import argparse
import asyncio
import os
import select
import stat
import sys
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bridle.config.settings import find_trace
from bridle.core.errors import BridleError, SessionNotRunning, UsageError
from bridle.core.messages import Media, Message, Text
from bridle.core.protocol import MAX_PROMPT_BYTES, Delete, Prompt, Resume, RunOptions
from bridle.core.queries import Status
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary, title_from
from bridle.surfaces.cli.options import check_disabled_hooks, parse_labels, resolve_options, run_options
from bridle.surfaces.cli.output.run_view import RunView
from bridle.surfaces.cli.output.views import JsonView, ValueView, View
from bridle.surfaces.cli.run_follower import Follower
from bridle.surfaces.cli.session_access import open_sessions
from bridle.surfaces.cli.session_lookup import find_newest_session, find_session, resolve_directory
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.run_driver import make_queued_error, rules_needed
from bridle.surfaces.shared.terminal import Console
from bridle.surfaces.shared.text_format import describe_args, short_id

if TYPE_CHECKING:
    from bridle.surfaces.cli.approver import Approver

# ---------------------------------------------------------------------------- prompt
# Read the prompt: the words of the command line and the text on stdin, joined.


PATIENCE_S = 3.0  # a pipe silent for this long may never be closed

_CHUNK_BYTES = 64 * 1024


def read_prompt(words: list[str], console: Console) -> str:
    """Return the prompt, empty if there is none; raises UsageError if it is too long or not UTF-8."""
    piped = _decode(_read_stdin(console)).rstrip("\n")
    prompt = "\n\n".join(text for text in (" ".join(words), piped) if text.strip())
    if len(prompt.encode()) > MAX_PROMPT_BYTES:
        raise _too_long()
    return prompt


def _read_stdin(console: Console) -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    descriptor = sys.stdin.fileno()
    is_stream = not stat.S_ISREG(os.fstat(descriptor).st_mode)
    if is_stream and not select.select([descriptor], [], [], PATIENCE_S)[0]:
        console.warn("waiting for stdin to end")
        console.hint("add < /dev/null if there is no input")
        console.err.flush()
    pieces, size = [], 0
    while piece := os.read(descriptor, _CHUNK_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_PROMPT_BYTES:
            raise _too_long()
    return b"".join(pieces)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"stdin is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start:,}",
            hint="convert it first, for example with iconv -t utf-8",
        ) from None


def _too_long() -> UsageError:
    return UsageError(
        f"the prompt is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MiB",
        hint="name the file in the prompt instead, and the agent reads what it needs",
    )


# ---------------------------------------------------------------------------- run


class RunRequest(Struct, frozen=True):
    """What to run, and where."""

    prompt: str
    options: RunOptions
    agent: str | None
    cwd: str
    session: SessionSummary | None
    """The session to continue; None starts a new one."""
    title: str = ""
    """The title of a new session if it is not to come from the prompt."""
    labels: dict[str, str] = {}
    """The labels of a new session."""
    images: tuple[Media, ...] = ()

    @property
    def command(self) -> Prompt | Resume:
        """The command to submit: without a prompt, resume a run that was cut off or start a queued prompt."""
        if not self.prompt:
            return Resume(self.options)
        message = Message("user", (Text(self.prompt), *self.images))
        return Prompt(message, self.options, if_busy="reject")


def run(args: argparse.Namespace, console: Console) -> int:
    """Run a prompt."""
    options = run_options(args)
    prompt = read_prompt(args.prompt, console)
    goes_on = args.go_on or args.session is not None
    labels = _labels(args, goes_on=goes_on)
    if not prompt and not goes_on:
        raise UsageError("no prompt given", hint='bridle run "what does this project do"')
    if args.image and not prompt:
        raise UsageError("--image: needs a prompt", hint='bridle run --image a.png "what is this"')
    cwd = resolve_directory(args.cwd)
    session = asyncio.run(_find(args, cwd, console)) if goes_on else None
    where = session.cwd if session else cwd
    if prompt:  # `--no-hook` may also name a hook of a resumed run
        check_disabled_hooks(args.no_hook, where, console.environ)
    images = _images(args, where)
    title = ""
    if prompt.startswith("/"):
        from bridle.surfaces.shared.skill_prompt import expand_in  # few prompts need it

        typed, prompt = prompt, expand_in(prompt, where, console.environ)
        title = title_from(typed) if typed != prompt else ""
    options = replace(resolve_options(options, where, console.environ), trace=find_trace(console.environ))
    job = RunRequest(prompt, options, args.agent, where, session, title, labels, images)
    approver = None
    if not args.final_only and args.output == "text":
        from bridle.surfaces.cli.approver import open_approver  # not needed if the user cannot be asked

        approver = open_approver(console.environ)
    try:
        result = asyncio.run(_perform(job, _view(args, console), approver, console))
    finally:
        if approver is not None:
            approver.close()
    for warning in result.schema_warnings if args.output == "text" else []:
        console.warn(warning)
    report(console, result)
    return result.exit_code


def _labels(args: argparse.Namespace, *, goes_on: bool) -> dict[str, str]:
    if args.label and goes_on:
        raise UsageError(
            "--label is for a new session", hint="bridle session label SESSION NAME=VALUE labels this one"
        )
    return parse_labels(args.label)


def _images(args: argparse.Namespace, cwd: str) -> tuple[Media, ...]:
    """Read the images of the flags and those that the words of the prompt name; raises UsageError."""
    words = " ".join(args.prompt)
    if not args.image and "@" not in words:
        return ()
    from bridle.surfaces.shared.skill_prompt import read_image, read_images  # few prompts need it

    try:
        given = [read_image(path, "") for path in args.image]
    except UsageError as error:
        raise UsageError(f"--image: {error.message}", hint=error.hint) from None
    return tuple(dict.fromkeys([*given, *read_images(words, cwd)]))


async def _find(args: argparse.Namespace, cwd: str, console: Console) -> SessionSummary:
    """Return the session to continue; raises UsageError for flags that contradict it."""
    from bridle.surfaces.cli.store_access import open_configured_store  # a new session does not need it

    async with open_configured_store(console, cwd) as store:
        sessions = await store.list(archived=True)
    found = find_newest_session(sessions, cwd) if args.go_on else find_session(sessions, args.session)
    if args.cwd is not None and found.cwd != cwd:
        raise UsageError(f"session {short_id(found.id)} works in {found.cwd}, not in {cwd}")
    if args.agent is not None and found.agent != args.agent:
        raise UsageError(f"session {short_id(found.id)} has the agent {found.agent}, not {args.agent}")
    return found


def _view(args: argparse.Namespace, console: Console) -> View:
    verbose: bool = args.verbose
    if args.output != "text":
        notes = RunView(console, answer="none", chatty=verbose, verbose=verbose)
        return JsonView(console.out, notes, stream=args.output == "stream-json")
    if args.output_schema is not None:
        chatty = verbose or (console.err.is_terminal and not args.final_only)
        return ValueView(console.out, RunView(console, answer="none", chatty=chatty, verbose=verbose))
    if args.final_only:
        return RunView(console, answer="final", chatty=verbose, verbose=verbose)
    return RunView(console, answer="streamed", chatty=verbose or console.err.is_terminal, verbose=verbose)


async def _perform(job: RunRequest, view: View, approver: "Approver | None", console: Console) -> Result:
    async with open_sessions(console, job.cwd) as service:
        if job.session is None:
            return await _begin(service, job, view, approver)
        if not job.prompt:
            await _require_work(service, job.session)
        warnings = await _cut_calls(service, job.session, resumes=not job.prompt)

        def warn() -> None:  # once accepted: until then another process may be running the calls
            for line in warnings:
                console.warn(line)

        follower = Follower(service, job.session.id, view, approver, when_taken=warn)
        return await follower.run(job.command, job.session.last_seq)


async def _begin(service: SessionApi, job: RunRequest, view: View, approver: "Approver | None") -> Result:
    session = await service.create(
        cwd=job.cwd,
        agent=job.agent or "",
        title=job.title,
        options=job.options.of_personal_session,
        labels=job.labels,
    )
    try:
        return await Follower(service, session, view, approver).run(job.command, last_seq=1)
    except BridleError:
        if not (await service.ask(Status(session))).facts.totals.runs:
            await service.submit(session, Delete())  # the prompt was rejected: leave nothing behind
        raise


async def _require_work(service: SessionApi, session: SessionSummary) -> None:
    """Raise SessionNotRunning if no run was cut off and no queued prompt may start."""
    if session.unfinished:
        return
    if not (await service.ask(Status(session.id))).facts.queue:
        raise SessionNotRunning(
            f"nothing to resume: the last run of session {short_id(session.id)} is complete",
            hint='bridle run --continue "…" starts a new prompt',
        )
    if session.outcome in ("cancelled", "denied"):
        raise make_queued_error()


async def _cut_calls(service: SessionApi, session: SessionSummary, *, resumes: bool) -> list[str]:
    """Describe the calls that were running when the last run was cut off, if it was."""
    if not session.unfinished:
        return []
    cut = (await service.ask(Status(session.id))).run
    harmless = "it only reads and runs again" if resumes else "it only reads, so nothing changed"
    return [
        f"{call.tool} {describe_args(call.args)} was interrupted: "
        + (harmless if call.repeatable else "it may or may not have taken effect")
        for call in (cut.running if cut is not None else ())
    ]


def report(console: Console, result: Result) -> None:
    """Print on stderr why a run did not complete, and what to do about it."""
    reason, _, hint = result.reason.partition(" (hint: ")
    hint = hint.removesuffix(")")
    match result.outcome:
        case "completed":
            pass
        case "failed":
            console.fail(reason, hint)
        case "limit" | "budget_exhausted":
            console.fail(reason, hint or 'bridle run --continue "…" continues with fresh limits')
        case "denied":
            console.fail(f"denied: {_denied_calls(result) or reason}", _allowing(result))
        case "cancelled":
            console.err.line(console.err.paint("warning", f"cancelled: {reason}" if reason else "cancelled"))


def _denied_calls(result: Result) -> str:
    return "; ".join(f"{call.tool}, {call.reason}" for call in result.denied)


def _allowing(result: Result) -> str:
    import shlex  # few runs end like this

    rules = [shlex.quote(rule) for rule in rules_needed(result)]
    return f"to allow it, add --allow {' --allow '.join(rules)}" if rules else ""
