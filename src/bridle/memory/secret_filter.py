"""Removes text that looks like a secret, whatever its value, before it is indexed.

Secrets from the environment are known by value; the mask passed to memory hides those first. The expressions
are compiled on first use: most commands have no text to check.
"""

import re

HIDDEN = "[secret]"

_KEY_BLOCK = (
    r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
_SHAPES = r"""(?x)
    \bsk-[A-Za-z0-9_-]{16,200}    # OpenAI, Anthropic and their likes
    | \b[sr]k_(?:live|test)_[A-Za-z0-9]{10,200}    # Stripe
    | \bgh[pousr]_[A-Za-z0-9]{20,255} | \bgithub_pat_[A-Za-z0-9_]{20,255}
    | \bglpat-[A-Za-z0-9_-]{16,200}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,60}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,300}
    | \bhf_[A-Za-z0-9]{20,100}
    | \bnpm_[A-Za-z0-9]{30,60} | \bpypi-[A-Za-z0-9_-]{30,300}
    | \bya29\.[A-Za-z0-9_-]{20,600}
    | \beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}    # JSON web tokens
    | \bAGE-SECRET-KEY-1[A-Z0-9]{40,80}
"""
_BEARER = r"(?i)\b(authorization\s{0,5}[:=]\s{0,5}|bearer\s{1,5}|basic\s{1,5})[A-Za-z0-9+/=._~-]{16,4000}"
_URL = r"(://[^\s/:@]{0,200}:)[^\s/@]{1,500}(?=@)"
_NAMED = r"""(?ix)
    ( (?: passwd | password | passphrase | secret | api[_-]?key | access[_-]?key | private[_-]?key
        | auth[_-]?token | access[_-]?token | client[_-]?secret | credentials? )
      ["']? )
    ( \s{0,5} (?: => | := | [:=] ) \s{0,5} )
    (?: "([^"\n]{6,500})" | '([^'\n]{6,500})' | ([^\s"',;)}\]]{6,500}) )
"""
_HARMLESS = r"(?i)\$.*|<.*|\{.*|\[secret.*|os\..*|env.*|none|null|true|false"  # a placeholder, not a value
_WORD = r"[A-Za-z]{1,12}"


def hide_secrets(text: str) -> str:
    """Return the text with `[secret]` in place of keys, tokens and passwords."""
    text = re.sub(_KEY_BLOCK, HIDDEN, text)
    text = re.sub(_SHAPES, HIDDEN, text)
    text = re.sub(_BEARER, rf"\1{HIDDEN}", text)
    text = re.sub(_URL, rf"\1{HIDDEN}", text)
    return re.sub(_NAMED, _without_value, text)


def _without_value(found: re.Match[str]) -> str:
    name, between, quoted, also_quoted, bare = found.groups()
    value = quoted or also_quoted or bare
    if re.fullmatch(_HARMLESS, value):
        return found[0]
    # `password: required` is a sentence or a type; `PASSWORD=required` is not.
    if bare and between != "=" and re.fullmatch(_WORD, bare):
        return found[0]
    return f"{name}{between}{HIDDEN}"
