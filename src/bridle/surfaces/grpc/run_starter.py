"""Starts runs for gRPC clients: chooses the session, the agent and the prompt."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from bridle.core.errors import ConfigError, NotAllowed, SessionConflict, SessionNotFound, UsageError
from bridle.core.ids import RunId, SessionId, is_session_id
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, RunOptions, SessionCreated
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from bridle.scale.token_auth import NODE, TokenGate
from bridle.surfaces.grpc.generated.kontekst_pb2 import StartRunCommand
from bridle.surfaces.grpc.guard import Callers

MAX_SHOWN_CHARS = 200  # of client input in an error
UNCHOSEN = "default"  # sent by Kontekst's client when the user names no agent

Approvals = Literal["each", "rules"]
"""Propose every call of a run, or only those that the rules ask about."""

RenderSkill = Callable[[str, str, str], str]
"""Returns a skill's text for a working folder, a name and arguments; blocks, raises BridleError."""


CheckFolder = Callable[[str], Awaitable[None]]
"""Rejects folders that the caller may not use; raises UsageError."""


class StartedRun(Struct, frozen=True):
    """A run that was started."""

    session: SessionId
    run_id: RunId
    agent: str
    seq: int
    """The run's own events follow this sequence number."""


class RunStarter:
    """Starts runs for every stream of one server."""

    def __init__(
        self,
        api: SessionApi,
        *,
        cwd: str,
        approvals: Approvals,
        render_skill: RenderSkill | None,
        check_folder: CheckFolder | None = None,
    ) -> None:
        """Take the sessions; `check_folder` rejects folders, None allows all."""
        self.api = api
        self.proposes_all = approvals == "each"
        self._cwd = cwd
        self._approvals: Approvals = approvals
        self._render_skill = render_skill
        self._check_folder = check_folder

    def restricted_to(self, api: SessionApi, cwd: str, check_folder: CheckFolder) -> "RunStarter":
        """Return the same for a client with another session API that may work in some folders only."""
        return RunStarter(
            api,
            cwd=cwd,
            approvals=self._approvals,
            render_skill=self._render_skill,
            check_folder=check_folder,
        )

    async def begin(self, start: StartRunCommand) -> StartedRun:
        """Start a run; raises BridleError if it does not start."""
        try:
            return await self._begin(start)
        except ConfigError as error:
            raise _in_words_of_kontekst(error, start.agent_name) from error

    async def _begin(self, start: StartRunCommand) -> StartedRun:
        known = await self._known(start.session_id) if start.session_id else None
        cwd = start.working_dir or (known.cwd if known is not None else self._cwd)
        if self._check_folder is not None:  # first, so that nothing is revealed about other folders
            await self._check_folder(cwd)
        await asyncio.to_thread(_require_folder, cwd)
        text = await self._read_prompt(start, cwd)
        created = known or await self._create(start, cwd)
        agent = start.agent_name if start.agent_name not in ("", UNCHOSEN) else created.agent
        options = RunOptions(
            approve_each=self.proposes_all,
            agent=agent if agent != created.agent else None,
            cwd=cwd if cwd != created.cwd else None,
        )
        prompt = Prompt(user_message(text), options, if_busy="reject")
        receipt = await self.api.submit(created.session_id, prompt)
        assert receipt.run_id is not None  # what is not queued has started
        return StartedRun(created.session_id, receipt.run_id, agent, receipt.seq)

    async def _known(self, name: str) -> SessionCreated | None:
        if not is_session_id(name):
            raise UsageError(
                f'"{name[:MAX_SHOWN_CHARS]}" cannot name a session',
                hint="use letters, digits, dots and dashes",
            )
        try:
            [first] = await self.api.ask(Records(SessionId(name), limit=1))
        except SessionNotFound:
            return None
        return first.event if isinstance(first.event, SessionCreated) else None

    async def _create(self, start: StartRunCommand, cwd: str) -> SessionCreated:
        wanted = SessionId(start.session_id) if start.session_id else None
        title = f"/{start.skill.name} {start.skill.arguments}".rstrip() if start.HasField("skill") else ""
        try:
            session = await self.api.create(cwd=cwd, agent=start.agent_name, title=title, session_id=wanted)
        except SessionConflict:  # another stream was faster with the same name
            session = SessionId(start.session_id)
        created = await self._known(session)
        if created is None:
            raise SessionNotFound(f'no session "{session}"; it was just deleted')
        return created

    async def _read_prompt(self, start: StartRunCommand, cwd: str) -> str:
        if not start.HasField("skill"):
            return start.prompt
        if self._render_skill is None:
            raise UsageError("skills not available")
        skill = start.skill
        text = await asyncio.to_thread(self._render_skill, cwd, skill.name, skill.arguments)
        return f"{text}\n\n---\n\n{start.prompt}" if start.prompt else text


class StarterLookup(Struct, frozen=True):
    """Returns the `RunStarter` of each caller."""

    own: RunStarter
    """The owner's."""
    callers: Callers
    gate: TokenGate | None

    async def of(self, metadata: Any) -> RunStarter:
        """Return the `RunStarter` for a call's metadata; raises NotAllowed, StoreError."""
        principal = await self.callers.principal(metadata)
        if principal is None:
            raise NotAllowed("the token is no longer valid")
        if self.gate is None or principal == NODE:
            return self.own
        gate = self.gate
        tenant = await gate.standing(principal)
        folders = gate.folders.of(tenant)

        async def check_folder(cwd: str) -> None:
            await gate.folders.check(tenant, cwd)

        return self.own.restricted_to(gate.api(principal), folders[0] if folders else "/", check_folder)


def _in_words_of_kontekst(error: ConfigError, agent: str) -> ConfigError:
    """Return the error for an unknown agent in Kontekst's wording."""
    if not error.message.startswith("no agent named"):
        return error
    return ConfigError(
        f"agent not found: {agent[:MAX_SHOWN_CHARS]}; available: {error.hint.removeprefix('there are ')}"
    )


def _require_folder(path: str) -> None:
    shown = path[:MAX_SHOWN_CHARS]
    if "\0" in path or not Path(path).is_absolute():
        raise UsageError(f'the working directory "{shown}" is not an absolute path')
    if not Path(path).is_dir():
        raise UsageError(f'the working directory "{shown}" does not exist', hint="create it, or use another")
