"""Small HTML pages, such as errors, shown instead of the web page."""

from html import escape

from starlette.responses import HTMLResponse

from bridle.surfaces.web.page import hash_of

STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1.5rem}"
    "h1{font-size:1.25rem}code{font-family:ui-monospace,monospace}"
)
POLICY = f"default-src 'none'; style-src {hash_of(STYLE)}; base-uri 'none'; frame-ancestors 'none'"


def make_notice_page(
    status: int, title: str, *lines: str, headers: dict[str, str] | None = None
) -> HTMLResponse:
    """Return a small page; a line that starts with `$ ` is shown as a command."""
    said = "".join(_paragraph(line) for line in lines)
    return _page(status, title, f"<main><h1>{escape(title)}</h1>{said}</main>", headers=headers)


def make_redirect_page(address: str) -> HTMLResponse:
    """Return a page that redirects to one of our URLs.

    Browsers send no cookie when another site links here; our own page may follow the link with it.
    """
    refresh = f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
    link = f'<main><p><a href="{escape(address)}">Continue to Bridle</a></p></main>'
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
