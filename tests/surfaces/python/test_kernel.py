"""`bridle.Kernel` and `bridle.KernelPool`, as a program uses them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import bridle
from bridle.sandbox import LocalSandbox


@pytest.fixture
def options(tmp_path: Path, env: dict[str, str]) -> dict[str, Any]:
    """Return options for a kernel in an empty folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return {"cwd": folder, "environ": env}


async def test_cells_share_variables_and_call_functions_of_the_program(options: dict[str, Any]):
    def stock(article: str, format: str = "plain") -> str:  # noqa: A002  as the functions of programs do
        if article == "none":
            raise ValueError("no such article")
        return f"{article} as {format}"

    printed: list[str] = []
    async with bridle.Kernel(tools=[stock], **options) as kernel:
        first = await kernel.run("n = 41\nprint(await stock('A', format='x'))", on_output=printed.append)
        second = await kernel.run("message('done', kind='final')\nn + 1")
        third = await kernel.run("await stock('none')")
        assert kernel.is_alive

    assert first == bridle.CellResult("A as x\n", calls=1)
    assert "".join(printed) == "A as x\n"
    assert (second.output, second.answer) == ("42\n", "done")
    assert third.error.splitlines()[-1] == "ToolError: ValueError: no such article"
    assert not kernel.is_alive


async def test_a_cell_is_interrupted_and_its_variables_stay(options: dict[str, Any]):
    begun = asyncio.Event()
    async with bridle.Kernel(**options) as kernel:
        running = asyncio.create_task(
            kernel.run("n = 1\nprint('on')\nwhile True: pass", on_output=lambda text: begun.set())
        )
        await begun.wait()
        await kernel.interrupt()
        stopped = await running
        after = await kernel.run("n")

    assert (stopped.ended, after.output) == ("cancelled", "1\n")


async def test_variables_go_from_one_kernel_to_another(options: dict[str, Any]):
    async with bridle.Kernel(**options) as kernel:
        await kernel.run("n = [1, 2]\nf = open('a.txt', 'w')")
        saved = await kernel.snapshot()
    async with bridle.Kernel(**options) as other:
        await other.restore(saved.data)
        shown = await other.run("n")

    assert (shown.output, [name for name, _ in saved.dropped]) == ("[1, 2]\n", ["f"])


async def test_a_pool_keeps_the_kernel_of_each_owner(options: dict[str, Any]):
    async with bridle.KernelPool(max_kernels=2, **options) as pool:
        async with pool.kernel("ada") as ada, pool.kernel("bob") as bob:
            await ada.run("n = 1")
            strange = await bob.run("n")
            with pytest.raises(bridle.ToolError, match="all 2 kernels are in use"):
                await pool.kernel("eve").__aenter__()
        async with pool.kernel("ada") as ada:
            kept = await ada.run("n")
        await pool.end("ada")
        async with pool.kernel("ada") as ada:
            lost = await ada.run("n")

    assert (kept.output, "NameError" in strange.error, "NameError" in lost.error) == ("1\n", True, True)


async def test_rules_hide_files_from_the_code(options: dict[str, Any]):
    home = Path(options["environ"]["BRIDLE_HOME"])
    (home / "config.toml").write_text('[rules]\ndeny = ["read_file(key.txt)"]\n')
    for name in ("secret.txt", "key.txt", "plain.txt"):
        (options["cwd"] / name).write_text(name)

    async with bridle.Kernel(deny=["read_file(secret.txt)"], **options) as kernel:
        read = [await kernel.run(f"open('{name}').read()") for name in ("secret.txt", "key.txt", "plain.txt")]

    assert [bool(result.error) for result in read] == [True, True, False]


async def test_a_trap_of_the_code_is_put_away_but_not_a_file_of_the_program(options: dict[str, Any]):
    folder = options["cwd"]

    @bridle.tool(access="write")
    def save() -> None:
        (folder / ".envrc").write_text("ours")

    async with bridle.Kernel(tools=[save], **options) as kernel:
        ours = await kernel.run("await save()")
        theirs = await kernel.run(
            "import os\nos.makedirs('.husky')\nopen('.husky/pre-commit', 'w').write('x')"
        )

    assert (ours.notes, (folder / ".envrc").read_text()) == ((), "ours")
    assert len(theirs.notes) == 1
    assert not (folder / ".husky/pre-commit").exists()


async def test_without_a_sandbox_it_is_an_error_unless_the_program_says_so(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    bare = LocalSandbox(home="/nonexistent", kind="none")
    monkeypatch.setattr("bridle.surfaces.python.kernel.open_sandbox", lambda settings: bare)

    with pytest.raises(bridle.UsageError, match="a kernel needs a sandbox: "):
        await bridle.Kernel(**options).__aenter__()
    async with bridle.Kernel(sandbox=False, **options) as kernel:
        assert (await kernel.run("1")).output == "1\n"


async def test_it_is_used_while_it_is_open(options: dict[str, Any]):
    with pytest.raises(bridle.UsageError, match="this kernel is not open"):
        await bridle.Kernel(**options).run("1")
