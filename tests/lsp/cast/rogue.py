"""Servers that misbehave, each in one way; the first argument selects it."""

import json
import sys
import time

from stage import Message, problem, publish, read, reply, send, serve, tell, uri_of

WAY = sys.argv[1]
ARGUMENTS = sys.argv[2:]


def never_ready() -> None:
    """Read everything and answer nothing."""
    while read() is not None:
        pass


def silent() -> None:
    """Answer the greeting and nothing else."""
    serve({})


def hesitant() -> None:
    """Do not answer, but let it be seen what was asked."""

    def show(message: Message) -> None:
        publish(f"file://{ARGUMENTS[0]}/seen.toy", [problem(0, message["method"])])

    serve({"textDocument/definition": show, "$/cancelRequest": show})


def stubborn() -> None:
    """Do not end, whatever is asked for."""
    serve({"shutdown": lambda _: None, "exit": lambda _: None})
    while True:
        time.sleep(60)


def indexing() -> None:
    """Start to index and never end."""

    def begin(_: Message) -> None:
        send({"id": 1, "method": "window/workDoneProgress/create", "params": {"token": "i"}})
        tell("$/progress", {"token": "i", "value": {"kind": "begin", "title": "Indexing", "percentage": 7}})
        tell("$/progress", {"token": "i", "value": {"kind": "report", "percentage": 42}})

    empty = ("definition", "references", "documentSymbol", "prepareCallHierarchy", "rename")
    serve(
        {
            "initialized": begin,
            **{f"textDocument/{one}": lambda message: reply(message, None) for one in empty},
        },
        referencesProvider=True,
        callHierarchyProvider=True,
    )


def crashing() -> None:
    """End in the middle of a question."""

    def crash(_: Message) -> None:
        print("something\nfatal error: out of luck\n", file=sys.stderr)
        sys.exit(3)

    serve({"textDocument/definition": crash})


def stillborn() -> None:
    """End before the greeting."""
    print("cannot run here", file=sys.stderr)
    sys.exit(7)


def chatty() -> None:
    """Print to the same pipe by mistake, and continue."""
    sys.stdout.write("Debugger listening\nContent-Type: text\r\n")
    sys.stdout.flush()
    serve({"textDocument/definition": lambda message: (print("DEBUG"), reply(message, []))})


def flooding() -> None:
    """Print without end."""
    while True:
        sys.stdout.write("no message " * 1000)


def boasting() -> None:
    """Announce a message of an impossible size."""
    read()
    sys.stdout.write("Content-Length: 99999999999\r\n\r\n")
    sys.stdout.flush()
    never_ready()


def babbling() -> None:
    """Frame something that is no message."""
    read()
    sys.stdout.write("Content-Length: 5\r\n\r\n[1,2]")
    sys.stdout.flush()
    never_ready()


def strangers() -> None:
    """Speak of files that were never opened, and of files outside."""
    root, outside = ARGUMENTS

    def speak(_: Message) -> None:
        publish(f"file://{root}/never.toy", [problem(0, "never opened")])
        for uri in (
            f"file://{outside}",
            "file://elsewhere/x",
            "untitled:1",
            f"file://{root}/../out.toy",
            "%%",
        ):
            publish(uri, [problem(0, "outside")])
        tell("textDocument/publishDiagnostics", {"uri": 5, "diagnostics": "none"})

    def opened(message: Message) -> None:
        publish(uri_of(message), [problem(0, "here"), {"range": "none"}, 5], 1)

    able = {"definitionProvider": False, "renameProvider": False}
    serve({"initialized": speak, "textDocument/didOpen": opened}, **able)


def wrong_versions() -> None:
    """Report on versions that were not asked about."""

    def speak(message: Message) -> None:
        document = message["params"]["textDocument"]
        for version in (document["version"] - 1, document["version"] + 1000):
            publish(document["uri"], [problem(0, f"of version {version}")], version)

    serve({"textDocument/didOpen": speak, "textDocument/didChange": speak})


def escaping() -> None:
    """Answer a renaming with an edit of whatever the new name says, as JSON."""

    def rename(message: Message) -> None:
        reply(message, json.loads(bytes.fromhex(message["params"]["newName"])))

    serve({"textDocument/rename": rename, "textDocument/definition": lambda message: reply(message, [])})


