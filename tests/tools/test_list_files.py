"""Listing as a tool: rules and paths outside; the walk's tests cover patterns."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import Rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, Subject
from bridle.tools.list_files import ListFiles

LEFT_OUT = "[files protected by a rule are left out]"


async def test_denied_files_vanish(cwd: Path, context: ToolContext):
    (cwd / "secrets").mkdir()
    for name in ("secrets/key", "asked", "f"):
        (cwd / name).touch()
    (cwd / "link").symlink_to("secrets/key")
    (cwd / "alias").symlink_to("secrets")
    ruled = replace(
        context, rules=(Rule("deny", "read_file", "secrets/**"), Rule("ask", "read_file", "asked"))
    )

    assert await ListFiles().run({"pattern": "**"}, ruled) == ToolOutput(f"asked\nf\n{LEFT_OUT}")
    for pattern in ("secrets/*", "alias/*", "**/key", "*/*"):
        assert await ListFiles().run({"pattern": pattern}, ruled) == ToolOutput(LEFT_OUT)
    assert await ListFiles(max_files=1).run({"pattern": "*"}, ruled) == ToolOutput(
        f"asked\n[only the first 1 files are listed; use a narrower pattern to see the others]\n{LEFT_OUT}"
    )


async def test_the_outside_is_listed_where_a_rule_opens_it(cwd: Path, context: ToolContext, outside: Path):
    (cwd / "lnk").symlink_to(outside)
    opened = replace(context, rules=(Rule("allow", "read_file", f"{outside}/**"),))
    pattern = {"pattern": f"/{outside}/../{outside.name}/*.txt"}

    assert await ListFiles().run(pattern, opened) == ToolOutput(f"{outside}/secret.txt")
    assert await ListFiles().run({"pattern": "lnk/*"}, opened) == ToolOutput("lnk/secret.txt")
    assert ListFiles().access(pattern, opened) == Access(
        "list_files", "read", (Subject("path", f"{outside}/*.txt"),)
    )
    assert ListFiles().access({"pattern": "lnk/*"}, opened) == Access(
        "list_files", "read", (Subject("path", "lnk/*"), Subject("path", f"{outside}/*"))
    )


@pytest.mark.parametrize("pattern", ["{above}/*", "/*", "/etc/*", "../*"])
async def test_what_no_rule_opens_stays_closed(context: ToolContext, outside: Path, pattern: str):
    opened = replace(context, rules=(Rule("allow", "read_file", f"{outside}/**"),))

    args = {"pattern": pattern.format(above=outside.parent)}

    with pytest.raises(ToolError, match="absolute or parent paths are not allowed"):
        ListFiles().access(args, opened)
    with pytest.raises(ToolError, match="absolute or parent paths are not allowed"):
        await ListFiles().run(args, opened)
