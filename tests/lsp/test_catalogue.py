"""The known servers are complete and consistent."""

from bridle.lsp.catalogue import KNOWN, LANGUAGE_IDS, language_id
from bridle.lsp.settings import LanguageServer


def test_each_server_can_be_found_and_installed():
    names = [server.name for server in KNOWN]

    assert len(set(names)) == len(names)
    for server in KNOWN:
        assert server.command
        assert server.install
        assert server.extensions
        assert all(ending in LANGUAGE_IDS for ending in server.extensions), server.name


def test_files_of_one_ending_have_one_server_of_each_family():
    """Others are asked beside each other: of those only ruff is meant to be."""
    for ending in LANGUAGE_IDS:
        families = [server.family or server.name for server in KNOWN if ending in server.extensions]
        assert len(set(families) - {"ruff"}) <= 1, ending


def test_a_language_is_called_as_the_server_calls_it():
    server = LanguageServer("toy", ("toy",), (".toy",))

    assert language_id(server, ".tsx") == "typescriptreact"
    assert language_id(server, ".toy") == "toy"
    assert language_id(LanguageServer("toy", ("toy",), (".toy",), "toys"), ".toy") == "toys"
