"""The few words that a browser gets instead of the page."""

from html import escape

from starlette.responses import HTMLResponse

from bridle.surfaces.web.page import hash_of

STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1.5rem}"
    "h1{font-size:1.25rem}code{font-family:ui-monospace,monospace}"
)
POLICY = f"default-src 'none'; style-src {hash_of(STYLE)}; base-uri 'none'; frame-ancestors 'none'"


def notice(status: int, title: str, *lines: str, headers: dict[str, str] | None = None) -> HTMLResponse:
    """Answer with a small page; a line that begins with `$ ` is a command."""
    said = "".join(_paragraph(line) for line in lines)
    return _page(status, title, f"<main><h1>{escape(title)}</h1>{said}</main>", headers=headers)


def once_more(address: str) -> HTMLResponse:
    """Answer with a page that goes on to an address of ours by itself.

    A browser shows us no cookie when the page of somebody else has sent it here; our own page may.
    """
    refresh = f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
    link = f'<main><p><a href="{escape(address)}">Go on to Bridle</a></p></main>'
    return _page(200, "Bridle", link, head=refresh)


def _paragraph(line: str) -> str:
    if line.startswith("$ "):
        return f"<p><code>{escape(line.removeprefix('$ '))}</code></p>"
    return f"<p>{escape(line)}</p>"


def _page(
    status: int, title: str, body: str, *, head: str = "", headers: dict[str, str] | None = None
) -> HTMLResponse:
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{head}<title>{escape(title)}</title><style>{STYLE}</style></head><body>{body}</body></html>"
    )
    return HTMLResponse(text, status, {"content-security-policy": POLICY, **(headers or {})})
