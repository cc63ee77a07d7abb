"""Convert HTML to Markdown or plain text: a separate program that imports nothing of Bridle.

```
python -I -S converter.py FOLDER FORMAT BASE_URL LIMIT MEMORY_BYTES CPU_S  < html  > text
```

A hostile page can cost minutes or gigabytes. That affects only this process: its CPU time and memory are
limited, and the parent can kill it.
"""

import resource
import sys

LEFT_OUT = "script style title nav footer aside noscript iframe svg form template [hidden]".split()


def main() -> None:
    """Convert one page from stdin to stdout."""
    folder, form, base_url, limit, memory_bytes, cpu_s = sys.argv[1:]
    for kind, most in (
        (resource.RLIMIT_AS, int(memory_bytes)),
        (resource.RLIMIT_CPU, int(cpu_s)),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    sys.path.append(folder)
    html = sys.stdin.buffer.read().decode(errors="replace").replace("\0", "\ufffd")
    sys.stdout.buffer.write(convert(html, form, base_url).encode(errors="replace")[: int(limit)])


def convert(html: str, form: str, base_url: str) -> str:
    """Return the text of a page, with absolute links and the alt text of embedded images."""
    # Found in the folder that main() added to sys.path, where the library is installed.
    from turbohtml import Markdown, PlainText, Text, parse  # noqa: PLC0415

    page = parse(html)
    for element in page.select(", ".join(LEFT_OUT)):
        element.decompose()
    for image in page.select("img[src^='data:']"):
        image.replace_with(Text(str(image.attrs.get("alt") or "")))
    page.resolve_links(base_url)
    if form == "markdown":
        return page.to_markdown(Markdown()).strip()
    return page.to_text(PlainText(images=True, bullet="- ", table_cell_separator="\t")).strip()


if __name__ == "__main__":
    main()
