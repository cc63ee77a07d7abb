"""The result says why a command ended."""

import pytest

from tests.tools.shell.conftest import MakeStage

NO_FORK = "bash: fork: retry: Resource temporarily unavailable"
LIMITS = {"memory_bytes": 1_000, "max_processes": 20, "max_file_bytes": 3_000, "cpu_s": 4}


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (
            "kill -KILL $$",
            "[exit status 137, ended by SIGKILL, perhaps for using more than 1000 bytes of memory]",
        ),
        ("kill -XFSZ $$", "[exit status 153, ended by SIGXFSZ: a file grew beyond 3000 bytes]"),
        ("kill -XCPU $$", "[exit status 152, ended by SIGXCPU: more than 4 s of processor time]"),
        (
            "kill -SYS $$",
            "[exit status 159, ended by SIGSYS: the sandbox does not allow this system call]",
        ),
        ("exit 255", "[exit status 255]"),
        (
            f"echo '{NO_FORK}'; exit 254",
            f"{NO_FORK}\n[it reached the limit of 20 processes]\n[exit status 254]",
        ),
    ],
)
async def test_limits_are_named(make_plain: MakeStage, command: str, text: str):
    output = await make_plain(**LIMITS).call("bash", command=command)

    assert (output.text, output.is_error) == (text, True)


async def test_without_a_limit_none_is_named(make_plain: MakeStage):
    output = await make_plain().call("bash", command="kill -KILL $$")

    assert output.text == "[exit status 137, ended by SIGKILL]"


async def test_an_output_that_the_disk_does_not_take_is_said(make_plain: MakeStage, tmp_path):
    (tmp_path / "file").touch()
    stage = make_plain(folder=tmp_path / "file")

    text = await stage.bash("head -c 100000 /dev/zero | tr '\\0' x")

    assert text.startswith("xxx")
    assert text.endswith(
        "\n[34464 bytes are no longer available]\n[only the start of the output was kept: file exists]"
    )
