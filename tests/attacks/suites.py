"""The tests that attack each promise of SECURITY.md, by the short names used there.

A place is a module or one test of a module, below `tests`. What is listed has the marker `attack`, so that
`pytest -m attack` runs it; `python -m scripts.assurance.attack` runs it and writes the report.
"""

from functools import cache

SUITES: dict[str, tuple[str, ...]] = {
    "rules": (
        "attacks/test_command_rules.py",
        "attacks/test_modes.py",
        "core/test_permission.py",
    ),
    "commands": (
        "attacks/test_command_harmless.py",
        "attacks/test_search_options.py",
        "tools/commands/test_access.py",
        "tools/commands/test_plain_grammar.py",
    ),
    "unasked": (
        "attacks/test_unasked_commands.py",
        "sandbox/test_visible_paths.py",
        "tools/commands/test_git_repository.py",
        "tools/shell/test_confinement.py",
    ),
    "walls": (
        "attacks/test_outside_writes.py",
        "attacks/test_network.py",
        "attacks/test_sockets.py",
        "attacks/test_traps.py",
        "core/test_traps.py",
        "sandbox/test_proxy.py",
        "sandbox/test_git_repository.py",
        "sandbox/test_protected_paths.py",
        "sandbox/test_hook_paths.py",
        "sandbox/test_traps.py",
    ),
    "denied": ("attacks/test_denied_reads.py",),
    "exhaustion": ("attacks/test_exhaustion.py", "attacks/test_cell_exhaustion.py"),
    "cells": (
        "attacks/test_cell_calls.py",
        "attacks/test_cell_escapes.py",
        "attacks/test_cell_network.py",
        "attacks/test_cell_reads.py",
        "attacks/test_cell_writes.py",
        "kernel/test_bad_cells.py",
        "kernel/test_guest_abuse.py",
    ),
    "paths": ("attacks/test_races.py", "tools/test_paths.py"),
    "web-tools": (
        "attacks/test_ssrf.py",
        "tools/web/test_client.py",
        "tools/web/test_fetch.py::test_a_page_cannot_pretend_to_end",
    ),
    "projects": (
        "attacks/test_projects.py",
        "config/test_project_keys.py",
        "attacks/test_hostile_clone.py",
        "config/test_trust_policy.py",
        "config/test_trust_record.py",
        "surfaces/cli/test_trust.py",
        "app/test_lsp.py::test_a_trusted_project_does_not_take_the_sandbox_away",
        "app/test_mcp.py::test_those_of_a_project_wait_for_trust",
        "app/test_mcp.py::test_what_a_project_brings_runs_in_the_sandbox",
        "hooks/test_sandboxed_programs.py",
        "app/test_mcp.py::test_a_program_that_only_the_project_has_runs_in_the_sandbox_or_not_at_all",
        "system/test_programs.py",
    ),
    "hooks": ("hooks/test_attacks.py", "sessions/test_guardrails.py"),
    "sub-agents": (
        "attacks/test_children.py",
        "sessions/children/test_inheritance.py",
        "sessions/children/test_worktree.py",
        "sessions/children/test_run_children.py::test_another_agent_can_do_no_more_than_its_parent",
        "sessions/children/test_run_children.py::test_tools_that_the_parent_lacks_cannot_be_given",
        "sessions/children/test_run_children.py::test_a_tree_of_fifteen_under_one_cost_limit_stops_within_one_reservation",
    ),
    "keys": (
        "attacks/test_secrets.py",
        "tools/test_secrets.py",
        "app/test_tools.py",
        "providers/test_http.py::test_a_key_is_never_in_an_error",
        "providers/test_http.py::test_a_redirect_is_not_followed_with_the_key",
    ),
    "stored": (
        "attacks/test_stored_secrets.py",
        "memory/test_secret_filter.py",
        "providers/test_cloud_auth.py::test_no_error_in_a_stream_shows_the_token_of_a_cloud",
        "surfaces/cli/test_bug_report.py",
    ),
    "tool-servers": (
        "mcp/test_server_requests.py",
        "mcp/test_login.py",
        "mcp/test_remote.py",
        "mcp/test_message_repair.py",
        "mcp/test_tools.py",
        "mcp/test_server_log.py",
        "app/test_mcp.py::test_a_server_behind_walls_does_not_see_what_rules_deny",
        "app/test_mcp.py::test_what_servers_are_given_is_known_as_secret",
    ),
    "ways-in": (
        "surfaces/daemon/test_listen_address.py",
        "surfaces/daemon/test_daemon_files.py",
        "surfaces/daemon/test_process.py::test_who_comes_by_tcp_must_know_the_token",
        "surfaces/daemon/test_grpc.py::test_without_the_token_nobody_is_let_in",
        "surfaces/daemon/test_http.py::test_an_address_that_others_can_reach_is_refused",
        "surfaces/grpc/test_server.py",
        "surfaces/mcp_server/test_http.py",
        "surfaces/rest/test_authority.py",
        "surfaces/rest/test_guard.py",
        "surfaces/rest/test_hostile.py",
        "surfaces/rest/test_server.py::test_a_thousand_idle_connections_keep_nobody_out",
        "surfaces/rpc/test_websocket.py",
    ),
    "page": (
        "surfaces/web/test_attacks.py",
        "surfaces/web/test_login.py",
        "surfaces/web/test_web_app.py",
        "surfaces/shared/export/test_browser.py",
        "surfaces/shared/export/test_html_markdown.py",
    ),
    "screen": (
        "surfaces/shared/test_terminal.py",
        "surfaces/shared/test_full_transcript.py",
        "surfaces/cli/test_hostile_names.py",
        "surfaces/cli/output/test_log.py",
    ),
    "mcp-callers": (
        "surfaces/mcp_server/test_config_tools.py",
        "surfaces/mcp_server/test_tool_context.py",
    ),
    "editors": ("surfaces/acp/test_mcp_servers.py", "app/test_client_servers.py"),
    "tenants": (
        "app/test_tenants.py",
        "scale/test_tenant_api.py",
        "scale/test_tenant_models.py",
        "sessions/test_tenant.py",
        "stores/postgres/test_budgets.py",
        "surfaces/test_tenants.py",
    ),
    "audit": ("scale/test_audit.py",),
    "tls": ("system/test_tls.py",),
    "record": (
        "stores/test_integrity.py",
        "stores/test_blob_check.py",
        "stores/test_session_list.py",
        "surfaces/cli/test_lost_record.py",
    ),
    "undo": ("revisions/test_restoration.py", "sessions/test_rewind.py"),
    "comms": (
        "comms/test_hub.py",
        "comms/test_texts.py",
        "comms/test_trust.py",
        "comms/test_wire.py",
        "core/test_messages.py::test_a_line_that_looks_like_a_header_is_quoted",
        "sessions/run/test_boundary.py",
        "surfaces/daemon/test_comms.py",
    ),
    "imports": (
        "config/foreign/test_claude_rules.py",
        "config/foreign/test_meerkat.py::test_a_project_does_not_choose_where_data_goes",
        "config/foreign/test_meerkat.py::test_a_project_adds_no_servers",
        "config/foreign/test_meerkat.py::test_a_link_out_of_the_project_is_not_followed",
        "config/foreign/test_servers.py",
        "stores/foreign/test_crush.py",
        "stores/foreign/test_json_files.py",
        "stores/foreign/test_conversation.py",
        "surfaces/cli/test_imports.py::test_claude_comes_once_and_without_its_secrets",
    ),
    "telemetry": (
        "telemetry/test_spans.py::test_what_was_said_is_told_only_if_wanted_and_without_secrets",
        "surfaces/daemon/test_http_service.py::test_metrics_are_for_who_knows_the_token",
    ),
    "supply": ("scripts/test_assurance.py", "scripts/test_repository.py"),
}


def places() -> list[str]:
    """Return what pytest is to run, from the root of the tree."""
    return sorted({f"tests/{place}" for listed in SUITES.values() for place in listed})


def suites_of(test: str) -> list[str]:
    """Return the names of the suites that a test belongs to, by its id in pytest."""
    module, _, name = test.removeprefix("tests/").partition("::")
    by_place = _by_place()
    return [*by_place.get(module, ()), *by_place.get(f"{module}::{name.partition('[')[0]}", ())]


@cache
def _by_place() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for suite, listed in SUITES.items():
        for place in listed:
            found.setdefault(place, []).append(suite)
    return found
