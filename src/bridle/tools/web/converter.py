"""Turns HTML into Markdown or plain text: a program of its own, which imports nothing of ours.

```
python -I -S converter.py FOLDER FORMAT BASE_URL LIMIT MEMORY_BYTES CPU_S  < html  > text
```

A page can be made to cost minutes or gigabytes (a tag with a million attributes, a table with one long
row). Here that ends with this process: both are limited, and who waits can kill it.
"""

import resource
import sys

LEFT_OUT = "script style nav footer aside noscript iframe svg form template".split()


def main() -> None:
    """Convert one page."""
    folder, form, base_url, limit, memory_bytes, cpu_s = sys.argv[1:]
    for kind, most in (
        (resource.RLIMIT_AS, int(memory_bytes)),
        (resource.RLIMIT_CPU, int(cpu_s)),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    sys.path.append(folder)
    # Found in the folder that was named just now, where the library is installed.
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert  # noqa: PLC0415

    options = ConversionOptions(
        base_url=base_url,
        bullets="-",
        compact_tables=True,
        exclude_selectors=LEFT_OUT,
        extract_metadata=False,
        inline_data_media="alt_text_only",
        output_format=form,
        preprocessing=PreprocessingOptions(enabled=False),  # it would drop headings with their <header>
    )
    html = sys.stdin.buffer.read().decode(errors="replace").replace("\0", "\ufffd")
    text = (convert(html, options).content or "").strip()
    sys.stdout.buffer.write(text.encode(errors="replace")[: int(limit)])


if __name__ == "__main__":
    main()
