import pytest

from bridle.config.foreign.findings import FoundServer, NotImported
from bridle.config.foreign.servers import found_servers
from tests.stores.foreign.samples import CLAUDE_STATE, KEY

GITHUB = {
    "transport": "http",
    "url": "https://api.example.com/mcp",
    "headers": {"Authorization": "Bearer ${GITHUB_AUTHORIZATION}"},
}
FILES = {
    "command": "npx",
    "args": ["-y", "server", "--api-key", "${FILES_API_KEY}", "--token=${FILES_TOKEN}", "/srv"],
    "env": {"TZ": "UTC", "API_KEY": "${API_KEY}", "OTHER": "${ALREADY_SET}", "DB": "${DB}"},
}


def test_secrets_stay_where_they_are():
    servers = dict(CLAUDE_STATE["mcpServers"])
    servers["github"] = {**servers["github"], "transport": "http"}
    del servers["github"]["type"]

    found = list(found_servers(servers))

    assert found == [
        FoundServer("github", GITHUB, ("GITHUB_AUTHORIZATION",)),
        FoundServer("files", FILES, ("ALREADY_SET", "API_KEY", "DB", "FILES_API_KEY", "FILES_TOKEN")),
        NotImported("server", "broken", "it needs a command or a url"),
    ]
    assert KEY not in repr(found)


@pytest.mark.parametrize(
    "value",
    [KEY, "ghp_" + "a1" * 18, "AKIA" + "A1" * 8, "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", "0123456789abcdef" * 2],
)
def test_what_looks_like_a_key_is_one(value: str):
    (found,) = found_servers({"x": {"command": "x", "env": {"PLAIN": value}}})

    assert found == FoundServer("x", {"command": "x", "env": {"PLAIN": "${PLAIN}"}}, ("PLAIN",))


@pytest.mark.parametrize(
    "value", ["UTC", "/usr/local/share/some/long/path/to/a/folder/2", "https://example.com/a", "8080"]
)
def test_other_values_stay(value: str):
    assert list(found_servers({"x": {"command": "x", "env": {"PLAIN": value}}})) == [
        FoundServer("x", {"command": "x", "env": {"PLAIN": value}})
    ]


def test_names_and_addresses():
    found = list(
        found_servers(
            {
                "my server!": {"url": f"https://h/mcp?apikey={KEY}&v=2"},
                "a__b": {"command": "x", "env": {"1": 2}},
                "": {"command": "x"},
                "n": None,
                "e": {"command": "x", "env": ["A"]},
                "p": {"url": f"https://me:{KEY}@host/mcp"},
            }
        )
    )

    assert found[0] == FoundServer(
        "my_server", {"url": "https://h/mcp?apikey=${MY_SERVER_APIKEY}&v=2"}, ("MY_SERVER_APIKEY",)
    )
    assert [(type(one), getattr(one, "name", "")) for one in found[1:]] == [
        (NotImported, "a__b"),
        (NotImported, ""),
        (NotImported, "n"),
        (NotImported, "e"),
        (NotImported, "p"),
    ]
    assert KEY not in repr(found)
