"""Restrictions on callers: a caller is a model, and no person has approved what it wants.

It may tighten the user's settings but not loosen them, nor run commands that no rule checks, unless the
server was started with `--trust-caller`.
"""

import asyncio

from bridle.config.agents import load_agent
from bridle.config.project_keys import STRICTNESS
from bridle.core.budget import Limits
from bridle.core.ids import SessionId
from bridle.core.protocol import RunOptions
from bridle.surfaces.mcp_server.tool_context import ServerContext
from bridle.surfaces.shared.error_codes import CAPABILITY_UNAVAILABLE, Refused
from bridle.surfaces.shared.session_calls import origin

FLAG = "--trust-caller"


def require_trust(desk: ServerContext, what: str) -> None:
    """Raise Refused unless the caller is trusted to do what only the user may do."""
    if not desk.trusts_caller:
        raise Refused(
            CAPABILITY_UNAVAILABLE,
            f"{what}: only the user may do that",
            hint=f"bridle mcp serve {FLAG} lets it",
        )


async def check_options(desk: ServerContext, session: SessionId, options: RunOptions) -> None:
    """Check that run options exceed no setting of the user; raises Refused, SessionNotFound, ConfigError."""
    usual = RunOptions()
    for name in ("allow", "until", "hooks"):
        if getattr(options, name) != getattr(usual, name):
            require_trust(desk, name)
    if desk.trusts_caller or (options.mode, options.limits) == (usual.mode, usual.limits):
        return
    created = await origin(desk.api, session)
    cwd, name = options.cwd or created.cwd, options.agent or created.agent
    agent = await asyncio.to_thread(lambda: load_agent(name, desk.folders.settings(cwd)).agent)
    if options.mode is not None and STRICTNESS.index(options.mode) > STRICTNESS.index(agent.mode):
        require_trust(desk, f'a looser mode than "{agent.mode}"')
    for name in Limits.__struct_fields__:
        wanted, most = getattr(options.limits, name), getattr(agent.limits, name)
        if wanted is not None and most is not None and wanted > most:
            require_trust(desk, f"more {name} than {most:g}")
