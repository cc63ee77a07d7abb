"""A server for a toy language: `def NAME` defines, `use NAME` uses; using an undefined name is an error.

Arguments change its manners: `versionless`, `pull`, `late-pull` (says so after the greeting), `stale` (first
says again what held before), `utf-8`, `utf-32`, `watch` (wants to hear of files, and shows what it heard).
"""

import re
import sys
from typing import Any

from stage import Message, problem, publish, reply, send, serve, tell, uri_of

MANNERS = set(sys.argv[1:])
ENCODING = next((one for one in ("utf-8", "utf-32") if one in MANNERS), "utf-16")
texts: dict[str, str] = {}
versions: dict[str, int] = {}
said: dict[str, list[Any]] = {}


def units(text: str) -> int:
    return (
        len(text)
        if ENCODING == "utf-32"
        else len(text.encode(f"{ENCODING}-le" if ENCODING == "utf-16" else "utf-8"))
        // (2 if ENCODING == "utf-16" else 1)
    )


def words(kind: str) -> list[tuple[str, int, int, int, str]]:
    return [
        (uri, number, units(line[: found.start(1)]), units(line[: found.end(1)]), found[1])
        for uri, text in texts.items()
        for number, line in enumerate(text.split("\n"))
        for found in re.finditer(rf"\b{kind} (\w+)", line)
    ]


def place(found: tuple[str, int, int, int, str]) -> Message:
    uri, line, start, end, _ = found
    return {
        "uri": uri,
        "range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}},
    }


def problems(uri: str) -> list[Any]:
    defined = {found[-1] for found in words("def")}
    return [
        problem(line, f"{name} is not defined", start, end)
        for at, line, start, end, name in words("use")
        if at == uri and name not in defined
    ]


def publish_all() -> None:
    if MANNERS & {"pull", "late-pull"}:
        return
    for uri in texts:
        version = None if "versionless" in MANNERS else versions[uri]
        if "stale" in MANNERS:
            publish(uri, said.get(uri, []), version)
        said[uri] = problems(uri)
        publish(uri, said[uri], version)


def opened(message: Message) -> None:
    document = message["params"]["textDocument"]
    texts[document["uri"]], versions[document["uri"]] = document["text"], document["version"]
    publish_all()


def changed(message: Message) -> None:
    document = message["params"]["textDocument"]
    texts[document["uri"]] = message["params"]["contentChanges"][-1]["text"]
    versions[document["uri"]] = document["version"]
    publish_all()


def closed(message: Message) -> None:
    texts.pop(uri_of(message), None)
    publish_all()


def word_at(message: Message) -> str:
    position = message["params"]["position"]
    for uri, line, start, end, name in words("(?:def|use)"):
        if uri == uri_of(message) and line == position["line"] and start <= position["character"] <= end:
            return name
    return ""


def define(message: Message) -> None:
    name = word_at(message)
    reply(message, [place(found) for found in words("def") if found[-1] == name])


def refer(message: Message) -> None:
    name = word_at(message)
    reply(message, [place(found) for found in words("(?:def|use)") if found[-1] == name])


def rename(message: Message) -> None:
    name, new = word_at(message), message["params"]["newName"]
    changes: dict[str, list[Any]] = {}
    for found in words("(?:def|use)"):
        if found[-1] == name:
            changes.setdefault(found[0], []).append({"range": place(found)["range"], "newText": new})
    reply(message, {"changes": changes})


def prepare(message: Message) -> None:
    reply(message, {"defaultBehavior": True} if word_at(message) else None)


def outline(message: Message) -> None:
    found = [one for one in words("def") if one[0] == uri_of(message)]
    reply(
        message,
        [
            {"name": one[-1], "kind": 12, "range": place(one)["range"], "selectionRange": place(one)["range"]}
            for one in found
        ],
    )


def find(message: Message) -> None:
    found = [one for one in words("def") if message["params"]["query"] in one[-1]]
    reply(message, [{"name": one[-1], "kind": 12, "location": place(one)} for one in found])


def report(message: Message) -> None:
    reply(message, {"kind": "full", "items": problems(uri_of(message))})


def heard_changes(message: Message) -> None:
    for change in message["params"]["changes"]:
        tell(
            "window/showMessage",
            {"type": 1, "message": f"{change['type']} {change['uri'].rpartition('/')[2]}"},
        )


def greeted(message: Message) -> None:
    wanted = {"late-pull": "textDocument/diagnostic", "watch": "workspace/didChangeWatchedFiles"}
    found = [{"id": one, "method": method} for one, method in wanted.items() if one in MANNERS]
    if found:
        send({"id": "r1", "method": "client/registerCapability", "params": {"registrations": found}})


serve(
    {
        "initialized": greeted,
        "textDocument/didOpen": opened,
        "textDocument/didChange": changed,
        "textDocument/didClose": closed,
        "textDocument/definition": define,
        "textDocument/references": refer,
        "textDocument/prepareRename": prepare,
        "textDocument/rename": rename,
        "textDocument/documentSymbol": outline,
        "workspace/symbol": find,
        "textDocument/diagnostic": report,
        "workspace/didChangeWatchedFiles": heard_changes,
    },
    positionEncoding=ENCODING,
    referencesProvider=True,
    documentSymbolProvider=True,
    workspaceSymbolProvider=True,
    renameProvider={"prepareProvider": True},
    **({"diagnosticProvider": {"interFileDependencies": True}} if "pull" in MANNERS else {}),
)
