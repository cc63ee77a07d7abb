"""Import MCP servers of other programs, without their secrets.

| value | becomes |
|---|---|
| `${VAR}` alone, or after `Bearer ` | unchanged |
| one named like a secret, one that looks like a key or contains a password | `${NAME}`, to be set |
| a header | `${SERVER_HEADER}`, to be set |
| anything else | unchanged |
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from bridle.config.foreign.findings import MAX_ENTRIES, Finding, FoundServer, NotImported
from bridle.config.mcp import entry_fault, url_problem
from bridle.config.server_keys import McpServerSettings, McpSettings
from bridle.config.validation import build, one_line, problems

NOT_OF_A_PROJECT = "only a file of yours may add it; a project names its servers in .mcp.json"
_REFERENCE = re.compile(r"(?:(?:Bearer|Basic|Token) )?(?:\$\{[A-Za-z_][A-Za-z0-9_]*\})+", re.IGNORECASE)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token) ", re.IGNORECASE)
_SECRET_NAME = re.compile(r"key|token|secret|passw|auth|cookie|cred|private|dsn|pat$", re.IGNORECASE)
_PASSWORD = re.compile(r"://[^/\s]*:[^/\s]*@")
_KEY = re.compile(
    r"(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|npm|hf|AIza|AKIA|eyJ)[-_A-Za-z0-9.]{12,}"
    r"|(?=[A-Za-z_+/=-]*[0-9])(?=[0-9_+/=-]*[A-Za-z])[A-Za-z0-9_+=-]{32,}"
)
_FLAG = re.compile(r"(?P<flag>--?[A-Za-z][\w-]*)(?:=(?P<value>.+))?", re.DOTALL)
_UNNAMED = re.compile(r"[^A-Za-z0-9_-]+")
_SPELLED = re.compile(r"[^A-Za-z0-9]+")


def found_servers(listed: dict[str, Any]) -> Iterator[Finding]:
    """Yield the servers that another program names; entries already have Bridle's keys."""
    for written, entry in list(listed.items())[:MAX_ENTRIES]:
        name = re.sub(r"_+", "_", _UNNAMED.sub("_", written)).strip("_")[:48].strip("_")
        if not isinstance(entry, dict):
            yield NotImported("server", one_line(written), "it is not a table")
            continue
        clean = _SecretRemover(name)
        try:
            kept = clean.entry(
                {key: value for key, value in entry.items() if value not in (None, "", {}, [])}
            )
        except (AttributeError, TypeError, ValueError):
            yield NotImported("server", one_line(written), "it is not valid")
            continue
        fault = _fault(name, kept)
        yield (
            NotImported("server", one_line(written), fault)
            if fault
            else FoundServer(name, kept, tuple(sorted(clean.needs)))
        )


def _fault(name: str, entry: dict[str, Any]) -> str:
    if problem := next(problems({"servers": {name: entry}}, McpSettings), None):
        return problem.message
    settings = build(entry, McpServerSettings)
    if fault := entry_fault(settings):
        return fault
    wrong = url_problem(settings.url, is_secret=bool(settings.headers)) if settings.url else None
    return f"its address {wrong[0]}" if wrong else ""


class _SecretRemover:
    """Replaces possible secrets of one server by variables."""

    def __init__(self, server: str) -> None:
        self._prefix = server.upper().replace("-", "_")
        self.needs: set[str] = set()

    def entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return an entry without secrets; raises AttributeError or TypeError for an invalid one."""
        kept = dict(entry)
        if "env" in kept:
            kept["env"] = {name: self._value(name, name, text) for name, text in kept["env"].items()}
        if "headers" in kept:
            kept["headers"] = {name: self._header(name, text) for name, text in kept["headers"].items()}
        if "args" in kept:
            kept["args"] = list(self._args(kept["args"]))
        if "url" in kept:
            kept["url"] = self._url(kept["url"])
        for name in re.findall(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", str(kept)):
            self.needs.add(name)
        return kept

    def _value(self, name: str, variable: str, text: Any) -> str:
        value = str(text)
        if _REFERENCE.fullmatch(value) or not (_SECRET_NAME.search(name) or _looks_secret(value)):
            return value
        return self._reference(variable)

    def _header(self, name: str, text: str) -> str:
        if _REFERENCE.fullmatch(text):
            return text
        scheme = _SCHEME.match(text)
        return (scheme[0] if scheme else "") + self._reference(f"{self._prefix}_{name}")

    def _args(self, args: list[str]) -> Iterator[str]:
        before = ""
        for text in args:
            flag = _FLAG.fullmatch(text)
            if flag and flag["value"]:
                variable = f"{self._prefix}_{flag['flag'].lstrip('-')}"
                yield f"{flag['flag']}={self._value(flag['flag'], variable, flag['value'])}"
            elif flag:
                yield text
            else:
                yield self._value(before, f"{self._prefix}_{before.lstrip('-') or 'ARGUMENT'}", text)
            before = text if flag and not flag["value"] else ""

    def _url(self, url: str) -> str:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        clean = [(name, self._value(name, f"{self._prefix}_{name}", text)) for name, text in pairs]
        if clean == pairs:
            return url
        return urlunsplit(parts._replace(query=urlencode(clean, safe="${}")))

    def _reference(self, name: str) -> str:
        variable = _SPELLED.sub("_", name).strip("_").upper()
        variable = f"_{variable}" if variable[:1].isdigit() else variable
        self.needs.add(variable)
        return f"${{{variable}}}"


def _looks_secret(text: str) -> bool:
    return _PASSWORD.search(text) is not None or _KEY.fullmatch(text) is not None
