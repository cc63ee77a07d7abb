"""Which secrets are masked in everything that a model reads."""

from pathlib import Path

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.messages import ToolResult, user_message
from bridle.core.protocol import Prompt, ToolFinished
from bridle.core.queries import Records

TOKEN = "0123456789abcdef" * 4


async def test_a_model_does_not_get_the_token_of_the_daemon_in_whose_home_it_works(tmp_path: Path):
    """With it a program could answer the approvals that its own calls wait for."""
    (tmp_path / ".bridle" / "run").mkdir(parents=True)
    (tmp_path / ".bridle" / "run" / "token").write_text(f"{TOKEN}\n")
    script = tmp_path / "script.json"
    call = '{"name": "read_file", "args": {"path": ".bridle/run/token"}}'
    script.write_text(f'{{"replies": [{{"text": "", "calls": [{call}]}}, {{"text": "done"}}]}}')
    (tmp_path / ".bridle" / "config.toml").write_text(f'model = "scripted/{script}"\n')
    environ = {"BRIDLE_HOME": str(tmp_path / ".bridle"), "HOME": str(tmp_path)}
    service = open_service(load_settings(environ, tmp_path), environ)
    try:
        session = await service.create(cwd=str(tmp_path))
        receipt = await service.submit(session, Prompt(user_message("hi")))
        assert receipt.run_id is not None
        await service.wait(session, receipt.run_id)
        events = [record.event for record in await service.ask(Records(session))]
    finally:
        await service.aclose()

    [result] = [event.result for event in events if isinstance(event, ToolFinished)]
    assert isinstance(result, ToolResult)
    assert TOKEN not in result.output
    assert "[secret daemon token]" in result.output
