"""The script that installs missing system packages: what it finds, and its error if it cannot install."""

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "system_packages.sh"


def find(*pairs: str, path: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": path}
    return subprocess.run(
        ["/bin/bash", SCRIPT, *pairs], env=environ, capture_output=True, text=True, check=False
    )


def test_a_server_that_is_not_on_the_path_of_an_ordinary_user_is_found():
    servers = [path for folder in ("/usr/sbin", "/sbin") for path in Path(folder).glob("ldconfig*")]
    assert servers, "a Linux system has ldconfig"

    done = find(f"{servers[0].name}:libc-bin", path="/nowhere")

    assert (done.returncode, done.stderr) == (0, "")


def test_a_missing_program_is_named_where_nothing_can_be_installed(tmp_path: Path):
    for program in ("id", "sudo"):  # an ordinary user without sudo
        fake = tmp_path / program
        fake.write_text("#!/bin/sh\n[ $(basename $0) = id ] && echo 1000 || exit 1\n")
        fake.chmod(0o755)

    done = find("no-such-program:no-such-package", path=f"{tmp_path}{os.pathsep}/usr/bin:/bin")

    assert done.returncode == 1
    assert done.stderr == (
        "bridle: missing on this system: no-such-package (hint: install them with your package manager)\n"
    )
