from pathlib import Path

from bridle.config.other_programs import find_other_programs, has_ollama_models, model_folders


def test_model_folders_are_those_of_the_user_and_those_that_variables_name(tmp_path: Path):
    usual = model_folders({"HOME": str(tmp_path)})
    said = model_folders(
        {"HOME": str(tmp_path), "HF_HOME": "/a", "LLAMA_CACHE": "/b", "HF_HUB_CACHE": "relative"}
    )

    assert usual == tuple(
        tmp_path / folder
        for folder in (
            ".cache/huggingface/hub",
            ".cache/llama.cpp",
            "Library/Caches/llama.cpp",
            ".lmstudio/models",
            ".cache/lm-studio/models",
            "models",
        )
    )
    assert said == (Path("/b"), *usual)
    assert model_folders({"HF_HOME": "/a"}) == (Path("/a/hub"),)
    assert model_folders({}) == ()


def test_models_of_ollama_are_seen_by_their_list(tmp_path: Path):
    environ = {"HOME": str(tmp_path)}
    before = has_ollama_models(environ)
    manifests = tmp_path / ".ollama" / "models" / "manifests"
    manifests.mkdir(parents=True)
    empty = has_ollama_models(environ)
    (manifests / "registry").mkdir()

    assert (before, empty, has_ollama_models(environ)) == (False, False, True)
    assert has_ollama_models({"OLLAMA_MODELS": str(manifests.parent)})
    assert not has_ollama_models({})


def test_other_programs_are_named_once_they_were_used(tmp_path: Path):
    home, project = tmp_path / "home", tmp_path / "project"
    environ = {"HOME": str(home)}
    for folder in (home / ".claude", home / ".codex" / "sessions", home / ".kontekst", project / ".crush"):
        folder.mkdir(parents=True)
    (home / ".kontekst" / "agents").mkdir()

    assert find_other_programs(environ, project) == {
        "codex": home / ".codex",
        "crush": project,
        "kontekst": home / ".kontekst",
    }
    assert find_other_programs({}, tmp_path) == {}


def test_a_variable_names_the_folder_of_a_program(tmp_path: Path):
    (tmp_path / "elsewhere" / "projects").mkdir(parents=True)

    found = find_other_programs(
        {"HOME": "/nowhere", "CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}, tmp_path
    )

    assert found == {"claude": tmp_path / "elsewhere"}
