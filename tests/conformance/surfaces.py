"""Every surface, and all its differences."""

from typing import get_args

from bridle.core.protocol import Answer
from tests.conformance import meerkat
from tests.conformance.drivers.api import at_daemon, in_process, watch_api
from tests.conformance.drivers.board import SHOWN as SHOWN_BY_PAGE
from tests.conformance.drivers.board import on_page, told_by_board, watch_page
from tests.conformance.drivers.editor import SHOWN as SHOWN_BY_ACP
from tests.conformance.drivers.editor import over_acp, told_by_acp, watch_loaded
from tests.conformance.drivers.kontekst import over_grpc, told_by_kontekst
from tests.conformance.drivers.program import at_terminal, in_pipe, watch_attached
from tests.conformance.drivers.python import by_import
from tests.conformance.drivers.rest import over_meerkats_rest, over_rest, watch_meerkats_rest, watch_rest
from tests.conformance.drivers.rpc import SHOWN as SHOWN_BY_RPC
from tests.conformance.drivers.rpc import over_socket, over_stdio, over_websocket, told_by_rpc, watch_rpc
from tests.conformance.drivers.screen import SHOWN as SHOWN_ON_SCREEN
from tests.conformance.drivers.screen import on_screen, told_on_screen, watch_screen
from tests.conformance.drivers.tool_server import SHOWN as SHOWN_BY_MCP
from tests.conformance.drivers.tool_server import over_mcp, over_mcp_http, told_by_newest_mcp
from tests.conformance.scenarios import SCENARIOS
from tests.conformance.surface import Surface

NO_LASTING = "Kontekst knows yes and no"
NO_APPROVALS = "Meerkat knows no approvals: the request waits while another client answers"
ALWAYS_ASKS = "each client of Kontekst can be asked"

IN_PROCESS = Surface("door", in_process, is_bare=True, watch=watch_api)

SURFACES = (
    IN_PROCESS,
    Surface("daemon", at_daemon, is_bare=True, watch=watch_api),
    Surface("python", by_import, watch=watch_api),
    Surface(
        "pipe",
        in_pipe,
        absent={
            scenario.name: "without a terminal nobody is asked"
            for scenario in SCENARIOS
            if scenario.needs_person
        },
    ),
    Surface(
        "terminal",
        at_terminal,
        watch=watch_attached,
        shows=frozenset("said asked question ended".split()),
        absent={
            scenario.name: "the program does the same in a pipe, where more of it can be compared"
            for scenario in SCENARIOS
            if not scenario.needs_person
        },
    ),
    Surface(
        "grpc",
        over_grpc,
        shows=frozenset("began said thought asked started finished failed ended".split()),
        tells=told_by_kontekst,
        lacks={
            "steer": "Kontekst knows no steering",
            "prompt": "and no queue",
            "decide session": NO_LASTING,
            "decide always": NO_LASTING,
            "decide stop": NO_LASTING,
        },
        absent={
            "resume": "Kontekst knows no resuming: the next prompt ends the run that was cut off",
            "approval_by_nobody": ALWAYS_ASKS,
            "question": "Kontekst has no words for a question: nobody answers",
            "structured_output": "Kontekst knows no schema",
        },
    ),
    Surface("rest", over_rest, is_bare=True, watch=watch_rest),
    Surface(
        "rest_meerkat",
        over_meerkats_rest,
        watch=watch_meerkats_rest,
        shows=meerkat.SHOWN,
        tells=meerkat.told_by_meerkat,
        lacks={
            "steer": "Meerkat's REST knows no steering",
            "prompt": "and no queue: a busy session is refused",
            **{f"decide {answer}": NO_APPROVALS for answer in get_args(Answer)},
            "reply": NO_APPROVALS,
        },
        absent={"resume": "Meerkat knows no resuming: the next prompt ends the run that was cut off"},
    ),
    Surface("rpc", over_stdio, shows=SHOWN_BY_RPC, tells=told_by_rpc),
    Surface("rpc_socket", over_socket, is_bare=True, watch=watch_rpc),
    Surface("rpc_websocket", over_websocket, is_bare=True),
    Surface(
        "acp",
        over_acp,
        watch=watch_loaded,
        shows=SHOWN_BY_ACP,
        tells=told_by_acp,
        absent={
            "approval_by_nobody": "an editor can always be asked",
            "structured_output": "the prompt of an editor knows no schema",
        },
    ),
    Surface("mcp", over_mcp, shows=SHOWN_BY_MCP),
    Surface("mcp_http", over_mcp_http, shows=SHOWN_BY_MCP, tells=told_by_newest_mcp),
    Surface(
        "tui",
        on_screen,
        is_bare=True,
        watch=watch_screen,
        shows=SHOWN_ON_SCREEN,
        tells=told_on_screen,
        absent={"structured_output": "a prompt that is typed knows no schema"},
    ),
    Surface("page", on_page, is_bare=True, watch=watch_page, shows=SHOWN_BY_PAGE, tells=told_by_board),
)