def pointing() -> None:
    """Say that something is defined in strange places."""

    def place(line: int, start: int, end_line: int, end: int) -> object:
        return {"start": {"line": line, "character": start}, "end": {"line": end_line, "character": end}}

    def define(message: Message) -> None:
        uri = uri_of(message)
        reply(
            message,
            [
                {"uri": "file:///etc/passwd", "range": place(0, 0, 0, 4)},
                {"uri": uri, "range": place(1, 2, 99, 99)},
                {"uri": uri, "range": place(0, 5, 0, 1)},
                {
                    "targetUri": uri,
                    "targetRange": place(0, 0, 9, 9),
                    "targetSelectionRange": place(0, 4, 0, 7),
                },
                {"uri": "http://localhost/", "range": place(0, 0, 0, 0)},
                {"uri": uri},
            ],
        )

    serve({"textDocument/definition": define})


def asking() -> None:
    """Ask things, and tell what came back as the names of symbols."""

    questions = [
        ("workspace/configuration", {"items": [{"section": "toy.depth"}, {"section": "none"}, {}]}),
        ("workspace/workspaceFolders", None),
        ("window/workDoneProgress/create", {"token": 1}),
        ("window/showMessageRequest", {"type": 1, "message": "Sure?"}),
        ("workspace/applyEdit", {"edit": {"changes": {}}}),
        ("window/showDocument", {"uri": "file:///etc/passwd"}),
        ("workspace/diagnostic/refresh", None),
        ("client/registerCapability", {"registrations": "none"}),
        ("no/such/method", {}),
    ]
    answers: list[object] = []

    def ask(_: Message) -> None:
        for number, (method, params) in enumerate(questions):
            send({"id": f"q{number}", "method": method, "params": params})
            answer = read()
            assert answer is not None
            answers.append(answer.get("result", answer.get("error", {}).get("code")))

    def find(message: Message) -> None:
        ask(message)
        place = {"uri": message["params"]["query"], "range": problem(0, "")["range"]}
        found = [{"name": json.dumps(one), "kind": 12, "location": place} for one in answers]
        send({"id": message["id"] + 1000, "result": "of nobody"})
        reply(message, found)

    serve({"workspace/symbol": find}, workspaceSymbolProvider=True)


def fixing() -> None:
    """Offer fixes of every shape: an edit, one to be resolved, a command, one that is off; and a surprise."""

    def edit(message: Message, text: str) -> object:
        place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        return {"changes": {uri_of(message): [{"range": place, "newText": text}]}}

    asked: list[Message] = []

    def offer(message: Message) -> None:
        asked.append(message)
        named = [one["message"] for one in message["params"]["context"]["diagnostics"]]
        reply(
            message,
            [
                {"title": "Edit", "kind": "quickfix", "isPreferred": True, "edit": edit(message, "edited ")},
                {"title": "Resolve", "kind": "refactor", "data": 5},
                {"title": "Run", "command": "toy.run", "arguments": ["ran "]},
                {"title": "Off", "disabled": {"reason": "not now"}},
                {"title": "Empty", "edit": {}},
                {"title": f"About {', '.join(named)}", "command": {"title": "", "command": "toy.refuse"}},
                {"no title": 1},
            ],
        )

    def resolve(message: Message) -> None:
        known = message["params"] == {"title": "Resolve", "kind": "refactor", "data": 5}
        reply(message, {**message["params"], **({"edit": edit(asked[-1], "resolved ")} if known else {})})

    def execute(message: Message) -> None:
        if message["params"]["command"] == "toy.refuse":
            send({"id": message["id"], "error": {"code": 1, "message": "I do not want to"}})
            return
        (text,) = message["params"]["arguments"]
        send({"id": "a", "method": "workspace/applyEdit", "params": {"edit": edit(asked[-1], text)}})
        answer = read()
        assert answer is not None
        assert answer["result"] == {"applied": True}
        send({"id": message["id"], "error": {"code": 1, "message": "no editor to go on in"}})

    serve(
        {
            "textDocument/didOpen": lambda message: publish(
                uri_of(message), [problem(0, "first"), problem(2, "third")], 1
            ),
            "textDocument/codeAction": offer,
            "codeAction/resolve": resolve,
            "workspace/executeCommand": execute,
        },
        codeActionProvider={"resolveProvider": True},
    )


def encoded() -> None:
    """Choose an encoding that was not offered."""
    serve({}, positionEncoding="utf-7")


globals()[WAY]()
