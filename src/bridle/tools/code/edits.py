"""Tools that edit code with the help of language servers: rename, replace, apply a fix.

The edits of a call are computed before it runs, so that the rules for every file can be checked and a
preview shown. Then they are made, if every file is still the one they were computed for.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.language_servers import CodeAction, FileEdit, LanguageServers
from bridle.core.permission import judge
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.tools.code.edit_plans import EditPlans, ProposedEdits, apply_plan, plan_edits
from bridle.tools.code.new_problems import edit_and_report
from bridle.tools.code.queries import CodeCall, CodeQueryTool, name_arg, read_access
from bridle.tools.code.symbol_edits import PieceAction, edit_symbol, find_symbol
from bridle.tools.edits import parse_document
from bridle.tools.file_changes import MAX_PREVIEW_BYTES, load_file
from bridle.tools.filesystem import check_unprotected
from bridle.tools.paths import printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import (
    MAX_FILE_BYTES,
    description,
    integer_arg,
    parameters,
    resolve_path,
    text_arg,
)
from bridle.tools.toolbox import cap_output

MAX_FIXES = 50


class CodeEditTool:
    """A tool that edits code."""

    parallel = False
    seldom = True

    def __init__(
        self,
        spec: ToolSpec,
        work_out: Callable[[CodeCall], Awaitable[ProposedEdits]],
        languages: LanguageServers,
        question: CodeQueryTool | None = None,
    ) -> None:
        """Take the function that computes the edits, and the tool for calls that do not name an edit."""
        self.spec = spec
        self._work_out = work_out
        self._languages = languages
        self._question = question
        self._plans = EditPlans()

    async def foresee(self, args: dict[str, Any], context: ToolContext) -> None:
        """Compute what a call would change, once; raises ToolError if it would fail.

        Nothing is computed if the rules already deny the file that the call names.
        """
        if self._is_question(args) or self._plans.get(context, args) is not None:
            return
        if judge(self.access(args, context), context.rules, context.mode).action == "deny":
            return
        tool = self.spec.name
        wanted = await self._work_out(CodeCall(tool, args, context, self._languages))
        self._plans.put(
            context, await run_in_thread(lambda stop: plan_edits(tool, args, wanted, context, stop))
        )

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the file in the call and, after `foresee`, to every file to be changed."""
        if self._is_question(args):
            return read_access(self.spec.name, args, context)
        paths: dict[str, None] = {}
        if args.get("path"):
            place = resolve_path(self.spec.name, "write", text_arg(args, "path"), context)
            check_unprotected(place.real)
            paths |= dict.fromkeys((place.name, place.subject))
        if plan := self._plans.get(context, args):
            paths |= {planned.place.subject: None for planned in plan.files}
        return Access(self.spec.name, "write", tuple(Subject("path", printable(path)) for path in paths))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the diff of all files."""
        plan = self._plans.get(context, args)
        return "" if plan is None else cap_output(plan.diff, MAX_PREVIEW_BYTES, rest="too long for a preview")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Make the planned edits, in all files or in none, and report new problems."""
        if self._question is not None and self._is_question(args):
            return await self._question.run(args, context)
        plan = self._plans.take(context, args)

        def edit() -> Awaitable[ToolOutput]:
            return run_in_thread(lambda stop: apply_plan(plan, context, stop))

        return await edit_and_report(self._languages, self.spec.name, plan.paths, context, edit)

    def is_busy(self, session: SessionId) -> bool:
        """Return False: nothing runs after a call."""
        return False

    async def end_session(self, session: SessionId) -> None:
        """Drop the plans of calls that never ran."""
        self._plans.drop(session)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def _is_question(self, args: dict[str, Any]) -> bool:
        return self._question is not None and not args.get("action")


def edit_tools(languages: LanguageServers) -> tuple[CodeEditTool, ...]:
    """Return the tools that edit code."""
    rename, replace, act = (
        ToolSpec(name, description(f"code/{name}"), schema) for name, schema in _PARAMETERS.items()
    )
    offer = CodeQueryTool(act, offer_fixes, languages)
    return (
        CodeEditTool(rename, rename_symbol, languages),
        CodeEditTool(replace, replace_symbol, languages),
        CodeEditTool(act, apply_fix, languages, offer),
    )


# ---------------------------------------------------------------------------- computing edits


