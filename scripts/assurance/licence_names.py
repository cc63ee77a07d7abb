"""The licence of a package as an SPDX expression, and the list of accepted licences.

The first of these that exists counts: the SPDX expression in the metadata, a classifier, a free text, the
licence text in the package.
"""

import re
from importlib.metadata import Distribution

KNOWN = {
    "3-clause bsd license": "BSD-3-Clause",
    "any-osi": "any-OSI",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}
"""Licence names that are not SPDX identifiers, in lower case."""
TEXTS = {
    "Apache License": "Apache-2.0",
    "Permission is hereby granted, free of charge, to any person": "MIT",
}
"""A phrase that identifies a licence text."""
FREE = frozenset(
    "0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT MIT-0 PSF-2.0 Unlicense Zlib".split()
)
"""Licences that require only attribution."""
LET_IN = {
    "apsw": ("any-OSI", "any licence of the Open Source Initiative may be chosen; Bridle chooses MIT"),
    "certifi": ("MPL-2.0", "used unchanged; a list of certificates"),
    "psycopg": ("LGPL-3.0-only", "used unchanged, by import; only with the extra `scale`"),
    "psycopg-binary": ("LGPL-3.0-only", "used unchanged, by import; only with the extra `scale`"),
    "shtab": ("MPL-2.0", "used unchanged, by import"),
    "tqdm": ("MPL-2.0 AND MIT", "used unchanged, by import; a dependency of the extra `memory`"),
}
"""Packages whose licences require more but were accepted: the checked licence, and the reason."""


def licence_of(found: Distribution) -> str:
    """Return an SPDX expression, or "" if the package names no licence."""
    about = found.metadata
    expression = (about.get("License-Expression") or "").strip()
    if expression:
        return expression
    free_text = (about.get("License") or "").strip()
    if free_text and "\n" not in free_text and len(free_text) < 60:
        return KNOWN.get(free_text.lower(), free_text)
    classifiers = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or () if _is_licence(line)]
    named = [KNOWN[name.lower()] for name in classifiers if name.lower() in KNOWN]
    return " AND ".join(named) or _from_text(found)


def objection(name: str, licence: str) -> str:
    """Return why a licence is not accepted, or "" if it is.

    `A OR B` needs one accepted licence, `A AND B` both.
    """
    if not licence:
        return "it names no licence"
    if LET_IN.get(name, ("",))[0] == licence:
        return ""
    for choice in re.split(r"\s+OR\s+", licence.replace("(", " ").replace(")", " ")):
        if all(part.strip() in FREE for part in re.split(r"\s+AND\s+", choice)):
            return ""
    return f"{licence} is not an accepted licence"


def _is_licence(classifier: str) -> bool:
    return classifier.startswith("License :: ")


def _from_text(found: Distribution) -> str:
    for file in found.files or ():
        if re.search(r"licen[cs]e|copying", file.name, re.IGNORECASE):
            text = str(found.locate_file(file))
            with open(text, encoding="utf-8", errors="replace") as opened:
                content = opened.read(64_000)
            for words, name in TEXTS.items():
                if words in content:
                    return name
    return ""
