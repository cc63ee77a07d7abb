"""Build the documentation as a site that needs no server: `python -m scripts.docs_site [FOLDER]`."""

import sys
from pathlib import Path

from scripts.docs_site.site import build

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Build into the given folder, `build/docs` by default; a dead link is an error."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "docs"
    site = build(ROOT, target)
    for problem in site.dead:
        print(f"dead link: {problem}", file=sys.stderr)
    print(f"{len(site.pages)} pages, {site.sections} sections to search: {target}/index.html")
    return 1 if site.dead else 0


if __name__ == "__main__":
    sys.exit(main())