async def rename_symbol(asked: CodeCall) -> ProposedEdits:
    """Return the edits that rename a symbol wherever it is used."""
    new_name = name_arg(asked.args, "new_name")
    if len(new_name.split()) > 1:
        raise ToolError("new_name cannot contain spaces")
    spot = await asked.spot()
    edits: tuple[FileEdit, ...] = ()
    try:
        edits = await asked.languages.rename(spot, new_name, asked.context.cwd)
    except ToolError as error:
        await asked.check_refusal(error, spot)
    return ProposedEdits(f"Renamed {spot.symbol} to {new_name} in {_files(edits)}", edits)


async def replace_symbol(asked: CodeCall) -> ProposedEdits:
    """Return the edit that replaces or deletes a symbol, or inserts code next to it."""
    args, context = asked.args, asked.context
    name, action = name_arg(args, "symbol"), _action(args)
    new = "" if action == "delete" else text_arg(args, "text")
    path = await asked.path()
    before = await run_in_thread(lambda _: _text(asked))
    shown = printable(text_arg(args, "path"))
    symbol = find_symbol(await asked.languages.symbols(path, context.cwd), name, shown)
    after = edit_symbol(before, symbol, action, new)
    return ProposedEdits(
        f"{_VERBS[action]} {symbol.kind} {name} in {shown}", (FileEdit(path, before, after),)
    )


def _action(args: dict[str, Any]) -> PieceAction:
    for action in _VERBS:
        if action == args.get("action"):
            return action
    raise ToolError(f"action is one of {', '.join(_VERBS)}")


def _text(asked: CodeCall) -> str:
    place = resolve_path(asked.tool, "write", text_arg(asked.args, "path"), asked.context)
    found = load_file(place, asked.context, MAX_FILE_BYTES, reading=True)
    if found is None:
        raise ToolError(f"file does not exist: {printable(place.name)}")
    try:
        return parse_document(found.data).text
    except UnicodeDecodeError as error:
        raise ToolError(f"{printable(place.name)} is not text and cannot be edited") from error


async def offer_fixes(asked: CodeCall) -> str:
    """Return the fixes that servers offer for some lines, with their ids."""
    path, line, end_line = await _lines(asked)
    fixes = await asked.languages.fixes(path, line, end_line, asked.context.cwd)
    rows = [f"{printable(fix.id)}: {_fix_title(fix)}" for fix in fixes[:MAX_FIXES]]
    if len(fixes) > MAX_FIXES:
        rows.append(f"[and {len(fixes) - MAX_FIXES} more]")
    return "\n".join(rows) or "no fixes for these lines"


def _fix_title(fix: CodeAction) -> str:
    title = printable(" ".join(fix.title[:800].split()))[:200]
    kind = f" [{printable(fix.kind[:80])}]" if fix.kind else ""
    return f"{title}{kind}{' (preferred)' * fix.is_preferred}"


async def apply_fix(asked: CodeCall) -> ProposedEdits:
    """Return the edits of a fix that a server offers."""
    path, line, end_line = await _lines(asked)
    action = name_arg(asked.args, "action")
    edits = await asked.languages.fix(path, line, end_line, action, asked.context.cwd)
    return ProposedEdits(f"Did {action} in {_files(edits)}", edits)


async def _lines(asked: CodeCall) -> tuple[str, int, int]:
    line = integer_arg(asked.args, "line") or 0
    end_line = integer_arg(asked.args, "end_line") or line
    if not 0 < line <= end_line:
        raise ToolError("line starts at 1, and end_line must not be before it")
    text_arg(asked.args, "path")
    return await asked.path(), line, end_line


def _files(edits: Sequence[FileEdit]) -> str:
    return f"{len(edits)} file{'s' * (len(edits) != 1)}"


_VERBS: dict[PieceAction, str] = {
    "replace": "Replaced",
    "insert_before": "Inserted code before",
    "insert_after": "Inserted code after",
    "delete": "Deleted",
}
_STRING = {"type": "string"}
_PARAMETERS: dict[str, dict[str, Any]] = {
    "rename_symbol": parameters(
        2, symbol=("string", ""), new_name=("string", ""), path=("string", ""), line=("integer", "")
    ),
    "replace_symbol": {
        "type": "object",
        "properties": {
            "symbol": _STRING,
            "path": _STRING,
            "action": {"type": "string", "enum": list(_VERBS)},
            "text": _STRING,
        },
        "required": ["symbol", "path", "action"],
    },
    "code_action": parameters(
        2, path=("string", ""), line=("integer", ""), end_line=("integer", ""), action=("string", "")
    ),
}
