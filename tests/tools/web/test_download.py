"""Saving files from the web: completely or not at all, and only where files may be written."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import judge, parse_rule
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.web import Download
from tests.patience import PATIENCE_S
from tests.tools.web.conftest import Site

DATA = bytes(range(256)) * 1000


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    return (
        "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]).encode() + body
    )


async def download(
    context: ToolContext, url: str, path: str, tool: Download | None = None, **args: Any
) -> str:
    return (await (tool or Download()).run({"url": url, "path": path, **args}, context)).text


async def refusal(
    context: ToolContext, url: str, path: str, tool: Download | None = None, **args: Any
) -> str:
    with pytest.raises(ToolError) as caught:
        await download(context, url, path, tool, **args)
    return str(caught.value)


async def test_a_file_is_saved_as_it_is(site: Site, opened: ToolContext, cwd: Path):
    site.pages["/a.bin"] = answer(DATA, "Content-Type: application/octet-stream")

    assert await download(opened, f"{site.url}/a.bin", "new/a.bin") == (
        f"Downloaded 256000 bytes of type application/octet-stream from {site.url}/a.bin to new/a.bin"
    )
    assert (cwd / "new/a.bin").read_bytes() == DATA
    assert os.listdir(cwd / "new") == ["a.bin"]
    assert (cwd / "new/a.bin").stat().st_mode & 0o777 == 0o644 & ~current_umask()


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


async def test_an_empty_file_is_saved(site: Site, opened: ToolContext, cwd: Path):
    site.pages["/"] = answer(b"")

    assert await download(opened, site.url, "a") == f"Downloaded 0 bytes from {site.url}/ to a"
    assert (cwd / "a").read_bytes() == b""


async def test_compressed_bytes_stay_compressed(site: Site, opened: ToolContext, cwd: Path):
    site.pages["/"] = answer(b"\x1f\x8b", "Content-Encoding: gzip")

    text = await download(opened, site.url, "a")

    assert text == f"Downloaded 2 bytes, gzip-compressed from {site.url}/ to a"
    assert (cwd / "a").read_bytes() == b"\x1f\x8b"
    assert "Accept-Encoding: identity" in site.requests[0]


async def test_a_file_that_exists_is_kept_and_replaced(site: Site, opened: ToolContext, cwd: Path):
    (cwd / "a").write_text("old")
    (cwd / "a").chmod(0o600)
    kept: list[tuple[str, str]] = []
    site.pages["/"] = answer(b"new")

    await download(
        replace(opened, keep=lambda path: kept.append((path, Path(path).read_text()))), site.url, "a"
    )

    assert kept == [(str(cwd / "a"), "old")]
    assert (cwd / "a").read_text() == "new"
    assert (cwd / "a").stat().st_mode & 0o777 == 0o600


async def test_progress_is_shown(site: Site, opened: ToolContext):
    shown: list[str] = []
    site.pages["/"] = answer(b"12345")

    await download(replace(opened, emit=shown.append), site.url, "a", Download(progress_s=0))

    assert shown[-1] == "5 of 5 bytes\n"


async def test_progress_is_not_shown_for_what_is_quick(site: Site, opened: ToolContext):
    shown: list[str] = []
    site.pages["/"] = answer(DATA)

    await download(replace(opened, emit=shown.append), site.url, "a")

    assert shown == []


# ---------------------------------------------------------------------------- all or nothing


@pytest.mark.parametrize(
    ("page", "error"),
    [
        (answer(b"no", status="404 Not Found"), "{}/ answered 404 Not Found"),
        (answer(DATA)[:-1], "{}/: the connection was lost during the answer"),
        (answer(b"a" * 1001), "{}/ has more than 1000 bytes, the download limit"),
        (b"HTTP/1.0 200 OK\r\n\r\n" + DATA, "{}/ has more than 1000 bytes, the download limit"),
        (b"", "{}/: the server closed the connection without an answer"),
        (
            answer(b"", "Location: http://other.example/x", status="302 Found"),
            "{}/ redirects to other.example; fetch http://other.example/x if you want it",
        ),
    ],
    ids="status broken large endless empty elsewhere".split(),
)
async def test_a_failure_changes_nothing(site: Site, opened: ToolContext, cwd: Path, page: bytes, error: str):
    (cwd / "a").write_text("old")
    site.pages["/"] = page
    limit = 1000 if "1000" in error else 10**9

    assert await refusal(opened, site.url, "a", Download(max_file_bytes=limit)) == error.format(site.url)
    assert await refusal(opened, site.url, "new/b", Download(max_file_bytes=limit)) == error.format(site.url)
    assert [(path.name, path.read_text()) for path in cwd.iterdir()] == [("a", "old")]


async def test_a_file_that_says_it_is_too_large_is_not_waited_for(site: Site, opened: ToolContext):
    over = asyncio.Event()

    async def promise(_: str, writer: Any) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
        await over.wait()

    site.pages["/"] = promise

    assert "has more than 1000 bytes" in await refusal(
        opened, site.url, "a", Download(max_file_bytes=1000), timeout=2
    )
    over.set()


class Dripping:
    """A body that never ends, slowly."""

    def __init__(self) -> None:
        self.began = asyncio.Event()

    async def __call__(self, _: str, writer: Any) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + DATA)
        while True:
            writer.write(b".")
            await writer.drain()
            self.began.set()
            await asyncio.sleep(0.01)


async def test_a_slow_download_is_given_up(site: Site, opened: ToolContext, cwd: Path):
    site.pages["/"] = Dripping()

    assert await refusal(opened, site.url, "new/a", timeout=1) == (
        f"{site.url}/: incomplete after 1 s; nothing was saved"
    )
    assert list(cwd.iterdir()) == []


async def test_a_cancelled_download_leaves_nothing(site: Site, opened: ToolContext, cwd: Path):
    writing = asyncio.Event()
    site.pages["/"] = Dripping()
    watched = replace(opened, emit=lambda _: writing.set())
    task = asyncio.create_task(download(watched, site.url, "a", Download(progress_s=0)))
    await writing.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(PATIENCE_S):
            await task

    assert list(cwd.iterdir()) == []
    await site.left.wait()


async def test_a_target_that_cannot_be_written_ends_the_download(site: Site, opened: ToolContext, cwd: Path):
    (cwd / "folder").mkdir()
    site.pages["/"] = Dripping()

    assert await refusal(opened, site.url, "folder") == f"open {cwd}/folder: is a directory"
    await site.left.wait()


async def test_a_full_disk_ends_the_download(site: Site, opened: ToolContext, cwd: Path):
    import resource  # noqa: PLC0415
    import signal  # noqa: PLC0415

    site.pages["/"] = answer(DATA)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, before[1]))
    try:
        error = await refusal(opened, site.url, "a")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)

    assert error == f"open {cwd}/a: file too large"
    assert list(cwd.iterdir()) == []


# ---------------------------------------------------------------------------- where


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../a", "absolute or parent paths are not allowed"),
        ("/etc/a", "absolute or parent paths are not allowed"),
        ("lnk/a", "leads outside the working directory"),
        (".git/hooks/pre-commit", ".git/hooks/pre-commit is protected"),
        ("x/.bridle/config.toml", "is protected"),
        ("to-git/config", ".git/config is protected"),
    ],
)
async def test_no_file_is_written_elsewhere(
    site: Site, opened: ToolContext, cwd: Path, outside: Path, path: str, reason: str
):
    (cwd / "lnk").symlink_to(outside)
    (cwd / ".git").mkdir()
    (cwd / "to-git").symlink_to(".git")
    site.pages["/"] = answer(b"x")

    assert reason in await refusal(opened, site.url, path)
    with pytest.raises(ToolError, match=r"not allowed|leads outside|is protected"):
        Download().access({"url": site.url, "path": path}, opened)
    assert site.requests == []


async def test_the_inside_is_not_reached(site: Site, context: ToolContext, cwd: Path):
    rules = (parse_rule("allow", "web_fetch(domain:127.0.0.1)"), parse_rule("allow", "download"))

    error = await refusal(replace(context, rules=rules, mode="yolo"), site.url, "a")

    assert error == (
        "127.0.0.1 is a loopback address; download connects to public addresses only"
        " (hint: the user can allow it with the rule allow download(domain:127.0.0.1))"
    )
    assert (site.requests, list(cwd.iterdir())) == ([], [])


def test_rules_see_host_and_file(context: ToolContext, cwd: Path):
    (cwd / "real").mkdir()
    (cwd / "lnk").symlink_to("real")

    assert Download().access({"url": "http://H.example/x", "path": "./lnk/a"}, context) == Access(
        "download",
        "network",
        (
            Subject("domain", "h.example"),
            Subject("path", "lnk/a", "write", tool="write_file"),
            Subject("path", "real/a", "write", tool="write_file"),
        ),
    )


@pytest.mark.parametrize(
    ("rules", "mode", "action"),
    [
        ((), "ask", "ask"),
        ((("allow", "download(domain:h.example)"),), "ask", "ask"),
        ((("allow", "download(domain:h.example)"), ("allow", "write_file(a/**)")), "ask", "allow"),
        ((("deny", "write_file(a/**)"),), "yolo", "deny"),
        ((("deny", "edit_file(a/**)"),), "yolo", "deny"),
        ((("deny", "web_fetch(domain:h.example)"),), "yolo", "deny"),
        ((("allow", "download(domain:h.example)"),), "plan", "deny"),
    ],
)
def test_both_host_and_file_must_be_allowed(
    context: ToolContext, rules: tuple[tuple[Any, str], ...], mode: Any, action: str
):
    access = Download().access({"url": "http://h.example/x", "path": "a/b"}, context)

    assert judge(access, [parse_rule(*rule) for rule in rules], mode).action == action


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ({"url": "http://h/x", "path": "new"}, "http://h/x -> new\n"),
        ({"url": "http://h/x", "path": "old"}, "http://h/x -> old, which is replaced\n"),
        ({"url": "http://h/x", "path": "../x"}, ""),
        ({"url": "x", "path": "new"}, ""),
        ({}, ""),
    ],
)
async def test_the_preview_says_what_is_replaced(
    context: ToolContext, cwd: Path, args: dict[str, Any], shown: str
):
    (cwd / "old").touch()

    assert await Download().preview(args, context) == shown
